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

/* A failure of RULE on CLOCK, and a fault that breaks the rule BY on the clock BY_CLOCK by 900 to 1100 ppm. */
struct pair {
	const char *rule, *clock, *by, *by_clock;
	enum outcome outcome; /* the outcome for RULE with both faults */
	const char *end;      /* end of its sentence then */
};

#define OF_CLOCK    ": a finding on its clock explains that."
#define OTHER_FAULT ", but the clock has another fault, too."
#define OF_RTC      "; the RTC has a fault, and the firmware may read the time of day from it."
#define BY_TSC      ", but the test was timed by a TSC whose own rate is uncertain."
#define IS_STUCK    ", but the clock itself is stuck."
#define OWN_RATE    ", but the clock's own rate is off by up to 1100 ppm."

static const struct pair findings[] = {
	{ "irq-rate", "hpet0", "clock-stuck", "hpet", OUTCOME_NOT_CHECKED, IS_STUCK },
	{ "irq-rate", "hpet0", "clock-broken", "hpet", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "hpet0", "clock-broken", "hpet0", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "hpet0", "clock-backward", "hpet", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "pit0", "clock-jumped", "pit", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "pit0", "rate-changed", "pit", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "pit0", "rate-off", "pit", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "irq-rate", "rtc", "rate-wrong", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "irq-rate", "hpet0", "clock-slow", "hpet", OUTCOME_FAILED, "1100 ppm." },
	{ "irq-rate", "hpet0", "clock-contended", "hpet", OUTCOME_FAILED, "1100 ppm." },
	{ "irq-rate", "pit0", "rate-off", "hpet", OUTCOME_FAILED, "1100 ppm." },
	{ "irq-rate", "lapic", "rate-wrong", "rtc", OUTCOME_FAILED, "1100 ppm." },
	{ "irq-rate", "lapic", "rate-changed", "tsc", OUTCOME_NOT_DETERMINED, BY_TSC },

	{ "clock-sleeps", "hpet", "clock-stuck", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "hpet", "clock-broken", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "hpet", "clock-backward", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "hpet", "clock-jumped", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "acpi_pm", "rate-off", "acpi_pm", OUTCOME_FAILED, "against the TSC." },
	{ "clock-sleeps", "acpi_pm", "rate-wrong", "acpi_pm", OUTCOME_FAILED, "against the TSC." },
	{ "clock-sleeps", "acpi_pm", "rate-changed", "acpi_pm", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "hpet", "rate-wrong", "acpi_pm", OUTCOME_FAILED, "against the TSC." },
	{ "clock-sleeps", "hpet", "clock-slow", "hpet", OUTCOME_FAILED, "against the TSC." },

	{ "efi-rate", "efi_time", "clock-stuck", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "clock-broken", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "clock-backward", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "clock-jumped", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rate-off", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rate-wrong", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rate-changed", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "clock-slow", "rtc", OUTCOME_FAILED, "500.21 ms." },
	{ "efi-rate", "efi_time", "clock-contended", "rtc", OUTCOME_FAILED, "500.21 ms." },
	{ "efi-rate", "efi_time", "rate-wrong", "pit", OUTCOME_FAILED, "500.21 ms." },
	{ "efi-rate", "efi_timer", "rate-wrong", "rtc", OUTCOME_FAILED, "500.21 ms." },

	{ "rtc-periodic", "rtc", "rate-changed", "tsc", OUTCOME_NOT_DETERMINED, BY_TSC },
	{ "rtc-periodic", "rtc", "rate-changed", NULL, OUTCOME_NOT_DETERMINED, BY_TSC },
	{ "rtc-periodic", "rtc", "rate-disagree", NULL, OUTCOME_NOT_DETERMINED, BY_TSC },
	{ "rtc-periodic", "rtc", "clock-stuck", "rtc", OUTCOME_NOT_CHECKED, IS_STUCK },
	{ "rtc-periodic", "rtc", "rate-off", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "rtc-periodic", "rtc", "rate-wrong", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "rtc-periodic", "rtc", "rate-changed", "rtc", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "pv-claim", "hv_page", "pv-rate", "hv_page", OUTCOME_NOT_CHECKED, OWN_RATE },
	{ "rtc-periodic", "rtc", "rate-wrong", "pit", OUTCOME_FAILED, "Wrong." },
	{ "rtc-periodic", "rtc", "clock-stuck", "pit", OUTCOME_FAILED, "Wrong." },
	/* not a rate: its unit is us */
	{ "pit-out", "pit", "clock-stuck", "pit", OUTCOME_FAILED, "Wrong." },
	{ "pit-out", "pit", "rate-wrong", "pit", OUTCOME_FAILED, "Wrong." },
	{ "pit-out", "pit", "rate-disagree", NULL, OUTCOME_FAILED, "Wrong." },
};

/* In these pairs the rate is wrong by 1,000,000 ppm. A clock at twice its rate may wrap in a sleep. */
static const struct pair far_rates[] = {
	{ "clock-sleeps", "pit", "rate-wrong", "pit", OUTCOME_NOT_DETERMINED,
	  ", but the clock's own rate is off by up to 1000100 ppm." },
	{ "clock-sleeps", "pit", "rate-wrong", "hpet", OUTCOME_FAILED, "against the TSC." },
};

/* In these pairs the check BY failed. It becomes a finding only after it was compared with RULE. */
static const struct pair checks[] = {
	{ "efi-rate", "efi_time", "rtc-update", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rtc-seconds", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rtc-periodic", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "rtc-battery", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "irq-rate", "rtc", OUTCOME_NOT_DETERMINED, OF_RTC },
	{ "efi-rate", "efi_time", "irq-missing", "rtc", OUTCOME_FAILED, "500.21 ms." },
	{ "efi-rate", "efi_time", "pit-latch", "pit", OUTCOME_FAILED, "500.21 ms." },
	{ "irq-rate", "rtc", "rtc-periodic", "rtc", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "rtc_update", "rtc-periodic", "rtc", OUTCOME_NOT_DETERMINED, OF_CLOCK },
	{ "irq-rate", "rtc", "rtc-seconds", "rtc", OUTCOME_FAILED, "1100 ppm." },
	{ "clock-sleeps", "hpet", "hpet-torn", "hpet", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "acpi_pm", "pm-width", "acpi_pm", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "acpi_pm", "pm-glitch", "acpi_pm", OUTCOME_NOT_DETERMINED, OTHER_FAULT },
	{ "clock-sleeps", "hpet", "hpet-stops", "hpet", OUTCOME_FAILED, "against the TSC." },
	{ "clock-sleeps", "hpet", "hpet-torn", BEHAVIOUR_OF_MACHINE, OUTCOME_FAILED, "against the TSC." },
	/* PC10 is where a real stop of the HPET is expected */
	{ "clock-sleeps", "hpet", "hpet-pc10", "hpet", OUTCOME_FAILED, "against the TSC." },
	{ "irq-rate", "hpet0", "hpet-pc10", "hpet", OUTCOME_FAILED, "1100 ppm." },
};

static struct report *
make_machine(void)
{
	struct report *report = literal_make_clean_report();

	report->outcomes.behaviours.count = 0;
	report->figures.firmware_count = report->figures.interval_count = 0;
	report->facts.machine.hypervisor[0] = 0;
	return report;
}

static bool
does_sentence_end_with(const char *text, const char *end)
{
	size_t length = strlen(text), of_end = strlen(end);

	return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Fails unless the row says which fault explains it. */
static void
assert_explained(const struct rule_fault *fault, const struct pair *pair)
{
	if (pair->outcome == OUTCOME_FAILED) {
		assert_null(fault->rule);
		return;
	}
	assert_non_null(fault->rule);
	assert_string_equal(fault->rule, pair->by);
	assert_string_equal(fault->clock ? fault->clock : "", pair->by_clock ? pair->by_clock : "");
	assert_int_equal(fault->core, REPORT_NO_CORE);
}

static void
assert_pair(struct report *report, const struct pair *pair, void (*judge)(struct report *report))
{
	const struct behaviour *row;

	add_failure(report, pair->rule, pair->clock);
	judge(report);
	row = find_row(report, pair->rule, pair->clock);
	if (rules_get_outcome(row, &report->facts.options) != pair->outcome || !does_sentence_end_with(row->text, pair->end) ||
	    (rules_find_finding(report, pair->rule, pair->clock) != NULL) != (pair->outcome == OUTCOME_FAILED))
		fail_msg("%s of %s with %s of %s: outcome %d, %s", pair->rule, pair->clock, pair->by,
			 pair->by_clock ? pair->by_clock : "no clock", (int)rules_get_outcome(row, &report->facts.options),
			 row->text);
	assert_explained(&row->explained_by, pair);
}

TEST(a_check_fails_if_no_other_fault_explains_it)
{
	static const struct pair alone[] = {
		{ "irq-rate", "hpet0", "", "", OUTCOME_FAILED, "1100 ppm." },
		{ "clock-sleeps", "hpet", "", "", OUTCOME_FAILED, "against the TSC." },
		{ "clock-sleeps", "acpi_pm", "", "", OUTCOME_FAILED, "against the TSC." },
		{ "efi-rate", "efi_time", "", "", OUTCOME_FAILED, "500.21 ms." },
		{ "rtc-periodic", "rtc", "", "", OUTCOME_FAILED, "Wrong." },
		{ "pv-claim", "hv_page", "", "", OUTCOME_FAILED, "Wrong." },
		{ "pit-out", "pit", "", "", OUTCOME_FAILED, "Wrong." },
	};

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		assert_pair(make_machine(), &alone[i], literal_judge);
}

/* Judges the checks of REPORT. A test has added a finding that may explain them. */
static void
judge_with_finding(struct report *report)
{
	judge_checks(report, &report->outcomes);
}

static void
assert_pair_by_finding(const struct pair *pair, int64_t ppm)
{
	struct report *report = make_machine();

	rules_set_figure(rules_add_finding(report, &report->outcomes, pair->by, pair->by_clock, REPORT_NO_CORE, "Fault."),
			 ppm, ppm - 100, ppm + 100);
	assert_pair(report, pair, judge_with_finding);
	assert_non_null(rules_find_finding(report, pair->by, pair->by_clock));
}

TEST(a_finding_explains_a_failed_check_only_if_both_are_a_pair)
{
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++)
		assert_pair_by_finding(&findings[i], 1000);
	for (size_t i = 0; i < sizeof(far_rates) / sizeof(far_rates[0]); i++)
		assert_pair_by_finding(&far_rates[i], 1000000);
}

TEST(a_failed_check_explains_another_only_if_both_are_a_pair)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct report *report = make_machine();
		struct behaviour *row = literal_add_behaviour(report, checks[i].by, checks[i].by_clock, "Fault.");

		row->failed = true;
		if (rules_find(checks[i].by)->what)
			literal_set_figure(row, 1000000, 1000000);
		assert_pair(report, &checks[i], literal_judge);
		assert_non_null(rules_find_finding(report, checks[i].by, checks[i].by_clock));
	}
}

TEST(a_check_that_passed_explains_nothing)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct report *report = make_machine();
		struct behaviour *row = literal_add_behaviour(report, checks[i].by, checks[i].by_clock, "Healthy.");
		const struct pair *pair = &checks[i];

		if (rules_find(pair->by)->what)
			literal_set_figure(row, 0, 0);
		add_failure(report, pair->rule, pair->clock);
		literal_judge(report);
		assert_true(rules_has_check_failed(report, find_row(report, pair->rule, pair->clock)));
		assert_null(rules_find_finding(report, pair->by, pair->by_clock));
	}
}

/* Returns true if one of COUNT pairs has a check that PAIR explains by a fault of the rule BY. */
static bool
is_in_pairs(const struct pair *pairs, size_t count, const struct explanation *pair, const char *by)
{
	for (size_t i = 0; i < count; i++)
		if (pairs[i].outcome != OUTCOME_FAILED && strcmp(pairs[i].by, by) == 0 &&
		    (pair->rule ? strcmp(pairs[i].rule, pair->rule) == 0 :
				  strcmp(rules_find(pairs[i].rule)->unit, pair->unit) == 0) && strstr(pairs[i].end, pair->words))
			return true;
	return false;
}

TEST(each_fault_in_the_table_of_explanations_is_tested)
{
	for (const struct explanation *pair = explanations; pair->words; pair++)
		for (size_t i = 0; pair->by[i]; i++) {
			assert_non_null(rules_find(pair->by[i]));
			if (!is_in_pairs(findings, sizeof(findings) / sizeof(findings[0]), pair, pair->by[i]) &&
			    !is_in_pairs(far_rates, sizeof(far_rates) / sizeof(far_rates[0]), pair, pair->by[i]) &&
			    !is_in_pairs(checks, sizeof(checks) / sizeof(checks[0]), pair, pair->by[i]))
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
		assert_pair(report, &(struct pair){ rows[i][0], rows[i][1], "clock-backward", "tsc_lfence",
						    OUTCOME_NOT_CHECKED, "by a TSC that stepped back or jumped." },
			    literal_judge);
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
	assert_pair(report, &(struct pair){ "rtc-periodic", "rtc", "clock-backward", "tsc_lfence", OUTCOME_NOT_CHECKED,
					    "by a TSC that stepped back or jumped." }, literal_judge);
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
