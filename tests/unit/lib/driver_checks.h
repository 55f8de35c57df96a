/* Helpers for tests of the clocks' drivers on the simulated machine. */
#ifndef BARETICK_DRIVER_CHECKS_H
#define BARETICK_DRIVER_CHECKS_H

#include "test.h"
#include "sim.h"

static struct platform platform;
static struct device device;
static struct clock clocks[DRIVER_CLOCKS_MAX];

/* Resets the simulated machine to a healthy one, and describes it in `platform`. */
static inline void
reset(void)
{
	sim_reset();
	sim_describe_platform(&platform);
}

static inline void
open_driver(const struct driver *driver)
{
	memset(&device, 0, sizeof(device));
	memset(clocks, 0xa5, sizeof(clocks));
	driver->open(&platform, &device, clocks);
	assert_false(sim.interrupts_masked);
	for (size_t i = 0; i < driver->clock_count; i++) {
		assert_string_equal(clocks[i].id, driver->rows[i].id);
		assert_true(strlen(clocks[i].title) <= 60);
		assert_ptr_equal(clocks[i].device, &device);
	}
}

/* Takes COUNT samples of a clock, starting at the simulated time AT_PS. */
static inline void
take(const struct clock *clock, uint64_t at_ps, struct sample *samples, size_t count)
{
	uint64_t saved = hw_interrupts_mask();

	sim.now_ps = at_ps;
	clock->sample(clock->device, samples, count);
	hw_interrupts_restore(saved);
}

static inline void
assert_state(size_t row, enum clock_state state, const char *reason)
{
	assert_string_equal(clocks[row].reason, reason);
	assert_int_equal(clocks[row].state, state);
}

#define assert_sample(sample, begin_ticks, clock_ticks, end_ticks) do { \
	assert_int_equal((sample).begin, begin_ticks); \
	assert_int_equal((sample).ticks, clock_ticks); \
	assert_int_equal((sample).end, end_ticks); \
} while (0)

#endif
