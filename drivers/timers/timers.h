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

/* For the sources. Always false: it can't be asked, and WHY. */
bool timer_refuse(struct timer *timer, enum clock_state state, const char *why);

/* The local APIC of the core that asks, in timer->address: 0, or where its page is; else refuses. */
bool timer_find_lapic(struct timer *timer);
struct lapic timer_lapic_of(const struct timer *timer);

/* IRQ 0 of the PIC, which a firmware that ticks by the PIT has open; else refuses. */
bool timer_pic_is_masked(struct timer *timer);

/* The I/O APIC entry of LINE, if it is masked; or, BY_PIC, the PICs, if all of their inputs are; else refuses. */
bool timer_find_line(const struct platform *platform, struct timer *timer, struct ioapic_line line);

/* What as_found.c reads of the sources, beside what each has for itself. */
struct device;
uint8_t timer_pit_status(void); /* of channel 0 */
uint32_t timer_rtc_alarm(const struct device *device); /* its three registers */

/* What was found then: routed to VECTOR of this core, in the handler, and as it was before, or masked: a PIC. */
void timer_route_line(struct timer *timer, uint32_t vector);
void timer_end_line(const struct timer *timer);
void timer_return_line(const struct timer *timer);

#endif
