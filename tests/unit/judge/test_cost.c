/*
 * The cost of a read in a program. Each core has a cost without its own bracket, and the median of these costs is
 * reported.
 */
#include "test.h"
#include "judge/judge.h"
#include "report_literal.h"

static void
set_core(struct report *report, size_t core, const char *id, uint64_t mean_ps)
{
	size_t clock = (size_t)(literal_find(report, id) - report->clocks);

	report->cores[core].latency[clock] = (struct core_latency){ 1000, 1, 1, 1, mean_ps, mean_ps - 600, mean_ps + 700 };
}

/* The cores' costs are 40, 10, 30 and 20 ns, so the median is 25 ns. The boot core's cost is 40 ns. */
TEST(of_four_cores_the_cost_is_the_mean_of_the_middle_two_within_those_of_all)
{
	static const uint64_t reads_ps[] = { 60000, 20000, 45000, 35000 }, nulls_ps[] = { 20000, 10000, 15000, 15000 };
	struct report *report = literal_clean();
	const struct report_cost *cost = &literal_find(report, "hpet")->cost;
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
	 * The expected value is the duration of the boot core's loop, minus the duration of the loop that reads no clock.
	 */
	scale_init(&scale, report->tsc);
	assert_int_equal(cost->loop_ps, latency_loop_ps(literal_find(report, "hpet")->latency, &scale) - 20000);
	/* Without the last core, the median is the cost on the third core, 30 ns. */
	report->cores[3].latency[literal_find(report, "null") - report->clocks].count = 0;
	set_core(report, 2, "null", 14000);
	judge_report(report);
	assert_int_equal(cost->cores, 3);
	assert_int_equal(cost->read_ps.value, 31000);
	assert_int_equal(cost->null_ps, 14000);
}

TEST(a_read_that_costs_what_nothing_costs_is_free_and_never_less)
{
	struct report *report = literal_clean();
	const struct report_cost *cost = &literal_find(report, "tsc")->cost;

	for (size_t i = 0; i < 4; i++) {
		set_core(report, i, "tsc", 23600);
		set_core(report, i, "null", 23900);
	}
	judge_report(report);
	assert_int_equal(cost->read_ps.value, 0);
	assert_int_equal(cost->read_ps.low, 0);
	assert_int_equal(cost->read_ps.high, 1000);
}

TEST(cores_that_read_nothing_do_not_count_and_without_null_it_is_not_known)
{
	struct report *report = literal_clean();
	size_t null = (size_t)(literal_find(report, "null") - report->clocks);

	report->cores[3].latency[null].count = 0;
	judge_report(report);
	assert_int_equal(literal_find(report, "hpet")->cost.cores, 3);
	assert_false(literal_find(report, "null")->cost.read_ps.known);
	for (size_t i = 0; i < 4; i++)
		report->cores[i].latency[null].count = 0;
	judge_report(report);
	assert_false(literal_find(report, "hpet")->cost.read_ps.known);
}

/*
 * A turn of the loop takes 9.35 ns, if reads that stolen time hit are included. The loop that reads no clock takes 8.00
 * ns on the median core.
 */
TEST(the_loop_has_its_hits_and_not_its_bracket)
{
	struct report *report = literal_clean();

	judge_report(report);
	assert_in_range(literal_find(report, "tsc")->cost.loop_ps, 1330, 1370);
}
