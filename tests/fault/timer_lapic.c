/*
 * Replaces drivers/timers/timer_lapic.c in the fault image. The timer is the same, but its interrupt handler can cause
 * an exception.
 */
#define timer_lapic timer_lapic_well
#include "../../drivers/timers/timer_lapic.c"
#undef timer_lapic

extern const struct timer_driver timer_lapic;
extern bool fault_is_in_handler(void); /* defined in acpi_pm.c */

static void
acknowledge_or_fault(const struct timer *timer)
{
	if (fault_is_in_handler())
		__asm__ volatile("ud2");
}

const struct timer_driver timer_lapic = {
	.id = "lapic",
	.title = "local APIC timer",
	.tested = TIMER_TESTED_ALWAYS,
	.on_each_core = true,
	.open = lapic_timer_open,
	.set_up = lapic_timer_set_up,
	.arm = lapic_timer_arm,
	.get_ticks_left = lapic_timer_get_ticks_left,
	.acknowledge = acknowledge_or_fault,
	.disarm = lapic_timer_disarm,
	.restore = lapic_timer_restore,
};
