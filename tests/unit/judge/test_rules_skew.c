/*
 * Tests of the judge for the cores' TSCs. Each fault must have its own finding, and a machine without a fault must have
 * none. In these reports the TSC runs at 2 GHz, and the interval of each pair's offset is 80 to 118 ticks wide.
 */
#include "test.h"
#include "base/units.h"
#include "judge/judge.h"
#include "report_literal.h"

static struct report *report;

#define CORES_MAX 128

static const struct offset still = { -3, 3 };

/*
 * Returns a report about COUNT cores with even APIC ids, PER_PACKAGE in each package. See literal_fill_pass() for
 * TRUTH_TICKS.
 */
static struct report *
machine(size_t count, size_t per_package, const int64_t *truth_ticks)
{
	struct report *made = literal_make_bare_metal_report();

	literal_fill_cores(made, count);
	for (size_t i = 0; i < count; i++)
		made->facts.cores[i].facts.package = (uint32_t)(i / per_package);
	literal_fill_pass(made, PAIR_SCHEDULE_ALL, truth_ticks);
	return made;
}

static struct report *
machine_with_skewed_core(size_t count, size_t core, int64_t ticks)
{
	int64_t truth_ticks[CORES_MAX] = { 0 };

	truth_ticks[core] = ticks;
	return machine(count, count, truth_ticks);
}

static struct report *
with_limit(struct report *made, const char *rule, uint64_t value)
{
	literal_set_limit(made, rule, value);
	return made;
}

/* Judges a report, which the assertions are then about. */
static void
judge(struct report *judged)
{
	report = judged;
	literal_judge(report);
}

/* Judges a report, and asserts that it has no findings. */
static void
assert_clean(struct report *judged)
{
	judge(judged);
	assert_int_equal(report->outcomes.finding_count, 0);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

static const struct finding *
assert_finding(size_t index, const char *rule, uint32_t core, const char *text)
{
	const struct finding *finding = &report->outcomes.findings[index];

	assert_true(index < report->outcomes.finding_count);
	assert_string_equal(finding->rule, rule);
	assert_string_equal(finding->clock, "tsc");
	assert_string_equal(finding->text, text);
	assert_int_equal(finding->core, core);
	assert_true(finding->has_measured);
	return finding;
}

/*
 * Asserts that the finding names the pair A and B instead of one core, because neither of them is proven to be the
 * faulty one.
 */
static void
assert_pair(const struct finding *finding, uint32_t a, uint32_t b)
{
	assert_int_equal(finding->core, REPORT_NO_CORE);
	assert_int_equal(finding->core_count, 2);
	assert_int_equal(finding->cores[0], a);
	assert_int_equal(finding->cores[1], b);
}

static const struct finding *
assert_only_finding(const char *rule, uint32_t core, const char *text)
{
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_int_equal(report->outcomes.verdict, rules_find(rule)->severity);
	assert_int_equal(literal_find_outcome((struct report *)report, "tsc")->verdict, rules_find(rule)->severity);
	return assert_finding(0, rule, core, text);
}

static void
assert_figure(const struct finding *finding, int64_t measured, int64_t low, int64_t high, int64_t limit)
{
	assert_int_equal(finding->measured, measured);
	assert_int_equal(finding->low, low);
	assert_int_equal(finding->high, high);
	assert_int_equal(finding->limit, limit);
	assert_string_equal(finding->unit, rules_find(finding->rule)->unit);
}

TEST(machines_of_1_to_128_cores_that_agree_are_clean)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 64, 128 };

	for (size_t i = 0; i < 6; i++) {
		assert_clean(machine(sizes[i], 2, NULL));
	}
}

TEST(cores_of_a_star_schedule_that_agree_are_clean)
{
	assert_clean(literal_make_report_of_cores(4, PAIR_SCHEDULE_STAR, NULL));
}

/* The following tests are about the rule tsc-warp. */

/* Sets the number of warps that a check found. In the worst, core AHEAD's TSC read TICKS more than core BEHIND's. */
static void
set_warps(struct report_contended *check, uint64_t warps, uint64_t ticks, uint32_t ahead, uint32_t behind)
{
	check->warps = warps;
	check->worst_ticks = ticks;
	check->worst_a = ahead;
	check->worst_b = behind;
}

static struct report *
machine_with_warps(uint64_t locked, uint64_t lock_free)
{
	struct report *made = machine(4, 4, NULL);

	set_warps(&made->facts.warp_checks.locked, locked, 3563, 6, 2);
	set_warps(&made->facts.warp_checks.lock_free, lock_free, 4000, 4, 2);
	return made;
}

TEST(one_warp_in_either_check_fails_the_tsc_and_names_both_cores)
{
	static const char *const texts[] = {
		"Core 6's TSC read up to 1782 ns (3563 ticks) more than core 2's did later; 1 warp in 80000 iterations.",
		"Core 4's TSC read up to 2000 ns (4000 ticks) more than core 2's did later; 1 warp in 80000 iterations.",
	};

	for (int lock_free = 0; lock_free < 2; lock_free++) {
		judge(machine_with_warps(!lock_free, lock_free));
		assert_figure(assert_only_finding("tsc-warp", REPORT_NO_CORE, texts[lock_free]), 1, 1, 1, 0);
		assert_pair(&report->outcomes.findings[0], lock_free ? 4 : 6, 2);
		/* tsc_lfence reads the same TSC, so it fails too */
		assert_int_equal(literal_find_outcome(report, "tsc_lfence")->verdict, VERDICT_FAIL);
		/* a warp between two passes with small bounds still shows that the cores are not synchronised */
		assert_false(report->outcomes.sync.synchronised);
		assert_false(report->outcomes.sync.within_known);
	}
	assert_clean(machine_with_warps(0, 0));
	assert_true(report->outcomes.sync.synchronised);
}

TEST(warps_of_both_checks_are_added_and_the_worst_is_named)
{
	judge(machine_with_warps(5, 7));
	assert_figure(assert_only_finding("tsc-warp", REPORT_NO_CORE,
					  "Core 4's TSC read up to 2000 ns (4000 ticks) more than core 2's did later; "
					  "12 warps in 160000 iterations."),
		      12, 12, 12, 0);
	assert_pair(&report->outcomes.findings[0], 4, 2);

	assert_clean(with_limit(machine_with_warps(5, 7), "tsc-warp", 12));
	judge(with_limit(machine_with_warps(5, 7), "tsc-warp", 11));
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_int_equal(report->outcomes.findings[0].limit, 11);
}

TEST(warps_of_a_check_that_did_not_run_are_no_finding)
{
	report = machine_with_warps(1, 1);
	report->facts.warp_checks.locked.measured = report->facts.warp_checks.lock_free.measured = false;
	assert_clean(report);
}

TEST(warps_without_a_measurement_pass_are_a_finding)
{
	report = machine_with_warps(1, 0);
	literal_remove_pass(report);
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "tsc-warp");
}

TEST(a_warp_of_a_core_that_is_off_is_no_second_finding)
{
	for (uint32_t core = 2; core <= 6; core += 2) {
		report = machine_with_skewed_core(4, core / 2, 20000);
		set_warps(&report->facts.warp_checks.locked, 9, 19000, 6, 2);
		judge(report);
		assert_int_equal(report->outcomes.finding_count, core == 4 ? 2 : 1);
		assert_string_equal(report->outcomes.findings[0].rule, core == 4 ? "tsc-warp" : "tsc-offset");
		assert_int_equal(!strstr(report->outcomes.findings[0].text,
					 " Warps were seen, too (tsc-warp): 9 in 80000 iterations "
					 "under contention, the worst 9500 ns, core 6 ahead of core 2."), core == 4);
		assert_null(strstr(report->outcomes.findings[report->outcomes.finding_count - 1].text, "No warp"));
	}
}

/* The worst warp is between core number 2 (APIC id 4) and core number 1 (APIC id 2). */
TEST(warp_of_a_core_whose_tsc_steps_back_is_no_second_finding)
{
	for (size_t core = 0; core < 4; core++) {
		bool explained = core == 1 || core == 2;

		report = machine_with_warps(5, 7);
		report->facts.warp_checks.locked = report->facts.warp_checks.lock_free;
		report->facts.cores[core].tsc = (struct tsc_steps){ 100000, 9, 4000 };
		judge(report);
		assert_int_equal(report->outcomes.finding_count, explained ? 1 : 2);
		assert_string_equal(report->outcomes.findings[0].rule, "clock-backward");
		assert_int_equal(report->outcomes.findings[0].core, 2 * core);
		assert_int_equal(!!strstr(report->outcomes.findings[0].text,
					  " Warps were seen, too (tsc-warp): 14 in 160000 iterations "
					  "under contention, the worst 2000 ns, core 4 ahead of core 2; the steps back "
					  "are the likely cause."), explained);
		assert_string_equal(report->outcomes.sync.text, "not synchronised: 14 warps");
	}
}

TEST(warp_of_a_core_against_itself_says_so)
{
	report = machine_with_warps(5, 0);
	report->facts.warp_checks.locked.worst_b = report->facts.warp_checks.locked.worst_a;
	report->facts.cores[3].tsc = (struct tsc_steps){ 100000, 1, 3563 };
	judge(report);
	assert_non_null(strstr(assert_only_finding("clock-backward", 6,
						   report->outcomes.findings[0].text)->text,
			       " Warps were seen, too (tsc-warp): 5 in 80000 iterations under contention, the worst 1782 ns: "
			       "core 6 read less than it had before. The steps back are the likely cause."));
}

TEST(a_core_whose_tsc_steps_back_is_not_called_synchronised)
{
	report = machine(4, 4, NULL);
	report->facts.cores[1].tsc = (struct tsc_steps){ 100000, 9, 4000 };
	judge(report);
	assert_string_equal(report->outcomes.sync.text, "synchronisation not determined, as 1 of 4 TSCs step back");
	assert_false(report->outcomes.sync.synchronised);
	assert_false(report->outcomes.sync.within_known);
}

TEST(without_a_pass_no_bound_of_the_offsets_is_known)
{
	report = machine(4, 4, NULL);
	literal_remove_last_pass(report);
	judge(report);
	assert_true(report->outcomes.sync.within_known);
	report->figures.skew.pass_count = 0;
	report->figures.skew.passes[0].summary.bound_ticks = 0;
	judge(report);
	assert_false(report->outcomes.sync.within_known);
}

/* Asserts how FINDING differs from the core AGAINST, and between which times this was seen, in tenths of a second. */
static void
assert_difference(const struct finding *finding, enum tsc_difference differs,
		  uint32_t against, uint64_t from, uint64_t to)
{
	assert_int_equal(finding->difference, differs);
	assert_int_equal(finding->against, against);
	assert_int_equal(report_run_time_ns(report, finding->seen.begin_tsc) / (100 * NS_PER_MS), from);
	assert_int_equal(report_run_time_ns(report, finding->seen.end_tsc) / (100 * NS_PER_MS), to);
}

/* The following tests are about the rule tsc-offset. */

/*
 * The interval of the third core's offset against the boot core extends from 46 ticks below the true offset to 54 ticks
 * above it.
 */
TEST(core_20000_ticks_ahead_is_named_with_its_interval_in_ns)
{
	const struct finding *finding;

	judge(machine_with_skewed_core(4, 2, 20000));
	finding = assert_only_finding("tsc-offset", 4,
				      "Core 4's TSC is 9977 to 10027 ns ahead of core 0's at 3.1 s (first pass), "
				      "unlike the majority, which includes core 0: likely the firmware wrote the TSC, "
				      "or a later reset cleared it.");
	assert_figure(finding, 9977, 9977, 10027, 0);
	assert_difference(finding, DIFFERENCE_AHEAD, 0, 31, 31);
}

/*
 * The TSCs of two cores are ahead and cause warps, and each core has its own finding about its offset. A warp must be
 * mentioned in the finding of its core, not in the first finding.
 */
TEST(an_offset_says_that_its_warps_were_seen)
{
	int64_t truth_ticks[6] = { [2] = 5000, [4] = 9000 };

	report = machine(6, 6, truth_ticks);
	set_warps(&report->facts.warp_checks.locked, 3, 4500, 8, 0);
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 2);
	assert_null(strstr(report->outcomes.findings[0].text, "arps"));
	assert_non_null(strstr(report->outcomes.findings[1].text, " Warps were seen, too (tsc-warp): 3 in "));
}

TEST(a_core_that_lags_is_named_as_such_and_a_guest_has_another_cause)
{
	report = machine_with_skewed_core(4, 2, -2000);
	LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
	judge(report);
	assert_only_finding("tsc-offset", 4, "Core 4's TSC is 978 to 1024 ns behind core 6's at 3.1 s (first pass), unlike "
			    "the majority, which includes core 6: likely the hypervisor set a different TSC offset.");
}

TEST(offset_within_its_limit_is_allowed)
{
	for (uint64_t limit_ns = 9976; limit_ns <= 9977; limit_ns++) {
		judge(with_limit(machine_with_skewed_core(4, 2, 20000), "tsc-offset", limit_ns));
		assert_int_equal(report->outcomes.finding_count, limit_ns == 9976);
	}
}

TEST(offset_without_a_known_rate_is_given_in_ticks)
{
	report = machine_with_skewed_core(4, 2, 20000);
	report->figures.tsc = (struct rate){ 0, 0 };
	judge(report);
	assert_true(report->outcomes.findings[0].low <= 20000 && report->outcomes.findings[0].high >= 20000);
	assert_true(report->outcomes.findings[0].low > 19900);
}

TEST(two_cores_that_differ_are_both_named_and_neither_is_called_off)
{
	judge(machine_with_skewed_core(2, 1, 2000));
	assert_only_finding("tsc-offset", REPORT_NO_CORE, "Core 2's TSC is 978 to 1024 ns ahead of core 0's at 3.1 s (first "
			    "pass), and nothing shows which of them is right.");
}

#define UNDECIDED "and nothing shows which of them is right."

/*
 * Machines with cores whose TSCs are off, and the expected findings: the core, an offset that must be in the finding's
 * interval, and parts of the text.
 */
static const struct {
	const char *name;
	size_t cores, per_package;
	int64_t truth_ticks[16];
	size_t findings;
	struct {
		uint32_t core;
		int64_t ns;
		const char *words[3];
	} expected[4];
} skewed_machines[] = {
	{ "the boot core", 5, 5, { 3000 }, 1, { { 0, 1500, { " ahead of core " } } } },
	{ "a package", 12, 4, { 0, 0, 0, 0, -6000, -6000, -6000, -6000 }, 1,
	  { { REPORT_NO_CORE, 3000, { "The TSCs of all 4 cores of package 1 are ", " ns behind core " } } } },
	{ "one of two packages", 8, 4, { 0, 0, 0, 0, 900, 900, 900, 900 }, 1,
	  { { REPORT_NO_CORE, 450, { "The TSCs of all 4 cores of package 1 are ", UNDECIDED } } } },
	{ "half of the cores, which are no package", 4, 4, { 0, 2000, 0, 2000 }, 1,
	  { { REPORT_NO_CORE, 1000, { "The TSCs of 2 cores (core 2 among them) are ", " ns ahead of core ",
				      "'s at 3.1 s (first pass), " UNDECIDED } } } },
	{ "two of four cores, each with its own fault", 4, 2, { 0, 0, 2000, -20000 }, 1,
	  { { REPORT_NO_CORE, 11000, { "Core 6's TSC is 10976 to 11022 ns behind core 4's at 3.1 s ", UNDECIDED } } } },
	{ "three of six cores, each with its own fault", 6, 3, { 0, 0, 0, 5000, -5000, 15000 }, 1,
	  { { REPORT_NO_CORE, 10000, { "Core 10's TSC is 9978 to 10024 ns ahead of core 8's at 3.1 s ", UNDECIDED } } } },
	{ "a package whose cores are off in both directions", 6, 2, { [4] = 5000, [5] = -5000 }, 2,
	  { { 8, 2500, { " ahead of core " } }, { 10, 2500, { " behind core " } } } },
	{ "a part of a package", 12, 4, { [4] = 5000, [5] = 5000, [6] = 5000 }, 3,
	  { { 8, 2500, { " ahead of core " } }, { 10, 2500, { " ahead of core " } }, { 12, 2500, { " ahead of core " } } } },
	{ "a package of one core", 4, 1, { [2] = 5000 }, 1, { { 4, 2500, { " ahead of core " } } } },
	{ "one core ahead and one behind", 8, 8, { [1] = 5000, [3] = -5000 }, 2,
	  { { 2, 2500, { " ahead of core " } }, { 6, 2500, { " behind core " } } } },
	{ "six cores, of which four are named", 16, 4,
	  { [1] = 5000, [3] = 5000, [5] = 5000, [7] = 5000, [9] = 5000, [11] = 5000 }, 4,
	  { { 2, 2500, { " ahead of core " } }, { 6, 2500, { " ahead of core " } }, { 10, 2500, { " ahead of core " } },
	    { 14, 2500, { " 2 more cores: the same." } } } },
};

TEST(cores_that_are_off_are_named_with_their_offsets)
{
	for (size_t i = 0; i < sizeof(skewed_machines) / sizeof(skewed_machines[0]); i++) {
		report = machine(skewed_machines[i].cores, skewed_machines[i].per_package,
						skewed_machines[i].truth_ticks);
		print_message("%s\n", skewed_machines[i].name);
		judge(report);
		assert_int_equal(report->outcomes.finding_count, skewed_machines[i].findings);
		for (size_t f = 0; f < report->outcomes.finding_count; f++) {
			const struct finding *finding = &report->outcomes.findings[f];
			const char *const *words = skewed_machines[i].expected[f].words;

			assert_int_equal(finding->core, skewed_machines[i].expected[f].core);
			assert_in_range(skewed_machines[i].expected[f].ns, finding->low, finding->high);
			assert_true(finding->high - finding->low < 60);
			assert_int_equal(finding->difference == DIFFERENCE_AHEAD, !!strstr(finding->text, " ahead of core "));
			for (size_t w = 0; w < 3 && words[w]; w++)
				assert_non_null(strstr(finding->text, words[w]));
			if (f + 1 < report->outcomes.finding_count)
				assert_null(strstr(finding->text, ": the same."));
		}
		for (size_t core = 0; core < report->facts.core_count; core++)
			if (strstr(report->outcomes.findings[0].text, UNDECIDED))
				assert_false(report->outcomes.sync.cores[core].off_majority);
	}
}

/*
 * Returns a report about four cores. Only the offset of the pair A and B has a narrow interval, because the round trips
 * of other pairs took too long.
 */
static struct report *
machine_with_one_proven_pair(size_t a, size_t b)
{
	struct report *made = machine(4, 4, NULL);

	for (size_t first = 0; first < 4; first++)
		for (size_t second = first + 1; second < 4; second++)
			literal_set_offset(&made->figures.skew.passes[0].offsets, first, second,
					   (struct offset){ -9000000, 9000000 });
	literal_set_offset(&made->figures.skew.passes[0].offsets, a, b, (struct offset){ 999000, 1001000 });
	literal_calculate_cores(made);
	return made;
}

TEST(a_single_pair_that_is_proven_to_differ_is_a_finding_about_the_pair)
{
	judge(machine_with_one_proven_pair(2, 3));
	assert_figure(assert_only_finding("tsc-offset", REPORT_NO_CORE,
					  "Core 6's TSC is 499500 to 500500 ns ahead of core 4's at 3.1 s (first pass), and nothing shows "
					  "which of them is right."),
		      499500, 499500, 500500, 0);
	assert_pair(&report->outcomes.findings[0], 4, 6);
	for (size_t i = 0; i < 4; i++)
		assert_false(report->outcomes.sync.cores[i].off_majority);

	/* if the boot core is one of the pair, it must not be treated differently */
	judge(machine_with_one_proven_pair(0, 2));
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_int_equal(report->outcomes.findings[0].core, REPORT_NO_CORE);

	assert_clean(with_limit(machine_with_one_proven_pair(2, 3), "tsc-offset", 499500));
}

/*
 * Only the worst pair is named. A warp between two cores with different offsets adds no finding, but a warp between two
 * cores with the same offset does.
 */
TEST(a_warp_between_two_groups_that_differ_is_no_second_finding)
{
	static const struct {
		uint32_t ahead, behind;
		size_t findings;
	} warps[] = { { 6, 0, 1 }, { 2, 10, 1 }, { 0, 10, 1 }, { 2, 0, 2 } };
	static const int64_t truth_ticks[6] = { 0, 0, 5000, 5000, -5000, -5000 };

	for (size_t i = 0; i < 4; i++) {
		report = machine(6, 6, truth_ticks);
		set_warps(&report->facts.warp_checks.lock_free, 9, 4990, warps[i].ahead, warps[i].behind);
		judge(report);
		assert_int_equal(report->outcomes.finding_count, warps[i].findings);
		assert_string_equal(report->outcomes.findings[report->outcomes.finding_count - 1].rule, "tsc-offset");
		assert_int_equal(report->outcomes.findings[report->outcomes.finding_count - 1].core, REPORT_NO_CORE);
	}
}

/* All cores of the package are off, but one of them does not report its package number. */
TEST(a_package_with_a_core_of_unknown_package_is_named_core_by_core)
{
	int64_t truth_ticks[12] = { [4] = 5000, [5] = 5000, [6] = 5000, [7] = 5000 };

	report = machine(12, 4, truth_ticks);
	report->facts.cores[7].facts.has_topology = false;
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 4);
	assert_null(strstr(report->outcomes.findings[3].text, ": the same."));
}

/* The following tests are about the rule tsc-drift. */

/* Returns a report about four cores. CORE drifts against the others by LOW to HIGH ppb. */
static struct report *
machine_with_drift(size_t core, int64_t low, int64_t high)
{
	struct report *made = machine(4, 4, NULL);

	literal_set_drift(made, core, (struct offset){ low, high });
	return made;
}

TEST(a_core_that_drifts_is_named_with_the_proven_drift)
{
	judge(machine_with_drift(3, 49996, 50004));
	assert_figure(assert_only_finding("tsc-drift", 6,
					  "Core 6's TSC ran 49996 to 50004 ppb faster than core 0's between 3.1 s and 21.1 s, "
					  "steadily or by a step, unlike the majority, which includes core 0: likely a broken "
					  "oscillator, a separate clock source, or a write to the TSC."),
		      49996, 49996, 50004, 0); /* in ppb: the drift, its interval and the limit */
	assert_difference(&report->outcomes.findings[0], DIFFERENCE_FASTER, 0, 31, 211);
	assert_false(report->outcomes.sync.synchronised);
	assert_false(report->outcomes.sync.within_known);

	report = machine_with_drift(3, 49996, 50004);
	literal_remove_last_pass(report);
	assert_clean(report);
}

TEST(drift_is_allowed_up_to_its_limit)
{
	for (uint64_t limit = 99; limit <= 100; limit++) {
		judge(with_limit(machine_with_drift(1, -110, -100), "tsc-drift", limit));
		assert_int_equal(report->outcomes.finding_count, limit == 99);
	}
}

/*
 * Core 2's drift is proven against the cores 0 and 1. These two are more than half of the cores whose drift is known,
 * but not of all cores.
 */
TEST(a_core_that_drifts_is_named_although_the_drift_of_another_core_is_unknown)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		report = machine_with_drift(2, sign * 50000 - 4, sign * 50000 + 4);
		literal_set_drift(report, 3, OFFSET_UNKNOWN);
		judge(report);
		assert_int_equal(report->outcomes.finding_count, 1);
		assert_string_equal(report->outcomes.findings[0].rule, "tsc-drift");
		assert_int_equal(report->outcomes.findings[0].core, 4);
		assert_figure(&report->outcomes.findings[0], 49996, 49996, 50004, 0);
		assert_non_null(strstr(report->outcomes.findings[0].text, sign > 0 ? "Core 4's TSC ran 49996 to 50004 ppb faster" :
				       "Core 4's TSC ran 49996 to 50004 ppb slower"));
	}
}

/*
 * Core 1 is proven to run faster than core 0 and slower than core 2. The direct measurement of cores 0 and 2 does not
 * show that these two differ, but their drifts against core 1 do. So there is no majority.
 */
TEST(a_core_between_a_faster_and_a_slower_core_is_not_named)
{
	report = machine(3, 3, NULL);
	struct offset *drifts = report->figures.skew.drifts.pairs;

	drifts[pair_schedule_index_of_pair(PAIR_SCHEDULE_ALL, 3, 0, 1)] = (struct offset){ 1, 101 };
	drifts[pair_schedule_index_of_pair(PAIR_SCHEDULE_ALL, 3, 1, 2)] = (struct offset){ 1, 101 };
	drifts[pair_schedule_index_of_pair(PAIR_SCHEDULE_ALL, 3, 0, 2)] = (struct offset){ -5, 50 };
	literal_judge(report);
	assert_only_finding("tsc-drift", REPORT_NO_CORE, "Core 2's TSC ran 1 to 101 ppb faster than core 0's between 3.1 s "
			    "and 21.1 s, and nothing shows which of the two changed.");
	assert_pair(&report->outcomes.findings[0], 0, 2);
}

/*
 * Core 1's TSC steps by 5,000 ticks before the middle pass. The finding compares core 1 with core 0, the first of the
 * cores from which it drifts equally fast. If this pair has no result in the middle pass, a step is not known.
 */
TEST(a_step_is_named_only_if_the_pair_of_the_finding_shows_it)
{
	for (int known = 0; known < 2; known++) {
		report = machine(4, 4, NULL);
		struct report_skew *skew = &report->figures.skew;
		struct offset moved[6];

		memcpy(moved, skew->passes[0].offsets.pairs, sizeof(moved));
		skew->passes[1].offsets.pairs = moved;
		for (size_t i = 0; i < 4; i++)
			if (i != 1)
				literal_set_offset(&skew->passes[1].offsets, i, 1, (struct offset){ 4940, 5060 });
		literal_insert_middle_pass(report, skew->passes[1].offsets);
		skew->passes[1].offsets.begin_tsc = 20000001000;
		skew->passes[1].offsets.end_tsc = 20002000000;
		literal_set_drift(report, 1, (struct offset){ 130, 150 });
		struct offset pairs[6];

		memcpy(pairs, moved, sizeof(pairs));
		skew->passes[1].offsets.pairs = pairs;
		if (!known)
			literal_set_offset(&skew->passes[1].offsets, 0, 1, OFFSET_UNKNOWN);
		judge(report);
		assert_string_equal(report->outcomes.findings[0].rule, known ? "tsc-offset" : "tsc-drift");
		assert_int_equal(report->outcomes.findings[0].core, 2);
		assert_int_equal(report->outcomes.sync.cores[1].stepped, known);
		assert_int_equal(!!strstr(report->outcomes.findings[0].text, ", steadily or by a step, unlike "),
				 !known);
		if (known) {
			/* 5,000 ticks of 2 GHz, measured twice within 60 ticks */
			assert_in_range(report->outcomes.findings[0].low, 2420, 2500);
			assert_in_range(report->outcomes.findings[0].high, 2500, 2580);
			assert_non_null(strstr(report->outcomes.findings[0].text, "Core 2's TSC stepped ahead by 24"));
			assert_difference(&report->outcomes.findings[0], DIFFERENCE_STEPPED_AHEAD, 0, 31, 100);
			assert_non_null(strstr(report->outcomes.findings[0].text,
					       " against core 0's between 3.1 s and 10.0 s, unlike "));
		}
	}
}

/*
 * In the last measurement pass, the boot core's TSC steps back. One reading is 0.2 s lower than the previous one, while
 * the HPET counts 0.1 s, so the step is 0.3 s. The pass ends when the TSC shows 21.1 s, which it shows before the step
 * and again after it.
 */
TEST(a_time_that_the_tsc_showed_twice_is_printed_with_both_values)
{
	report = machine(2, 2, NULL);
	uint8_t tsc = (uint8_t)(literal_find_clock(report, "tsc") - report->facts.clocks);
	uint8_t hpet = (uint8_t)(literal_find_clock(report, "hpet") - report->facts.clocks);
	size_t drifts = 0;

	literal_set_drift(report, 1, (struct offset){ 4000, 5000 });
	report->figures.discontinuity_count = 1;
	report->figures.discontinuities[0] = (struct report_discontinuity){
		.from_tsc = report->figures.skew.passes[1].offsets.end_tsc,
		.at_tsc = report->figures.skew.passes[1].offsets.end_tsc - LITERAL_TSC_HZ / 5,
		.group_count = 2,
		.groups = { { .clocks = UINT32_C(1) << tsc, .clock_count = 1, .members = { tsc },
			      .elapsed = { true, -200000000, -200000000, -200000000 } },
			    { .clocks = UINT32_C(1) << hpet, .clock_count = 1, .members = { hpet },
			      .elapsed = { true, 100000000, 100000000, 100000000 } } },
	};
	judge(report);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		if (strcmp(report->outcomes.findings[i].rule, "tsc-drift") == 0 && ++drifts)
			assert_non_null(strstr(report->outcomes.findings[i].text,
					       " between 3.1 s and 21.1 s to 21.4 s, "));
	assert_int_equal(drifts, 1);
}

TEST(if_five_cores_drift_four_are_named_and_one_is_counted)
{
	report = machine(16, 16, NULL);
	for (size_t i = 1; i <= 5; i++)
		literal_set_drift(report, i, (struct offset){ 100, 200 });
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 4);
	assert_non_null(strstr(report->outcomes.findings[3].text, " 1 more core: the same."));
}

TEST(core_that_drifts_has_no_other_finding)
{
	report = machine_with_skewed_core(6, 2, 20000);
	literal_set_drift(report, 2, (struct offset){ 500, 600 });
	report->figures.skew.passes[0].summary.contradictions = 7;
	set_warps(&report->facts.warp_checks.locked, 3, 10000, 4, 0);
	assert_true(report->figures.skew.passes[0].outlier[2]);
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "tsc-drift");
	assert_int_equal(report->outcomes.findings[0].core, 4);
}

/*
 * Core 1's reported offset against the boot core is not 0. This offset comes from an indirect path over a third core.
 * The intervals of core 1's own pairs contain 0.
 */
TEST(a_core_that_is_off_by_an_indirect_path_only_is_not_accused)
{
	for (unsigned drifting = 0; drifting < 2; drifting++) {
		report = machine(4, 4, NULL);
		report->figures.skew.passes[0].core_offsets[1] = (struct offset){ 4, 40 };
		literal_set_outlier(report, 1);
		for (size_t i = 0; i < 4; i++)
			if (i != 1)
				literal_set_offset(&report->figures.skew.passes[0].offsets, i, 1,
						   (struct offset){ -3, 90 });
		if (drifting)
			literal_set_drift(report, 2, (struct offset){ 70, 80 });
		judge(report);
		assert_int_equal(report->outcomes.finding_count, drifting);
		assert_false(report->outcomes.sync.cores[1].off_majority);
	}
}

/* The following tests are about the rule tsc-contradiction. */

static struct report *
machine_with_contradiction(void)
{
	struct report *made = machine(6, 6, NULL);

	literal_set_offset(&made->figures.skew.passes[0].offsets, 2, 4, (struct offset){ 5000, 5100 });
	literal_calculate_cores(made);
	return made;
}

TEST(pair_that_contradicts_the_others_warns_and_is_named)
{
	report = machine_with_contradiction();
	uint64_t ns = report->figures.skew.passes[0].summary.contradiction_ticks / 2;
	char text[REPORT_SENTENCE];

	struct text expected = text_start(text, sizeof(text));
	text_printf(&expected,
		    "1 pair of cores contradicts the other pairs, or an earlier measurement; the worst is between core 4 "
		    "and core 8, by %lu ns at 3.1 s: likely a TSC was changed while it was measured.", ns);
	judge(report);
	assert_true(ns > 2400 && ns < 2550);
	assert_figure(assert_only_finding("tsc-contradiction", REPORT_NO_CORE, text), 1, 1, 1, 0);
	assert_pair(&report->outcomes.findings[0], 4, 8);

	assert_clean(with_limit(machine_with_contradiction(), "tsc-contradiction", 1));
}

/* The offsets of three pairs contradict each other, and each of the pairs may be wrong. */
TEST(three_pairs_that_contradict_each_other_are_all_named)
{
	report = machine(3, 3, NULL);
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 1, (struct offset){ -40, 4000 });
	literal_set_offset(&report->figures.skew.passes[0].offsets, 0, 2, (struct offset){ -4000, 40 });
	literal_set_offset(&report->figures.skew.passes[0].offsets, 1, 2, (struct offset){ 1000, 5000 });
	literal_calculate_cores(report);
	judge(report);
	assert_only_finding("tsc-contradiction", REPORT_NO_CORE,
			    "1 pair of cores contradicts the other pairs, or an earlier measurement; the worst is among "
			    "cores 0, 2 and 4, by 460 ns at 3.1 s: likely a TSC was changed while it was measured.");
	assert_int_equal(report->outcomes.findings[0].core_count, 3);
	for (size_t core = 0; core <= 4; core += 2)
		assert_true(rules_does_finding_name_core(&report->outcomes.findings[0], (uint32_t)core));
}

/* The following tests are about the rules tsc-adjust and tsc-adjust-unequal. */

static struct report *
machine_with_adjust(int64_t all, int64_t third)
{
	struct report *made = machine(4, 4, NULL);

	for (size_t i = 0; i < 4; i++)
		made->facts.cores[i].facts.tsc_adjust = i == 2 ? third : all;
	return made;
}

TEST(same_adjust_on_all_cores_warns_with_its_magnitude)
{
	judge(machine_with_adjust(-12345, -12345));
	assert_figure(assert_only_finding("tsc-adjust", REPORT_NO_CORE,
					  "TSC_ADJUST is -12345 ticks on all 4 cores: the firmware wrote the TSC "
					  "after reset."),
		      12345, 12345, 12345, 0);

	report = machine_with_adjust(-12345, -12345);
	report->facts.cores[3].facts_known = false;
	judge(report);
	assert_only_finding("tsc-adjust", REPORT_NO_CORE,
			    "TSC_ADJUST is -12345 ticks on 3 cores: the firmware wrote the TSC after reset.");

	assert_clean(with_limit(machine_with_adjust(-12345, -12345), "tsc-adjust", 12345));
	assert_clean(machine_with_adjust(0, 0));
}

TEST(unequal_adjust_warns_once_with_the_difference)
{
	judge(machine_with_adjust(-10, -1000000));
	assert_figure(assert_only_finding("tsc-adjust-unequal", 4,
					  "TSC_ADJUST is -1000000 ticks on core 4 and -10 on core 0: the firmware "
					  "wrote their TSCs differently."),
		      999990, 999990, 999990, 0);
	assert_int_equal(report->outcomes.findings[0].core_count, 0);
}

/*
 * The third core has another value of TSC_ADJUST. It is unknown which core was changed if the fourth core has the third
 * core's value, or if only two or three of the cores were read.
 */
TEST(unequal_adjust_names_a_pair_if_no_single_core_differs)
{
	for (unsigned i = 0; i < 3; i++) {
		report = machine_with_adjust(-10, -1000000);
		if (i == 0)
			report->facts.cores[0].facts_known = report->facts.cores[1].facts_known = false;
		else if (i == 1)
			report->facts.cores[3].facts.tsc_adjust = -1000000;
		else
			report->facts.cores[3].facts_known = false;
		judge(report);
		assert_int_equal(report->outcomes.finding_count, 1);
		assert_pair(&report->outcomes.findings[0], 4, i ? 0 : 6);
	}
}

/* TSC_ADJUST is -10 on the boot core, and -1,000,000 on all other cores. The boot core must be named. */
TEST(unequal_adjust_names_the_only_core_with_the_smaller_value)
{
	report = machine_with_adjust(-1000000, -1000000);
	report->facts.cores[0].facts.tsc_adjust = -10;
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_int_equal(report->outcomes.findings[0].core, 0);
}

TEST(adjust_within_its_limit_for_unequal_values_still_warns_if_not_0)
{
	report = machine_with_adjust(7, 9);
	LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
	judge(with_limit(report, "tsc-adjust-unequal", 2));
	assert_figure(assert_only_finding("tsc-adjust", REPORT_NO_CORE,
					  "TSC_ADJUST is up to 9 ticks on all 4 cores: the firmware or the "
					  "hypervisor wrote the TSC after reset."),
		      9, 9, 9, 0);
}

/*
 * The packages of a Xeon were reset at different times: TSC_ADJUST is 0 in package 0 and 45,960,750 in package 1, and
 * the TSCs agree (deepin-community/kernel issue 265).
 */
TEST(adjust_may_differ_between_packages_but_not_within_one)
{
	report = machine_with_adjust(0, 0);
	for (size_t i = 2; i < 4; i++) {
		report->facts.cores[i].facts.package = 1;
		report->facts.cores[i].facts.tsc_adjust = 45960750;
	}
	assert_clean(report);
	report->facts.cores[3].facts.tsc_adjust++;
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "tsc-adjust-unequal");
	assert_pair(&report->outcomes.findings[0], 6, 4);
	assert_int_equal(report->outcomes.findings[0].measured, 1);
	report->facts.cores[3].facts.tsc_adjust--;
	report->facts.cores[0].facts.tsc_adjust = report->facts.cores[1].facts.tsc_adjust = 7;
	judge(report);
	assert_only_finding("tsc-adjust", REPORT_NO_CORE, "TSC_ADJUST is 7 ticks in the package of the boot core: the "
			    "firmware wrote the TSC after reset.");
}

TEST(adjust_of_cores_that_were_not_read_or_lack_it_does_not_count)
{
	for (unsigned i = 0; i < 2; i++) {
		report = machine_with_adjust(0, 5);
		if (i)
			report->facts.cores[2].facts.has_tsc_adjust = false;
		else
			report->facts.cores[2].facts_known = false;
		assert_clean(report);
	}
}

TEST(extreme_adjusts_differ_by_at_most_int64_max)
{
	judge(machine_with_adjust(INT64_MAX, INT64_MIN));
	assert_int_equal(report->outcomes.findings[0].measured, INT64_MAX);
	assert_int_equal(report->outcomes.findings[0].core, 4);
}

/* ---- sentences ---- */

static void
assert_whole_sentence(const struct finding *finding)
{
	size_t length = strlen(finding->text);

	assert_true(length < sizeof(finding->text) - 1);
	assert_int_equal(finding->text[length - 1], '.');
}

/* In the first measurement pass core 2 agrees with the other cores. It differs from them only in the last pass. */
TEST(a_core_that_is_off_in_the_last_pass_only_is_named_with_the_time)
{
	report = machine(4, 4, NULL);
	literal_replace_last_pass(report, machine_with_skewed_core(4, 2, 20000));
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "tsc-offset");
	assert_int_equal(report->outcomes.findings[0].core, 4);
	assert_non_null(strstr(report->outcomes.findings[0].text, " at 21.1 s (last pass), unlike the majority"));
	assert_true(report->outcomes.sync.cores[2].off_majority);
	assert_false(report->outcomes.sync.synchronised);
}

/*
 * Core 3 is ahead of the cores 0, 2, 4 and 5. Core 1 is not named: it drifts, and its pair with core 2 has a wide
 * interval. Core 3 is named, unless the cores 4 and 5 drift against the cores 0 and 2. Then no majority of cores has
 * the same rate.
 */
TEST(a_group_of_half_of_the_cores_names_no_core_if_others_drift)
{
	int64_t truth_ticks[6] = { 0, 2500, 0, 2500, 0, 0 };

	for (int drifts = 0; drifts < 2; drifts++) {
		report = machine(6, 6, truth_ticks);
		for (size_t i = 2; i < 6; i++)
			literal_set_drift(report, i, (struct offset){ -900, 900 });
		literal_set_drift(report, 1, (struct offset){ 8, 62 });
		if (drifts)
			literal_set_drift(report, 2, still);
		for (size_t i = 4; i < 6 && drifts; i++)
			literal_set_drift(report, i, (struct offset){ 27, 33 });
		for (size_t a = 0; a < 6; a++)
			for (size_t b = a + 1; b < 6; b++) {
				int64_t ahead = truth_ticks[b] - truth_ticks[a];
				int64_t error = a == 1 && b == 2 ? 90000 : 800;

				literal_set_offset(&report->figures.skew.passes[0].offsets, a, b,
						   (struct offset){ ahead - error, ahead + error });
			}
		literal_calculate_cores(report);
		judge(report);
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(report->outcomes.sync.cores[i].off_majority, i == 3 && !drifts);
		assert_true(report->figures.skew.passes[0].outlier[3]);
	}
}

/*
 * In the last measurement pass one pair has no result. Therefore it is not determined whether the cores are
 * synchronised.
 */
TEST(a_pair_without_a_result_in_the_last_pass_leaves_synchronisation_undetermined)
{
	for (int lacks = 0; lacks < 2; lacks++) {
		report = machine(4, 4, NULL);
		if (lacks)
			report->figures.skew.passes[1].summary.bound_ticks = UINT64_MAX;
		judge(report);
		assert_int_equal(report->outcomes.sync.shown, lacks);
		assert_string_equal(report->outcomes.sync.text, lacks ?
				    "synchronisation not determined at 21.1 s, as not every core's offset is known" :
				    "synchronised within 29 ns at 3.1 s and 21.1 s");
	}
}

/*
 * Synchronised cores may differ by at most 1 us here, but the measurements show only that they differ by at most 1.5
 * us. In the first case there was only one measurement pass.
 */
TEST(cores_with_a_wide_bound_are_not_called_synchronised)
{
	for (int again = 0; again < 2; again++) {
		report = machine(4, 4, NULL);
		report->figures.skew.passes[0].summary.bound_ticks =
			report->figures.skew.passes[1].summary.bound_ticks = 3000;
		if (!again)
			literal_remove_last_pass(report);
		judge(report);
		assert_string_equal(report->outcomes.sync.text, again ?
				    "synchronisation not determined: only within 1500 ns at 3.1 s and 21.1 s" :
				    "synchronisation not determined: only within 1500 ns at 3.1 s, and not measured again");
	}
}

/*
 * In a star schedule, each core is compared with the boot core only. If the boot core's TSC drifts, and some cores are
 * measured later than others in each pass, the same cores seem to differ in each pass. MOVED is the number of pairs
 * that show the drift.
 */
TEST(a_star_schedule_in_which_a_core_moved_names_no_core_for_an_offset)
{
	int64_t truth_ticks[8] = { 0, 0, 0, 0, 0, 0, 20000, 20000 };

	for (size_t moved = 1; moved < 8; moved++) {
		report = literal_make_report_of_cores(8, PAIR_SCHEDULE_STAR, truth_ticks);
		report->facts.machine.hypervisor[0] = '\0';
		for (size_t i = 1; i <= moved; i++)
			literal_set_drift(report, i, (struct offset){ 90, 100 });
		judge(report);
		assert_int_not_equal(report->outcomes.finding_count, 0);
		for (size_t i = 0; i < report->outcomes.finding_count; i++)
			assert_true(report->outcomes.findings[i].core == REPORT_NO_CORE ||
				    (report->outcomes.findings[i].core == 0 &&
				     strcmp(report->outcomes.findings[i].rule, "tsc-drift") == 0));
		for (size_t i = 1; i < 8; i++)
			assert_false(report->outcomes.sync.cores[i].off_majority || report->outcomes.sync.cores[i].drifts);
	}
}

/*
 * The boot core's TSC steps in each pass of a star schedule. Its first step is after the measurement of the cores 1 and
 * 2, its second step before the measurement of the cores 6 and 7. In the last pass, the cores 6 and 7 seem to differ
 * from all others, and in the first pass from the cores 1 and 2. All TSCs except the boot core's agree.
 */
TEST(a_star_schedule_in_which_the_boot_core_steps_twice_names_no_other_core)
{
	int64_t truth_ticks[2][8] = { { 0, 0, 0, -20000, -20000, -20000, -20000, -20000 },
				      { 0, -20000, -20000, -20000, -20000, -20000, -40000, -40000 } };

	report = literal_make_report_of_cores(8, PAIR_SCHEDULE_STAR, truth_ticks[0]);
	literal_replace_last_pass(report, literal_make_report_of_cores(8, PAIR_SCHEDULE_STAR, truth_ticks[1]));
	judge(report);
	for (size_t i = 1; i < 8; i++)
		assert_false(report->outcomes.sync.cores[i].off_majority);
}

/*
 * In a long run, a step looks like a very small drift. Only the next measurement pass shows that the boot core's TSC
 * stepped.
 */
TEST(a_star_schedule_that_the_next_pass_does_not_confirm_names_no_core)
{
	int64_t truth_ticks[2][8] = { { 0, 0, 0, 0, 0, 0, 20000, 20000 },
				      { 0, 20000, 20000, 20000, 20000, 20000, 20000, 20000 } };

	/* results of the next pass: different, equal, missing, and too wide to decide */
	for (int way = 0; way < 4; way++) {
		bool confirmed = way == 1;
		bool is_equal = way == 1 || way == 3;
		struct report *last = literal_make_report_of_cores(8, PAIR_SCHEDULE_STAR, truth_ticks[is_equal ? 0 : 1]);

		report = literal_make_report_of_cores(8, PAIR_SCHEDULE_STAR, truth_ticks[0]);
		for (size_t i = 1; i < 8 && way == 3; i++)
			literal_set_offset(&last->figures.skew.passes[0].offsets, 0, i,
					   (struct offset){ -30000, 30000 });
		if (way == 2)
			literal_remove_last_pass(report);
		else
			literal_insert_middle_pass(report, last->figures.skew.passes[0].offsets);
		judge(report);
		for (size_t i = 6; i < 8; i++)
			assert_int_equal(report->outcomes.sync.cores[i].off_majority, confirmed);
	}
}

/*
 * The longest sentence about a step must fit: seven of sixteen cores of a guest stepped by the largest amount, long
 * after the start.
 */
TEST(the_longest_sentence_about_a_step_fits)
{
	report = machine(16, 16, NULL);
	struct offset pairs[16 * 15 / 2], still_pairs[16 * 15 / 2];
	struct report_skew *skew = &report->figures.skew;
	int64_t far = INT64_C(1) << 61;

	LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
	report->figures.tsc = (struct rate){ 0, 0 };
	skew->passes[1].offsets.pairs = pairs;
	literal_insert_middle_pass(report, skew->passes[1].offsets);
	for (size_t i = 0; i < 16 * 15 / 2; i++)
		still_pairs[i] = pairs[i] = (struct offset){ 0, 0 };
	for (size_t i = 1; i < 15; i += 2)
		for (size_t other = 0; other < 16; other++)
			if (other % 2 == 0 || other == 15)
				literal_set_offset(&skew->passes[1].offsets, other, i, (struct offset){ far, far });
	memcpy(skew->passes[0].offsets.pairs, still_pairs, sizeof(still_pairs));
	for (size_t i = 0; i < 16; i++) {
		report->facts.cores[i].apic_id = UINT32_MAX - (uint32_t)i;
		literal_set_drift(report, i, i % 2 && i < 15 ? (struct offset){ far, far + 1 } : still);
	}
	skew->passes[0].offsets.begin_tsc = UINT64_MAX - 9000000000;
	skew->passes[0].offsets.end_tsc = UINT64_MAX - 8000000000;
	skew->passes[1].offsets.begin_tsc = UINT64_MAX - 7000000000;
	skew->passes[1].offsets.end_tsc = UINT64_MAX - 6000000000;
	skew->passes[2].offsets.begin_tsc = UINT64_MAX - 5000000000;
	skew->passes[2].offsets.end_tsc = UINT64_MAX - 4000000000;
	skew->passes[2].summary = (struct offsets_summary){ .bound_ticks = 0 };
	judge(report);
	assert_int_equal(report->outcomes.finding_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_whole_sentence(&report->outcomes.findings[i]);
	assert_non_null(strstr(report->outcomes.findings[3].text, " between 18446744064.7 s and 18446744067.7 s, "));
	assert_non_null(strstr(report->outcomes.findings[3].text, " 3 more cores: the same."));
}

/* The longest figures must fit: six cores of a guest have the longest ids and the largest possible offsets. */
TEST(the_longest_figures_fit_their_sentences)
{
	int64_t far = INT64_C(1) << 61;

	for (unsigned drifting = 0; drifting < 2; drifting++) {
		report = machine(16, 16, NULL);
		LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
		report->figures.tsc = (struct rate){ 0, 0 };
		for (size_t i = 0; i < 16; i++) {
			struct report_core *core = &report->facts.cores[i];

			core->apic_id = UINT32_MAX - (uint32_t)i;
			if (i % 2 == 0 || i == 15)
				continue;
			if (!drifting)
				literal_set_outlier(report, i);
			report->figures.skew.passes[0].core_offsets[i] = (struct offset){ far, far + 1 };
			literal_set_drift(report, i, drifting ? (struct offset){ far, far + 1 } : still);
			core->facts.tsc_adjust = INT64_MIN + (int64_t)i;
		}
		for (size_t a = 0; a < 16; a++)
			for (size_t b = a + 1; b < 16; b++)
				literal_set_offset(&report->figures.skew.passes[0].offsets, a, b,
					    !drifting && a % 2 == 0 && b % 2 && b != 15 ?
						    (struct offset){ far, far + 1 } : OFFSET_UNKNOWN);
		report->facts.warp_checks.locked.iterations = UINT64_MAX;
		set_warps(&report->facts.warp_checks.locked, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX);
		report->facts.warp_checks.lock_free = report->facts.warp_checks.locked;
		report->figures.skew.passes[0].summary.contradictions = SIZE_MAX;
		report->figures.skew.passes[0].summary.contradiction_ticks = UINT64_MAX;
		report->figures.skew.passes[0].summary.contradiction_c = 1;
		judge(report);
		assert_int_equal(report->outcomes.finding_count, drifting ? 6 : 7);
		assert_int_equal(report->outcomes.findings[0].measured, INT64_MAX);
		for (size_t i = 0; i < report->outcomes.finding_count; i++)
			assert_whole_sentence(&report->outcomes.findings[i]);
	}
}
