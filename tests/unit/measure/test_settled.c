/*
 * A quick run's window for rates ends when all findings that depend on the rates are determined, or at its maximum
 * length.
 */
#include "test.h"
#include "bench.h"
#include "sim.h"

#define BOUND_PS (SIM_PS_PER_S)
#define EARLY_PS (BOUND_PS / 4 * 3)
#define PPM      1000
#define LIMIT    (100 * PPM)

static const char *const counters[] = { "tsc", "hpet", "acpi_pm", "pit", NULL };

struct played {
	struct bench *bench;
	uint64_t window_ps;
};

/* Measures the rates of the simulated machine in its present state. */
static struct played
play(enum options_profile profile, const char *const *clocks)
{
	struct played played = { .bench = bench_new() };

	played.bench->clocks = clocks;
	bench_open(played.bench, 1);
	played.bench->run.report.options.profile = profile;
	survey_prepare(&played.bench->run.survey);
	played.window_ps = sim.now_ps;
	survey_rates(&played.bench->run.survey);
	played.window_ps = sim.now_ps - played.window_ps;
	return played;
}

/* Returns the interval of CLOCK's rate against the HPET, whose nominal rate is right. */
static const struct interval_ppb *
error_of(struct bench *bench, const char *clock)
{
	return &bench_find(bench, clock)->error;
}

TEST(it_ends_early_where_all_is_determined)
{
	struct played quick, standard;

	sim_reset();
	quick = play(PROFILE_QUICK, counters);
	assert_in_range(quick.window_ps, 1, EARLY_PS);
	for (size_t i = 1; counters[i]; i++) {
		assert_true(error_of(quick.bench, counters[i])->known);
		assert_in_range(error_of(quick.bench, counters[i])->high, 0, LIMIT - 1);
		assert_in_range(-error_of(quick.bench, counters[i])->low, 0, LIMIT - 1);
		assert_true(bench_find(quick.bench, counters[i])->change_halves.known);
	}
	bench_free(quick.bench);
	sim_reset();
	standard = play(PROFILE_STANDARD, counters);
	assert_true(standard.window_ps >= BOUND_PS);
	bench_free(standard.bench);
}

/*
 * A read of the HPET takes 200 us, as under a nested hypervisor. In a window of one second this is 200 ppm, and the
 * limit is 100 ppm.
 */
TEST(it_goes_to_its_bound_where_a_clock_can_not_be_determined)
{
	struct played played;

	sim_reset();
	sim.cost_ps[SIM_READ] = 200 * SIM_PS_PER_US;
	played = play(PROFILE_QUICK, counters);
	assert_true(played.window_ps >= BOUND_PS);
	bench_free(played.bench);
}

/* An RTC's edges are a second apart, and a window must contain one. */
TEST(it_lasts_from_edge_to_edge_where_there_is_an_rtc)
{
	struct played played;

	sim_reset();
	played = play(PROFILE_QUICK, NULL);
	assert_true(played.window_ps >= BOUND_PS);
	assert_true(error_of(played.bench, "rtc")->known);
	bench_free(played.bench);
}

/*
 * The PM timer is OFF_PPM faster than its nominal rate. Near the limit it takes longer to decide on the side. The
 * reported interval must contain the true rate, whenever the window ended.
 */
TEST(the_truth_is_inside_whenever_it_ends)
{
	static const int64_t off_ppm[] = { 0, 60, 99, -99, 101, -101, 120, 1000, -1000 };

	for (size_t i = 0; i < sizeof(off_ppm) / sizeof(off_ppm[0]); i++) {
		const struct interval_ppb *ppb = NULL;
		int64_t truth = off_ppm[i] * PPM;
		struct played played;

		sim_reset();
		sim.pm.counter.hz = (struct rate){ (uint64_t)(3579545 * (INT64_C(1000000) + off_ppm[i])), 1000000 };
		played = play(PROFILE_QUICK, counters);
		for (size_t r = 0; r < played.bench->run.report.rate_count; r++) {
			const struct report_rate *rate = &played.bench->run.report.rates[r];

			if (strcmp(rate->a, "hpet") == 0 && strcmp(rate->b, "acpi_pm") == 0)
				ppb = &rate->ppb;
		}
		assert_non_null(ppb);
		assert_true(ppb->low <= -truth && -truth - 1000 <= ppb->high); /* -x / (1 + x) */
		assert_true(played.window_ps >= BOUND_PS ||
			    (ppb->low > -LIMIT && ppb->high < LIMIT) || ppb->low > LIMIT || ppb->high < -LIMIT);
		bench_free(played.bench);
	}
}
