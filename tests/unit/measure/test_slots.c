/* Written examples of ticks in one window of a periodic source: the deadline that each tick is assigned to. */
#include "test.h"
#include "measure/timers/timer_test.h"
#include "measure/timers/lateness.h"

#define PERIOD   UINT64_C(1000000) /* ns, and ticks of the TSC */
#define BEGIN    UINT64_C(5000000000)
#define TICK_AS  UINT64_C(1000000000)
#define GAP_NS   10000
#define ENTRY_NS 250000

static struct {
	struct report report;
	struct survey survey;
	struct survey_timers all;
	struct timer_slot slot;
	struct timer_window window;
	struct timer timer;
	struct report_interval row;
	struct asking asking;
} *here;

static int
begin(void **state)
{
	(void)state;
	here = calloc(1, sizeof(*here));
	here->survey.report = &here->report;
	scale_init(&here->survey.scale, (struct rate){ 1000000000, 1 });
	here->window.slot = &here->slot;
	here->all.window = &here->window;
	here->timer.by_tsc = true;
	here->row = (struct report_interval){ .periodic = true, .asked_ns = PERIOD };
	here->asking = (struct asking){
		.survey = &here->survey, .all = &here->all, .timer = &here->timer, .row = &here->row,
		.tick = { TICK_AS, TICK_AS, TICK_AS }, .gap_ticks = GAP_NS, .entry_ticks = ENTRY_NS,
	};
	return 0;
}

static int
end(void **state)
{
	(void)state;
	free(here);
	return 0;
}

TEST_FIXTURE(begin, end);

/* In hundredths of a period, like all moments here. */
static uint64_t
moment(double hundredths)
{
	return BEGIN + (uint64_t)(hundredths * (double)PERIOD / 100);
}

static void
away(double from, double to)
{
	here->all.gaps[here->asking.gap_count++] = (struct survey_away){ moment(from), moment(to) };
}

/* Whole slots for deadlines from 100 to LAST; TICKS end with 0. */
static const struct report_interval *
folded(const double *ticks, double last)
{
	const struct arming arming = { BEGIN, BEGIN, BEGIN + PERIOD };

	for (; *ticks > 0; ticks++)
		here->slot.events[here->slot.taken++] = (struct timer_event){ 0, moment(*ticks) };
	slots_fold(&here->asking, &arming, PERIOD, moment(last + 100));
	return &here->row;
}

static void
assert_told(const struct report_interval *row, uint64_t empty, uint64_t doubled, uint64_t excused)
{
	assert_int_equal(row->empty, empty);
	assert_int_equal(row->doubled, doubled);
	assert_int_equal(row->excused, excused);
}

static int64_t
earliest_ns(void)
{
	int64_t least_ps = INT64_MAX;

	for (size_t i = 0; i < here->asking.count; i++)
		if (here->all.values[i].high < least_ps)
			least_ps = here->all.values[i].high;
	return least_ps / ASKING_PS_PER_NS;
}

TEST(each_tick_that_is_in_time_is_of_its_own_deadline)
{
	static const double ticks[] = { 100.1, 200.1, 300.1, 400.1, 500.1, 0 };

	assert_told(folded(ticks, 500), 0, 0, 0);
	assert_int_equal(here->row.expected, 5);
	assert_int_equal(here->asking.count, 5);
	assert_in_range(earliest_ns(), 1000, 1001);
}

/* Three periods without a tick up to the window's end, or six: of a guest that its host took the core from, too. */
TEST(what_is_still_to_come_when_a_window_ends_is_not_lost_where_the_host_is_busy)
{
	static const double few[] = { 100.1, 200.1, 300.1, 400.1, 0 };
	static const double most[] = { 100.1, 200.1, 300.1, 400.1, 500.1, 600.1, 700.1, 0 };

	assert_told(folded(most, 1000), 3, 0, 0);
	end(state);
	begin(state);
	away(120, 160);
	assert_told(folded(most, 1000), 0, 0, 4);
	end(state);
	begin(state);
	away(120, 160);
	assert_told(folded(few, 1000), 6, 0, 1);
	end(state);
	begin(state);
	strcpy(here->report.hypervisor, "KVMKVMKVM");
	assert_told(folded(most, 1000), 0, 0, 3);
	end(state);
	begin(state);
	strcpy(here->report.hypervisor, "KVMKVMKVM");
	assert_told(folded(few, 1000), 6, 0, 0);
}

TEST(what_is_not_there_is_lost_and_what_came_twice_doubled)
{
	static const double ticks[] = { 100.1, 200.1, 400.1, 500.1, 600.1, 700.1, 700.2, 800.1, 0 };

	assert_told(folded(ticks, 800), 1, 1, 0);
}

/* Its deadline may be the one before as well, which had a tick too many: it says nothing of how early one comes. */
TEST(what_came_out_of_a_gap_is_not_early_for_the_next)
{
	static const double ticks[] = { 100.1, 200.1, 290, 300.1, 400.1, 0 };

	away(256, 290);
	folded(ticks, 400);
	assert_int_equal(here->asking.count, 3);
	assert_true(earliest_ns() > 0);
}

/* They are late by 1.11 and 0.58 periods, so both come in the same period. */
TEST(of_two_ticks_behind_an_empty_slot_neither_is_told)
{
	static const double ticks[] = { 100.1, 311, 358, 400.1, 500.1, 0 };

	assert_told(folded(ticks, 500), 0, 0, 2);
}

TEST(a_tick_a_hair_before_a_phase_that_was_found_is_its_own)
{
	static const double ticks[] = { 100.1, 199.9, 300.1, 400.1, 0 };

	here->timer.own_phase = true;
	assert_told(folded(ticks, 400), 0, 0, 0);
}

/* A reinjected tick that comes more than a quarter period before a deadline does not belong to this deadline. */
TEST(what_is_made_up_for_well_before_a_deadline_is_of_those_before)
{
	static const double ticks[] = { 100.1, 200.1, 270, 276, 278, 300.1, 400.1, 0 };

	here->timer.own_phase = true;
	away(205, 270);
	assert_told(folded(ticks, 400), 0, 0, 1);
}

/* Two bursts that make up for what two gaps kept, and five ticks in time: these say where a period begins. */
TEST(bursts_do_not_say_where_a_period_begins)
{
	static const double ticks[] = { 86, 186, 500, 501, 502, 586, 1000, 1001, 1002, 1003, 1086, 1186 };
	struct arming arming = { BEGIN, BEGIN, BEGIN + PERIOD };

	here->timer.own_phase = true;
	away(190, 500);
	away(590, 1000);
	for (size_t i = 0; i < 5; i++) /* a moment before each, on a busy host */
		away((double[]){ 70, 170, 570, 1070, 1170 }[i], (double[]){ 72, 172, 572, 1072, 1172 }[i]);
	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		here->slot.events[here->slot.taken++] = (struct timer_event){ 0, moment(ticks[i]) };
	asking_find_phase(&here->asking, &arming, PERIOD);
	assert_in_range(arming.before + PERIOD, moment(86) - 100, moment(86));
}

/* Two ticks that a gap delayed come with later ticks. A third surplus tick was not pending. */
TEST(what_is_made_up_for_slots_behind_a_gap_is_not_doubled)
{
	static const double ticks[] = { 100.1, 410, 500.1, 550, 600.1, 640, 700.1, 750, 800.1, 900.1, 0 };

	away(180, 405);
	assert_told(folded(ticks, 900), 0, 1, 6);
}

/* The gap was over before the second slot begins; the burst that it ended with was not. */
TEST(what_a_burst_behind_a_gap_brings_to_the_next_slot_is_not_doubled)
{
	static const double ticks[] = { 168, 174, 180, 186, 192, 200.1, 300.1, 400.1, 500.1, 0 };

	assert_told(folded(ticks, 500), 0, 2, 0);
	end(state);
	begin(state);
	away(-1800, 168);
	assert_told(folded(ticks, 500), 0, 0, 2);
}

/* Two make up for what the gap kept; the one behind them, so near its deadline as the phase is known, is its own. */
TEST(the_last_of_a_burst_may_be_in_time)
{
	static const double ticks[] = { 100.1, 200.1, 463.7, 480, 499.9, 600, 700.1, 0 };

	here->timer.own_phase = true;
	away(210, 463.7);
	assert_told(folded(ticks, 700), 0, 0, 3);
}

/* It is a hair before its deadline and so said to be of the one before; the gap was over a quarter period before it. */
TEST(a_slot_whose_tick_may_be_the_last_of_a_burst_behind_a_gap_is_not_lost)
{
	static const double ticks[] = { 100.1, 200.1, 474.5, 499, 600.1, 700.1, 0 };
	static const double alone[] = { 100.1, 200.1, 300.1, 400.1, 600.1, 700.1, 0 };

	away(210, 474.5);
	assert_told(folded(ticks, 700), 0, 0, 4);
	end(state);
	begin(state);
	assert_told(folded(alone, 700), 1, 0, 0);
}

/* COUNT values of LATE_NS, and MORE of MORE_NS, in order. */
static bool
is_scattered(size_t count, int64_t late_ns, size_t more, int64_t more_ns)
{
	struct lateness values[100];
	struct report_interval row = { .periodic = true, .asked_ns = PERIOD };

	for (size_t i = 0; i < count + more; i++)
		values[i].low = values[i].high = (i < count ? late_ns : more_ns) * ASKING_PS_PER_NS;
	lateness_fold(&row, values, count + more);
	return lateness_is_scattered(&row, values, count + more);
}

TEST(ticks_are_all_over_their_periods_where_one_in_eight_is_half_a_period_behind_the_first)
{
	assert_false(is_scattered(80, 1000, 0, 0));
	assert_false(is_scattered(80, 900000, 0, 0)); /* late, but all alike */
	assert_false(is_scattered(73, 1000, 7, 800000));
	assert_true(is_scattered(70, 1000, 10, 800000));
	assert_false(is_scattered(70, 1000, 10, 400000));
	assert_true(is_scattered(1, -200000, 79, 600000));
	assert_false(is_scattered(79, -200000, 1, 200000)); /* a source that is early */
	assert_false(is_scattered(0, 0, 0, 0));
}
