/*
 * Two programs that measure the TSC's rate by the operating system's clock. Here that clock is simulated: a TSC reading
 * is converted by the exact rate, so that only the programs' own errors appear. Each program also reads the TSC itself,
 * shortly before or after each reading of the simulated clock.
 *
 * Valkey: valkey-io/valkey at 0148137a, src/monotonic.c, monotonicInit_x86linux(). It waits three times for 10 ms,
 * measured by CLOCK_MONOTONIC in whole us. Each wait gives a multiplier, which is 2^24 / ticks per us, rounded down.
 * The smallest of the three multipliers is used.
 *
 * PostgreSQL 19: src/common/instr_time.c, pg_tsc_calibrate_frequency(). It takes at most a million readings in 50 ms.
 * At each hundredth reading it divides the TSC ticks since the start by the system time since the start. The loop ends
 * when each of ten quotients in a row differs by less than 1/10,000 from the quotient before it.
 */
#include "base/units.h"
#include "calibrations/calibrations.h"
#include "clocks/platform.h"
#include "hw/wait.h"

#define VALKEY_WAITS        3u
#define VALKEY_WAIT_NS      (10 * WAIT_NS_PER_MS)
#define VALKEY_SHIFT        24

#define POSTGRESQL_MAX_NS     (50 * WAIT_NS_PER_MS)
#define POSTGRESQL_READS_MAX  1000000u
#define POSTGRESQL_SKIPS      100u
#define POSTGRESQL_STABLE     10u
#define ESTIMATES_MAX         (CALIBRATION_READINGS / 2)
#define POSTGRESQL_STABLE_DEN 10000u

enum { NO_RATE };

static uint64_t
measure_tsc_multiplier_over_10_ms(const struct calibrating *c, struct calibration_result *result)
{
	struct wait wait = wait_begin(c->scale, VALKEY_WAIT_NS);
	uint64_t clock = hw_tsc(), tsc = hw_tsc(), end_tsc, us;

	while (wait_has_time_left(&wait))
		;
	end_tsc = hw_tsc();
	us = scale_ns(c->scale, hw_tsc()) / 1000 - scale_ns(c->scale, clock) / 1000;
	calibration_add_reading(result, us);
	calibration_add_reading(result, end_tsc - tsc);
	return us && end_tsc > tsc ? (us << VALKEY_SHIFT) / (end_tsc - tsc) : 0;
}

static void
valkey_calibrate(const struct calibrating *c, struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask(), least = UINT64_MAX;

	for (unsigned i = 0; i < VALKEY_WAITS; i++) {
		uint64_t multiplier = measure_tsc_multiplier_over_10_ms(c, result);

		least = multiplier && multiplier < least ? multiplier : least;
	}
	hw_interrupts_restore(interrupts);
	result->hz = least == UINT64_MAX ? 0 : (US_PER_S << VALKEY_SHIFT) / least;
	result->refusal = least == UINT64_MAX ? NO_RATE : CALIBRATION_NONE;
}

static bool
is_rate_stable(uint64_t hz, uint64_t before_hz)
{
	uint64_t differ = hz > before_hz ? hz - before_hz : before_hz - hz;

	return before_hz && differ < before_hz / POSTGRESQL_STABLE_DEN;
}

/* Returns the TSC's rate in Hz, or 0 if ten quotients in a row never agreed. */
static uint64_t
measure_tsc_hz_until_stable(const struct calibrating *c, struct calibration_result *result)
{
	uint64_t clock = hw_tsc(), tsc = hw_tscp(), hz = 0, before_hz = 0;
	unsigned stable = 0, estimates = 0;

	for (unsigned i = 0; i < POSTGRESQL_READS_MAX && stable < POSTGRESQL_STABLE; i++) {
		uint64_t ns = scale_ns(c->scale, hw_tsc() - clock), ticks = hw_tscp() - tsc;

		if (ns >= POSTGRESQL_MAX_NS)
			return 0;
		if (!ns || !ticks || i % POSTGRESQL_SKIPS)
			continue;
		hz = ticks * WAIT_NS_PER_S / ns;
		/* New quotients replace the oldest quotients, because only the newest ten decide. */
		result->readings[2 * (estimates % ESTIMATES_MAX)] = ns;
		result->readings[2 * (estimates++ % ESTIMATES_MAX) + 1] = ticks;
		result->reading_count = 2 * (estimates < ESTIMATES_MAX ? estimates : ESTIMATES_MAX);
		stable = is_rate_stable(hz, before_hz) ? stable + 1 : 0;
		before_hz = hz;
	}
	return stable == POSTGRESQL_STABLE ? hz : 0;
}

static void
postgresql_calibrate(const struct calibrating *c, struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask(), hz = measure_tsc_hz_until_stable(c, result);

	hw_interrupts_restore(interrupts);
	if (hz)
		calibration_set_rate_khz(result, hz / 1000);
	else
		calibration_set_failure(result, NO_RATE);
}

static const char *
valkey_find_obstacle(const struct calibrating *)
{
	return NULL;
}

static const char *
postgresql_find_obstacle(const struct calibrating *c)
{
	return c->platform->cpu.has_rdtscp ? NULL : "PostgreSQL needs RDTSCP, which this CPU does not have.";
}

const struct calibration_loop calibration_valkey = {
	.id = "valkey",
	.user = "Valkey's loop, with an exact system clock as its reference",
	.clock = "tsc",
	.refusals = { [NO_RATE] = "no wait gave a rate" },
	.longest_ns = VALKEY_WAITS * (VALKEY_WAIT_NS + WAIT_NS_PER_MS),
	.missing = valkey_find_obstacle,
	.run = valkey_calibrate,
};

const struct calibration_loop calibration_postgresql = {
	.id = "postgresql",
	.user = "PostgreSQL 19's loop, with an exact system clock as its reference",
	.clock = "tsc",
	.refusals = { [NO_RATE] = "the rate estimates did not settle in 50 ms" },
	.longest_ns = POSTGRESQL_MAX_NS + WAIT_NS_PER_MS,
	.missing = postgresql_find_obstacle,
	.run = postgresql_calibrate,
};
