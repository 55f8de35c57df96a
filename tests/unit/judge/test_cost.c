/*
 * The cost of one read in a program. For each core it is calculated without the cost of the bracketing TSC reads, and
 * the median over the cores is reported.
 */
#include "test.h"
#include "judge/judge.h"
#include "advice/recommend.h"
#include "report_literal.h"

LITERAL_REPORT_FIXTURE;

static void
set_core(size_t core, const char *id, uint64_t typical_ps)
{
	size_t clock = (size_t)(literal_find_clock(report, id) - report->facts.clocks);

	report->facts.cores[core].latency[clock] = (struct core_latency){ 1000, 1, 1, 1, typical_ps, typical_ps - 600,
								    typical_ps + 700 };
}

/*
 * The cores' costs are 40, 10, 30 and 20 ns, so the lower one of the middle two is 20 ns. The boot core's cost is 40
 * ns.
 */
TEST(cost_on_four_cores_that_differ_is_the_lower_one_of_the_middle_two)
{
	static const uint64_t reads_ps[] = { 60000, 20000, 45000, 35000 }, nulls_ps[] = { 20000, 10000, 15000, 15000 };
	const struct report_cost *cost = &literal_find_figures(report, "hpet")->cost;
	struct scale scale;

	for (size_t i = 0; i < 4; i++) {
		set_core(i, "hpet", reads_ps[i]);
		set_core(i, "null", nulls_ps[i]);
	}
	literal_judge(report);
	assert_true(cost->read_ps.known);
	assert_int_equal(cost->read_ps.value, 20000);
	assert_int_equal(cost->least_ps, 10000);
	assert_int_equal(cost->most_ps, 40000);
	assert_true(cost->differs);
	assert_int_equal(cost->read_ps.low, 10000 - 1300);
	assert_int_equal(cost->read_ps.high, 40000 + 1300);
	assert_int_equal(cost->cores, 4);
	assert_int_equal(cost->null_ps, 15000);
	assert_int_equal(cost->rows_ps.value, UINT64_C(4000000000)); /* 4 ms */
	/*
	 * The cost in the loop must be the duration of the boot core's loop with this clock, minus the duration of the
	 * loop that reads no clock.
	 */
	scale_init(&scale, report->figures.tsc);
	assert_int_equal(cost->loop_ps, latency_loop_time_ps(literal_find_clock(report, "hpet")->latency, &scale) - 20000);
	/* Without the last core, the median is the third core's cost of 30 ns. */
	report->facts.cores[3].latency[literal_find_clock(report, "null") - report->facts.clocks].count = 0;
	set_core(2, "null", 14000);
	literal_judge(report);
	assert_int_equal(cost->cores, 3);
	assert_int_equal(cost->read_ps.value, 31000);
	assert_int_equal(cost->null_ps, 14000);
}

TEST(the_cost_on_two_cores_that_do_not_really_differ_is_their_mean)
{
	const struct report_cost *cost = &literal_find_figures(report, "hpet")->cost;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		set_core(i, "hpet", i ? 44000 : 40000);
		set_core(i, "null", i ? 12000 : 10000);
		if (i > 1)
			report->facts.cores[i].latency[literal_find_clock(report, "null") - report->facts.clocks].count = 0;
	}
	literal_judge(report);
	assert_int_equal(cost->cores, 2);
	assert_false(cost->differs);
	assert_int_equal(cost->read_ps.value, 31000);
	assert_int_equal(cost->least_ps, 30000);
	assert_int_equal(cost->most_ps, 32000);
	assert_int_equal(cost->null_ps, 11000);
}

TEST(a_read_by_which_no_kernel_keeps_time_has_no_place_of_the_read)
{
	static const struct {
		const char *id, *read_in;
	} cases[] = {
		{ "tsc", "user space" }, { "tsc_rdtscp", "user space" }, { "tsc_cpuid", NULL }, { "hpet", NULL },
		{ "hpet_32", "kernel" }, { "acpi_pm", "kernel" }, { "pit", NULL }, { "rtc", NULL },
	};

	literal_judge(report);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *read_in = literal_find_figures(report, cases[i].id)->cost.read_in;

		if (cases[i].read_in)
			assert_string_equal(read_in, cases[i].read_in);
		else
			assert_null(read_in);
	}
}

TEST(a_read_as_fast_as_an_empty_bracket_costs_0_and_not_less)
{
	const struct report_cost *cost = &literal_find_figures(report, "tsc")->cost;

	for (size_t i = 0; i < 4; i++) {
		set_core(i, "tsc", 23600);
		set_core(i, "null", 23900);
	}
	literal_judge(report);
	assert_int_equal(cost->read_ps.value, 0);
	assert_int_equal(cost->read_ps.low, 0);
	assert_int_equal(cost->read_ps.high, 1000);
}

static void
set_cost_on_two_cores(uint64_t first_ps, uint64_t second_ps)
{
	literal_fill_cores(report, 2);
	for (size_t i = 0; i < 2; i++) {
		set_core(i, "null", 20000);
		set_core(i, "tsc", 20000 + (i ? second_ps : first_ps));
	}
	literal_judge(report);
	recommend_clocks(report, &report->advice);
}

TEST(two_cores_that_really_differ_are_both_named)
{
	const struct report_cost *cost = &literal_find_figures(report, "tsc")->cost;

	set_cost_on_two_cores(45000, 14000);
	assert_int_equal(cost->read_ps.value, 14000);
	assert_non_null(strstr(report->advice.answer.text, ": 14.0 ns to 45.0 ns a read."));
	assert_non_null(strstr(report->advice.ranking.rows[0].reason, "14.0 ns to 45.0 ns a read"));
	/* a difference of half of the bracket of 20 ns, of a quarter, or of less than the errors, is not named */
	set_cost_on_two_cores(24000, 14000);
	assert_non_null(strstr(report->advice.answer.text, ": 19.0 ns a read."));
	set_cost_on_two_cores(100000, 80000);
	assert_non_null(strstr(report->advice.answer.text, ": 90.0 ns a read."));
	set_cost_on_two_cores(100001, 80000);
	assert_non_null(strstr(report->advice.answer.text, ": 80.0 ns to 100 ns a read."));
	set_cost_on_two_cores(6000, 4000);
	assert_non_null(strstr(report->advice.answer.text, ": 5.00 ns a read."));
}

TEST(without_the_rate_of_the_tsc_a_cost_is_in_ticks)
{
	report->figures.tsc = (struct rate){ 0, 0 };
	set_cost_on_two_cores(17400, 14600);
	assert_non_null(strstr(report->advice.answer.text, ": 16 ticks a read."));
	assert_non_null(strstr(report->advice.ranking.rows[0].reason, "16 ticks a read"));
}

/* Sets the median latencies of a clock on all cores: alone and while all cores read. null takes 20 ns on each core. */
static void
set_contended(const char *id, size_t cores, uint64_t alone_ns, uint64_t together_ns)
{
	size_t clock = (size_t)(literal_find_clock(report, id) - report->facts.clocks);

	literal_fill_cores(report, cores);
	for (size_t i = 0; i < cores; i++) {
		for (size_t c = 0; c < report->facts.clock_count; c++)
			report->facts.cores[i].contended[c].count = 0;
		report->facts.cores[i].latency[literal_find_clock(report, "null") - report->facts.clocks].p50_ns = 20;
		report->facts.cores[i].latency[clock].p50_ns = alone_ns;
		report->facts.cores[i].contended[clock] = (struct core_latency){ .count = 128, .p50_ns = together_ns };
	}
	literal_judge(report);
}

/* In a guest, 16 cores that wait for each other take 13 times as long. On hardware, they queue at the device. */
TEST(reads_that_wait_for_each_other_are_found_in_a_guest_and_for_the_tsc_everywhere)
{
	set_contended("hpet", 16, 1020, 13020);
	assert_non_null(rules_find_finding(report, "clock-contended", "hpet"));
	assert_int_equal(rules_find_finding(report, "clock-contended", "hpet")->measured, 13);
	assert_int_equal(literal_find_outcome(report, "hpet")->verdict, VERDICT_WARN);
	report->facts.machine.hypervisor[0] = '\0';
	set_contended("hpet", 16, 1020, 13020);
	assert_null(rules_find_finding(report, "clock-contended", NULL));
	set_contended("tsc", 16, 30, 390);
	assert_non_null(rules_find_finding(report, "clock-contended", "tsc"));
}

/* Four virtual cores that take 13 times as long did not all run. Up to 8 times as long is within the limit. */
TEST(time_sharing_and_short_queues_are_no_contention)
{
	set_contended("hpet", 4, 1020, 13020);
	set_contended("hpet", 10, 1020, 13020);
	set_contended("hpet", 16, 1020, 8020);
	assert_null(rules_find_finding(report, "clock-contended", NULL));
	set_contended("hpet", 11, 1020, 13020);
	assert_non_null(rules_find_finding(report, "clock-contended", "hpet"));
}

TEST(cores_without_reads_do_not_count_and_without_the_clock_null_the_cost_is_unknown)
{
	size_t null = (size_t)(literal_find_clock(report, "null") - report->facts.clocks);

	report->facts.cores[3].latency[null].count = 0;
	literal_judge(report);
	assert_int_equal(literal_find_figures(report, "hpet")->cost.cores, 3);
	assert_false(literal_find_figures(report, "null")->cost.read_ps.known);
	for (size_t i = 0; i < 4; i++)
		report->facts.cores[i].latency[null].count = 0;
	literal_judge(report);
	assert_false(literal_find_figures(report, "hpet")->cost.read_ps.known);
}

/*
 * A loop that reads the TSC takes 9.35 ns per turn, including turns that stolen time made longer. A loop that reads no
 * clock takes 8.06 ns on the median core (the middle of a bucket of the histogram, which starts at 8 ns).
 */
TEST(cost_in_the_loop_includes_stolen_time_but_not_the_empty_loop)
{
	literal_judge(report);
	assert_in_range(literal_find_figures(report, "tsc")->cost.loop_ps, 1270, 1300);
}
