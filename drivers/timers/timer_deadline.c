/*
 * The local APIC's timer in TSC-deadline mode (SDM vol. 3A, 10.5.4.1, TSC-Deadline Mode). It interrupts when this
 * core's TSC reaches the value of IA32_TSC_DEADLINE. The MSR is written only if CPUID offers the mode, because some
 * emulators accept the write and never interrupt.
 */
#include "hw/cpuid.h"
#include "hw/hw.h"
#include "timers/timers.h"

enum { SAVED_LVT, SAVED_INITIAL };

static void
tsc_deadline_open(const struct platform *, struct timer *timer)
{
	timer->by_tsc = true;
	timer->clock = "tsc";
	timer->ticks_max = UINT64_MAX / 2;
	if (timer_find_lapic(timer) && !(hw_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_DEADLINE))
		timer_set_unusable(timer, CLOCK_ABSENT, "CPUID does not offer TSC deadlines (leaf 1h, ECX bit 24).");
}

static void
tsc_deadline_disarm(struct timer *)
{
	hw_msr_write(LAPIC_MSR_DEADLINE, 0);
}

/*
 * SDM vol. 3A, 10.5.4.1, TSC-Deadline Mode: changing the LVT's mode disarms the timer. The write to the LVT must
 * complete before the MSR is written.
 */
static void
tsc_deadline_set_up(struct timer *timer, uint32_t vector)
{
	struct lapic lapic = timer_get_lapic(timer);

	timer->route.vector = vector;
	timer->saved[SAVED_LVT] = lapic_read(&lapic, LAPIC_LVT_TIMER);
	timer->saved[SAVED_INITIAL] = lapic_read(&lapic, LAPIC_INITIAL_COUNT);
	lapic_write(&lapic, LAPIC_LVT_TIMER, LAPIC_LVT_DEADLINE | vector);
	(void)hw_tsc_mfence();
}

static uint64_t
tsc_deadline_arm(struct timer *, uint64_t ticks, bool)
{
	uint64_t due = hw_tsc_mfence() + ticks;

	hw_msr_write(LAPIC_MSR_DEADLINE, due);
	return due;
}

/* The CPU sets IA32_TSC_DEADLINE to 0 when the timer interrupts. */
static bool
tsc_deadline_has_expired(const struct timer *)
{
	return hw_msr_read(LAPIC_MSR_DEADLINE) == 0;
}

static uint64_t
tsc_deadline_get_ticks_left(const struct timer *)
{
	uint64_t due = hw_msr_read(LAPIC_MSR_DEADLINE), now = hw_tsc();

	return due > now ? due - now : 0;
}

static void
tsc_deadline_restore(struct timer *timer)
{
	struct lapic lapic = timer_get_lapic(timer);

	tsc_deadline_disarm(timer);
	lapic_write(&lapic, LAPIC_LVT_TIMER, LAPIC_LVT_MASKED | timer->route.vector);
	lapic_write(&lapic, LAPIC_LVT_TIMER, (uint32_t)timer->saved[SAVED_LVT]);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, (uint32_t)timer->saved[SAVED_INITIAL]);
}

const struct timer_driver timer_deadline = {
	.id = "lapic_deadline",
	.title = "local APIC timer, by a TSC deadline",
	.kind = TIMER_ONE_SHOT,
	.tested = TIMER_TESTED_ALWAYS,
	.on_each_core = true,
	.open = tsc_deadline_open,
	.set_up = tsc_deadline_set_up,
	.arm = tsc_deadline_arm,
	.expired = tsc_deadline_has_expired,
	.get_ticks_left = tsc_deadline_get_ticks_left,
	.disarm = tsc_deadline_disarm,
	.restore = tsc_deadline_restore,
};
