/*
 * Tests that a check is repeated if a preemption disturbed it and there is time. The results of undisturbed checks are
 * kept.
 */
#include "test.h"
#include "bench.h"
#include "checks/check.h"
#include "run/run_internal.h"
#include "sim.h"

#define LOOK_PS           (40 * SIM_PS_PER_MS)
#define PM_SECOND_TICKS   3579545
#define HPET_SECOND_TICKS 14318180

static unsigned looks,
	/*
	 * looks: runs of the disturbed check so far. disturbed_looks: number of these runs that a preemption disturbs.
	 */
	disturbed_looks;

static void
look_once(const struct checking *checking, struct behaviour *row)
{
	check_set_outcome(row, looks > 0); /* marks the row as failed if the disturbed check ran before */
	behaviour_set_text(row, "Seen.");
}

static void
look_where_time_is_stolen(const struct checking *checking, struct behaviour *row)
{
	assert_int_not_equal(check_get_time_left_ns(checking), 0);
	sim_advance_ps(LOOK_PS);
	if (looks++ < disturbed_looks) {
		check_mark_disturbed(row);
		return;
	}
	check_set_outcome(row, false);
	behaviour_set_text(row, "Seen at last.");
}

static void
look_at_both(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ "hpet-stops", 0, look_once }, { "hpet-base", 0, look_where_time_is_stolen }, { NULL, 0, NULL },
	};

	check_run_all(checking, checks, behaviours);
}

static struct bench *
checked(unsigned disturbed)
{
	static const struct device_check checks[] = {
		{ .driver = &acpi_pm_driver, .run = look_at_both }, { .driver = &hpet_driver, .run = look_at_both },
		{ .driver = NULL },
	};
	struct bench *bench;

	sim_reset();
	bench = bench_new();
	bench_open(bench, 1);
	bench->machine.checks = checks;
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	looks = 0;
	disturbed_looks = disturbed;
	run_device_checks(&bench->run);
	return bench;
}

TEST(only_a_disturbed_check_is_repeated)
{
	struct bench *bench = checked(5);
	const struct behaviours *behaviours = &bench->run.report.facts.checks;

	assert_int_equal(behaviours->count, 4);
	/*
	 * each of the two devices has a check that can be disturbed; these two checks run seven times in all, and the
	 * first five runs are disturbed
	 */
	assert_int_equal(looks, 7);
	for (size_t i = 0; i < behaviours->count; i++) {
		assert_true(behaviours->rows[i].checked);
		assert_false(behaviours->rows[i].disturbed);
		/*
		 * row 2 failed: it is the first check of the second device, which ran after the disturbed check of the
		 * first device
		 */
		assert_int_equal(behaviours->rows[i].failed, i == 2);
		assert_string_equal(behaviours->rows[i].text, i % 2 ? "Seen at last." : "Seen.");
	}
	bench_free(bench);
}

TEST(a_check_that_is_always_disturbed_ends_when_the_time_is_over)
{
	uint64_t bound_ps;
	struct bench *bench = checked(UINT32_MAX);
	const struct behaviours *behaviours = &bench->run.report.facts.checks;

	bound_ps = 2 * survey_get_budget(&bench->run.report)->checks_max_ns * 1000 + 2 * LOOK_PS;
	assert_in_range(looks, 5, bound_ps / LOOK_PS);
	assert_int_equal(behaviours->count, 4);
	assert_false(behaviours->rows[1].checked);
	assert_string_equal(behaviours->rows[1].text, "Time was stolen from the core in each try.");
	bench_free(bench);
}

/* A check that must be repeated, because the PM timer jumps during its first run. */
static void
look_while_the_pm_timer_leaps(const struct checking *checking, struct behaviour *row)
{
	if (looks == 0)
		sim.pm.counter.origin_ticks += PM_SECOND_TICKS;
	check_set_outcome(row, looks++ == 0);
	behaviour_set_text(row, "Seen.");
}

static void
look_at_hpet(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ "hpet-stops", 0, look_while_the_pm_timer_leaps }, { "hpet-base", 0, look_while_the_pm_timer_leaps },
		{ NULL, 0, NULL },
	};

	/* a check may set the HPET's counter back, and this must not count as a discontinuity */
	sim.hpet.counter.origin_ticks -= HPET_SECOND_TICKS;
	check_run_all(checking, checks, behaviours);
}

TEST(checks_in_which_clocks_diverged_are_repeated)
{
	static const struct device_check checks[] = {
		{ .driver = &hpet_driver, .run = look_at_hpet, .sets_counter = true }, { .driver = NULL },
	};
	struct bench *bench;

	sim_reset();
	bench = bench_new();
	bench_open(bench, 1);
	bench->machine.checks = checks;
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	looks = 0;
	run_device_checks(&bench->run);
	assert_int_equal(looks, 4); /* each of the two rows is checked twice */
	assert_int_equal(bench->run.report.facts.checks.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(bench->run.report.facts.checks.rows[i].checked);
		assert_false(bench->run.report.facts.checks.rows[i].failed);
	}
	assert_int_equal(bench->run.survey.record.entries_of[RECORD_STEP], 1);
	bench_free(bench);
}

TEST(the_profile_quick_has_the_least_time_for_checks_and_soak_the_most)
{
	static const enum options_profile profiles[] = { PROFILE_QUICK, PROFILE_STANDARD, PROFILE_SOAK };
	static struct report report;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		report.facts.options.profile = profiles[i];
		assert_true(survey_get_budget(&report)->checks_max_ns > last_ns);
		last_ns = survey_get_budget(&report)->checks_max_ns;
	}
}
