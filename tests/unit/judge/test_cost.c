/*
 * The cost of one read in a program. For each core it is calculated without the cost of the bracketing TSC reads, and
 * the median over the cores is reported.
 */
#include "test.h"
#include "judge/judge.h"
#include "report_literal.h"

static void
set_core(struct report *report, size_t core, const char *id, uint64_t mean_ps)
{
	size_t clock = (size_t)(literal_find_clock(report, id) - report->clocks);

	report->cores[core].latency[clock] = (struct core_latency){ 1000, 1, 1, 1, mean_ps, mean_ps - 600, mean_ps + 700 };
}

/* The cores' costs are 40, 10, 30 and 20 ns, so the median is 25 ns. The boot core's cost is 40 ns. */
TEST(cost_on_four_cores_is_the_mean_of_the_middle_two)
{
	static const uint64_t reads_ps[] = { 60000, 20000, 45000, 35000 }, nulls_ps[] = { 20000, 10000, 15000, 15000 };
	struct report *report = literal_make_clean_report();
	const struct report_cost *cost = &literal_find_clock(report, "hpet")->cost;
	struct scale scale;

	for (size_t i = 0; i < 4; i++) {
		set_core(report, i, "hpet", reads_ps[i]);
		set_core(report, i, "null", nulls_ps[i]);
	}
	judge_report(report);
	assert_true(cost->read_ps.known);
	assert_int_equal(cost->read_ps.value, 25000);
	assert_int_equal(cost->read_ps.low, 10000 - 1300);
	assert_int_equal(cost->read_ps.high, 40000 + 1300);
	assert_int_equal(cost->cores, 4);
	assert_int_equal(cost->null_ps, 15000);
	assert_int_equal(cost->rows_ps.value, UINT64_C(5000000000)); /* 5 ms */
	/*
	 * The cost in the loop must be the duration of the boot core's loop with this clock, minus the duration of the
	 * loop that reads no clock.
	 */
	scale_init(&scale, report->tsc);
	assert_int_equal(cost->loop_ps, latency_loop_time_ps(literal_find_clock(report, "hpet")->latency, &scale) - 20000);
	/* Without the last core, the median is the third core's cost of 30 ns. */
	report->cores[3].latency[literal_find_clock(report, "null") - report->clocks].count = 0;
	set_core(report, 2, "null", 14000);
	judge_report(report);
	assert_int_equal(cost->cores, 3);
	assert_int_equal(cost->read_ps.value, 31000);
	assert_int_equal(cost->null_ps, 14000);
}

TEST(a_read_by_which_no_kernel_keeps_time_has_no_place_of_the_read)
{
	static const struct {
		const char *id, *read_in;
	} cases[] = {
		{ "tsc", "user space" }, { "tsc_rdtscp", "user space" }, { "tsc_cpuid", NULL }, { "hpet", NULL },
		{ "hpet_32", "kernel" }, { "acpi_pm", "kernel" }, { "pit", NULL }, { "rtc", NULL },
	};
	struct report *report = literal_make_clean_report();

	judge_report(report);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *read_in = literal_find_clock(report, cases[i].id)->cost.read_in;

		if (cases[i].read_in)
			assert_string_equal(read_in, cases[i].read_in);
		else
			assert_null(read_in);
	}
}

TEST(a_read_as_fast_as_an_empty_bracket_costs_0_and_not_less)
{
	struct report *report = literal_make_clean_report();
	const struct report_cost *cost = &literal_find_clock(report, "tsc")->cost;

	for (size_t i = 0; i < 4; i++) {
		set_core(report, i, "tsc", 23600);
		set_core(report, i, "null", 23900);
	}
	judge_report(report);
	assert_int_equal(cost->read_ps.value, 0);
	assert_int_equal(cost->read_ps.low, 0);
	assert_int_equal(cost->read_ps.high, 1000);
}

TEST(cores_without_reads_do_not_count_and_without_the_clock_null_the_cost_is_unknown)
{
	struct report *report = literal_make_clean_report();
	size_t null = (size_t)(literal_find_clock(report, "null") - report->clocks);

	report->cores[3].latency[null].count = 0;
	judge_report(report);
	assert_int_equal(literal_find_clock(report, "hpet")->cost.cores, 3);
	assert_false(literal_find_clock(report, "null")->cost.read_ps.known);
	for (size_t i = 0; i < 4; i++)
		report->cores[i].latency[null].count = 0;
	judge_report(report);
	assert_false(literal_find_clock(report, "hpet")->cost.read_ps.known);
}

/*
 * A loop that reads the TSC takes 9.35 ns per turn, including turns that stolen time made longer. A loop that reads no
 * clock takes 8.00 ns on the median core.
 */
TEST(cost_in_the_loop_includes_stolen_time_but_not_the_empty_loop)
{
	struct report *report = literal_make_clean_report();

	judge_report(report);
	assert_in_range(literal_find_clock(report, "tsc")->cost.loop_ps, 1330, 1370);
}
