/*
 * The timer of the calling core's local APIC (SDM vol. 3A, 10.5.4, APIC Timer). It counts down from an initial count
 * and interrupts at 0. CPUID 15h, a hypervisor's leaf or an MSR of Hyper-V may state its rate (clocks/claims.c). The
 * tests still measure its rate by the TSC. If the firmware's tick uses this timer, the firmware programs the timer
 * again after the test, when the tick is restarted.
 */
#include "clocks/platform.h"
#include "hw/lapic.h"
#include "timers/timers.h"

#define LVT_PERIODIC (1u << 17)

enum { SAVED_LVT, SAVED_INITIAL, SAVED_DIVIDE };

static void
lapic_timer_open(const struct platform *, struct timer *timer)
{
	timer->ticks_max = UINT32_MAX;
	timer_find_lapic(timer);
}

static void
lapic_timer_disarm(struct timer *timer)
{
	struct lapic lapic = timer_get_lapic(timer);

	lapic_write(&lapic, LAPIC_LVT_TIMER, LAPIC_LVT_MASKED | timer->route.vector);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, 0);
}

static void
lapic_timer_set_up(struct timer *timer, uint32_t vector)
{
	struct lapic lapic = timer_get_lapic(timer);

	timer->route.vector = vector;
	timer->saved[SAVED_LVT] = lapic_read(&lapic, LAPIC_LVT_TIMER);
	timer->saved[SAVED_INITIAL] = lapic_read(&lapic, LAPIC_INITIAL_COUNT);
	timer->saved[SAVED_DIVIDE] = lapic_read(&lapic, LAPIC_DIVIDE);
	lapic_timer_disarm(timer);
	lapic_write(&lapic, LAPIC_DIVIDE, LAPIC_DIVIDE_BY_1);
}

static uint64_t
lapic_timer_arm(struct timer *timer, uint64_t ticks, bool periodic)
{
	struct lapic lapic = timer_get_lapic(timer);

	lapic_write(&lapic, LAPIC_LVT_TIMER, timer->route.vector | (periodic ? LVT_PERIODIC : 0));
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, (uint32_t)ticks);
	return 0;
}

static uint64_t
lapic_timer_get_ticks_left(const struct timer *timer)
{
	struct lapic lapic = timer_get_lapic(timer);

	return lapic_read(&lapic, LAPIC_CURRENT_COUNT);
}

/* Restores the registers. The initial count is last, because writing it starts the timer. */
static void
lapic_timer_restore(struct timer *timer)
{
	struct lapic lapic = timer_get_lapic(timer);

	lapic_timer_disarm(timer);
	lapic_write(&lapic, LAPIC_DIVIDE, (uint32_t)timer->saved[SAVED_DIVIDE]);
	lapic_write(&lapic, LAPIC_LVT_TIMER, (uint32_t)timer->saved[SAVED_LVT]);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, (uint32_t)timer->saved[SAVED_INITIAL]);
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
	.disarm = lapic_timer_disarm,
	.restore = lapic_timer_restore,
};
