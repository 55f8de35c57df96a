/*
 * Tests of three blocks of the text report: interference, the checks of devices against their data sheets, and the
 * recommended clock.
 */
#include "test.h"
#include "judge/judge.h"
#include "report_literal.h"
#include "render/layout/layout.h"
#include "render/text/report_text.h"
#include "render/cores/table_cores.h"
#include "render/sections/table_sections.h"

static char buffer[1 << 16];
LITERAL_REPORT_FIXTURE;

typedef void renderer(struct text *out, const struct report *report);

/* Returns the text that PUT writes for the report. Asserts that no line has more than 79 columns. */
static const char *
render(renderer *put)
{
	struct text text = text_start(buffer, sizeof(buffer));
	put(&text, report);
	assert_false(text.truncated);
	for (const char *line = buffer; *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 0, 79);
	return buffer;
}

static void
assert_has(renderer *put, const char *words)
{
	if (!strstr(render(put), words))
		fail_msg("not there: %s\nin: %s", words, buffer);
}

TEST(cores_without_gaps_are_reported)
{
	assert_has(table_put_interference,
		   "\nInterference\n\nNo gap longer than 10.0 us in 4.00 s of observation on 4 cores.\n");
	report->facts.core_count = 1;
	literal_fill_gap_search(report);
	report->facts.stolen_counters.smi_known = true;
	assert_has(table_put_interference,
		   "in 1.00 s of observation on 1 core. The boot core\n  counted no SMI in the whole run.\n");
}

TEST(gaps_are_described_with_the_longest_and_without_a_cause)
{
	literal_add_stolen_time(report, 2, 12, 20000000);
	assert_has(table_put_interference, "1 gap longer than 10.0 us in 4.00 s of observation on 4 cores: 20.0 ms stolen\n"
		   "  in all, 0.500 % of the time, at worst 20.0 ms on core 4. Such gaps can come\n"
		   "  from a busy host or SMIs (system management interrupts). They make no clock\n"
		   "  fail, but may leave a test undecided.\n");
	literal_add_stolen_time(report, 3, 13, 60000000);
	report->facts.stolen_counters.smi_known = true;
	report->facts.stolen_counters.smi_count = 1;
	assert_has(table_put_interference, "2 gaps longer than 10.0 us in 4.00 s of observation on 4 cores: 80.0 ms stolen\n"
		   "  in all, 2.000 % of the time, at worst 60.0 ms on core 6. Such gaps can come\n"
		   "  from a busy host or SMIs (system management interrupts). They make no clock\n"
		   "  fail, but may leave a test undecided. The boot core counted 1 SMI in the\n"
		   "  whole run.\n");
	report->facts.stolen_counters.smi_known = false;
	report->figures.interference.stolen = (struct report_stolen){ 4000000000, 84000000, 83000000, 79000000,
								      900000000 };
	assert_has(table_put_interference, "The hypervisor's counter of stolen time\n  reports 2.100 %.\n");
	report->figures.interference.stolen.observed_ns = 0;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

TEST(on_bare_metal_the_text_does_not_mention_a_busy_host)
{
	literal_add_stolen_time(report, 0, 12, 150000);
	report->facts.machine.hypervisor[0] = '\0';
	assert_has(table_put_interference, "on core 0. Such gaps can come from\n  SMIs (system management interrupts). They");
}

TEST(cores_that_were_not_observed_are_reported)
{
	report = literal_make_empty_report();
	assert_string_equal(render(table_put_interference), "\nInterference\n\nNo core was observed for gaps.\n");
	report->facts.stolen_counters.smi_known = true;
	report->facts.stolen_counters.smi_count = 3;
	assert_string_equal(render(table_put_interference),
			    "\nInterference\n\nNo core was observed for gaps. The boot core counted 3 SMIs in the whole "
			    "run.\n");
}

/*
 * The PM timer's reads have a median of 1.12 us, and the threshold is 10 us above it. Therefore a read of 11,117 ns
 * does not count as hit by a gap, and a read of 11,500 ns does.
 */
TEST(reads_hit_by_a_gap_are_counted_with_the_threshold_of_the_options)
{
	struct latency *latency = literal_find_clock(report, "acpi_pm")->latency;

	literal_record_ns(latency, 11117, 20);
	literal_record_ns(latency, 11500, 30);
	assert_has(table_put_interference, "acpi_pm          10050        31 11.5us 123 us 11.1us 11.1us\n");
	report->facts.options.gap_ns = 200000;
	assert_has(table_put_interference, "\"hits\": reads that took over 200 us longer than the median.");
	assert_has(table_put_interference, "acpi_pm          10050         0 11.5us 123 us 11.5us 123 us\n");
}

TEST(checks_have_four_outcomes)
{
	report->outcomes.behaviours.count = 0;
	assert_string_equal(render(table_put_behaviours), "");
	literal_add_behaviour(report, "pit-latch", "pit", "A latched count is held.");
	literal_add_behaviour(report, "pit-status", "pit", "NULL COUNT is 0.")->failed = true;
	literal_add_behaviour(report, "pit-out", "pit", "Port 61h is not there.")->checked = false;
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen thrice."), 2000, 3000);
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen once."), 2000, 3001);
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen twice."), 3001, 4000);
	assert_string_equal(render(table_put_behaviours),
			    "\nSpecified behaviour\n\n"
			    "2 of 6 tests passed. The others:\n"
			    "failed         pit-status     NULL COUNT is 0.\n"
			    "not checked    pit-out        Port 61h is not there.\n"
			    "not determined rtc-update     UIP was seen once.\n"
			    "failed         rtc-update     UIP was seen twice.\n");
}

TEST(timers_are_a_table_and_reasons_are_grouped)
{
	static const char *const timers[] = { "lapic", "hpet0" };

	report->outcomes.behaviours.count = 0;
	for (size_t i = 0; i < 2; i++) {
		struct behaviour *late = literal_add_behaviour(report, "irq-late", timers[i], "Late.");
		struct behaviour *off = literal_add_behaviour(report, "rate-off", i ? "hpet" : "tsc", "Off.");

		literal_add_behaviour(report, "irq-missing", timers[i], "None is missing.");
		literal_add_behaviour(report, "irq-rate", timers[i], "Too uneven.")->open = true;
		late->checked = off->checked = false;
		late->unchecked = UNCHECKED_GUEST;
		off->unchecked = UNCHECKED_NO_REFERENCE;
	}
	literal_add_behaviour(report, "irq-lost", "hpet0", "19 of 802.")->failed = true;
	assert_string_equal(render(table_put_behaviours),
			    "\nSpecified behaviour\n\n"
			    "timer, irq-     missing early lost doubled rate late\n"
			    "lapic                 +                       ?    -\n"
			    "hpet0                 +          !            ?    -\n"
			    "\nEach column is a rule: \"missing\" is irq-missing. \"+\" passed, \"!\" failed, \"?\"\n"
			    "not determined, \"-\" not checked, blank: no such test.\n\n"
			    "2 of 9 tests passed. The others:\n"
			    "not determined irq-rate       lapic: Too uneven.\n"
			    "not determined irq-rate       hpet0: Too uneven.\n"
			    "failed         irq-lost       hpet0: 19 of 802.\n"
			    "not checked    Cannot be judged in a guest or an emulator: irq-late (lapic,\n"
			    "               hpet0).\n"
			    "not checked    No independent reference: rate-off (tsc, hpet).\n");
}

/* Both the row and the finding use the limit in the options of this run. */
TEST(a_check_passes_if_its_limit_was_raised)
{
	report->outcomes.behaviours.count = 0;
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen."), 3001, 4000);
	literal_set_limit(report, "rtc-update", 4000);
	assert_has(table_put_behaviours, "\n1 of 1 tests passed.\n");
	report->facts.options.limits[0].value = 3000;
	assert_has(table_put_behaviours, "failed         rtc-update     UIP was seen.\n");
}

TEST(the_recommendation_numbers_the_clocks_and_names_clocks_to_avoid)
{
	assert_string_equal(render(table_put_advice), "");
	report->advice.ranking.count = 3;
	for (size_t i = 0; i < 3; i++)
		LITERAL_COPY(report->advice.ranking.rows[i].reason, "for a reason.");
	report->advice.ranking.rows[0].clock = "tsc";
	report->advice.ranking.rows[1].clock = "hpet";
	report->advice.ranking.rows[2].clock = "pit";
	report->advice.ranking.rows[2].avoid = true;
	assert_string_equal(render(table_put_advice),
			    "\nClocks by preference: by Linux's rating class, then by cost\n"
			    "The ratings are in Linux's code. Each hundred is a class, such as 200 to 299.\n\n"
			    "    1. tsc: for a reason.\n    2. hpet: for a reason.\n"
			    "avoid  pit: for a reason.\n");
}

TEST(a_run_with_the_option_clocks_says_why_it_does_not_predict_linuxs_clock)
{
	static const char why[] = "Which clock a system takes is predicted only without the option clocks=";

	report->advice.ranking.count = 1;
	report->advice.ranking.rows[0].clock = "tsc";
	assert_null(strstr(render(table_put_advice), why));
	report->facts.options.clocks.count = 2;
	assert_has(table_put_advice, why);
	report->advice.taken_count = 1;
	report->advice.taken[0].system = "Windows";
	report->advice.taken[0].clock = "tsc";
	assert_null(strstr(render(table_put_advice), why));
}

TEST(the_longest_sentences_fit_into_79_columns)
{
	struct report_interference *all = &report->figures.interference;

	report->outcomes.behaviours.count = 0;
	report->advice.ranking.count = REPORT_CLOCKS_MAX;
	for (size_t i = 0; i < BEHAVIOURS_MAX; i++)
	{
		struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "");

		row->failed = true;
		memset(row->text, i & 1 ? 'x' : ' ', BEHAVIOUR_TEXT_SIZE - 1);
	}
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++) {
		memset(report->advice.ranking.rows[i].reason, 'x', REPORT_SENTENCE - 1);
		report->advice.ranking.rows[i].clock = "tsc_rdtscp";
	}
	*all = (struct report_interference){ .measured = true, .threshold_ns = UINT64_MAX, .observed_ns = UINT64_MAX,
					     .gaps = UINT64_MAX, .worst_ns = UINT64_MAX, .total_ns = UINT64_MAX,
					     .worst_core = UINT32_MAX };
	report->facts.stolen_counters.smi_known = true;
	report->facts.stolen_counters.smi_count = UINT32_MAX;
	assert_true(strlen(render(table_put_behaviours)) > BEHAVIOURS_MAX / 2 * BEHAVIOUR_TEXT_SIZE);
	assert_true(strlen(render(table_put_advice)) > REPORT_CLOCKS_MAX * REPORT_SENTENCE);
	assert_has(table_put_interference, "18446744073709551615 gaps");
}

static void
assert_outcome(struct behaviour *row, int64_t low, int64_t high, uint64_t limit, enum outcome outcome)
{
	literal_set_figure(row, low, high);
	assert_int_equal(behaviour_get_outcome(row, limit), outcome);
}

TEST(an_interval_is_within_its_limit_beyond_it_or_undecided)
{
	struct behaviour row = { .checked = true };

	assert_outcome(&row, 100, 300, 300, OUTCOME_PASSED);
	assert_outcome(&row, 100, 300, 299, OUTCOME_NOT_DETERMINED);
	assert_outcome(&row, 100, 300, 100, OUTCOME_NOT_DETERMINED);
	assert_outcome(&row, 100, 300, 99, OUTCOME_FAILED);
	assert_outcome(&row, -300, -100, 300, OUTCOME_PASSED);
	assert_outcome(&row, -300, -100, 100, OUTCOME_NOT_DETERMINED);
	assert_outcome(&row, -300, -100, 99, OUTCOME_FAILED);
	/* an interval with values on both sides of the limit decides nothing */
	assert_outcome(&row, -104445, 27026, 500, OUTCOME_NOT_DETERMINED);
	assert_outcome(&row, -300, 300, 0, OUTCOME_NOT_DETERMINED);
	assert_outcome(&row, INT64_MIN, INT64_MIN, INT64_MAX, OUTCOME_FAILED);
	assert_outcome(&row, INT64_MIN, INT64_MIN, UINT64_MAX, OUTCOME_PASSED);
	row.checked = false;
	assert_int_equal(behaviour_get_outcome(&row, 0), OUTCOME_NOT_CHECKED);
	row = (struct behaviour){ .checked = true, .failed = true };
	assert_int_equal(behaviour_get_outcome(&row, UINT64_MAX), OUTCOME_FAILED);
	row.open = true;
	assert_int_equal(behaviour_get_outcome(&row, UINT64_MAX), OUTCOME_NOT_DETERMINED);
	row.checked = false;
	assert_int_equal(behaviour_get_outcome(&row, 0), OUTCOME_NOT_CHECKED);
}
