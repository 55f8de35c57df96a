/*
 * The rate window of a quick run ends as soon as all findings that depend on the rates are decided, or at its maximum
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
	played.bench->run.report.facts.options.profile = profile;
	survey_warm_up_and_estimate_tsc_rate(&played.bench->run.survey);
	played.window_ps = sim.now_ps;
	survey_measure_rates(&played.bench->run.survey);
	played.window_ps = sim.now_ps - played.window_ps;
	return played;
}

/* Returns the interval of CLOCK's rate against the HPET, whose nominal rate is exact here. */
static const struct interval_ppb *
error_of(struct bench *bench, const char *clock)
{
	return &bench_find_figures(bench, clock)->error;
}

TEST(the_window_ends_early_if_all_findings_are_decided)
{
	struct played quick, standard;

	sim_reset();
	quick = play(PROFILE_QUICK, counters);
	assert_in_range(quick.window_ps, 1, EARLY_PS);
	for (size_t i = 1; counters[i]; i++) {
		assert_true(error_of(quick.bench, counters[i])->known);
		assert_in_range(error_of(quick.bench, counters[i])->high, 0, LIMIT - 1);
		assert_in_range(-error_of(quick.bench, counters[i])->low, 0, LIMIT - 1);
		assert_true(bench_find_figures(quick.bench, counters[i])->change_halves.known);
	}
	bench_free(quick.bench);
	sim_reset();
	standard = play(PROFILE_STANDARD, counters);
	assert_true(standard.window_ps >= BOUND_PS);
	bench_free(standard.bench);
}

/*
 * A read of the HPET takes 200 us, as under a nested hypervisor. In a window of one second this is an error of 200
 * ppm, and the limit is 100 ppm.
 */
TEST(the_window_has_its_maximum_length_if_a_clock_cannot_be_decided)
{
	struct played played;

	sim_reset();
	sim.cost_ps[SIM_READ] = 200 * SIM_PS_PER_US;
	played = play(PROFILE_QUICK, counters);
	assert_true(played.window_ps >= BOUND_PS);
	bench_free(played.bench);
}

/* The RTC's edges are a second apart, and a window must start and end with an edge. */
TEST(with_an_rtc_the_window_lasts_from_edge_to_edge)
{
	struct played played;

	sim_reset();
	played = play(PROFILE_QUICK, NULL);
	assert_true(played.window_ps >= BOUND_PS);
	assert_true(error_of(played.bench, "rtc")->known);
	bench_free(played.bench);
}

/*
 * The PM timer is OFF_PPM faster than its nominal rate. The window takes longer if OFF_PPM is near the limit. The
 * reported interval must contain the true rate, whenever the window ends.
 */
TEST(the_interval_contains_the_true_rate_whenever_the_window_ends)
{
	static const int64_t off_ppm[] = { 0, 60, 99, -99, 101, -101, 120, 1000, -1000 };

	for (size_t i = 0; i < sizeof(off_ppm) / sizeof(off_ppm[0]); i++) {
		const struct interval_ppb *ppb = NULL;
		int64_t truth = off_ppm[i] * PPM;
		struct played played;

		sim_reset();
		sim.pm.counter.hz = (struct rate){ (uint64_t)(3579545 * (INT64_C(1000000) + off_ppm[i])), 1000000 };
		played = play(PROFILE_QUICK, counters);
		for (size_t r = 0; r < played.bench->run.report.figures.rate_count; r++) {
			const struct report_rate *rate = &played.bench->run.report.figures.rates[r];

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
