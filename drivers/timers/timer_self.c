/*
 * An interrupt that the core sends to itself (SDM vol. 3A, 10.6.1, Interrupt Command Register). It measures the time
 * from the request until the handler runs, which is part of the lateness of every other source.
 */
#include "timers/timers.h"

#define ICR_TO_SELF (1u << 18) /* destination "self", fixed delivery, edge-triggered */

static void
self_ipi_timer_open(const struct platform *, struct timer *timer)
{
	timer->hz = (struct rate){ 1000000000, 1 };
	timer_find_lapic(timer);
}

static void
self_ipi_timer_set_up(struct timer *timer, uint32_t vector)
{
	timer->route.vector = vector;
}

static uint64_t
self_ipi_timer_arm(struct timer *timer, uint64_t, bool)
{
	struct lapic lapic = timer_get_lapic(timer);

	lapic_write(&lapic, LAPIC_ICR_LOW, ICR_TO_SELF | timer->route.vector);
	return 0;
}

static uint64_t
self_ipi_timer_get_ticks_left(const struct timer *)
{
	return 0;
}

static void
self_ipi_timer_do_nothing(struct timer *)
{
}

const struct timer_driver timer_self = {
	.id = "self_ipi",
	.title = "an interrupt that the core sends itself",
	.kind = TIMER_AT_ONCE,
	.tested = TIMER_TESTED_ALWAYS,
	.on_each_core = true,
	.open = self_ipi_timer_open,
	.set_up = self_ipi_timer_set_up,
	.arm = self_ipi_timer_arm,
	.get_ticks_left = self_ipi_timer_get_ticks_left,
	.disarm = self_ipi_timer_do_nothing,
	.restore = self_ipi_timer_do_nothing,
};
