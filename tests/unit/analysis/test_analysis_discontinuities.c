/*
 * Finds the intervals in which the clocks disagree, from records that the tests write entry by entry. A step is the
 * interval from one comparison of all clocks to the next. The TSC counts two ticks per nanosecond. All clocks have
 * their nominal rates, and one of them jumps.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "base/set.h"

#define US       INT64_C(1000)
#define MS       (1000 * US)
#define S        (1000 * MS)
#define BEGIN    UINT64_C(4000000000) /* the TSC's value at the start of the step */
#define BRACKET  200                  /* duration of a reading: 200 ticks of the TSC, or 100 ns */
#define MICROHZ  UINT64_C(2000000000000000)
#define PM_WRAP  UINT64_C(0xffffff)

enum { TSC, HPET, PM, RTC, CLOCKS };

static const struct {
	const char *id;
	uint64_t hz, wrap_ticks;
} clocks[CLOCKS] = {
	{ "tsc", 2000000000, UINT64_MAX }, { "hpet", 10000000, UINT64_MAX }, { "acpi_pm", 3579545, PM_WRAP }, { "rtc", 1, 59 },
};

static uint8_t bytes[65536];
static struct record record;
static struct report report;

/* The entry for one step that a test writes to the record. */
static struct {
	struct record_step is;
	struct record_compared clocks[CLOCKS];
} step;

static struct sample
reading(uint64_t tsc, uint64_t ticks)
{
	return (struct sample){ tsc - BRACKET, ticks, tsc };
}

/* Sets the duration of the step as CLOCK counts it (NS) and as the TSC counts it (TSC_NS). */
static void
took(unsigned clock, int64_t ns, int64_t tsc_ns)
{
	uint64_t ticks = (uint64_t)(ns * (int64_t)(clocks[clock].hz / 5) / (S / 5));
	struct record_compared *compared = &step.clocks[clock];

	compared->then = reading(BEGIN, 7);
	compared->now = reading(BEGIN + 2 * (uint64_t)tsc_ns, (7 + ticks) & clocks[clock].wrap_ticks);
	if (clock == RTC)
		compared->now.ticks = (7 + (uint64_t)(ns / S)) % (clocks[RTC].wrap_ticks + 1);
	step.is.seen_tsc = compared->now.end;
}

/* Sets the duration of the step as all clocks except the TSC count it (NS), and as the TSC counts it (TSC_NS). */
static void
all_took(int64_t ns, int64_t tsc_ns)
{
	for (unsigned i = HPET; i < CLOCKS; i++)
		took(i, ns, tsc_ns);
}

/* Sets the duration of the step as the HPET counts it (NS). All other clocks count one second. */
static void
all_but_hpet_took_a_second(int64_t ns)
{
	all_took(S, S);
	took(HPET, ns, S);
}

static void
begin(void)
{
	memset(&report, 0, sizeof(report));
	memset(&step, 0, sizeof(step));
	report.facts.clock_count = CLOCKS;
	for (unsigned i = 0; i < CLOCKS; i++) {
		struct clock *clock = &report.facts.clocks[i].clock;

		clock->id = clock->main = clocks[i].id;
		clock->claimed = (struct rate){ clocks[i].hz, 1 };
		clock->wrap_ticks = clocks[i].wrap_ticks;
		clock->edges_only = i == RTC;
		step.clocks[i] = (struct record_compared){ .clock = (uint16_t)i, .resolution_ticks = 1,
							   .implied = { MICROHZ, MICROHZ - MICROHZ / 1000000,
									MICROHZ + MICROHZ / 1000000 } };
	}
	step.clocks[RTC].then_at_edge = step.clocks[RTC].now_at_edge = step.clocks[RTC].confirmed = 1;
	step.is = (struct record_step){ .begin_tsc = BEGIN, .floor_ns = MS, .cores = 1 };
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 2000000000, .hz_den = 1 }, NULL, 0);
}

TEST_FIXTURE(begin, NULL);

static void
put_step(void)
{
	record_put(&record, RECORD_STEP, &step.is, &step.clocks[HPET], CLOCKS - HPET);
}

/* Writes a record with only this step. Returns the number of discontinuities that the analysis finds in it. */
static size_t
found(void)
{
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 2000000000, .hz_den = 1 }, NULL, 0);
	put_step();
	analysis_calculate_discontinuities(bytes, record.length, &report, &report.figures);
	return report.figures.discontinuity_count;
}

/*
 * Clocks that agree form a group. Asserts that group number GROUP of the first discontinuity consists of the clocks in
 * the bit mask SET. The group's interval of the step's duration must include NS, and must be at most WITHIN_NS wide.
 */
static void
assert_group(size_t group, uint32_t set, int64_t ns, int64_t within_ns)
{
	const struct interval_ns *elapsed = &report.figures.discontinuities[0].groups[group].elapsed;

	assert_int_equal(report.figures.discontinuities[0].groups[group].clocks, set);
	assert_true(elapsed->known);
	assert_true(elapsed->low <= ns && ns <= elapsed->high);
	assert_true(elapsed->high - elapsed->low <= within_ns);
	assert_true(elapsed->low <= elapsed->value && elapsed->value <= elapsed->high);
}

/* Asserts that the step is one discontinuity, with this group. */
static void
assert_found_with_group(size_t group, uint32_t set, int64_t ns, int64_t within_ns)
{
	assert_int_equal(found(), 1);
	assert_group(group, set, ns, within_ns);
}

TEST(clocks_that_agree_are_no_discontinuity)
{
	all_took(S, S);
	assert_int_equal(found(), 0);
}

TEST(a_clock_that_jumps_is_a_group_and_the_others_give_the_true_time)
{
	all_but_hpet_took_a_second(S + 20 * MS);
	assert_int_equal(found(), 1);
	assert_int_equal(report.figures.discontinuities[0].group_count, 2);
	assert_int_equal(report.figures.discontinuities[0].from_tsc, BEGIN - BRACKET);
	assert_int_equal(report.figures.discontinuities[0].at_tsc, BEGIN + 2 * S);
	assert_int_equal(report.figures.discontinuities[0].groups[0].clock_count, 3);
	assert_int_equal(report.figures.discontinuities[0].groups[0].members[0], TSC);
	assert_group(0, set_of(TSC) | set_of(PM) | set_of(RTC), S + BRACKET / 2, 0);
	assert_group(1, set_of(HPET), S + 20 * MS, 10 * US);
	took(HPET, S - 20 * MS, S);
	assert_found_with_group(1, set_of(HPET), S - 20 * MS, 10 * US);
}

/* Asserts that the duration of the step by clock number CLOCK includes NS, and is at most WITHIN_NS wide. */
static void
assert_advance(unsigned clock, int64_t ns, int64_t within_ns)
{
	const struct report_discontinuity *row = &report.figures.discontinuities[0];

	assert_int_equal(row->clock_count, CLOCKS);
	for (size_t i = 0; i < row->clock_count; i++) {
		const struct interval_ns *elapsed = &row->clocks[i].elapsed;

		if (row->clocks[i].clock != clock)
			continue;
		assert_true(elapsed->known);
		assert_true(elapsed->low <= ns && ns <= elapsed->high && elapsed->high - elapsed->low <= within_ns);
		return;
	}
	fail_msg("clock %u is missing", clock);
}

/* The PM timer wraps every 4.7 s, so it advances by what its group shows. */
TEST(each_clock_has_the_time_that_it_showed_itself)
{
	all_took(13 * S, 13 * S);
	took(HPET, 13 * S + 20 * MS, 13 * S);
	assert_int_equal(found(), 1);
	assert_advance(TSC, 13 * S + BRACKET / 2, 1 * US);
	assert_advance(HPET, 13 * S + 20 * MS, 100 * US);
	assert_advance(RTC, 13 * S, 200 * MS);
}

TEST(a_tsc_that_stopped_is_a_group_even_if_it_is_not_in_the_report)
{
	all_took(S, S - 300 * MS);
	assert_found_with_group(0, set_of(HPET) | set_of(PM) | set_of(RTC), S, 10 * US);
	assert_group(1, set_of(TSC), S - 300 * MS + BRACKET / 2, 0);
	report.facts.clocks[TSC].clock.id = "tsc_ordered";
	assert_found_with_group(1, set_of(REPORT_CLOCKS_MAX), S - 300 * MS + BRACKET / 2, 0);
}

TEST(clocks_that_differ_by_less_than_the_minimum_agree)
{
	all_but_hpet_took_a_second(S + 400 * US);
	assert_int_equal(found(), 0);
	step.is.floor_ns = 200 * US;
	assert_int_equal(found(), 1);
}

TEST(an_uncertain_rate_widens_the_time_of_the_whole_step)
{
	all_but_hpet_took_a_second(S + 8 * MS);
	step.clocks[HPET].implied.low -= MICROHZ / 100;
	assert_int_equal(found(), 0);
	took(HPET, S - 8 * MS, S);
	assert_int_equal(found(), 0);
	step.clocks[HPET].implied.low += MICROHZ / 100 - MICROHZ / 1000;
	assert_int_equal(found(), 1);
}

TEST(a_counter_with_large_increments_is_known_to_one_increment)
{
	all_but_hpet_took_a_second(S + 8 * MS);
	step.clocks[HPET].resolution_ticks = 80000; /* 8 ms */
	assert_int_equal(found(), 0);
	step.clocks[HPET].resolution_ticks = 60000;
	assert_int_equal(found(), 1);
}

TEST(a_counter_that_wraps_in_the_step_agrees)
{
	all_took(S, S);
	step.clocks[PM].then.ticks = PM_WRAP - 100;
	step.clocks[PM].now.ticks = 3579545 - 101;
	assert_int_equal(found(), 0);
	step.clocks[PM].now.ticks += 35795; /* 10 ms */
	assert_int_equal(found(), 1);
}

/* The PM timer wraps in 4.7 s. A step of 2 s is longer than a quarter of this time. */
TEST(a_counter_is_not_compared_in_a_step_of_more_than_a_quarter_of_its_range)
{
	all_took(S, S);
	took(PM, S + 100 * MS, S);
	assert_int_equal(found(), 1);
	all_took(2 * S, 2 * S);
	took(PM, 2 * S + 100 * MS, 2 * S);
	assert_int_equal(found(), 0);
}

TEST(a_clock_first_read_within_the_step_is_not_compared)
{
	all_but_hpet_took_a_second(S + 5 * MS);
	step.clocks[HPET].then.begin = BEGIN + 1;
	assert_int_equal(found(), 0);
}

/*
 * The RTC's edge at the end of the step comes late. Therefore the TSC and the other clocks count more than the RTC's
 * one second.
 */
TEST(an_edge_may_come_50_ms_late_in_a_guest_and_5_ms_on_bare_metal)
{
	static const int64_t late_ns[] = { 4 * MS, 8 * MS, 49 * MS, 53 * MS };

	for (size_t i = 0; i < 4; i++) {
		all_took(S + late_ns[i], S + late_ns[i]);
		took(RTC, S, S + late_ns[i]);
		report.facts.machine.hypervisor[0] = 0;
		assert_int_equal(found(), late_ns[i] > 5 * MS);
		report.facts.machine.hypervisor[0] = 'K';
		assert_int_equal(found(), late_ns[i] > 50 * MS);
	}
}

/* QEMU moves its emulated TSC ahead if several cores read it, and the RTC's edges then seem late. */
TEST(an_edge_may_come_150_ms_late_if_several_cores_read_an_emulated_tsc)
{
	memcpy(report.facts.machine.accelerator, "tcg", sizeof("tcg"));
	report.facts.machine.hypervisor[0] = 'T';
	all_took(S + 140 * MS, S + 140 * MS);
	took(RTC, S, S + 140 * MS);
	assert_int_equal(found(), 1);
	step.is.cores = 2;
	assert_int_equal(found(), 0);
}

TEST(between_two_edges_a_clock_may_have_counted_a_tick_more)
{
	all_took(S, S);
	took(RTC, 0, S - 200 * MS);
	step.clocks[RTC].now_at_edge = 0;
	assert_int_equal(found(), 0);
	step.clocks[RTC].now_at_edge = 1;
	assert_int_equal(found(), 1);
}

TEST(two_readings_between_edges_are_not_compared)
{
	all_took(S, S);
	took(RTC, 10 * S, S);
	assert_int_equal(found(), 1);
	step.clocks[RTC].then_at_edge = step.clocks[RTC].now_at_edge = 0;
	assert_int_equal(found(), 0);
}

/*
 * The RTC's seconds wrap each minute. A step back by a part of a minute looks the same as a jump ahead by the rest of
 * the minute.
 */
TEST(an_rtc_that_seems_to_step_far_back_jumped_ahead)
{
	all_took(S, S);
	took(RTC, 41 * S, S);
	assert_found_with_group(1, set_of(RTC), 41 * S, 11 * MS);
	took(RTC, 58 * S, S); /* 3 s behind */
	assert_found_with_group(1, set_of(RTC), -2 * S, 11 * MS);
}

/* If the rate of a guest's RTC is uncertain, half an hour leaves more than a minute of its gain open. */
TEST(an_rtc_whose_gain_is_uncertain_by_a_minute_is_not_compared)
{
	strcpy(report.facts.machine.hypervisor, "SIM");
	for (unsigned per_mille = 2; per_mille <= 50; per_mille += 48) {
		all_took(1972 * S, 1972 * S);
		took(RTC, 1930 * S, 1972 * S);
		step.clocks[RTC].implied.low = MICROHZ - MICROHZ / 2000 * per_mille;
		step.clocks[RTC].implied.high = MICROHZ + MICROHZ / 2000 * per_mille;
		assert_int_equal(found(), per_mille == 2);
	}
}

/* If the RTC showed only one edge before the step, a pause of the machine may have delayed that edge. */
TEST(the_size_of_an_rtcs_jump_is_unknown_after_a_single_edge)
{
	all_took(S, S);
	took(RTC, 2 * S, S);
	assert_found_with_group(1, set_of(RTC), 2 * S, 11 * MS);
	step.clocks[RTC].confirmed = 0;
	assert_int_equal(found(), 1);
	assert_int_equal(report.figures.discontinuities[0].from_tsc, 0);
	assert_false(report.figures.discontinuities[0].groups[1].elapsed.known);
	assert_true(report.figures.discontinuities[0].groups[0].elapsed.known);
	step.clocks[RTC].then_at_edge = 0; /* a reading between two edges is not delayed */
	took(RTC, 4 * S, S);
	assert_int_equal(found(), 1);
	assert_int_equal(report.figures.discontinuities[0].from_tsc, BEGIN - BRACKET);
	assert_group(1, set_of(RTC), 3 * S + S / 2, S + 11 * MS);
}

TEST(time_hidden_before_the_step_widens_the_rtcs_interval_only)
{
	all_took(S, S);
	took(RTC, 2 * S, S);
	step.clocks[RTC].hidden_ns = 90 * MS;
	assert_found_with_group(1, set_of(RTC), 2 * S + 90 * MS, 101 * MS);
	all_took(S, S - 300 * MS); /* all clocks except the TSC agree */
	assert_found_with_group(0, set_of(HPET) | set_of(PM) | set_of(RTC), S, 10 * US);
}

TEST(the_step_of_an_rtc_may_start_before_the_other_clocks_step)
{
	all_took(S, S);
	took(RTC, 2 * S, S);
	step.clocks[RTC].then = reading(BEGIN - 2 * S, 6);
	assert_int_equal(found(), 1);
	assert_int_equal(report.figures.discontinuities[0].from_tsc, BEGIN - 2 * S - BRACKET);
	assert_group(0, set_of(TSC) | set_of(HPET) | set_of(PM), 2 * S + BRACKET / 2, BRACKET);
	assert_group(1, set_of(RTC), 3 * S, 11 * MS);
}

/* QEMU moves its emulated TSC ahead if several cores read it. */
TEST(an_emulated_tsc_may_be_100_ms_ahead_if_several_cores_run)
{
	all_took(S, S + 90 * MS);
	memcpy(report.facts.machine.accelerator, "tcg", sizeof("tcg"));
	assert_int_equal(found(), 1);
	step.is.cores = 2;
	assert_int_equal(found(), 0);
	all_took(S, S + 110 * MS);
	assert_int_equal(found(), 1);
	report.facts.machine.accelerator[0] = 0;
	all_took(S, S + 90 * MS);
	assert_int_equal(found(), 1);
}

/* The latest known rate of the TSC is 1 GHz, with limits that are 1 % apart. */
TEST(ticks_are_converted_with_the_rate_known_at_that_time)
{
	const struct record_scale scale = { 1000000000, 1, UINT64_C(995000000000000), UINT64_C(1005000000000000), 1 };

	all_but_hpet_took_a_second(S + 5 * MS);
	record_put(&record, RECORD_SCALE, &scale, NULL, 0);
	put_step();
	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 2000000000, .hz_den = 1 }, NULL, 0);
	analysis_calculate_discontinuities(bytes, record.length, &report, &report.figures);
	assert_int_equal(report.figures.discontinuity_count, 1);
	/* the HPET's 1.005 s are 1.005 million of these ticks, whose rate is only known to 0.5 % */
	assert_group(1, set_of(HPET), 2 * S / 1005 * 1000 + 10 * MS, (2 * S / 995 - 2 * S / 1005) * 1000 + 200 * US);
}

TEST(clocks_without_a_rate_or_missing_from_the_report_are_left_out)
{
	all_but_hpet_took_a_second(S + 5 * MS);
	step.clocks[HPET].implied.low = 0;
	assert_int_equal(found(), 0);
	step.clocks[HPET].implied.low = MICROHZ + 1;
	assert_int_equal(found(), 0);
	step.clocks[HPET].implied.low = MICROHZ - MICROHZ / 1000000;
	step.clocks[HPET].clock = CLOCKS;
	assert_int_equal(found(), 0);
	step.clocks[HPET].clock = HPET;
	assert_int_equal(found(), 1);
}

TEST(discontinuities_without_space_or_without_an_entry_count_as_lost)
{
	all_but_hpet_took_a_second(S + 5 * MS);
	for (unsigned i = 0; i < REPORT_DISCONTINUITIES_MAX; i++) {
		step.is.begin_tsc = BEGIN + i;
		put_step();
	}
	step.is.more = 7;
	record_put(&record, RECORD_STEP, &step.is, NULL, 0);
	for (unsigned again = 0; again < 2; again++) {
		analysis_calculate_discontinuities(bytes, record.length, &report, &report.figures);
		assert_int_equal(report.figures.discontinuity_count, REPORT_DISCONTINUITIES_MAX);
		assert_int_equal(report.figures.discontinuities[3].from_tsc, BEGIN - BRACKET);
		assert_int_equal(report.figures.discontinuities_lost, 7);
	}
}
