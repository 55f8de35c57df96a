/* The sources of timer interrupts, in the order in which people see them. */
#ifndef BARETICK_TIMERS_H
#define BARETICK_TIMERS_H

#include "clock/as_found.h"
#include "clock/timer.h"
#include "clocks/platform.h"
#include "hw/lapic.h"
#include "timers/ioapic.h"

#define TIMER_HPETS 10
#define TIMER_PITS  2
#define TIMER_RTCS  4
#define TIMER_PMS   2

extern const struct timer_driver timer_self, timer_lapic, timer_deadline, timer_hpet[TIMER_HPETS],
	timer_pit[TIMER_PITS], timer_rtc[TIMER_RTCS], timer_acpi_pm[TIMER_PMS];
extern const struct timer_driver *const timer_drivers[]; /* ends with NULL */

/*
 * Adds what the sources write: HPET comparators, I/O APIC entries, PIT channel 0, the RTC's alarm, the PM timer's
 * enable, the PICs' masks.
 */
void timers_as_found(struct as_found *registers, const struct platform *platform);

/* Marks the timer as not testable, with the reason WHY. Always returns false. */
bool timer_refuse(struct timer *timer, enum clock_state state, const char *why);

/* Finds the calling core's local APIC and sets timer->address (0 in x2APIC mode), else refuses the timer. */
bool timer_find_lapic(struct timer *timer);
struct lapic timer_lapic_of(const struct timer *timer);

/* Returns true if IRQ 0 is masked at the PIC. Otherwise the firmware ticks by the PIT, and the timer is refused. */
bool timer_pic_is_masked(struct timer *timer);

/*
 * Finds the I/O APIC entry of LINE, or the PICs with BY_PIC. Refuses the timer if the entry, or any input of the PICs,
 * is not masked.
 */
bool timer_find_line(const struct platform *platform, struct timer *timer, struct ioapic_line line);

/* Called by as_found_timers.c to read registers of the sources. */
struct device;
uint8_t timer_pit_status(void); /* status of channel 0 */
uint32_t timer_rtc_alarm(const struct device *device); /* the alarm's three registers */

/*
 * Use the line that was found: route it to VECTOR of this core, end its interrupt in the handler, and restore it. A
 * PIC is left masked.
 */
void timer_route_line(struct timer *timer, uint32_t vector);
void timer_end_line(const struct timer *timer);
void timer_return_line(const struct timer *timer);

#endif
