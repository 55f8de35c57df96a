/*
 * Hyper-V's synthetic timer 3 in direct mode, in which the timer interrupts through its core's local APIC (TLFS,
 * synthetic timers). Deadlines are in the partition's reference time. Firmware may use the first synthetic timer for
 * its tick, so the last is used here.
 */
#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "timers/timers.h"

#define HZ                 10000000u
#define CONFIG_PERIODIC    (1u << 1)
#define CONFIG_AUTO_ENABLE (1u << 3)  /* flag: a write of the count starts the timer */
#define CONFIG_VECTOR(v)   ((v) << 4)
#define CONFIG_DIRECT      (1u << 12)

enum { SAVED_CONFIG, SAVED_COUNT, DUE };

static void
hv_timer_open(const struct platform *platform, struct timer *timer)
{
	const struct paravirtual_interface *hyperv = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_HYPERV);

	timer->hz = (struct rate){ HZ, 1 };
	timer->ticks_max = UINT32_MAX;
	/* arm() adds one tick to the deadline, because a reading of the reference time is rounded down */
	timer->phase_ticks = 1;
	timer->unlisted = !hyperv || !(hyperv->features & HV_ACCESS_TIMERS);
	if (timer->unlisted || !timer_find_lapic(timer))
		return;
	if (!(hyperv->features_edx & HV_DIRECT_TIMERS_AVAILABLE))
		timer_set_unusable(timer, CLOCK_ABSENT,
				   "CPUID 40000003h offers this timer by messages only (no direct mode, EDX bit 19): not tested.");
	else if (!(hyperv->features & HV_ACCESS_REFERENCE_COUNTER))
		timer_set_unusable(timer, CLOCK_ABSENT,
				   "CPUID 40000003h does not offer the reference counter (EAX bit 1), which its deadlines use.");
	else if (hyperv->timer_faults)
		timer_set_unusable(timer, CLOCK_BROKEN,
				   "CPUID 40000003h offers this timer, but access to its MSR 400000B6h faulted.");
	else if (hw_msr_read(MSR_HV_TIMER_CONFIG) & HV_TIMER_ENABLE)
		timer_set_unusable(timer, CLOCK_DISABLED, "In use by the firmware: not tested.");
}

static void
hv_timer_disarm(struct timer *)
{
	hw_msr_write(MSR_HV_TIMER_COUNT, 0);
}

static void
hv_timer_set_up(struct timer *timer, uint32_t vector)
{
	timer->route.vector = vector;
	timer->saved[SAVED_CONFIG] = hw_msr_read(MSR_HV_TIMER_CONFIG);
	timer->saved[SAVED_COUNT] = hw_msr_read(MSR_HV_TIMER_COUNT);
	hv_timer_disarm(timer);
}

/* Writes the count: the deadline of a one-shot, or the length of a period. */
static uint64_t
hv_timer_arm(struct timer *timer, uint64_t ticks, bool periodic)
{
	hw_msr_write(MSR_HV_TIMER_CONFIG, CONFIG_DIRECT | CONFIG_AUTO_ENABLE | CONFIG_VECTOR(timer->route.vector) |
		     (periodic ? CONFIG_PERIODIC : 0));
	timer->saved[DUE] = hw_msr_read(MSR_HV_REFERENCE) + ticks + 1;
	hw_msr_write(MSR_HV_TIMER_COUNT, periodic ? ticks : timer->saved[DUE]);
	return 0;
}

static uint64_t
hv_timer_get_ticks_left(const struct timer *timer)
{
	uint64_t now = hw_msr_read(MSR_HV_REFERENCE);

	return timer->saved[DUE] > now ? timer->saved[DUE] - now : 0;
}

/* Returns true if the timer is disabled: a one-shot disables itself when it expires. */
static bool
hv_timer_has_expired(const struct timer *)
{
	return !(hw_msr_read(MSR_HV_TIMER_CONFIG) & HV_TIMER_ENABLE);
}

/*
 * Restores the registers. The configuration is set to 0 before the count is written. With CONFIG_AUTO_ENABLE set, the
 * write would start the timer.
 */
static void
hv_timer_restore(struct timer *timer)
{
	hw_msr_write(MSR_HV_TIMER_CONFIG, 0);
	hw_msr_write(MSR_HV_TIMER_COUNT, timer->saved[SAVED_COUNT]);
	hw_msr_write(MSR_HV_TIMER_CONFIG, timer->saved[SAVED_CONFIG]);
}

const struct timer_driver timer_hyperv = {
	.id = "hv_timer",
	.title = "Hyper-V's synthetic timer, in direct mode",
	.tested = TIMER_TESTED_ALWAYS,
	.on_each_core = true,
	.open = hv_timer_open,
	.set_up = hv_timer_set_up,
	.arm = hv_timer_arm,
	.expired = hv_timer_has_expired,
	.get_ticks_left = hv_timer_get_ticks_left,
	.disarm = hv_timer_disarm,
	.restore = hv_timer_restore,
};
