/* Tests of the judgement of cores that slept, on figures of several cores. */
#include "test.h"
#include "judge/judge.h"
#include "report_literal.h"

#define SLEPT_NS 20000000

static struct report *report;

/*
 * Makes a report in which the boot core and the cores 1 to 3 slept in HLT, and no TSC and no timer changed. The APIC
 * ids of these cores are 0, 2, 4 and 6.
 */
static void
begin(void)
{
	report = literal_make_bare_metal_report();
	struct report_sleeps *sleeps = &report->figures.sleeps;
	report->outcomes.behaviours.count = 0;
	report->facts.machine.lapic_always_runs = true;
	sleeps->count = 4;
	for (uint32_t i = 0; i < sleeps->count; i++)
		sleeps->rows[i] = (struct report_sleep){
			.state = "halt", .core = report->facts.cores[(i + 1) % 4].apic_id, .all = i == 3, .counted = i < 3,
			.slept_ns = SLEPT_NS, .tsc_gained_ns = { -100, 100 }, .adjusted_ns = { 0, 0 },
			.lapic_lost_ns = i == 3 ? OFFSET_UNKNOWN : (struct offset){ -100, 100 },
		};
}

TEST_FIXTURE(begin, NULL);

static struct report_sleep *
find_sleep(uint32_t core)
{
	return &report->figures.sleeps.rows[(core + 3) % 4];
}

/* Sets what the TSC of CORE gained in its sleep, and whether it counted for the whole sleep. */
static void
set_gain(uint32_t core, int64_t gain_ns, bool counted)
{
	find_sleep(core)->tsc_gained_ns = (struct offset){ gain_ns - 1000, gain_ns + 1000 };
	find_sleep(core)->counted = counted;
}

static void
assert_sentence(const char *rule, enum outcome outcome, uint32_t cores_asked,
		const char *words)
{
	const struct behaviour *row = report->outcomes.behaviours.rows;
	const struct finding *finding = rules_find_finding(report, rule, NULL);

	while (strcmp(row->rule, rule) != 0)
		row++;
	if (!strstr(finding ? finding->text : row->text, words))
		fail_msg("%s: %s", rule, finding ? finding->text : row->text);
	assert_int_equal(rules_get_outcome(row, &report->facts.options), outcome);
	assert_int_equal(finding != NULL, outcome == OUTCOME_FAILED);
	assert_int_equal(row->cores_asked, cores_asked);
}

TEST(a_tsc_that_lost_30_ms_but_counted_in_the_long_sleep_is_not_said_to_stop)
{
	set_gain(2, -30000000, true);
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_NOT_DETERMINED, 4,
			"core 4 lost 30.0 ms to 30.0 ms. It counted in the long sleep, so it may have moved at another time.");
}

TEST(a_tsc_that_jumps_30_ms_ahead_in_sleep_is_named_although_it_counted)
{
	set_gain(2, 30000000, true);
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_FAILED, 4,
			"on core 4, one of 4 cores: In the state halt the TSC of core 4 gained");
}

/* The PIT, the HPET and the PM timer prove that the TSC jumped, perhaps while the core slept. */
TEST(a_jump_of_the_tsc_withdraws_its_loss_or_gain_in_sleep)
{
	for (int64_t gain_ns = -30000000; gain_ns <= 30000000; gain_ns += 60000000) {
		begin();
		set_gain(2, gain_ns, false);
		literal_part_clocks(report, 8, 7);
		literal_judge(report);
		assert_non_null(rules_find_finding(report, "clock-jumped", "tsc"));
		assert_sentence("tsc-sleeps", OUTCOME_NOT_CHECKED, 4,
				"but the test was timed by a TSC that stepped back or jumped.");
	}
}

/* The register was not measured by the TSC, so a TSC that jumps does not explain its change. */
TEST(a_jump_of_the_tsc_does_not_withdraw_a_change_of_tsc_adjust)
{
	find_sleep(0)->adjusted_ns = (struct offset){ -5000000, -4999999 };
	literal_part_clocks(report, 8, 7);
	literal_judge(report);
	assert_non_null(rules_find_finding(report, "clock-jumped", "tsc"));
	assert_sentence("tsc-adjust-sleeps", OUTCOME_FAILED, 4, "the TSC_ADJUST of core 0");
}

TEST(a_loss_that_differs_from_the_change_of_tsc_adjust_is_named_next_to_it)
{
	set_gain(2, -20000000, false);
	find_sleep(2)->adjusted_ns = (struct offset){ -5000000, -4999999 };
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_FAILED, 4, "In the state halt the TSC of core 4 lost");
	assert_sentence("tsc-adjust-sleeps", OUTCOME_FAILED, 4,
			"on core 4, one of 4 cores: In the state halt the TSC_ADJUST of core 4 changed by -5.00 ms.");
}

TEST(a_loss_equal_to_the_change_of_tsc_adjust_is_explained_by_it)
{
	set_gain(2, -20000000, false);
	find_sleep(2)->adjusted_ns = (struct offset){ -20000001, -20000000 };
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_NOT_DETERMINED, 4, "A change of its TSC_ADJUST may be the cause.");
	assert_sentence("tsc-adjust-sleeps", OUTCOME_FAILED, 4, "TSC_ADJUST of core 4 changed by -20.0 ms.");
}

TEST(a_tsc_that_stops_in_sleep_is_named_next_to_one_that_moved_more_at_another_time)
{
	set_gain(1, -30000000, true);
	set_gain(3, -20000000, false);
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_FAILED, 4,
			"on core 6, one of 4 cores: In the state halt the TSC of core 6 lost");
}

TEST(a_step_back_of_the_boot_core_s_tsc_does_not_accuse_the_other_cores)
{
	for (uint32_t core = 1; core < 4; core++)
		set_gain(core, 30000000, true);
	report->facts.cores[0].tsc.backward = 1;
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_NOT_DETERMINED, 4,
			"The boot core's TSC, with which it was compared, steps back.");
}

TEST(a_timer_that_stops_in_sleep_is_named_as_one_of_the_cores_whose_timer_was_tested)
{
	find_sleep(2)->lapic_lost_ns = (struct offset){ 19990000, 20010000 };
	literal_judge(report);
	assert_sentence("lapic-sleeps", OUTCOME_FAILED, 3,
			"on core 4, one of 3 cores: In the state halt the timer of core 4 lost");
}

TEST(a_core_that_did_not_wake_is_counted_once)
{
	find_sleep(1)->wakes[WOKEN_BY_IPI] = (struct report_wakes){ .count = 8, .p50_ns = 2000, .max_ns = 3000 };
	find_sleep(2)->lost = true;
	literal_judge(report);
	assert_sentence("wake-late", OUTCOME_FAILED, 3, "on core 4, one of 3 cores: Core 4 did not wake");
}

TEST(a_core_with_an_exception_is_not_said_to_sleep_on)
{
	find_sleep(2)->lost = true;
	strcpy(report->facts.cores[2].reason, "exception 13");
	literal_judge(report);
	assert_sentence("wake-late", OUTCOME_FAILED, 3, "Core 4 was lost in the state halt: exception 13.");
}

TEST(all_cores_that_did_not_wake_are_counted)
{
	find_sleep(2)->lost = true;
	find_sleep(3)->lost = true;
	literal_judge(report);
	assert_sentence("wake-late", OUTCOME_FAILED, 3, "on 2 of 3 cores, most often on core 4: Core 4 did not wake");
}

/* Records are not trusted. With a TSC of 1 kHz, bounds of a time are as far as int64_t allows. */
TEST(bounds_of_a_hostile_record_are_judged_without_an_overflow)
{
	struct report_sleep *sleep = find_sleep(1);

	sleep->tsc_gained_ns = (struct offset){ INT64_MIN + 1, INT64_MAX - 1 };
	literal_judge(report);
	assert_sentence("tsc-sleeps", OUTCOME_NOT_DETERMINED, 4, "changed by at most");

	begin();
	sleep = find_sleep(1);
	sleep->wakes[WOKEN_BY_TIMER] = (struct report_wakes){ .count = 1, .p50_ns = INT64_MAX, .error_ns = 1 };
	literal_judge(report);
	sleep->wakes[WOKEN_BY_TIMER] = (struct report_wakes){ .count = 1, .error_ns = UINT64_MAX / 2 + 1 };
	literal_judge(report);
	assert_sentence("wake-late", OUTCOME_NOT_CHECKED, 0, "this was not measured on any core");
}
