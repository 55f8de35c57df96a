/*
 * Tests of the rule catalogue and the judge. The rules for the cores' TSCs are tested in test_rules_skew.c. Each rule
 * is tested with the smallest value that breaks it, and with a value that does not.
 */
#include <stdio.h>
#include "test.h"
#include "base/units.h"
#include "judge/judge_internal.h"
#include "report_literal.h"

LITERAL_REPORT_FIXTURE;

static void
assert_finding(size_t index, const char *rule, const char *clock, const char *text)
{
	assert_true(index < report->outcomes.finding_count);
	assert_string_equal(report->outcomes.findings[index].rule, rule);
	if (clock)
		assert_string_equal(report->outcomes.findings[index].clock, clock);
	else
		assert_null(report->outcomes.findings[index].clock);
	assert_string_equal(report->outcomes.findings[index].text, text);
}

/* Returns the number of findings by rules whose ids start with RULE. */
static size_t
count_findings(const char *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		count += strncmp(report->outcomes.findings[i].rule, rule, strlen(rule)) == 0;
	return count;
}

static const char *
find_note(const char *words)
{
	for (size_t i = 0; i < report->outcomes.notes.count; i++)
		if (strstr(report->outcomes.notes.sentences[i], words))
			return report->outcomes.notes.sentences[i];
	return "";
}

TEST(catalogue_has_complete_rows_and_distinct_ids_that_fit_an_option)
{
	size_t count = 0;

	for (const struct rule *rule = rules; rule->id; rule++, count++) {
		assert_ptr_equal(rules_find(rule->id), rule);
		assert_true(strlen(rule->id) < OPTIONS_NAME_SIZE);
		assert_true(rule->severity == VERDICT_WARN || rule->severity == VERDICT_FAIL || rule->what);
		assert_non_null(rule->sentence);
		assert_non_null(rule->source);
		assert_int_equal(rule->what != NULL, rule->unit != NULL);
	}
	assert_true(count >= 11);
	assert_true(count <= RULES_MAX);
	assert_null(rules_find("clock"));
}

TEST(rules_with_a_limit_are_the_rules_with_a_figure)
{
	const char *ids[RULES_MAX + 1];
	size_t count = 0;

	rules_list_ids_with_limit(ids);
	for (const struct rule *rule = rules; rule->id; rule++)
		if (rule->what)
			assert_string_equal(ids[count++], rule->id);
	assert_null(ids[count]);
	assert_string_equal(ids[0], "clock-backward");
}

TEST(one_step_back_fails_the_clock_and_is_printed_with_its_size)
{
	struct report_clock *pm = literal_find_clock(report, "acpi_pm");

	pm->monotonic = (struct monotonic){ .reads = 10000, .backward = 1, .worst_ticks = 12 };
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_FAIL);
	assert_int_equal(report_get_clock_outcome(report, pm)->verdict, VERDICT_FAIL);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "clock-backward", "acpi_pm", "acpi_pm stepped back 1 time in 10000 reads, at worst by 12 ticks.");
	assert_true(report->outcomes.findings[0].has_measured);
	assert_int_equal(report->outcomes.findings[0].measured, 1);
	assert_int_equal(report->outcomes.findings[0].limit, 0);
	assert_string_equal(report->outcomes.findings[0].unit, "steps");
	assert_int_equal(report->outcomes.findings[0].core, REPORT_NO_CORE);
}

/* The record has the TSC at the failure. Its time follows from the TSC's rate at the end of the run. */
TEST(the_time_of_a_failure_follows_from_the_tscs_rate)
{
	for (uint64_t ghz = 1; ghz <= 2; ghz++) {
		report = literal_make_clean_report();
		literal_remove_clock(report, "pit", CLOCK_STUCK, "channel 2 did not move");
		literal_find_clock(report, "pit")->failed_tsc = report->facts.run.start_tsc + UINT64_C(3000000000);
		report->figures.tsc.num = ghz * 1000000000;
		literal_judge(report);
		assert_non_null(strstr(report->outcomes.findings[0].text,
				       ghz == 1 ? "pit is stuck since 3.0 s into the run: " :
				       "pit is stuck since 1.5 s into the run: "));
	}
}

TEST(limit_of_3_steps_allows_3_and_not_4)
{
	for (uint64_t steps = 3; steps <= 4; steps++) {
		report = literal_make_clean_report();
		literal_set_limit(report, "clock-backward", 3);
		literal_find_clock(report, "hpet")->monotonic.backward = steps;
		literal_judge(report);
		assert_int_equal(report->outcomes.verdict, steps == 3 ? VERDICT_PASS : VERDICT_FAIL);
		assert_int_equal(report->outcomes.finding_count, steps == 3 ? 0 : 1);
		if (steps == 4)
			assert_int_equal(report->outcomes.findings[0].limit, 3);
	}
}

TEST(steps_back_of_bracketing_reads_and_of_the_tscs_own_reads_count_once)
{
	report->facts.cores[0].tsc = (struct tsc_steps){ 200000, 1, 17 };
	literal_find_clock(report, "tsc")->monotonic.backward = 5;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_int_equal(report->outcomes.findings[0].measured, 5);
	assert_int_equal(literal_find_outcome(report, "hpet")->verdict, VERDICT_PASS);
}

/*
 * Judges a report about CORES cores. The TSCs of the last STEPPING cores stepped back twice each. The only finding
 * must have TEXT.
 */
static void
assert_cores_text(size_t cores, size_t stepping, const char *text)
{
	report = literal_make_report_of_cores(cores, PAIR_SCHEDULE_ALL, NULL);
	report->facts.machine.hypervisor[0] = '\0';
	for (size_t i = 0; i < stepping; i++)
		report->facts.cores[cores - 1 - i].tsc = (struct tsc_steps){ 100000, 2, 40 + i };
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "clock-backward", "tsc", text);
	assert_int_equal(report->outcomes.findings[0].measured, 2 * stepping);
	assert_int_equal(report->outcomes.findings[0].core_count, stepping < 2 ? 0 : stepping < 8 ? stepping : 8);
	assert_int_equal(report->outcomes.findings[0].core,
			 stepping == 1 && cores > 1 ? report->facts.cores[cores - 1].apic_id : REPORT_NO_CORE);
	for (size_t i = 0; i < cores; i++)
		assert_int_equal(report->outcomes.sync.cores[i].steps_back, i >= cores - stepping);
}

TEST(the_cores_that_step_back_are_named_and_the_others_are_not)
{
	assert_cores_text(1, 1, "tsc stepped back 2 times in 100000 reads, at worst by 40 ticks.");
	assert_cores_text(2, 1, "tsc stepped back 2 times on core 2 in 100000 reads, at worst by 40 ticks. No step back was "
				"seen on 1 other core in 100000 reads.");
	assert_cores_text(4, 2, "tsc stepped back 4 times on cores 4 and 6 in 200000 reads, at worst by 41 ticks. No step "
				"back was seen on 2 other cores in 200000 reads.");
	assert_cores_text(4, 4, "tsc stepped back 8 times on all 4 cores in 400000 reads, at worst by 43 ticks.");
	assert_cores_text(12, 8, "tsc stepped back 16 times on cores 8, 10, 12, 14, 16, 18, 20 and 22 in 800000 reads, at "
				 "worst by 47 ticks. No step back was seen on 4 other cores in 400000 reads.");
	assert_cores_text(12, 9, "tsc stepped back 18 times on 9 cores (core 6 among them) in 900000 reads, at worst by 48 "
				 "ticks. No step back was seen on 3 other cores in 300000 reads.");
}

/*
 * The boot core's TSC timed all clocks, and this TSC did not step back. Therefore the other clocks are judged as usual.
 */
TEST(clocks_are_judged_although_another_cores_tsc_stepped_back)
{
	report->facts.cores[2].tsc = (struct tsc_steps){ 100000, 3, 17 };
	literal_find_clock(report, "acpi_pm")->monotonic.backward = 1;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 2);
	assert_finding(0, "clock-backward", "tsc", "tsc stepped back 3 times on core 4 in 100000 reads, at worst by 17 ticks. "
		       "No step back was seen on 3 other cores in 300000 reads.");
	assert_finding(1, "clock-backward", "acpi_pm", "acpi_pm stepped back 1 time in 10000 reads, at worst by 0 ticks.");
	assert_int_equal(literal_find_outcome(report, "tsc")->verdict, VERDICT_FAIL);
	for (size_t i = 0; i < report->outcomes.notes.count; i++)
		assert_null(strstr(report->outcomes.notes.sentences[i], "The TSC stepped back or jumped"));
}

/*
 * The TSC sometimes steps back by 10,000 ticks. Another clock that is timed across such a step seems to jump, to
 * change its rate or to be slow.
 */
TEST(no_clock_is_accused_by_a_tsc_that_stepped_back)
{
	for (int moved = 0; moved < 2; moved++) {
		report = literal_make_clean_report();
		if (moved)
			literal_find_clock(report, "tsc")->monotonic.backward = 50;
		literal_find_clock(report, "hpet")->monotonic.leaps = literal_find_clock(report, "hpet")->unexplained_leaps = 3;
		literal_find_clock(report, "acpi_pm")->monotonic.backward = 1;
		literal_find_figures(report, "pit")->change_halves = (struct interval_ppb){ true, 900000, 800000, 1000000 };
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count >= 2, !moved);
		for (size_t i = 0; moved && i < report->outcomes.finding_count; i++)
			assert_string_equal(report->outcomes.findings[i].clock, "tsc");
		if (moved)
			assert_string_not_equal(find_note("The TSC stepped back"), "");
	}
}

static const char *const devices[] = { "hpet", "acpi_pm", "pit" };

/*
 * Removes all clocks except hpet, acpi_pm and pit from the report, as in a run with the option clocks=hpet,acpi_pm,pit.
 */
static void
keep_devices(void)
{
	struct report_clock kept[3];
	const size_t count = sizeof(devices) / sizeof(devices[0]);

	for (size_t i = 0; i < count; i++) {
		kept[i] = *literal_find_clock(report, devices[i]);
		literal_find_clock(report, devices[i])->latency = NULL;
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		free(report->facts.clocks[i].latency);
	memcpy(report->facts.clocks, kept, sizeof(kept));
	report->facts.clock_count = count;
}

/* Adds a discontinuity between the TSC and all clocks in the report. The TSC itself is not in the report. */
static void
part_from_tsc(void)
{
	report->figures.discontinuities[report->figures.discontinuity_count++] = (struct report_discontinuity){
		.group_count = 2,
		.groups = { { .clocks = UINT32_C(1) << REPORT_CLOCKS_MAX, .clock_count = 1, .members = { REPORT_CLOCKS_MAX } },
			    { .clocks = 7, .clock_count = 3, .members = { 0, 1, 2 } } },
	};
}

/* Returns the TSC's rate, by a clock that is slower by 1 ppm for each unit of MILLIONTHS above 1,000,000. */
static struct rate_interval
rate_at(uint64_t millionths)
{
	const uint64_t hz = UINT64_C(3000000000000000);
	uint64_t value = hz / 1000000 * millionths;

	return (struct rate_interval){ true, value, value - hz / 100000, value + hz / 100000 };
}

/*
 * Sets the rate of the TSC that each clock implies. The PIT implies a rate that is 900 ppm higher, so it seems to be
 * 900 ppm slow.
 */
static void
set_rates(void)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		report->figures.clocks[i].implied = report->figures.clocks[i].implied_window =
			rate_at(text_equal(report->facts.clocks[i].clock.id, "pit") ? 1000900 : 1000000);
}

/* The TSC times all other clocks, even in a run that does not report the TSC itself. */
TEST(no_device_is_accused_by_a_tsc_that_diverged_from_all_devices)
{
	for (int parted = 0; parted < 2; parted++) {
		report = literal_make_clean_report();
		keep_devices();
		set_rates();
		if (parted)
			part_from_tsc();
		literal_judge(report);
		assert_int_equal(count_findings("rate-"), !parted);
	}
}

/*
 * A jump needs two other clocks as proof. In a guest they must have different sources, because all its devices count
 * the host's clock.
 */
TEST(a_clock_jumped_if_two_others_prove_it)
{
	static const struct {
		unsigned one, other;
		bool guest, jumped;
	} rows[] = {
		{ 4, 3, false, true }, { 4, 3, true, false }, { 4, 11, true, true }, { 4, 1, false, false }, { 4, 8, true, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report = rows[i].guest ? literal_make_clean_report() : literal_make_bare_metal_report();
		literal_part_clocks(report, rows[i].one, rows[i].other);
		literal_judge(report);
		assert_int_equal(rules_find_finding(report, "clock-jumped", "pit") != NULL, rows[i].jumped);
		assert_int_equal(rules_find_finding(report, "clocks-parted", NULL) != NULL, !rows[i].jumped);
	}
}

/* A PIT that does not latch shows wrong readings, which look like jumps to the comparison of clocks, too. */
TEST(a_clock_whose_read_method_failed_its_check_is_not_accused_of_jumps_as_well)
{
	for (int failed = 0; failed < 2; failed++) {
		report = literal_make_bare_metal_report();
		literal_part_clocks(report, 4, 3);
		literal_find_clock(report, "pit")->monotonic.leaps = 15;
		if (failed)
			literal_add_behaviour(report, "pit-latch", "pit", "A latched count keeps counting.")->failed = true;
		literal_judge(report);
		assert_int_equal(rules_find_finding(report, "pit-latch", "pit") != NULL, failed);
		assert_int_equal(rules_find_finding(report, "clock-jumped", "pit") != NULL, !failed);
		if (!failed)
			assert_non_null(strstr(rules_find_finding(report, "clock-jumped", "pit")->text,
					       "In all, pit jumped ahead 15 times."));
	}
}

/* The PIT jumps ahead at one time and back at another. The later jump must not hide when the clock first failed. */
TEST(the_failure_of_a_clock_that_jumped_twice_is_its_first_jump)
{
	struct report_discontinuity *rows = report->figures.discontinuities;

	report->facts.machine.hypervisor[0] = '\0';
	for (size_t i = 0; i < 2; i++) {
		literal_part_clocks(report, 4, 3);
		rows[i].at_tsc = report->facts.run.start_tsc + (i + 1) * LITERAL_TSC_HZ;
		rows[i].groups[0].elapsed = (struct interval_ns){ true, i ? -500 : 500, i ? -600 : 400, i ? -400 : 600 };
		rows[i].groups[1].elapsed = (struct interval_ns){ true, 0, -10, 10 };
	}
	literal_judge(report);
	assert_non_null(rules_find_finding(report, "clock-jumped", "pit"));
	assert_non_null(rules_find_finding(report, "clock-backward", "pit"));
	assert_int_equal(report_get_failure_tsc(report, literal_find_clock(report, "pit")), rows[0].at_tsc);
}

/*
 * The PM timer seems to jump against the PIT and the TSC. But if the TSC stopped between the readings of these devices,
 * the PM timer is not faulty.
 */
TEST(in_a_guest_whose_tsc_stops_repeatedly_no_clock_is_accused_of_a_jump)
{
	for (int stands = 0; stands < 2; stands++) {
		report = literal_make_clean_report();
		literal_part_clocks(report, 2, 12);
		if (stands)
			literal_part_clocks(report, 7, 8);
		literal_judge(report);
		assert_int_equal(count_findings("clock-jumped"), !stands);
	}
}

/*
 * Adds a discontinuity 3 s after the run's start: the clock ID counted ELAPSED, while the TSC and the HPET, or the TSC
 * alone, counted exactly one second.
 */
static void
part_from_one_second(const char *id, struct interval_ns elapsed, bool with_hpet)
{
	const struct interval_ns second = { true, NS_PER_S, NS_PER_S, NS_PER_S };
	uint8_t hpet = (uint8_t)(literal_find_clock(report, "hpet") - report->facts.clocks);
	uint8_t clock = (uint8_t)(literal_find_clock(report, id) - report->facts.clocks);

	report->figures.discontinuity_count = 1;
	report->figures.discontinuities[0] = (struct report_discontinuity){
		.at_tsc = 6000001000, .group_count = 2,
		.groups = { { 1, 1, { 0 }, second }, { UINT32_C(1) << clock, 1, { clock }, elapsed } },
	};
	if (with_hpet)
		report->figures.discontinuities[0].groups[0] =
			(struct report_group){ 1 | UINT32_C(1) << hpet, 2, { 0, hpet }, second };
}

/*
 * If a guest's RTC gets ahead of the TSC, the machine was stopped. The report says so only if a further clock agrees
 * with the TSC or is undecided.
 */
TEST(an_rtc_that_gets_ahead_is_a_stop_if_another_clock_may_agree_with_the_rest)
{
	for (int present = 0; present < 2; present++) {
		report = literal_make_clean_report();
		struct report_clock *rtc = literal_find_clock(report, "rtc");

		rtc->clock.edges_only = true;
		for (size_t i = 1; i < report->facts.clock_count; i++)
			if (&report->facts.clocks[i] != rtc && !present)
				report->facts.clocks[i].clock.state = CLOCK_ABSENT;
		part_from_one_second("rtc", (struct interval_ns){ true, 3000000000, 2990000000, 3010000000 }, false);
		report->figures.discontinuities_lost = 3;
		literal_judge(report);
		assert_int_equal(report->outcomes.discontinuities[0].class, present ? DISCONTINUITY_STOPPED :
				 DISCONTINUITY_PARTED);
		assert_int_equal(!!strstr(find_note("The machine was stopped"),
					  " for 2.000 s +-10.0 ms, or whole multiples of 60 s more at 3.0 s (shown by the rtc, unless it was set then)."),
				 present);
		assert_string_equal(find_note("The clocks disagreed"),
				    "The clocks disagreed 3 more times, which are not listed.");
	}
}

/*
 * The RTC differs from the TSC and the HPET, which counted 1 s. Only a guest's RTC shows that the machine was stopped,
 * and only if it is ahead. If the RTC's time is unknown, a pause delayed its first tick.
 */
TEST(an_rtc_that_is_behind_or_on_bare_metal_shows_no_stop_of_the_machine)
{
	static const struct {
		const char *name;
		bool guest;
		struct interval_ns rtc;
		enum discontinuity_class class;
		const char *note;
	} cases[] = {
		{ "ahead", true, { true, INT64_C(3000000000), INT64_C(2990000000), INT64_C(3010000000) }, DISCONTINUITY_STOPPED,
		  "The machine was stopped for 2.000 s +-10.0 ms, or whole multiples of 60 s more at 3.0 s (shown by the rtc, "
		  "unless it was set then)." },
		{ "unknown", true, { .known = false }, DISCONTINUITY_STOPPED,
		  "The machine was stopped before 3.0 s (shown by the rtc); for how long is not known." },
		{ "behind", true, { true, 0, -10000000, 10000000 }, DISCONTINUITY_PARTED, NULL },
		{ "ahead on bare metal", false, { true, INT64_C(3000000000), INT64_C(2990000000), INT64_C(3010000000) },
		  DISCONTINUITY_JUMPED, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		report = cases[i].guest ? literal_make_clean_report() : literal_make_bare_metal_report();
		literal_find_clock(report, "rtc")->clock.edges_only = true;
		part_from_one_second("rtc", cases[i].rtc, true);
		literal_judge(report);
		assert_int_equal(report->outcomes.discontinuities[0].class, cases[i].class);
		if (cases[i].note)
			assert_string_equal(find_note("The machine was stopped"), cases[i].note);
	}
}

/* A hypervisor's clock that counts by the TSC may stop while the machine is paused. A device's clock must not. */
TEST(a_clock_that_is_behind_jumped_unless_a_hypervisor_may_have_stopped_it)
{
	for (int by_tsc = 0; by_tsc < 2; by_tsc++) {
		report = literal_make_bare_metal_report();
		literal_find_clock(report, "pit")->clock.by_tsc = by_tsc;
		part_from_one_second("pit", (struct interval_ns){ true, 500000000, 490000000, 510000000 }, true);
		literal_judge(report);
		assert_int_equal(report->outcomes.discontinuities[0].class, by_tsc ? DISCONTINUITY_PARTED :
				 DISCONTINUITY_JUMPED);
	}
}

/*
 * Sets the rate of the TSC that the clock ID implies. This rate is WINDOW_PPM above 3 GHz in the rate window, and
 * SINCE_PPM above 3 GHz after it. Both rates are known within 10 ppm.
 */
static void
set_rate(const char *id, uint64_t window_ppm, uint64_t since_ppm)
{
	const uint64_t ppm = UINT64_C(3000000000), hz = ppm * 1000000;
	struct clock_figures *figures = literal_find_figures(report, id);

	figures->implied_window = figures->implied =
		(struct rate_interval){ true, hz + window_ppm * ppm, hz + (window_ppm - 10) * ppm, hz + (window_ppm + 10) * ppm };
	figures->implied_since =
		(struct rate_interval){ true, hz + since_ppm * ppm, hz + (since_ppm - 10) * ppm, hz + (since_ppm + 10) * ppm };
}

/*
 * A hypervisor may stop a guest while its RTC continues. Therefore a wrong rate of the RTC is a fault only if it is
 * the same in the rate window and after it.
 */
TEST(a_guests_rtc_with_another_rate_in_the_window_is_noted_or_disagrees)
{
	static const struct {
		uint64_t window_ppm, since_ppm;
		bool is_since_known, disagrees;
		const char *note;
	} rows[] = {
		{ 20, 20, true, false, "" },
		{ 1000, 20, true, false,
		  "rtc ran -999.0 ppm (-1019.0 to -979.0) off hpet while the rates were measured, and at another rate "
		  "afterwards, as if the whole machine had been stopped: this is no fault of the clock." },
		{ 1000, 20, false, false,
		  "rtc ran -999.0 ppm (-1019.0 to -979.0) off hpet while the rates were measured, and its rate after that is not "
		  "known: the whole machine may have been stopped." },
		{ 1000, 1000, true, true, "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report = literal_make_clean_report();
		for (size_t d = 0; d < 3; d++)
			set_rate(devices[d], 0, 0);
		literal_find_clock(report, "tsc")->clock.claimed = (struct rate){ 0, 0 };
		literal_find_clock(report, "rtc")->clock.edges_only = true;
		set_rate("rtc", rows[i].window_ppm, rows[i].since_ppm);
		literal_find_figures(report, "rtc")->implied_since.known = rows[i].is_since_known;
		literal_judge(report);
		assert_string_equal(find_note("while the rates were measured"), rows[i].note);
		assert_int_equal(rules_find_finding(report, "rate-disagree", NULL) != NULL, rows[i].disagrees);
	}
}

/* Asserts that LIST has the clocks in IDS, each followed by a space. */
static void
assert_clocks(const struct clock_list *list, const char *ids)
{
	char found[64] = "";

	for (size_t i = 0; i < list->count; i++) {
		strcat(found, report_clock_id(report, list->at[i]));
		strcat(found, " ");
	}
	assert_string_equal(found, ids);
}

/*
 * The interval for the rate of one group of clocks against another must contain the rates of all pairs with a clock
 * from each group.
 */
TEST(the_rate_of_two_groups_includes_all_their_pairs)
{
	report->facts.machine.hypervisor[0] = '\0';
	literal_find_clock(report, "tsc")->clock.claimed = (struct rate){ 0, 0 };
	set_rate("hpet", 0, 0);
	set_rate("acpi_pm", 30, 30);
	set_rate("pit", 900, 900);
	set_rate("rtc", 940, 940);
	literal_judge(report);
	const struct finding *finding = rules_find_finding(report, "rate-disagree", NULL);
	assert_non_null(finding);
	assert_string_equal(finding->text,
			    "By their nominal rates hpet and acpi_pm run +900.0 ppm (+850.0 to +960.0) faster than pit "
			    "and rtc; nothing shows which of the two groups is wrong.");
	assert_clocks(&finding->clocks, "hpet acpi_pm ");
	assert_clocks(&finding->others, "pit rtc ");
}

static void
change(const char *id, bool since, int64_t by_ppb)
{
	struct clock_figures *figures = literal_find_figures(report, id);

	*(since ? &figures->change_since : &figures->change_halves) =
		(struct interval_ppb){ true, by_ppb, by_ppb * 8 / 9 - 1000, by_ppb * 10 / 9 + 1000 };
}

/*
 * In a guest, it is unknown whether the rate of the devices or of the TSC changed. The PIT was timed by the TSC, and
 * seems to be 900 ppm too slow.
 */
TEST(no_device_is_accused_by_a_tsc_that_may_have_changed)
{
	for (int way = 0; way < 3; way++) { /* no change, a change in the rate window, and a change after it */

		report = literal_make_clean_report();
		set_rates();
		for (size_t i = 0; i < 3 && way; i++)
			change(devices[i], way == 2, 1000000);
		literal_judge(report);
		assert_int_equal(rules_find_finding(report, "rate-wrong", "pit") != NULL, way == 0);
	}
}

/* In a soak on bare metal, the PIT's rate changes by 300 ppb from the first to the last of three rows of the series. */
TEST(a_slow_change_of_a_rate_in_a_soak_is_a_finding_with_its_times)
{
	const uint64_t hz = UINT64_C(3000000000000000), ppb = hz / 1000000000;
	size_t pit = (size_t)(literal_find_clock(report, "pit") - report->facts.clocks);
	struct series_clock clocks[3][REPORT_CLOCKS_MAX] = { { { .count = 0 } } };
	struct series_rate rates[3][REPORT_CLOCKS_MAX] = { { { .implied.known = false } } };
	struct series_row rows[3];

	report->facts.machine.hypervisor[0] = '\0';
	for (size_t r = 0; r < 3; r++) {
		rows[r] = (struct series_row){ .from_tsc = 1000 + r * 20000000000, .to_tsc = 1000 + (r + 1) * 20000000000,
					       .clocks = clocks[r] };
		for (size_t i = 0; i < 3; i++) {
			size_t clock = (size_t)(literal_find_clock(report, devices[i]) - report->facts.clocks);
			uint64_t value = clock == pit ? hz + r * 150 * ppb : hz;

			rates[r][clock].implied = (struct rate_interval){ true, value, value - 10 * ppb, value + 10 * ppb };
		}
	}
	report->facts.series.rows = rows;
	report->facts.series.count = 3;
	report->figures.soak_rates = rates[0];
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "rate-trend", NULL,
		       "The rate of tsc, hpet and acpi_pm against pit changed by +0.3 ppm (+0.3 to +0.3), from its rate between "
		       "0 ms and 10.0 s to its rate between 20.0 s and 30.0 s; nothing shows which of the two groups changed.");
}

/*
 * Two devices are not read at exactly the same time. If the TSC stopped between their readings, one of them seems to
 * have changed its rate. This may happen in the rate window or at the end of the run.
 */
TEST(in_a_guest_a_device_that_seems_to_change_may_be_a_tsc_that_stopped)
{
	for (int since = 0; since < 2; since++) {
		size_t changed = 0;

		report = literal_make_clean_report();
		set_rates();
		literal_find_figures(report, "pit")->implied = literal_find_figures(report, "pit")->implied_window =
			literal_find_figures(report, "hpet")->implied;
		for (size_t i = 0; i < 3; i++)
			change(devices[i], since, strcmp(devices[i], "pit") == 0 ? 900000 : 0);
		literal_judge(report);
		for (size_t i = 0; i < report->outcomes.finding_count; i++) {
			const struct finding *finding = &report->outcomes.findings[i];

			if (strcmp(finding->rule, "rate-changed") != 0)
				continue;
			changed++;
			assert_null(finding->clock);
			assert_non_null(strstr(finding->text, "The rate of pit against hpet and acpi_pm changed by "));
			assert_clocks(&finding->clocks, "pit ");
			assert_clocks(&finding->others, "tsc hpet acpi_pm ");
			assert_non_null(strstr(finding->text, since ? ") after the rates were measured" :
					       ") while the rates were measured"));
			assert_non_null(strstr(finding->text, ", or the TSC stopped between two of their readings."));
		}
		assert_int_equal(changed, 1);
	}
}

/*
 * The RTC's rate is 900 ppm off. If it was right after the rate window, a stop of the TSC by 0.9 ms after the reading
 * of the RTC's edge explains it.
 */
TEST(an_rtc_is_not_called_wrong_if_a_stopped_tsc_explains_its_rate)
{
	for (int stopped = 0; stopped < 2; stopped++) {
		report = literal_make_clean_report();
		struct clock_figures *rtc = literal_find_figures(report, "rtc"), *pit = literal_find_figures(report, "pit");

		report->facts.machine.hypervisor[0] = '\0';
		literal_find_clock(report, "rtc")->clock.edges_only = true;
		set_rates();
		/* 50 ppm show that the PIT has a source of its own */
		pit->implied = pit->implied_window = rate_at(1000050);
		rtc->implied = rtc->implied_window = rate_at(999100);
		rtc->window_ns = NS_PER_S;
		rtc->since_ns = 20 * NS_PER_S;
		for (size_t i = 0; i < 3; i++)
			change(devices[i], true, 0);
		change("rtc", true, stopped ? -900000 : 0);
		literal_judge(report);
		assert_int_equal(rules_find_finding(report, "rate-wrong", "rtc") != NULL, !stopped);
		assert_int_equal(rules_find_finding(report, "rate-changed", NULL) != NULL, stopped);
	}
}

/*
 * If the TSC's rate is unknown, its ticks are treated as nanoseconds. A clock that then seems slow, or outside of its
 * data sheet, must not fail.
 */
TEST(no_clock_is_accused_by_a_tsc_whose_rate_is_unknown)
{
	for (int known = 0; known < 2; known++) {
		report = literal_make_clean_report();
		struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "64 Hz");

		literal_set_figure(row, -800000, -790000);
		literal_find_clock(report, "acpi_pm")->latency->min_ns = 100000;
		if (!known)
			report->figures.tsc = (struct rate){ 0, 0 };
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count > 0, known);
	}
}

/* The TSC may have stopped while it timed the RTC's periodic flag. */
TEST(no_data_sheet_is_broken_according_to_a_tsc_that_diverged_from_all_clocks)
{
	for (int parted = 0; parted < 2; parted++) {
		report = literal_make_clean_report();
		struct behaviour *row = literal_add_behaviour(report, "rtc-periodic", "rtc", "2 Hz");

		literal_set_figure(row, 3901, 46613);
		if (parted)
			literal_part_clocks(report, 7, 8);
		literal_judge(report);
		assert_int_equal(count_findings("rtc-periodic"), !parted);
	}
}

#define KVM_CLOCK_SIGNAL  { "kvmclock", "kvm-clock", false, false, false, 0 }
/* If the TSC alone diverges, it moved, or the other clocks were stopped. Only an announcement shows which. */
TEST(a_tsc_that_diverged_alone_is_a_disruption_only_if_it_was_announced)
{
	for (int announced = 0; announced < 2; announced++) {
		report = literal_make_clean_report();
		const struct behaviour *row = &report->outcomes.behaviours.rows[report->outcomes.behaviours.count];

		report->facts.signals = (struct signals){
			1, { { "kvmclock", "kvm-clock", false, false, announced, (uint64_t)announced } },
		};
		literal_part_clocks(report, 8, 7);
		literal_judge(report);
		assert_int_equal(report->outcomes.discontinuities[0].class, DISCONTINUITY_TSC_MOVED);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), announced ? OUTCOME_PASSED :
				 OUTCOME_NOT_CHECKED);
		assert_string_equal(row->text, announced ? "The clocks show 1 disruption, which kvm-clock announced." :
				    "The TSC alone diverged from the clocks, which does not prove a stop of the guest; kvm-clock announced "
				    "none.");
		assert_string_equal(rules_find_finding(report, "clocks-parted", NULL)->clock, "tsc");
	}
}

#define GENERATION_SIGNAL { "vmgenid", "vmgenid", true, false, false, 0 }
#define UNUSABLE_SIGNAL   { "vmclock", "vmclock", false, true, false, 0 }
#define CHANGED_SIGNAL    { "kvmclock", "kvm-clock", false, false, true, 1 }

/*
 * A hypervisor can announce disruptions by several signals. A signal for any disruption is preferred to a signal for
 * snapshots only.
 */
TEST(an_unannounced_disruption_is_a_fault_of_the_signal_for_all_disruptions)
{
	static const struct {
		struct signals signals;
		bool disrupted;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ { 1, { KVM_CLOCK_SIGNAL } }, false, OUTCOME_PASSED, "No clock shows a disruption." },
		{ { 1, { CHANGED_SIGNAL } }, false, OUTCOME_PASSED, "No clock shows a disruption, but see the notes." },
		{ { 1, { CHANGED_SIGNAL } }, true, OUTCOME_PASSED, "The clocks show 1 disruption, which kvm-clock announced." },
		{ { 2, { GENERATION_SIGNAL, KVM_CLOCK_SIGNAL } }, true, OUTCOME_FAILED,
		  "The clocks show 1 disruption, but kvm-clock announced none." },
		{ { 2, { KVM_CLOCK_SIGNAL, GENERATION_SIGNAL } }, true, OUTCOME_FAILED,
		  "The clocks show 1 disruption, but kvm-clock announced none." },
		{ { 2, { KVM_CLOCK_SIGNAL, { "vmclock", "vmclock", false, false, false, 0 } } }, true, OUTCOME_FAILED,
		  "The clocks show 1 disruption, but kvm-clock announced none." },
		{ { 2, { UNUSABLE_SIGNAL, GENERATION_SIGNAL } }, true, OUTCOME_NOT_DETERMINED,
		  "The clocks show 1 disruption, which may be a pause: vmgenid announces only restored snapshots." },
		{ { 1, { UNUSABLE_SIGNAL } }, true, OUTCOME_NOT_CHECKED,
		  "The hypervisor offers vmclock, but without the contents that its specification requires." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report = literal_make_clean_report();
		const struct behaviour *row = &report->outcomes.behaviours.rows[report->outcomes.behaviours.count];
		bool noted = rows[i].signals.list[0].changed && !rows[i].disrupted;

		report->facts.signals = rows[i].signals;
		if (rows[i].disrupted)
			literal_part_clocks(report, 9, 6);
		literal_judge(report);
		assert_string_equal(row->rule, "pv-untold");
		assert_string_equal(row->text, rows[i].text);
		assert_int_equal(rules_get_outcome(row, &report->facts.options), rows[i].outcome);
		assert_string_equal(find_note("A disruption was announced"), noted ?
				    "A disruption was announced by kvm-clock during the run, but no clock shows one." : "");
	}
}

/* The HPET jumped against the TSC only. Perhaps the TSC stopped instead, so no clock is named. */
TEST(a_jump_against_the_tsc_alone_accuses_no_clock)
{
	literal_find_clock(report, "hpet")->monotonic.leaps = literal_find_clock(report, "hpet")->unexplained_leaps = 2;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(literal_find_outcome(report, "hpet")->verdict, VERDICT_PASS);
	assert_int_equal(literal_find_outcome(report, "hpet")->open, 1);
	const struct behaviour *row = &report->outcomes.behaviours.rows[report->outcomes.behaviours.count - 1];
	assert_string_equal(row->rule, "clock-jumped");
	assert_non_null(strstr(row->text, "hpet and the TSC diverged 2 times in "));
}

/*
 * A step back of the HPET is visible in the HPET's readings alone. Therefore a step back of the TSC is no explanation.
 */
TEST(a_step_back_of_a_64_bit_counter_is_its_own_fault)
{
	for (int jumped = 0; jumped < 2; jumped++) {
		report = literal_make_bare_metal_report();
		literal_find_clock(report, "hpet")->clock.wrap_ticks = UINT64_MAX;
		literal_find_clock(report, "hpet")->monotonic.backward = 1;
		if (jumped)
			literal_part_clocks(report, 8, 7);
		else
			literal_find_clock(report, "tsc")->monotonic.backward = 1;
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count, 2);
	}
}

static void
assert_verdicts(const char *const *ids, enum verdict verdict)
{
	for (; *ids; ids++)
		assert_int_equal(literal_find_outcome(report, *ids)->verdict, verdict);
}

/* The RTC's periodic flag and its seconds are two counters. */
TEST(a_fault_of_the_counter_fails_each_read_method_of_the_counter)
{
	static const struct {
		const char *rule, *named, *ways[4], *others[4];
	} cases[] = {
		{ "rate-wrong", "tsc", { "tsc_lfence", "tsc_rdtscp", "tsc_cpuid", NULL }, { "hpet", "rtc", NULL } },
		{ "tsc-offset", "tsc", { "tsc_lfence", "tsc_rdtscp", "tsc_cpuid", NULL }, { "null", NULL } },
		{ "pit-step", "pit", { "pit_rdback", NULL }, { "tsc", NULL } },
		{ "rtc-seconds", "rtc", { NULL }, { "rtc_pf", NULL } },
		{ "hpet-torn", "hpet", { NULL }, { "hpet_32", NULL } },
		{ "clock-backward", "hpet", { NULL }, { "hpet_32", NULL } },
		{ "clock-backward", "hpet_32", { NULL }, { "hpet", NULL } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		report = literal_make_clean_report();
		rules_add_finding(report, &report->outcomes, cases[i].rule, cases[i].named, REPORT_NO_CORE, "It was seen.");
		judge_set_verdicts(report, &report->outcomes);
		assert_int_equal(literal_find_outcome(report, cases[i].named)->verdict, VERDICT_FAIL);
		assert_verdicts(cases[i].ways, VERDICT_FAIL);
		assert_verdicts(cases[i].others, VERDICT_PASS);
	}
}

TEST(a_step_back_in_bracketing_reads_fails_each_read_method_of_the_tsc)
{
	static const char *const ways[] = { "tsc_lfence", "tsc_rdtscp", "tsc_cpuid", NULL };

	for (int brackets = 0; brackets < 2; brackets++) {
		report = literal_make_clean_report();
		literal_find_clock(report, "tsc")->monotonic.backward = 3;
		if (brackets)
			report->facts.cores[0].tsc.backward = 3;
		literal_judge(report);
		assert_int_equal(literal_find_outcome(report, "tsc")->verdict, VERDICT_FAIL);
		assert_verdicts(ways, brackets ? VERDICT_FAIL : VERDICT_PASS);
	}
}

TEST(an_undetermined_rule_of_the_counter_counts_for_each_read_method)
{
	struct behaviour *row = literal_add_behaviour(report, "pit-out", "pit", "OUT rose late.");

	row->open = true;
	literal_add_behaviour(report, "pit-latch", "pit", "One of them.")->open = true;
	literal_judge(report);
	assert_int_equal(literal_find_outcome(report, "pit")->open, 2);
	assert_int_equal(literal_find_outcome(report, "pit_rdback")->open, 1);
	assert_int_equal(literal_find_outcome(report, "hpet")->open, 0);
}

/* Sets the latency of a clock to NS on all cores. The bracket is part of it. */
static void
read_slowly(const char *id, uint64_t ns)
{
	const struct sample sample = { 0, 0, ns };
	struct report_clock *entry = literal_find_clock(report, id);
	struct scale scale;

	scale_init(&scale, (struct rate){ 1000000000, 1 });
	latency_clear(entry->latency);
	for (size_t reads = 0; reads < 100; reads++)
		latency_add_samples(entry->latency, &scale, &sample, 1);
	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].latency[entry - report->facts.clocks] = (struct core_latency){
			100, ns, ns, ns, ns * 1000, ns * 1000, ns * 1000 };
}

/*
 * The advice to select another clocksource= makes no sense for the RTC, because no kernel uses the RTC for
 * timekeeping.
 */
TEST(a_slow_clock_is_named_with_its_limit_and_advice_for_its_use)
{
	static const char *const ids[] = { "hpet", "rtc" };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[128];

		report = literal_make_clean_report();
		read_slowly(ids[i], 30100);
		read_slowly("null", 100);
		literal_judge(report);
		assert_int_equal(report->outcomes.finding_count, 1);
		snprintf(text, sizeof(text), "A read of %s costs 30.0 us (without the bracket): more than the limit of 20000 ns.",
			 ids[i]);
		assert_finding(0, "clock-slow", ids[i], text);
		assert_string_equal(rules_get_advice(&report->outcomes.findings[0]),
				    !i ? rules_find("clock-slow")->advice :
				    "Read this clock seldom; kernels do not keep time by it: it ticks once a second: "
				    "use it for the date only.");
	}
}

/*
 * A CPUID that exits to the hypervisor makes the read method with CPUID slow, but not the TSC. Each slow read method of
 * a slow clock has a finding.
 */
TEST(a_slow_read_method_fails_together_with_its_slow_clock)
{
	read_slowly("pit_rdback", 50000);
	read_slowly("tsc_cpuid", 50000);
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(literal_find_outcome(report, "pit_rdback")->verdict, VERDICT_PASS);
	read_slowly("pit", 30000);
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 2);
	assert_non_null(strstr(report->outcomes.findings[0].text, "more than the limit of 20000 ns."));
	assert_int_equal(literal_find_outcome(report, "pit")->verdict, VERDICT_WARN);
	assert_int_equal(literal_find_outcome(report, "pit_rdback")->verdict, VERDICT_WARN);
	assert_non_null(rules_find_finding(report, "clock-slow", "pit_rdback"));
	assert_int_equal(literal_find_outcome(report, "tsc_cpuid")->verdict, VERDICT_PASS);
}

/*
 * A read exits to the hypervisor if it costs at least half as much as CPUID. It does not exit if it costs at most a
 * quarter as much as CPUID. Between these limits, it is unknown whether the read exits.
 */
TEST(reads_that_exit_to_the_hypervisor_are_recognised_by_the_cost_of_cpuid)
{
	static const char *const fast[] = { "tsc", "tsc_lfence", "tsc_rdtscp", NULL };
	static const char *const slow[] = { "hpet", "hpet_32", "acpi_pm", "pit", "pit_rdback", "rtc", "rtc_pf", NULL };

	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->facts.clocks[i].latency)
			latency_clear(report->facts.clocks[i].latency);
	for (size_t i = 0; fast[i]; i++)
		read_slowly(fast[i], 24);
	for (size_t i = 0; slow[i]; i++)
		read_slowly(slow[i], 1100);
	read_slowly("tsc_cpuid", 1100);
	read_slowly("hpet", 400);
	literal_judge(report);
	assert_non_null(strstr(find_note("exit to the hypervisor"),
			       ": hpet_32, acpi_pm, pit, pit_rdback, rtc, rtc_pf. Reads without an exit: tsc, tsc_lfence, tsc_rdtscp."));
	read_slowly("tsc_cpuid", 200); /* a CPUID that is this fast did not exit */
	literal_judge(report);
	assert_string_equal(find_note("exit to the hypervisor"), "");
	read_slowly("tsc_cpuid", 1100);
	report->facts.machine.hypervisor[0] = '\0';
	literal_judge(report);
	assert_string_equal(find_note("exit to the hypervisor"), "");
}

TEST(a_device_with_two_read_methods_has_one_finding)
{
	literal_remove_clock(report, "pit", CLOCK_STUCK, "channel 2 did not move");
	literal_remove_clock(report, "pit_rdback", CLOCK_STUCK, "channel 2 did not move");
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "clock-stuck", "pit", "pit is stuck: channel 2 did not move.");
	assert_false(report->outcomes.findings[0].has_measured);
	assert_int_equal(literal_find_outcome(report, "pit")->verdict, VERDICT_FAIL);
	assert_int_equal(literal_find_outcome(report, "pit_rdback")->verdict, VERDICT_FAIL);
}

TEST(a_read_method_that_alone_fails_has_a_finding)
{
	literal_remove_clock(report, "rtc_pf", CLOCK_STUCK, "No flag came.");
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "clock-stuck", "rtc_pf", "rtc_pf is stuck: No flag came.");
	assert_int_equal(literal_find_outcome(report, "rtc")->verdict, VERDICT_PASS);
}

TEST(a_broken_clock_without_a_reason_still_has_a_sentence)
{
	literal_remove_clock(report, "rtc", CLOCK_BROKEN, "");
	literal_judge(report);
	assert_finding(0, "clock-broken", "rtc", "rtc is broken.");
}

TEST(absent_and_disabled_clocks_are_absent_and_no_finding)
{
	literal_remove_clock(report, "hpet", CLOCK_ABSENT, "ACPI has no HPET table");
	literal_remove_clock(report, "rtc_pf", CLOCK_DISABLED, "register A could not be set");
	/* a hostile record may have steps back of clocks that were not read */
	literal_find_clock(report, "hpet")->monotonic.backward = literal_find_clock(report, "rtc_pf")->monotonic.backward = 1;
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(literal_find_outcome(report, "hpet")->verdict, VERDICT_ABSENT);
	assert_int_equal(literal_find_outcome(report, "rtc_pf")->verdict, VERDICT_ABSENT);
}

TEST(clock_that_was_never_read_has_no_verdict)
{
	literal_remove_clock(report, "rtc", CLOCK_PRESENT, "");
	rules_add_finding(report, &report->outcomes, "rtc-seconds", "rtc", REPORT_NO_CORE, "Fault.");
	judge_set_verdicts(report, &report->outcomes);
	assert_int_equal(literal_find_outcome(report, "rtc")->verdict, VERDICT_INCOMPLETE);
}

TEST(missing_and_silent_cores_warn_once)
{
	report->facts.cores[1].started = false;
	LITERAL_COPY(report->facts.cores[1].reason, "it did not check in within 100 ms");
	LITERAL_COPY(report->facts.cores[3].reason, "it did not come back from a job");
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_WARN);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "core-missing", NULL,
		       "2 of 4 cores are missing; the first is core 2: it did not check in within 100 ms.");
	assert_int_equal(report->outcomes.findings[0].core, 2);
	assert_int_equal(report->outcomes.findings[0].measured, 2);
}

/* Sets the time that the host took in one second, up to 90 ms at once. */
static void
set_stolen_time(uint64_t ns)
{
	report->figures.interference.measured = true;
	report->figures.interference.observed_ns = NS_PER_S;
	report->figures.interference.total_ns = ns;
	report->figures.interference.worst_ns = 90 * NS_PER_MS;
}

/* 85 % of the time was stolen, so a job of 300 ms took 2 s. */
TEST(a_late_core_on_a_host_that_takes_most_of_the_time_is_not_determined)
{
	struct report_core *late = &report->facts.cores[1];

	late->timed_out = true;
	LITERAL_COPY(late->reason, "did not finish a job in time, and was stopped");
	report->facts.cores[3].started = false;
	LITERAL_COPY(report->facts.cores[3].reason, "its APIC id is above 254, which xAPIC mode can't address");
	set_stolen_time(850000000);
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	/* core 3 is missing because of its APIC id, which is above 254, so stolen time does not explain it */
	assert_int_equal(report->outcomes.findings[0].core, report->facts.cores[3].apic_id);
	assert_int_equal(report->outcomes.findings[0].measured, 1);
	const struct behaviour *row = rules_find_row(report, "core-missing", BEHAVIOUR_OF_MACHINE);
	assert_non_null(row);
	assert_int_equal(rules_get_outcome(row, &report->facts.options), OUTCOME_NOT_DETERMINED);
	assert_string_equal(row->text,
			    "1 of 4 cores did not answer in time, the first is core 2. 85.0 % of the observed time "
			    "was stolen, up to 90 ms at once, so the host may have run them too late. Run again on "
			    "an idle host.");
}

TEST(a_late_core_on_a_host_that_takes_a_quarter_of_the_time_is_missing)
{
	report->facts.cores[1].timed_out = true;
	LITERAL_COPY(report->facts.cores[1].reason, "did not finish a job in time, and was stopped");
	set_stolen_time(250000000);
	literal_judge(report);
	assert_finding(0, "core-missing", NULL,
		       "1 of 4 cores is missing; the first is core 2: did not finish a job in time, and was stopped.");
}

TEST(cores_that_the_options_exclude_are_not_missing)
{
	report->facts.cores[2].started = report->facts.cores[3].started = false;
	report->facts.options.cores.max = 2;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	report->facts.cores[1].started = false;
	report->facts.options.cores.method = CORES_OFF;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 0);
	report->facts.options.cores.method = CORES_SIPI;
	literal_judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_finding(0, "core-missing", NULL, "1 of 4 cores is missing; the first is core 2.");
}

TEST(the_verdict_incomplete_replaces_warn_but_not_fail)
{
	notes_add(&report->facts.table_problems, "MADT: its checksum is wrong.");
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_WARN);
	report->facts.run.incomplete = true;
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_INCOMPLETE);

	report = literal_make_clean_report();
	report->facts.run.incomplete = true;
	literal_remove_clock(report, "pit", CLOCK_STUCK, "");
	literal_judge(report);
	assert_int_equal(report->outcomes.verdict, VERDICT_FAIL);
}

TEST(failures_among_64_warnings_come_first_and_replace_the_last_warnings)
{
	struct outcomes *outcomes = &report->outcomes;

	for (uint32_t i = 0; i < REPORT_FINDINGS_MAX - 1; i++) {
		if (i == REPORT_FINDINGS_MAX / 2)
			assert_non_null(rules_add_finding(report, outcomes, "clock-backward", "hpet", REPORT_NO_CORE, "Back."));
		assert_non_null(rules_add_finding(report, outcomes, "acpi-table", NULL, i, "Sentence %u.", i));
	}
	assert_null(rules_add_finding(report, outcomes, "acpi-table", NULL, 0, "One too many."));
	assert_non_null(rules_add_finding(report, outcomes, "clock-stuck", "pit", REPORT_NO_CORE, "Stuck."));
	judge_set_verdicts(report, outcomes);
	assert_int_equal(outcomes->finding_count, REPORT_FINDINGS_MAX);
	assert_string_equal(outcomes->findings[0].text, "Back.");
	assert_string_equal(outcomes->findings[1].text, "Stuck.");
	for (uint32_t i = 2; i < REPORT_FINDINGS_MAX; i++)
		assert_int_equal(outcomes->findings[i].core, i - 2);
	assert_string_equal(outcomes->findings[REPORT_FINDINGS_MAX - 1].text, "Sentence 61.");
	assert_int_equal(outcomes->verdict, VERDICT_FAIL);
	assert_int_equal(literal_find_outcome(report, "hpet")->verdict, VERDICT_FAIL);
	assert_int_equal(outcomes->notes.count, 1);
	assert_string_equal(outcomes->notes.sentences[0], "There were more findings than the report has space for.");
}

TEST(unknown_rule_adds_nothing)
{
	assert_null(rules_add_finding(report, &report->outcomes, "no-such-rule", NULL, REPORT_NO_CORE, "x"));
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

TEST(notes_after_the_16th_are_left_out_and_long_notes_are_cut)
{
	char longest[300];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	notes_add(&report->outcomes.notes, "%s", longest);
	assert_int_equal(strlen(report->outcomes.notes.sentences[0]), REPORT_SENTENCE - 1);
	for (unsigned i = 0; i < 20; i++)
		notes_add(&report->outcomes.notes, "Note %u.", i);
	assert_int_equal(report->outcomes.notes.count, REPORT_NOTES_MAX);
	assert_string_equal(report->outcomes.notes.sentences[15], "Note 14.");
}
