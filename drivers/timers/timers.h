/* The sources of timer interrupts. Reports list them in the order of timer_drivers[]. */
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

extern const struct timer_driver timer_self, timer_lapic, timer_deadline, timer_hyperv, timer_xen,
	timer_hpet[TIMER_HPETS], timer_pit[TIMER_PITS], timer_rtc[TIMER_RTCS], timer_acpi_pm[TIMER_PMS];
extern const struct timer_driver *const timer_drivers[]; /* all sources, in the order of the report; ends with NULL */

/*
 * Adds to REGISTERS the registers that timer tests write: HPET comparators, I/O APIC entries, PIT channel 0, the RTC's
 * alarm, the PM timer's enable register, and the PICs' masks.
 */
void timers_read_registers(struct as_found *registers, const struct platform *platform);

/* Sets the timer's state and WHY, a sentence with the reason why it is not tested. Always returns false. */
bool timer_set_unusable(struct timer *timer, enum clock_state state, const char *why);

/*
 * Finds the calling core's local APIC and sets timer->address (0 in x2APIC mode). Calls timer_set_unusable() if there
 * is none.
 */
bool timer_find_lapic(struct timer *timer);
struct lapic timer_get_lapic(const struct timer *timer);

/*
 * Returns true if IRQ 0 is masked at the first PIC. Otherwise calls timer_set_unusable() and returns false, because the
 * firmware's tick uses the PIT.
 */
bool timer_pic_is_masked(struct timer *timer);

/*
 * Finds the I/O APIC entry of LINE, or the PIC input if driver->by_pic is set. Calls timer_set_unusable() and returns
 * false if the entry is not masked. With by_pic, does the same if any input of a PIC is not masked.
 */
bool timer_find_interrupt_line(const struct platform *platform, struct timer *timer, struct ioapic_line line);

/* Used by as_found_timers.c to read registers of the sources. */
struct device;
uint8_t timer_get_pit_status(void); /* returns the status of PIT channel 0 */
/* returns the seconds, minutes and hours of the RTC's alarm */
uint32_t timer_get_rtc_alarm(const struct device *device);

/*
 * Functions for the interrupt line that timer_find_interrupt_line() found: route it to VECTOR of this core, end its
 * interrupt in the handler, and restore the I/O APIC entry. If the line uses the PICs, the restore masks all their
 * inputs.
 */
void timer_route_interrupt_line(struct timer *timer, uint32_t vector);
void timer_send_eoi(const struct timer *timer);
void timer_restore_interrupt_line(const struct timer *timer);

#endif
