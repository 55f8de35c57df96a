/*
 * Figures of timer tests, calculated from records that the tests write entry by entry. A tick of the TSC is a
 * nanosecond. The tests give times in hundredths of a period (1 ms) after the arming of the timer. Therefore deadlines
 * are at 100, 200, 300 and so on.
 */
#include "test.h"
#include "analysis/timer_analysis.h"

#define PERIOD  UINT64_C(1000000) /* period in ns; a tick of the TSC is a nanosecond */
#define BEGIN   UINT64_C(5000000000)
#define HZ      UINT64_C(1000000000)
#define MICROHZ (HZ * 1000000)

static uint8_t bytes[65536];
static struct record record;
static struct report report;
static struct interval_figures *const row = report.figures.intervals;
static struct record_event gaps[RECORD_AWAY_MAX];
static uint16_t gap_count;
static struct record_timer timer;

static void
begin(void)
{
	memset(&report, 0, sizeof(report));
	report.figures.tsc = (struct rate){ HZ, 1 };
	report.facts.interval_count = 1;
	report.facts.intervals[0] = (struct interval_facts){ .test = { .source = "hpet0", .asked_ns = PERIOD },
							     .state = CLOCK_PRESENT };
	timer = (struct record_timer){ .source = "hpet0", .flags = RECORD_BY_TSC, .interval_ns = PERIOD, .step_ticks = 1 };
	gap_count = 0;
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ HZ, 1, MICROHZ, MICROHZ, 1 }, NULL, 0);
}

TEST_FIXTURE(begin, NULL);

static void
put_timer(uint16_t flags)
{
	timer.flags = flags;
	report.facts.intervals[0].test.periodic = flags & RECORD_PERIODIC;
	record_put(&record, RECORD_TIMER, &timer, NULL, 0);
}

/*
 * Writes the entry for a timer with a nominal rate of 1 GHz. Its periods do not start when it is armed, and its
 * lateness is calculated from the TSC at the arming.
 */
static void
put_timer_with_own_phase(void)
{
	timer.hz_num = HZ;
	timer.hz_den = 1;
	put_timer(RECORD_PERIODIC | RECORD_OWN_PHASE);
}

static uint64_t
moment(double hundredths)
{
	return BEGIN + (uint64_t)(hundredths * (double)PERIOD / 100);
}

/* Adds a gap from FROM to TO, in which the core did not run this program. The next arming writes it to the record. */
static void
away(double from, double to)
{
	gaps[gap_count++] = (struct record_event){ moment(from), moment(to) };
}

static void
put_arming(struct record_interrupts arming, const struct record_event *events, size_t count)
{
	static struct record_event items[RECORD_AWAY_MAX + 1024];

	memcpy(items, gaps, gap_count * sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[gap_count + i] = events[i];
	arming.gaps = gap_count;
	arming.ticks = timer.interval_ns;
	assert_true(record_put(&record, RECORD_INTERRUPTS, &arming, items, gap_count + count));
	gap_count = 0;
}

/* Writes one arming at time 0, and its interrupts at the times TICKS. A value of 0 ends the list. */
static void
put_ticks(enum record_interrupts_what what, const double *ticks, double opened, double closed)
{
	struct record_event events[200];
	size_t count = 0;

	for (; ticks[count] > 0; count++)
		events[count] = (struct record_event){ 0, moment(ticks[count]) };
	put_arming((struct record_interrupts){ .what = (uint16_t)what, .asked = 80, .deadline = BEGIN + timer.interval_ns,
					       .armed_before = BEGIN, .armed_after = BEGIN, .opened = moment(opened),
					       .closed = moment(closed), .taken = count }, events, count);
}

static const struct interval_figures *
analyse(void)
{
	analysis_calculate_timers(bytes, record.length, &report, &report.figures);
	return row;
}

/* Writes an arming with deadlines from 100 to LAST, and analyses it. Returns the row of `intervals`. */
static const struct interval_figures *
analysed(const double *ticks, double last)
{
	put_ticks(RECORD_PERIODS, ticks, 0, last + 100);
	return analyse();
}

static void
assert_counts(uint64_t empty, uint64_t doubled, uint64_t excused)
{
	assert_int_equal(row->empty, empty);
	assert_int_equal(row->doubled, doubled);
	assert_int_equal(row->excused, excused);
}

TEST(each_tick_in_time_belongs_to_its_own_deadline)
{
	static const double ticks[] = { 100.1, 200.1, 300.1, 400.1, 500.1, 0 };

	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	analysed(ticks, 500);
	assert_counts(0, 0, 0);
	assert_int_equal(row->asked, 80);
	assert_int_equal(row->expected, 5);
	assert_int_equal(row->delivered, 5);
	assert_int_equal(row->lateness.count, 5);
	assert_int_equal(row->lateness.min_ns, 1000);
	assert_int_equal(row->lateness.max_ns, 1000);
	assert_int_equal(row->lateness.error_ns, 1);
	assert_int_equal(row->early, 0);
	assert_false(row->rate.known);
}

/*
 * The last three or six periods of the window have no tick. In a guest, or after a gap, the host may have preempted the
 * core for three periods, but not for six.
 */
TEST(periods_up_to_the_end_of_a_window_are_not_lost_if_the_host_is_busy)
{
	static const double few[] = { 100.1, 200.1, 300.1, 400.1, 0 };
	static const double most[] = { 100.1, 200.1, 300.1, 400.1, 500.1, 600.1, 700.1, 0 };
	static const struct {
		const double *ticks;
		bool gap, guest;
		uint64_t empty, excused;
	} cases[] = { { most, false, false, 3, 0 }, { most, true, false, 0, 4 }, { few, true, false, 6, 1 },
		      { most, false, true, 0, 3 }, { few, false, true, 6, 0 } };

	for (size_t i = 0; i < 5; i++) {
		begin();
		put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
		strcpy(report.facts.machine.hypervisor, cases[i].guest ? "KVMKVMKVM" : "");
		if (cases[i].gap)
			away(120, 160);
		analysed(cases[i].ticks, 1000);
		assert_counts(cases[i].empty, 0, cases[i].excused);
	}
}

/* Ticks and a gap, in hundredths of a period, and the expected counts. The last deadline is LAST. No tick is early. */
static const struct {
	const char *name;
	double ticks[12], gap[2], last;
	bool own_phase;
	uint64_t empty, doubled, excused, timed; /* TIMED is the number of ticks whose lateness is known */
} short_tests[] = {
	{ "a missing tick is lost, and one that came twice is doubled",
	  { 100.1, 200.1, 400.1, 500.1, 600.1, 700.1, 700.2, 800.1 }, { 0 }, 800, .empty = 1, .doubled = 1, .timed = 7 },
	/* The tick at 290 may be a late second tick for deadline 200. */
	{ "a tick at the end of a gap is not early for the next deadline",
	  { 100.1, 200.1, 290, 300.1, 400.1 }, { 256, 290 }, 400, .excused = 2, .timed = 3 },
	{ "a tick after the end of a gap is not early for the next deadline",
	  { 100.1, 200.1, 290, 300.1, 400.1 }, { 220, 280 }, 400, .excused = 2, .timed = 3 },
	/* both come in the period from 300 to 400: for deadlines 200 and 300 they are late by 1.11 and 0.58 periods */
	{ "two ticks after an empty period are not counted",
	  { 100.1, 311, 358, 400.1, 500.1 }, { 0 }, 500, .excused = 2, .timed = 4 },
	{ "a tick shortly before its deadline belongs to it", { 100.1, 199.9, 300.1, 400.1 }, { 0 }, 400,
	  .own_phase = true, .timed = 4 },
	/* 270 is in the period of deadline 200, and 276 and 278 are in the period of deadline 300 */
	{ "reinjected ticks long before a deadline are not doubled",
	  { 100.1, 200.1, 270, 276, 278, 300.1, 400.1 }, { 205, 270 }, 400, .own_phase = true, .excused = 2, .timed = 2 },
	/* the ticks for deadlines 200 and 300 come at 550 and 640; the second tick at 750 was not pending */
	{ "ticks that were pending since a gap are not doubled",
	  { 100.1, 410, 500.1, 550, 600.1, 640, 700.1, 750, 800.1, 900.1 }, { 180, 405 }, 900,
	  .doubled = 1, .excused = 6, .timed = 6 },
	/*
	 * At most one of the ticks at 550 and 560 was pending, so their period is doubled. The tick at 650 may be the
	 * pending one, so its period is not doubled.
	 */
	{ "a doubled period does not use up the ticks that are pending",
	  { 100.1, 300.1, 400.1, 500.1, 550, 560, 600.1, 650, 700.1, 800.1 }, { 205, 260 }, 800,
	  .doubled = 1, .excused = 2, .timed = 7 },
	/* 463.7 and 480 are for the deadlines 300 and 400 in the gap, and 499.9 is very near to deadline 500 */
	{ "the last tick of a burst may be in time",
	  { 100.1, 200.1, 463.7, 480, 499.9, 600, 700.1 }, { 210, 463.7 }, 700, .own_phase = true, .excused = 3, .timed = 4 },
	/* 499 counts for deadline 500, because deadline 400 has a tick, but it may also belong to deadline 400 */
	{ "a period whose tick may be the last of a burst after a gap is not lost",
	  { 100.1, 200.1, 474.5, 499, 600.1, 700.1 }, { 210, 474.5 }, 700, .excused = 3, .timed = 4 },
	{ "without a gap, it is lost", { 100.1, 200.1, 300.1, 400.1, 600.1, 700.1 }, { 0 }, 700, .empty = 1, .timed = 6 },
};

TEST(ticks_are_matched_to_deadlines_before_and_after_a_gap)
{
	for (size_t i = 0; i < sizeof(short_tests) / sizeof(short_tests[0]); i++) {
		begin();
		print_message("%s\n", short_tests[i].name);
		if (short_tests[i].own_phase)
			put_timer_with_own_phase();
		else
			put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
		if (short_tests[i].gap[1] > 0)
			away(short_tests[i].gap[0], short_tests[i].gap[1]);
		analysed(short_tests[i].ticks, short_tests[i].last);
		assert_counts(short_tests[i].empty, short_tests[i].doubled, short_tests[i].excused);
		assert_int_equal(row->losses, short_tests[i].empty);
		assert_int_equal(row->lateness.count, short_tests[i].timed);
		assert_int_equal(row->early, 0);
	}
}

/*
 * Analyses COUNT ticks (at most 30): at 100.1, SECOND and THIRD, and all further ticks in time. All must be counted,
 * and the latest must be LATEST_NS late.
 */
static void
assert_all_ticks_counted(size_t count, double second, double third, int64_t latest_ns)
{
	double ticks[31] = { 100.1, second, third };

	for (size_t i = 3; i < count; i++)
		ticks[i] = 100.1 + 100 * (double)i;
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	analysed(ticks, 100 * (double)count);
	assert_counts(0, 0, 0);
	assert_int_equal(row->lateness.count, count);
	assert_int_equal(row->lateness.max_ns, latest_ns);
}

/* The tick for deadline 200 comes at 310, and the tick for deadline 300 comes at 320. */
TEST(a_tick_later_than_a_period_belongs_to_the_empty_period_before)
{
	assert_all_ticks_counted(20, 310, 320, 1100000);
}

/*
 * The ticks for deadlines 200 and 300 come shortly before deadline 400. Each counts for the nearest deadline that has
 * no tick.
 */
TEST(the_ticks_of_a_burst_belong_to_the_latest_deadlines)
{
	assert_all_ticks_counted(30, 380, 385, 1800000);
}

/* The tick for deadline 200 is lost. The tick for deadline 400 comes at 390, and is no late tick for deadline 200. */
TEST(a_single_early_tick_belongs_to_no_deadline_two_periods_before)
{
	double ticks[20] = { 100.1, 300.1, 390 };

	for (size_t i = 3; i < 19; i++)
		ticks[i] = 200.1 + 100 * (double)i;
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	analysed(ticks, 2000);
	assert_counts(1, 0, 0);
	assert_int_equal(row->early, 1);
}

/*
 * After each of two gaps, the timer sends the missed ticks in a burst. The five other ticks are in time, but a short
 * gap comes before each of them, as on a busy host.
 */
TEST(bursts_do_not_show_the_phase_of_the_periods)
{
	static const double ticks[] = { 86, 186, 500, 501, 502, 586, 1000, 1001, 1002, 1003, 1086, 1186, 0 };
	static const double short_gaps[] = { 70, 170, 570, 1070, 1170 };

	put_timer_with_own_phase();
	away(190, 500);
	away(590, 1000);
	for (size_t i = 0; i < 5; i++)
		away(short_gaps[i], short_gaps[i] + 2);
	analysed(ticks, 1200);
	assert_int_equal(row->lateness.count, 5);
	assert_true(row->lateness.max_ns < 100);
	assert_int_equal(row->early, 0);
}

/*
 * The gap ends before the second period starts, but the timer sends missed ticks until after the start of that period.
 */
TEST(ticks_of_a_burst_after_a_gap_are_not_doubled_in_the_next_period)
{
	double ticks[41] = { 168, 174, 180, 186, 192 };

	for (size_t i = 5; i < 40; i++)
		ticks[i] = 200.1 + 100 * (double)(i - 5);
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	analysed(ticks, 3600);
	assert_true(row->scattered); /* without a gap, such ticks count as early and late */
	begin();
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	away(0, 168);
	analysed(ticks, 3600);
	assert_false(row->scattered);
	assert_counts(0, 0, 2);
}

/* Writes 80 ticks, and one more in the last period. Every third of the 80 ticks is late by HUNDREDTHS of a period. */
static void
put_uneven(double hundredths)
{
	double ticks[82] = { 0 };

	for (size_t i = 0; i < 80; i++)
		ticks[i] = 100.1 + 100 * (double)i + (i % 3 ? 0 : hundredths);
	ticks[80] = 8030;
	put_ticks(RECORD_PERIODS, ticks, 0, 8100);
}

TEST(ticks_spread_over_their_periods_have_no_lateness)
{
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	put_uneven(20);
	analyse();
	assert_false(row->scattered);
	assert_counts(0, 1, 0);
	assert_int_equal(row->lateness.count, 80);
	assert_int_equal(row->lateness.p99_ns, 201000);
	begin();
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	put_uneven(70);
	analyse();
	assert_true(row->scattered);
	assert_counts(0, 0, row->expected);
	assert_int_equal(row->lateness.count, 0);
	assert_int_equal(row->state, CLOCK_PRESENT);
	assert_string_equal(row->reason, "The timer's ticks come anywhere in their periods, so none can be matched to "
			    "a deadline.");
}

/*
 * Returns lateness_are_ticks_scattered() for COUNT ticks that are late by LATE_NS, followed by MORE ticks that are
 * late by MORE_NS.
 */
static bool
is_scattered(size_t count, int64_t late_ns, size_t more, int64_t more_ns)
{
	struct interval_figures periods = { .test = { .periodic = true, .asked_ns = PERIOD } };
	struct lateness values[100];

	for (size_t i = 0; i < count + more; i++)
		values[i].low = values[i].high = (i < count ? late_ns : more_ns) * 1000;
	lateness_store_percentiles(&periods, values, count + more);
	return lateness_are_ticks_scattered(&periods, values, count + more);
}

TEST(ticks_are_scattered_if_one_in_eight_is_half_a_period_late)
{
	assert_false(is_scattered(80, 1000, 0, 0));
	assert_false(is_scattered(80, 900000, 0, 0)); /* all ticks are equally late */
	assert_false(is_scattered(73, 1000, 7, 800000));
	assert_true(is_scattered(70, 1000, 10, 800000));
	assert_false(is_scattered(70, 1000, 10, 400000));
	assert_true(is_scattered(1, -200000, 79, 600000));
	assert_false(is_scattered(79, -200000, 1, 200000)); /* the ticks come within 0.4 periods */
	assert_true(is_scattered(1, -85000, 79, 407000)); /* one tick is early, and the others come 492 us after it */
	assert_false(is_scattered(0, 0, 0, 0));
	/* Eight ticks are later than the first by 450 to 560 us. Half a period is 500 us, so this proves nothing. */
	struct interval_figures periods = { .test = { .periodic = true, .asked_ns = PERIOD } };
	struct lateness values[9] = { { 0, 0 } };

	for (size_t i = 1; i < 9; i++)
		values[i] = (struct lateness){ 450000000, 560000000 };
	lateness_store_percentiles(&periods, values, 9);
	assert_false(lateness_are_ticks_scattered(&periods, values, 9));
}

/*
 * The values are not sorted. The percentile of P % is the smallest value that at least P % of the values do not
 * exceed.
 */
TEST(percentiles_do_not_depend_on_the_order_of_values)
{
	struct interval_figures shots = { .test = { .periodic = false } };
	struct lateness values[1000];

	for (size_t i = 0; i < 1000; i++) {
		int64_t ns = (int64_t)(i * 377 % 1000) + 1;

		values[i] = (struct lateness){ ns * 1000, ns * 1000 };
	}
	lateness_store_percentiles(&shots, values, 1000);
	assert_int_equal(shots.lateness.min_ns, 1);
	assert_int_equal(shots.lateness.p1_ns, 10);
	assert_int_equal(shots.lateness.p50_ns, 500);
	assert_int_equal(shots.lateness.p99_ns, 990);
	assert_int_equal(shots.lateness.p999_ns, 999);
	assert_int_equal(shots.lateness.max_ns, 1000);
	lateness_store_percentiles(&shots, values, 3);
	assert_int_equal(shots.lateness.p50_ns, 2);
}

/* An interrupt is early only if its whole interval is below 0. The middle of the first interval is below 0. */
TEST(an_interrupt_that_may_be_in_time_is_not_early)
{
	struct lateness values[] = { { -30000, 1000 }, { -21000, -1000 }, { -9000, -5000 } };
	struct interval_figures shots = { .test = { .periodic = false } };

	lateness_store_percentiles(&shots, values, 1);
	assert_int_equal(shots.early, 0);
	assert_false(shots.lateness.earliest.known);
	lateness_store_percentiles(&shots, values, 3);
	assert_int_equal(shots.early, 2);
	assert_true(shots.lateness.earliest.known);
	assert_int_equal(shots.lateness.earliest.low, 5); /* the proven minimum of 5 ns is larger than 1 ns */
	assert_int_equal(shots.lateness.earliest.value, 7);
	assert_int_equal(shots.lateness.earliest.high, 9);
}

/*
 * There are three cases: all ticks are equally late, every second tick is 32 to 50 us later, or all ticks after the
 * first third are 50 us later.
 */
TEST(a_rate_is_as_uncertain_as_its_ticks_are_uneven)
{
	int64_t residuals[81];
	struct interval_ppb even, uneven, bent;

	for (size_t k = 0; k < 81; k++)
		residuals[k] = 1000000;
	even = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0);
	for (size_t k = 0; k < 81; k++)
		residuals[k] += k % 2 ? 50000000 - (int64_t)(k % 7) * 3000000 : 0;
	uneven = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0);
	for (size_t k = 0; k < 81; k++)
		residuals[k] = k < 27 ? 0 : 50000000;
	bent = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0);
	assert_true(even.known && even.value == 0 && even.high - even.low < 1000);
	assert_true(uneven.low <= 0 && uneven.high >= 0);
	assert_true(bent.low <= 0 && bent.high >= 0);
	residuals[0] = 0;
	for (size_t k = 1; k < 81; k++)
		residuals[k] = INT64_MAX;
	assert_false(lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0).known);
}

/* A counter that is calculated from a slower one delays each tick by a part of a step, and this part may grow. */
TEST(a_rate_is_as_uncertain_as_the_steps_of_the_counter)
{
	const int64_t step_ps = 900000;
	int64_t residuals[81];
	struct interval_ppb rate;

	for (int64_t k = 0; k < 81; k++)
		residuals[k] = step_ps * k / 80;
	rate = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0);
	assert_true(rate.known && rate.high < 0);
	rate = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, step_ps);
	assert_true(rate.known && rate.low < 0 && rate.high > 0);
}

/*
 * With periods that are 1.25 % longer, there are 1 / 1.0125 as many ticks, which is 12,346 ppm fewer. With periods
 * that are 1.25 % shorter, there are 12,658 ppm more ticks.
 */
TEST(a_rate_is_a_number_of_ticks_and_not_a_length_of_periods)
{
	const int64_t part_ps = (int64_t)PERIOD * 1000 / 80;
	int64_t residuals[81];
	struct interval_ppb rate;

	for (int sign = -1; sign <= 1; sign += 2) {
		for (int64_t k = 0; k < 81; k++)
			residuals[k] = sign * part_ps * k;
		rate = lateness_fit_tick_rate(residuals, 81, PERIOD * 1000, 0);
		assert_true(rate.low <= (sign < 0 ? 12658228 : -12345679));
		assert_true(rate.high >= (sign < 0 ? 12658227 : -12345680));
		assert_true(rate.high - rate.low < 1000);
	}
}

TEST(the_rate_of_two_windows_that_differ_includes_both)
{
	struct interval_ppb a = { true, 600000, 590000, 610000 }, b = { true, 0, -50000, 50000 }, none = { .known = false };
	struct interval_ppb joined = lateness_combine_tick_rates(a, b);

	assert_int_equal(joined.low, 50000);
	assert_int_equal(joined.high, 610000);
	assert_int_equal(lateness_combine_tick_rates(b, a).low, 50000);
	assert_int_equal(lateness_combine_tick_rates(none, b).high, 50000);
	assert_int_equal(lateness_combine_tick_rates(b, none).high, 50000);
}

/* Writes 80 ticks with periods that are too short by PPM. */
static void
put_fast(int64_t ppm)
{
	double ticks[81] = { 0 };

	for (size_t i = 0; i < 80; i++)
		ticks[i] = 0.1 + (double)(i + 1) * 100 * (double)(1000000 - ppm) / 1e6;
	put_ticks(RECORD_PERIODS, ticks, 0, 8100);
}

/*
 * The rate is calculated with the TSC. The test runs two cases for each rate: first the TSC's rate is exactly known,
 * then no other clock confirms it.
 */
TEST(a_rate_that_is_off_is_within_its_bounds_if_the_rate_of_the_tsc_is_known)
{
	static const int64_t ppm[] = { 700, -1500 };

	for (size_t i = 0; i < 2; i++) {
		int64_t ppb = ppm[i] * 1000000000 / (1000000 - ppm[i]);

		begin();
		put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
		put_fast(ppm[i]);
		analyse();
		assert_true(row->rate.known && row->rate.low <= ppb && ppb <= row->rate.high);
		assert_true(row->rate.high - row->rate.low < 1000);
		begin();
		record_put(&record, RECORD_SCALE, &(struct record_scale){ HZ, 1, 0, 0, 1 }, NULL, 0);
		put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
		put_fast(ppm[i]);
		assert_false(analyse()->rate.known);
	}
}

/* The timer has no nominal rate. A calibration counted 10,000 of its ticks in 10 ms, with an error of 0.01 %. */
TEST(a_measured_tick_widens_lateness_and_rate)
{
	timer.span_ticks = 10000;
	timer.span_least = 9999000;
	timer.span_most = 10001000;
	put_timer(RECORD_PERIODIC);
	timer.interval_ns = 1000; /* a period of 1,000 ticks, each 1 us */
	put_fast(0);
	timer.interval_ns = PERIOD;
	analyse();
	assert_counts(0, 0, 0);
	assert_true(row->rate.known);
	assert_true(row->rate.low <= -399000 && row->rate.low >= -401000);
	/* the true period is between 9,999,000 / 10,001 ns and 10,001,000 / 9,999 ns */
	assert_in_range(row->rate.high, 399000, 401000);
	assert_true(row->lateness.error_ns >= 8000); /* the error of 0.01 % is 100 ns in each of 80 periods */
}

/*
 * Writes a one-shot of 1 ms, and its interrupts at the times TICKS after the arming. A value of 0 ends TICKS. DUE is
 * true if the timer's status shows that it expired.
 */
static void
put_shot(const double *ticks, bool due)
{
	struct record_event events[4] = { { 0, 0 } };
	size_t count = 0;

	for (; ticks[count] > 0; count++)
		events[count].tsc = moment(ticks[count]);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .due = due, .deadline = BEGIN + PERIOD,
					       .armed_before = BEGIN, .armed_after = BEGIN, .opened = BEGIN,
					       .closed = moment(2100), .taken = count }, events, count);
}

static const double in_time[] = { 100.2, 0 }, never[] = { 0 }, twice[] = { 100.2, 100.5, 0 }, early[] = { 98, 0 };

TEST(one_shots_are_delivered_lost_doubled_or_early)
{
	put_timer(RECORD_BY_TSC);
	put_shot(in_time, true);
	put_shot(twice, true);
	put_shot(early, true);
	put_shot(never, true);
	put_shot(never, false);
	analyse();
	assert_int_equal(row->asked, 5);
	assert_int_equal(row->expected, 5);
	assert_int_equal(row->delivered, 3);
	assert_counts(2, 1, 0);
	assert_int_equal(row->expired, 1);
	assert_int_equal(row->lost_tsc, BEGIN);
	assert_int_equal(row->early, 1);
	assert_int_equal(row->lateness.count, 3);
	assert_int_equal(row->lateness.max_ns, 2000);
	assert_in_range(row->lateness.earliest.value, 19999, 20001);
}

/*
 * Without the gap, each of these one-shots would count as lost, doubled or late. A gap that ends before the deadline
 * has no effect.
 */
TEST(one_shots_with_a_gap_at_their_deadline_are_not_counted)
{
	static const double late[] = { 190, 0 };
	static const double *const shots[] = { never, twice, late };

	put_timer(RECORD_BY_TSC);
	for (size_t i = 0; i < 3; i++) {
		away(90, 190);
		put_shot(shots[i], true);
	}
	away(50, 99);
	put_shot(in_time, true);
	analyse();
	assert_counts(0, 0, 3);
	assert_int_equal(row->expected, 4);
	assert_int_equal(row->expired, 0);
	assert_int_equal(row->lateness.count, 1);
	assert_int_equal(row->lateness.max_ns, 2000);
}

/* The record has space for 512 gaps per arming. If all are used, further gaps may be missing. */
TEST(a_one_shot_with_512_gaps_is_not_counted)
{
	put_timer(RECORD_BY_TSC);
	for (size_t gaps_before = RECORD_AWAY_MAX - 1; gaps_before <= RECORD_AWAY_MAX; gaps_before++) {
		for (size_t i = 0; i < gaps_before; i++)
			away(0.1 * (double)i, 0.1 * (double)i + 0.05);
		put_shot(in_time, true);
	}
	analyse();
	assert_int_equal(row->expected, 2);
	assert_int_equal(row->excused, 1);
}

TEST(periods_with_512_gaps_are_not_counted)
{
	static const double ticks[] = { 100.1, 200.1, 300.1, 400.1, 500.1, 0 };

	for (size_t gaps_before = RECORD_AWAY_MAX - 1; gaps_before <= RECORD_AWAY_MAX; gaps_before++) {
		begin();
		put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
		for (size_t i = 0; i < gaps_before; i++)
			away(0.1 * (double)i, 0.1 * (double)i + 0.05);
		analysed(ticks, 500);
		assert_counts(0, 0, gaps_before == RECORD_AWAY_MAX ? 5 : 0);
	}
}

TEST(an_early_interrupt_may_belong_to_a_one_shot_that_never_came)
{
	put_timer(RECORD_BY_TSC);
	put_shot(never, true);
	put_shot(early, true);
	put_shot(early, true);
	analyse();
	assert_int_equal(row->early, 1);
	assert_counts(1, 0, 1);
}

/* The arming took 30 us, so the interrupt came between 20 us before and 10 us after its deadline. */
TEST(an_interrupt_that_may_be_in_time_does_not_belong_to_an_earlier_one_shot)
{
	const struct record_event events[] = { { 0, BEGIN + PERIOD - 20000 } };

	timer.hz_num = HZ;
	timer.hz_den = 1;
	put_timer(0);
	put_shot(never, true);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .armed_before = BEGIN - 30000,
					       .armed_after = BEGIN, .opened = BEGIN, .closed = BEGIN + 2 * PERIOD,
					       .taken = 1 }, events, 1);
	analyse();
	assert_counts(1, 0, 0);
	assert_int_equal(row->early, 0);
	assert_int_equal(row->lateness.count, 1);
	assert_int_equal(row->lateness.p50_ns, -5000);
}

TEST(a_timer_that_never_expired_is_stuck)
{
	put_timer(RECORD_BY_TSC);
	put_shot(never, false);
	analyse();
	assert_int_equal(row->state, CLOCK_STUCK);
	assert_string_equal(row->reason, "No interrupt came, and the timer's own status shows that none was due.");
	begin();
	put_timer(RECORD_BY_TSC);
	put_shot(never, true);
	assert_int_equal(analyse()->state, CLOCK_PRESENT);
}

/* The core was preempted at the deadline, so the one-shot is not counted, whatever the timer's status shows. */
TEST(a_timer_is_not_stuck_if_the_core_was_preempted_at_a_deadline)
{
	put_timer(RECORD_BY_TSC);
	away(99, 150);
	put_shot(never, true);
	away(99, 150);
	put_shot(never, false);
	analyse();
	assert_counts(0, 0, 2);
	assert_int_equal(row->state, CLOCK_PRESENT);
	assert_string_equal(row->reason, "");
	put_shot(never, false);
	assert_int_equal(analyse()->state, CLOCK_PRESENT);
}

/* The counter has 32 bits and a rate of 10 MHz. It wraps between the deadline and the interrupt. */
TEST(lateness_by_a_counter_is_modulo_its_range)
{
	const struct record_event events[] = { { 2, BEGIN + PERIOD } };

	timer.hz_num = 10000000;
	timer.hz_den = 1;
	timer.count_mask = UINT32_MAX;
	put_timer(0);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .deadline = UINT32_MAX - 4,
					       .armed_before = BEGIN, .armed_after = BEGIN, .opened = BEGIN,
					       .closed = BEGIN + PERIOD, .taken = 1 }, events, 1);
	analyse();
	assert_int_equal(row->lateness.p50_ns, 750); /* the lateness is between 7 and 8 ticks of 100 ns */
	assert_int_equal(row->lateness.error_ns, 50);
}

/*
 * The lateness has three errors: the arming took 400 ns, the TSC counts in steps of 500 ticks, and the timer's count
 * may start up to 30 ticks late.
 */
TEST(lateness_by_the_tsc_has_the_errors_of_both_readings)
{
	const struct record_event events[] = { { 0, BEGIN + PERIOD + 3000 } };

	timer.hz_num = HZ;
	timer.hz_den = 1;
	timer.step_ticks = 500;
	timer.phase_ticks = 30;
	put_timer(0);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .armed_before = BEGIN,
					       .armed_after = BEGIN + 400, .opened = BEGIN + 400,
					       .closed = BEGIN + 2 * PERIOD, .taken = 1 }, events, 1);
	analyse();
	assert_int_equal(row->lateness.p50_ns, 2785); /* the middle between 3000 - 400 - 30 - 499 and 3000 + 499 */
	assert_int_equal(row->lateness.error_ns, 714);
}

TEST(interrupts_that_do_not_stop_count_as_doubled)
{
	put_timer(RECORD_BY_TSC);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .deadline = BEGIN + PERIOD,
					       .armed_before = BEGIN, .armed_after = BEGIN, .opened = BEGIN,
					       .closed = BEGIN + PERIOD, .taken = 1025 },
		   NULL, 0);
	analyse();
	assert_int_equal(row->doubled, 1024);
	assert_int_equal(row->expected, 0);
}

/* If the status was already set at the first poll, the time at which it was set is unknown. */
TEST(a_polled_status_is_uncertain_by_the_time_between_two_polls)
{
	const struct record_event seen[] = { { BEGIN + PERIOD + 400, BEGIN + PERIOD + 1000 }, { 0, BEGIN + PERIOD } };
	struct record_interrupts arming = { .what = RECORD_POLLED, .asked = 1, .armed_before = BEGIN, .armed_after = BEGIN,
					    .opened = BEGIN, .closed = BEGIN + 2 * PERIOD, .taken = 1 };

	timer.hz_num = HZ;
	timer.hz_den = 1;
	put_timer(0);
	put_arming(arming, &seen[0], 1);
	put_arming(arming, &seen[1], 1);
	arming.taken = 0;
	put_arming(arming, NULL, 0);
	analyse();
	assert_counts(1, 0, 1);
	assert_int_equal(row->delivered, 2);
	assert_int_equal(row->lateness.count, 1);
	assert_int_equal(row->lateness.p50_ns, 700);
	assert_int_equal(row->lateness.error_ns, 300);
}

TEST(an_event_whose_deadline_is_not_known_is_only_counted)
{
	const struct record_event events[] = { { 0, BEGIN + PERIOD } };

	/* 600 s: a 32-bit PM timer sets its status bit after this time, which is too long for a test */
	timer.interval_ns = UINT64_C(600000000000);
	put_timer(RECORD_UNTIMED);
	put_arming((struct record_interrupts){ .what = RECORD_WAITED, .asked = 1, .armed_before = BEGIN, .armed_after = BEGIN,
					       .opened = BEGIN, .closed = BEGIN + PERIOD, .taken = 1 }, events, 1);
	analyse();
	assert_int_equal(row->delivered, 1);
	assert_int_equal(row->lateness.count, 0);
}

TEST(armings_with_an_expired_deadline_are_counted_and_stale_if_they_interrupt)
{
	const struct record_event events[] = { { 0, BEGIN + 10 } };

	put_timer(RECORD_BY_TSC);
	for (size_t i = 0; i < 4; i++)
		put_arming((struct record_interrupts){ .what = RECORD_EXPIRED, .asked = 1, .armed_before = BEGIN,
						       .armed_after = BEGIN, .opened = BEGIN, .closed = BEGIN + 50000,
						       .taken = i == 2 }, events, i == 2);
	analyse();
	assert_int_equal(row->over, 4);
	assert_int_equal(row->stale, 1);
	assert_int_equal(row->asked, 0);
}

/*
 * Writes ticks after 20.5 masked periods: MORE ticks at once when interrupts are enabled, and then 20 ticks, each
 * SHIFT after its deadline. Returns the policy for missed ticks that the analysis finds.
 */
static enum report_policy
policy(size_t more, double shift, bool with_gap)
{
	double ticks[64] = { 0 };
	size_t count = 0;

	begin();
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	if (with_gap)
		away(2300, 2390);
	for (size_t i = 0; i < more; i++)
		ticks[count++] = 2050.1 + 0.1 * (double)i;
	for (size_t i = 0; i < 20; i++)
		ticks[count++] = 2100.1 + 100 * (double)i + shift;
	put_ticks(RECORD_MASKED, ticks, 2050, 4080);
	analyse();
	assert_int_equal(row->held_ns, 20500000);
	assert_int_equal(row->held_delivered, more + 20);
	assert_int_equal(row->asked, 0);
	assert_int_equal(!row->policy_reason, row->policy != REPORT_POLICY_UNKNOWN);
	return row->policy;
}

TEST(ticks_after_masked_periods_show_the_policy_for_missed_deadlines)
{
	assert_int_equal(policy(1, 0, false), REPORT_POLICY_DISCARD);
	assert_int_equal(policy(2, 0, false), REPORT_POLICY_DISCARD);
	assert_int_equal(policy(3, 0, false), REPORT_POLICY_CATCH_UP);
	assert_int_equal(policy(20, 0, false), REPORT_POLICY_CATCH_UP);
	assert_int_equal(policy(1, 50, false), REPORT_POLICY_DELAY);
	assert_int_equal(policy(1, 0, true), REPORT_POLICY_UNKNOWN);
	assert_int_equal(policy(10, 0, true), REPORT_POLICY_UNKNOWN);
	assert_string_equal(row->policy_reason, "preemption or slow reads of the TSC may have affected them");
	assert_int_equal(policy(11, 0, true), REPORT_POLICY_CATCH_UP);
}

TEST(one_interrupt_after_masked_periods_shows_no_policy)
{
	const double ticks[] = { 2050.1, 0 };

	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	put_ticks(RECORD_MASKED, ticks, 2050, 4080);
	assert_int_equal(analyse()->policy, REPORT_POLICY_UNKNOWN);
	assert_string_equal(row->policy_reason, "fewer than two interrupts came");
}

/*
 * Interrupts are enabled shortly after a deadline. If the timer restarted its periods at this time, their phase would
 * hardly change. Therefore the policy is unknown.
 */
TEST(interrupts_opened_at_a_deadline_show_no_policy)
{
	double ticks[21] = { 0 };

	for (size_t i = 0; i < 20; i++)
		ticks[i] = 2100.1 + 100 * (double)i;
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	put_ticks(RECORD_MASKED, ticks, 2010, 4040);
	assert_int_equal(analyse()->policy, REPORT_POLICY_UNKNOWN);
	assert_string_equal(row->policy_reason, "interrupts were enabled too near to a deadline");
}

/*
 * The first tick was pending, and came when interrupts were enabled. The phase is visible only in the ticks after it.
 */
TEST(the_last_ticks_show_the_policy_of_a_timer_with_its_own_phase)
{
	double ticks[22] = { 2050.1 };

	for (size_t i = 0; i < 20; i++)
		ticks[i + 1] = 2140 + 100 * (double)i;
	put_timer_with_own_phase();
	put_ticks(RECORD_MASKED, ticks, 2050, 4080);
	assert_int_equal(analyse()->policy, REPORT_POLICY_DISCARD);
}

/*
 * The report has two rows of `intervals`. Each row has only the armings with its own number, and a second call gives
 * the same figures.
 */
TEST(each_row_has_its_own_armings_and_a_second_call_the_same_figures)
{
	report.facts.interval_count = 2;
	report.facts.intervals[1] = report.facts.intervals[0];
	put_timer(RECORD_BY_TSC);
	put_shot(in_time, true);
	timer.timer = 2;
	put_timer(RECORD_BY_TSC);
	put_shot(in_time, true);
	timer.timer = 1;
	put_timer(RECORD_BY_TSC);
	put_shot(in_time, true); /* this one-shot belongs to row 0, although the entry of row 1 is the latest one */
	for (size_t i = 0; i < 2; i++) {
		analyse();
		assert_int_equal(row[0].asked, 1);
		assert_int_equal(row[0].lateness.count, 1);
		assert_int_equal(row[1].asked, 0);
	}
	assert_string_equal(row[0].test.source, "hpet0");
	assert_int_equal(row[0].test.asked_ns, PERIOD);
}

TEST(periods_of_length_0_are_left_out)
{
	const struct record_interrupts good = { .what = RECORD_PERIODS, .asked = 80, .deadline = BEGIN + PERIOD,
						.armed_before = BEGIN, .armed_after = BEGIN, .opened = BEGIN,
						.closed = moment(500), .ticks = PERIOD };
	struct record_interrupts bad[3] = { good, good, good };

	bad[0].ticks = 0;
	bad[1].ticks = 1000;
	bad[2].gaps = 1; /* the entry says that it has more gaps than items */
	put_timer(RECORD_PERIODIC | RECORD_BY_TSC);
	for (size_t i = 0; i < 3; i++)
		record_put(&record, RECORD_INTERRUPTS, &bad[i], NULL, 0);
	assert_int_equal(analyse()->asked, 0);
	record_put(&record, RECORD_INTERRUPTS, &good, NULL, 0);
	assert_int_equal(analyse()->asked, 80);
}

/* Writes a one-shot that is due at 100, and whose interrupt comes at TAKEN. The core was preempted from FROM to TO. */
static void
put_shot_over_gap(double from, double to, double taken)
{
	const struct record_event event = { 0, moment(taken) };

	away(from, to);
	put_arming((struct record_interrupts){ .what = RECORD_SHOT, .asked = 1, .due = 1, .deadline = BEGIN + PERIOD,
					       .armed_before = BEGIN, .armed_after = BEGIN, .taken = 1 }, &event, 1);
}

TEST(a_one_shot_that_comes_late_by_the_length_of_a_gap_is_delayed_by_the_gap)
{
	put_timer(RECORD_BY_TSC);
	put_shot_over_gap(30, 90, 160.5);  /* the deadline waited for 60: delayed */
	put_shot_over_gap(30, 230, 300.5); /* the deadline passed in the gap, and waited for 200: delayed */
	put_shot_over_gap(30, 90, 100.5);  /* in time */
	put_shot_over_gap(30, 230, 230.5); /* at the end of the gap, as soon as the core could take it */
	put_shot_over_gap(90, 290, 300.5); /* too little time was left at the gap to decide */
	put_shot_over_gap(30, 40, 110.5);  /* the gap is too short to decide */
	put_shot_over_gap(30, 90, 260.5);  /* late, but by another time than the gap's */
	analyse();
	assert_int_equal(row->over_gaps, 5);
	assert_int_equal(row->delayed, 2);
	assert_true(row->delay.known);
	assert_in_range(row->delay.low, 2004000, 2005001);
	assert_in_range(row->delay.high, 2005000, 2006002);
}

/* The first gap delays the deadline from 100 to 160, so the second gap from 120 to 160 delays it again. */
TEST(a_gap_before_the_delayed_deadline_delays_it_further)
{
	put_timer(RECORD_BY_TSC);
	away(30, 90);
	put_shot_over_gap(120, 160, 200.5);
	away(30, 90);
	put_shot_over_gap(170, 210, 200.5); /* this gap is after the delayed deadline, so it explains nothing */
	analyse();
	assert_int_equal(row->over_gaps, 2);
	assert_int_equal(row->delayed, 1);
	assert_in_range(row->delay.high, 1005000, 1006002);
}
