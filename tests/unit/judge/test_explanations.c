/*
 * Tests of pairs of rules. With both faults, the explained rule has no finding. Without the explaining fault, it has
 * one.
 */
#include "test.h"
#include "judge/judge_internal.h"
#include "report_literal.h"

/* ---- checks that fail, if nothing explains them ---- */

static void
add_check(struct report *report, const char *rule, const char *clock, int64_t low, int64_t high)
{
	literal_set_figure(literal_add_behaviour(report, rule, clock, "Wrong."), low, high);
}

/* The periods of SOURCE are 900 to 1100 ppm too long. */
static void
add_tick_rate(struct report *report, const char *source)
{
	report->figures.interval_count = 1;
	report->figures.intervals[0] = (struct interval_figures){
		.test = { .source = source, .periodic = true, .route_kind = "ioapic", .asked_ns = 1000000 },
		.state = CLOCK_PRESENT, .asked = 200, .expected = 200, .delivered = 200,
		.rate = { true, 1000000, 900000, 1100000 },
	};
}

/* The clock ID lost 20 ms while all cores slept, and two other clocks lost nothing. */
static void
add_stop_in_sleep(struct report *report, const char *id)
{
	static const char *const clocks[] = { "hpet", "acpi_pm", "pit" };
	struct report_sleeps *sleeps = &report->figures.sleeps;

	sleeps->count = 1;
	sleeps->clock_count = 3;
	sleeps->rows[0] = (struct report_sleep){ .state = "halt", .all = true, .slept_ns = 20000000,
						 .tsc_gained_ns = { -100, 100 }, .lapic_lost_ns = OFFSET_UNKNOWN };
	for (size_t i = 0; i < 3; i++) {
		bool stops = strcmp(clocks[i], id) == 0;

		sleeps->clocks[i] = (struct report_sleep_clock){
			.state = "halt", .all = true, .clock = (size_t)(literal_find_clock(report, clocks[i]) - report->facts.clocks),
			.lost_ns = { stops ? 19990000 : -5000, stops ? 20010000 : 5000 },
		};
	}
}

/* A second by SERVICE lasts half a second. */
static void
add_second_of_firmware(struct report *report, enum firmware_service service)
{
	report->figures.firmware_count = 1;
	report->figures.firmware[0] = (struct report_firmware){
		.service = service, .count = 3, .second = { true, -500000000, -500210000, -499790000 },
	};
}

static void
add_failure(struct report *report, const char *rule, const char *clock)
{
	if (strcmp(rule, "irq-rate") == 0)
		add_tick_rate(report, clock);
	else if (strcmp(rule, "clock-sleeps") == 0)
		add_stop_in_sleep(report, clock);
	else if (strcmp(rule, "efi-rate") == 0)
		add_second_of_firmware(report, strcmp(clock, "efi_time") == 0 ? FIRMWARE_TIME : FIRMWARE_PERIODIC);
	else
		add_check(report, rule, clock, 900, 1100);
}

/* ---- pairs of rules ---- */

static const struct behaviour *
find_row(const struct report *report, const char *rule, const char *clock)
{
	const struct behaviour *row = rules_find_row(report, rule, clock);

	if (!row)
		fail_msg("%s of %s is not judged", rule, clock);
	return row;
}

/* A failure of RULE on CLOCK, and a fault of the clock BY_CLOCK that breaks one of the rules BY. */
struct pairs {
	const char *rule, *clock, *by_clock;
	enum outcome outcome; /* the outcome for RULE with both faults */
	const char *end;      /* end of its sentence then */
	const char *by[8];
};

#define OF_CLOCK    ": a finding on its clock explains that."
#define OTHER_FAULT ", but the clock has another fault, too."
#define OF_RTC      "; the RTC has a fault, and the firmware may read the time of day from it."
#define BY_TSC      ", but the test was timed by a TSC whose own rate is uncertain."
#define IS_STUCK    ", but the clock itself is stuck."
#define OWN_RATE    ", but the clock's own rate is off by up to 1100 ppm."

/* In these pairs the rate is wrong by 900 to 1,100 ppm. */
static const struct pairs findings[] = {
	{ "irq-rate", "hpet0", "hpet", OUTCOME_NOT_CHECKED, IS_STUCK, { "clock-stuck" } },
	{ "irq-rate", "hpet0", "hpet", OUTCOME_NOT_DETERMINED, OF_CLOCK, { "clock-broken", "clock-backward" } },
	{ "irq-rate", "hpet0", "hpet0", OUTCOME_NOT_DETERMINED, OF_CLOCK, { "clock-broken" } },
	{ "irq-rate", "pit0", "pit", OUTCOME_NOT_DETERMINED, OF_CLOCK, { "clock-jumped", "rate-changed" } },
	{ "irq-rate", "pit0", "pit", OUTCOME_NOT_CHECKED, OWN_RATE, { "rate-off" } },
	{ "irq-rate", "rtc", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE, { "rate-wrong" } },
	{ "irq-rate", "hpet0", "hpet", OUTCOME_FAILED, "1100 ppm.", { "clock-slow", "clock-contended" } },
	{ "irq-rate", "pit0", "hpet", OUTCOME_FAILED, "1100 ppm.", { "rate-off" } },
	{ "irq-rate", "lapic", "rtc", OUTCOME_FAILED, "1100 ppm.", { "rate-wrong" } },
	{ "irq-rate", "lapic", "tsc", OUTCOME_NOT_DETERMINED, BY_TSC, { "rate-changed" } },

	{ "clock-sleeps", "hpet", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT,
	  { "clock-stuck", "clock-broken", "clock-backward", "clock-jumped" } },
	{ "clock-sleeps", "acpi_pm", "acpi_pm", OUTCOME_NOT_DETERMINED, OTHER_FAULT, { "rate-changed" } },
	{ "clock-sleeps", "acpi_pm", "acpi_pm", OUTCOME_FAILED, "against the TSC.", { "rate-off", "rate-wrong" } },
	{ "clock-sleeps", "hpet", "acpi_pm", OUTCOME_FAILED, "against the TSC.", { "rate-wrong" } },
	{ "clock-sleeps", "hpet", "hpet", OUTCOME_FAILED, "against the TSC.", { "clock-slow" } },

	{ "efi-rate", "efi_time", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC,
	  { "clock-stuck", "clock-broken", "clock-backward", "clock-jumped", "rate-changed" } },
	/* the second lasts half a second, and the rate is off by 1,100 ppm at most */
	{ "efi-rate", "efi_time", "rtc", OUTCOME_FAILED, "500.21 ms.", { "rate-off", "rate-wrong" } },
	{ "efi-rate", "efi_time", "rtc", OUTCOME_FAILED, "500.21 ms.", { "clock-slow", "clock-contended" } },
	{ "efi-rate", "efi_time", "pit", OUTCOME_FAILED, "500.21 ms.", { "rate-wrong" } },
	{ "efi-rate", "efi_timer", "rtc", OUTCOME_FAILED, "500.21 ms.", { "rate-wrong" } },

	{ "rtc-periodic", "rtc", "tsc", OUTCOME_NOT_DETERMINED, BY_TSC, { "rate-changed" } },
	{ "rtc-periodic", "rtc", NULL, OUTCOME_NOT_DETERMINED, BY_TSC, { "rate-changed", "rate-disagree" } },
	{ "rtc-periodic", "rtc", "rtc", OUTCOME_NOT_CHECKED, IS_STUCK, { "clock-stuck" } },
	{ "rtc-periodic", "rtc", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE, { "rate-off", "rate-wrong", "rate-changed" } },
	{ "pv-claim", "hv_page", "hv_page", OUTCOME_NOT_CHECKED, OWN_RATE, { "pv-rate" } },
	{ "rtc-periodic", "rtc", "pit", OUTCOME_FAILED, "Wrong.", { "rate-wrong", "rate-changed", "clock-stuck" } },
	/* not a rate: its unit is us */
	{ "pit-out", "pit", "pit", OUTCOME_FAILED, "Wrong.", { "clock-stuck", "rate-wrong" } },
	{ "pit-out", "pit", NULL, OUTCOME_FAILED, "Wrong.", { "rate-disagree" } },
};

/* In these pairs the rate is wrong by 1,000,000 ppm. A clock at twice its rate may wrap in a sleep. */
static const struct pairs far_rates[] = {
	{ "efi-rate", "efi_time", "rtc", OUTCOME_NOT_DETERMINED,
	  "; the firmware may read the time of day from the RTC, whose rate is off by up to 1000100 ppm.",
	  { "rate-off", "rate-wrong" } },
	{ "clock-sleeps", "pit", "pit", OUTCOME_NOT_DETERMINED, ", but the clock's own rate is off by up to 1000100 ppm.",
	  { "rate-wrong" } },
	{ "clock-sleeps", "pit", "hpet", OUTCOME_FAILED, "against the TSC.", { "rate-wrong" } },
};

/* In these pairs the check BY failed. It becomes a finding only after it was compared with RULE. */
static const struct pairs checks[] = {
	{ "efi-rate", "efi_time", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC,
	  { "rtc-update", "rtc-seconds", "rtc-periodic", "rtc-battery", "irq-rate" } },
	{ "efi-rate", "efi_time", "rtc", OUTCOME_FAILED, "500.21 ms.", { "irq-missing" } },
	{ "efi-rate", "efi_time", "pit", OUTCOME_FAILED, "500.21 ms.", { "pit-latch" } },
	{ "irq-rate", "rtc", "rtc", OUTCOME_NOT_DETERMINED, OF_CLOCK, { "rtc-periodic" } },
	{ "irq-rate", "rtc_update", "rtc", OUTCOME_NOT_DETERMINED, OF_CLOCK, { "rtc-periodic" } },
	{ "irq-rate", "rtc", "rtc", OUTCOME_FAILED, "1100 ppm.", { "rtc-seconds" } },
	{ "clock-sleeps", "hpet", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT, { "hpet-torn" } },
	{ "clock-sleeps", "acpi_pm", "acpi_pm", OUTCOME_NOT_DETERMINED, OTHER_FAULT, { "pm-width", "pm-glitch" } },
	{ "clock-sleeps", "hpet", BEHAVIOUR_OF_MACHINE, OUTCOME_FAILED, "against the TSC.", { "hpet-torn" } },
	/* PC10 is where a real stop of the HPET is expected */
	{ "clock-sleeps", "hpet", "hpet", OUTCOME_FAILED, "against the TSC.", { "hpet-stops", "hpet-pc10" } },
	{ "irq-rate", "hpet0", "hpet", OUTCOME_FAILED, "1100 ppm.", { "hpet-pc10" } },
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct report *
make_machine(void)
{
	struct report *report = literal_make_bare_metal_report();

	report->outcomes.behaviours.count = 0;
	report->figures.firmware_count = report->figures.interval_count = 0;
	return report;
}

static bool
does_sentence_end_with(const char *text, const char *end)
{
	size_t length = strlen(text), of_end = strlen(end);

	return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Fails unless the row says that the rule BY explains it. */
static void
assert_explained(const struct rule_fault *fault, const struct pairs *pairs, const char *by)
{
	if (pairs->outcome == OUTCOME_FAILED) {
		assert_null(fault->rule);
		return;
	}
	assert_non_null(fault->rule);
	assert_string_equal(fault->rule, by);
	assert_string_equal(fault->clock ? fault->clock : "", pairs->by_clock ? pairs->by_clock : "");
	assert_int_equal(fault->core, REPORT_NO_CORE);
}

static void
assert_pair(struct report *report, const struct pairs *pairs, const char *by, void (*judge)(struct report *report))
{
	add_failure(report, pairs->rule, pairs->clock);
	judge(report);
	const struct behaviour *row = find_row(report, pairs->rule, pairs->clock);
	if (rules_get_outcome(row, &report->facts.options) != pairs->outcome ||
	    !does_sentence_end_with(row->text, pairs->end) ||
	    (rules_find_finding(report, pairs->rule, pairs->clock) != NULL) != (pairs->outcome == OUTCOME_FAILED))
		fail_msg("%s of %s with %s of %s: outcome %d, %s", pairs->rule, pairs->clock, by,
			 pairs->by_clock ? pairs->by_clock : "no clock", (int)rules_get_outcome(row, &report->facts.options),
			 row->text);
	assert_explained(&row->explained_by, pairs, by);
}

/* Judges the checks of REPORT. A test has added a finding that may explain them. */
static void
judge_with_finding(struct report *report)
{
	judge_checks(report, &report->outcomes);
}

static void
assert_pairs_by_findings(const struct pairs *pairs, int64_t ppm)
{
	for (const char *const *by = pairs->by; *by; by++) {
		struct report *report = make_machine();

		rules_set_figure(rules_add_finding(report, &report->outcomes, *by, pairs->by_clock, REPORT_NO_CORE, "Fault."),
				 ppm, ppm - 100, ppm + 100);
		assert_pair(report, pairs, *by, judge_with_finding);
		assert_non_null(rules_find_finding(report, *by, pairs->by_clock));
	}
}

TEST(a_finding_explains_a_failed_check_only_if_both_are_a_pair)
{
	for (size_t i = 0; i < COUNT(findings); i++)
		assert_pairs_by_findings(&findings[i], 1000);
	for (size_t i = 0; i < COUNT(far_rates); i++)
		assert_pairs_by_findings(&far_rates[i], 1000000);
}

/* Adds the check RULE to REPORT. Its figure is 1,000,000 if it failed. */
static void
add_check_of_pair(struct report *report, const char *rule, const char *clock, bool failed)
{
	struct behaviour *row = literal_add_behaviour(report, rule, clock, "The other check.");

	row->failed = failed;
	if (rules_find(rule)->what)
		literal_set_figure(row, failed ? 1000000 : 0, failed ? 1000000 : 0);
}

TEST(a_check_explains_another_only_if_both_are_a_pair_and_it_failed)
{
	for (size_t i = 0; i < COUNT(checks); i++)
		for (const char *const *by = checks[i].by; *by; by++) {
			struct report *failed = make_machine(), *passed = make_machine();

			add_check_of_pair(failed, *by, checks[i].by_clock, true);
			assert_pair(failed, &checks[i], *by, literal_judge);
			assert_non_null(rules_find_finding(failed, *by, checks[i].by_clock));
			add_check_of_pair(passed, *by, checks[i].by_clock, false);
			add_failure(passed, checks[i].rule, checks[i].clock);
			literal_judge(passed);
			assert_true(rules_has_check_failed(passed, find_row(passed, checks[i].rule, checks[i].clock)));
			assert_null(rules_find_finding(passed, *by, checks[i].by_clock));
		}
}

/* Returns true if one of COUNT rows has a check that PAIR explains by a fault of the rule BY. */
static bool
is_in_pairs(const struct pairs *rows, size_t count, const struct explanation *pair, const char *by)
{
	for (size_t i = 0; i < count; i++)
		for (const char *const *rule = rows[i].by; *rule; rule++)
			if (rows[i].outcome != OUTCOME_FAILED && strcmp(*rule, by) == 0 &&
			    (pair->rule ? strcmp(rows[i].rule, pair->rule) == 0 :
					  strcmp(rules_find(rows[i].rule)->unit, pair->unit) == 0) &&
			    strstr(rows[i].end, pair->words))
				return true;
	return false;
}

TEST(each_fault_in_the_table_of_explanations_is_tested)
{
	for (const struct explanation *pair = explanations; pair->words; pair++)
		for (size_t i = 0; pair->by[i]; i++) {
			assert_non_null(rules_find(pair->by[i]));
			if (!is_in_pairs(findings, COUNT(findings), pair, pair->by[i]) &&
			    !is_in_pairs(far_rates, COUNT(far_rates), pair, pair->by[i]) &&
			    !is_in_pairs(checks, COUNT(checks), pair, pair->by[i]))
				fail_msg("no pair explains %s by %s", pair->rule ? pair->rule : pair->unit, pair->by[i]);
		}
}

/* ---- a fault of the TSC, and of a device ---- */

/* A TSC whose readings stepped back also timed the tests of other clocks. */
TEST(a_tsc_that_stepped_back_explains_each_figure_that_it_timed)
{
	static const char *const rows[][2] = { { "irq-rate", "hpet0" }, { "clock-sleeps", "hpet" }, { "efi-rate", "efi_time" },
					       { "rtc-periodic", "rtc" }, { "pit-out", "pit" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *report = make_machine();

		literal_find_clock(report, "tsc_lfence")->monotonic.backward = 1;
		assert_pair(report, &(struct pairs){ rows[i][0], rows[i][1], "tsc_lfence", OUTCOME_NOT_CHECKED,
						     "by a TSC that stepped back or jumped.", { NULL } },
			    "clock-backward", literal_judge);
		assert_int_equal(report->outcomes.finding_count, 1);
	}
}

/* A TSC that also stops in sleep is still no evidence against the clocks that it timed. Each of its faults is named. */
TEST(a_tsc_that_stepped_back_and_stops_in_sleep_explains_the_figures_that_it_timed)
{
	struct report *report = make_machine();

	report->figures.sleeps.count = 1;
	report->figures.sleeps.rows[0] = (struct report_sleep){
		.state = "halt", .core = 2, .slept_ns = 20000000, .tsc_gained_ns = { -20010000, -19990000 },
		.lapic_lost_ns = OFFSET_UNKNOWN,
	};
	literal_find_clock(report, "tsc_lfence")->monotonic.backward = 1;
	assert_pair(report, &(struct pairs){ "rtc-periodic", "rtc", "tsc_lfence", OUTCOME_NOT_CHECKED,
					     "by a TSC that stepped back or jumped.", { NULL } },
		    "clock-backward", literal_judge);
	assert_int_equal(report->outcomes.finding_count, 2);
	assert_non_null(rules_find_finding(report, "clock-backward", "tsc_lfence"));
	assert_non_null(rules_find_finding(report, "tsc-sleeps", "tsc"));
}

/* Wrong readings of a device that fails a check have the same cause. A check that only warns is no such cause. */
TEST(a_failed_check_of_a_device_explains_its_state_and_its_steps_back)
{
	static const struct {
		const char *rule;
		bool explains;
	} rows[] = { { "hpet-stops", true }, { "hpet-torn", true }, { "hpet-pc10", false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct report *stuck = make_machine(), *stepped = make_machine();

		literal_add_behaviour(stuck, rows[i].rule, "hpet", "Fault.")->failed = true;
		literal_remove_clock(stuck, "hpet", CLOCK_STUCK, "it did not move");
		literal_judge(stuck);
		assert_int_equal(rules_find_finding(stuck, "clock-stuck", "hpet") == NULL, rows[i].explains);
		assert_int_equal(literal_find_outcome(stuck, "hpet")->verdict, VERDICT_FAIL);
		literal_add_behaviour(stepped, rows[i].rule, "hpet", "Fault.")->failed = true;
		literal_find_clock(stepped, "hpet")->monotonic.backward = 3;
		literal_judge(stepped);
		assert_int_equal(rules_find_finding(stepped, "clock-backward", "hpet") == NULL, rows[i].explains);
	}
}
