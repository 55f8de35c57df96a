/*
 * Rates of clocks, calculated from records that the tests write. The TSC counts two ticks per nanosecond, and the
 * simulated clocks count exactly at their rates. The TSC is read directly before and after each reading of a clock. A
 * batch is a group of readings of one clock at one time. A look is a batch between the ends of the rate window.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "analysis/wraps.h"
#include "base/set.h"
#include "consensus/rate_fit.h"

#define TSC_HZ    UINT64_C(2000000000)
#define MICROHZ   UINT64_C(1000000)
#define LIMIT_PPB 100000
#define BRACKET   200 /* duration of a reading: 200 ticks of the TSC, or 100 ns */
#define SAMPLES   32
#define START_NS  UINT64_C(1000000000)
#define WINDOW_NS UINT64_C(2000000000)
#define END_NS    (START_NS + 10 * WINDOW_NS)

enum { TSC, HPET, PM, PIT, RTC, CLOCKS };

static const struct {
	const char *id;
	uint64_t hz;
} clocks[CLOCKS] = {
	{ "tsc", TSC_HZ }, { "hpet", 10000000 }, { "acpi_pm", 3579545 }, { "pit", 1193182 }, { "rtc", 1 },
};

static uint8_t bytes[262144];
static struct record record;
static struct report report;
static struct rate_outcome outcome;

/* Errors of the simulated clocks: each clock's rate error, and its change at the time CHANGES_NS. */
static struct {
	int64_t fast_ppb[CLOCKS];
	int64_t more_ppb[CLOCKS];
	uint64_t changes_ns;
	int64_t jump_ns[CLOCKS]; /* size of each clock's jump at the time JUMPS_NS */
	uint64_t jumps_ns;
} world;

static uint64_t look;               /* number of the next look, a batch within a rate window */
static uint64_t last_tsc[CLOCKS];   /* the TSC after the latest reading of each clock */
/* if not 0: time in ns between a batch and the clock's previous reading, which is not in the record */
static uint64_t left_out_ns;

static uint64_t
count_of(unsigned clock, uint64_t ns)
{
	int64_t later_ns = ns > world.changes_ns ? (int64_t)(ns - world.changes_ns) : 0;
	__int128 clock_ns = (__int128)ns * 1000000000 + (__int128)ns * world.fast_ppb[clock] +
			    (__int128)later_ns * world.more_ppb[clock];

	if (ns > world.jumps_ns)
		clock_ns += (__int128)world.jump_ns[clock] * 1000000000;
	return (uint64_t)(clock_ns * clocks[clock].hz / 1000000000 / 1000000000);
}

/* Returns the value that CLOCK's register shows when the clock has counted COUNT ticks. */
static uint64_t
reading_of(unsigned clock, uint64_t count)
{
	uint64_t range = report.facts.clocks[clock].clock.wrap_ticks + 1;

	return range ? count % range : count;
}

/*
 * Records readings of CLOCK at the time NS, as a batch of STAGE. An edge clock (read at its edges) has an edge at this
 * time.
 */
static void
put(unsigned clock, enum record_stage stage, uint16_t window, uint16_t flags, uint64_t ns)
{
	struct sample samples[SAMPLES];
	struct record_corner items[2 * RATE_CORNERS_MAX];
	struct rate_corners corners = { .narrowest = 0 };
	size_t count = 0;
	struct record_batch batch = { .clock = (uint16_t)clock, .stage = (uint16_t)stage, .window = window, .flags = flags,
				      .gcd_ticks = 1, .smallest_ticks = 1, .unread_ticks = TSC_HZ / 100 };

	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t at_ns = ns + i * 337;

		samples[i] = (struct sample){ 2 * at_ns - BRACKET / 2, reading_of(clock, count_of(clock, at_ns)),
					      2 * at_ns + BRACKET / 2 };
	}
	if (stage == RECORD_CLOSE && flags & RECORD_JUMPED)
		corners = rate_find_corners(&report.facts.clocks[clock].clock, 0, 0, samples, 1);
	else if (clock != RTC && stage != RECORD_CLOSE)
		corners = rate_find_corners(&report.facts.clocks[clock].clock, 0, (clocks[clock].hz << 32) / TSC_HZ,
					    samples, SAMPLES);
	for (size_t i = 0; i < corners.lower_count; i++)
		items[count++] = (struct record_corner){ (uint64_t)corners.lower[i].tsc, (uint64_t)corners.lower[i].ticks, 0 };
	for (size_t i = 0; i < corners.upper_count; i++)
		items[count++] = (struct record_corner){ (uint64_t)corners.upper[i].tsc, (uint64_t)corners.upper[i].ticks, 1 };
	batch.number = stage == RECORD_LOOK ? look : 0;
	if (stage < RECORD_FINAL && last_tsc[clock])
		batch.unread_ticks = left_out_ns ? 2 * left_out_ns : samples[0].end - last_tsc[clock];
	last_tsc[clock] = samples[0].end;
	batch.begin = samples[0].begin;
	batch.ticks = samples[0].ticks;
	batch.end = samples[0].end;
	assert_true(record_put(&record, RECORD_BATCH, &batch, items, count));
}

/* Records a batch of STAGE for each clock. */
static void
put_all(enum record_stage stage, uint16_t window, uint16_t flags, uint64_t ns)
{
	for (unsigned i = HPET; i < CLOCKS; i++)
		put(i, stage, window, flags, ns);
}

/* Records the end of window 1, in which no clock jumped. */
static void
put_ends(uint64_t ns)
{
	put_all(RECORD_LAST, 1, 0, ns);
	put_all(RECORD_CLOSE, 1, 0, ns);
}

static void
put_window(uint16_t window, uint16_t flags, uint64_t from_ns, uint64_t to_ns)
{
	put_all(RECORD_FIRST, window, 0, from_ns);
	put_all(RECORD_MIDDLE, window, 0, from_ns + (to_ns - from_ns) / 2);
	if (!(flags & RECORD_JUMPED))
		put_all(RECORD_LAST, window, 0, to_ns);
	put_all(RECORD_CLOSE, window, flags, to_ns);
}

static void
analyse(void)
{
	outcome = analysis_calculate_rates(record.bytes, record.length, LIMIT_PPB, &report, &report.figures);
}

static void
begin(void)
{
	memset(&report, 0, sizeof(report));
	memset(&world, 0, sizeof(world));
	world.changes_ns = world.jumps_ns = UINT64_MAX;
	look = left_out_ns = 0;
	memset(last_tsc, 0, sizeof(last_tsc));
	report.facts.clock_count = CLOCKS;
	for (unsigned i = 0; i < CLOCKS; i++) {
		struct clock *clock = &report.facts.clocks[i].clock;

		clock->id = clock->main = clocks[i].id;
		clock->state = CLOCK_PRESENT;
		clock->claimed = (struct rate){ clocks[i].hz, 1 };
		clock->wrap_ticks = UINT64_MAX;
		clock->edges_only = i == RTC;
	}
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ TSC_HZ, 1, 0, 0, 1 }, NULL, 0);
}

TEST_FIXTURE(begin, NULL);

static const struct clock_figures *
figures(unsigned clock)
{
	return &report.figures.clocks[clock];
}

static void
assert_holds(const struct interval_ppb *interval, int64_t ppb)
{
	assert_true(interval->known);
	assert_in_range(ppb - interval->low, 0, interval->high - interval->low);
}

TEST(rates_and_pairs_contain_the_true_values)
{
	world.fast_ppb[PM] = 20000;
	world.fast_ppb[PIT] = -30000;
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	analyse();
	assert_true(report.figures.tsc_within.known);
	assert_in_range(TSC_HZ * MICROHZ, report.figures.tsc_within.low, report.figures.tsc_within.high);
	/* simulated RTC edges are exact within a reading's duration, so the RTC's rate is the most exact */
	assert_string_equal(report.figures.relative_to, "rtc");
	assert_string_equal(report.figures.tsc_source, "measured against rtc");
	assert_int_equal(report.figures.rate_count, CLOCKS * (CLOCKS - 1) / 2);
	assert_false(outcome.undecided || outcome.whole_run || outcome.went_back || outcome.unsure);
	for (unsigned i = HPET; i < CLOCKS; i++) {
		assert_holds(&figures(i)->error, world.fast_ppb[i]);
		assert_holds(&figures(i)->change_halves, 0);
		assert_false(figures(i)->rate_whole_run || figures(i)->change_since.known);
		assert_int_equal(figures(i)->window_ns, WINDOW_NS);
	}
	assert_int_equal(figures(HPET)->rate_fit, RATE_FIT_ALL);
}

TEST(readings_at_the_end_narrow_the_rates_if_no_clock_changed)
{
	int64_t width_ppb;

	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	analyse();
	width_ppb = figures(PM)->error.high - figures(PM)->error.low;
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_true(outcome.whole_run);
	for (unsigned i = HPET; i < CLOCKS; i++) {
		assert_true(figures(i)->rate_whole_run);
		assert_holds(&figures(i)->error, 0);
		assert_holds(&figures(i)->change_since, 0);
		assert_int_equal(figures(i)->since_ns, END_NS - START_NS - WINDOW_NS);
	}
	assert_true((figures(PM)->error.high - figures(PM)->error.low) * 5 < width_ppb);
}

TEST(a_clock_that_changed_since_the_window_keeps_all_rates_in_the_window)
{
	world.changes_ns = START_NS + WINDOW_NS;
	world.more_ppb[PM] = 300000;
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_false(outcome.whole_run);
	assert_holds(&figures(PM)->change_since, 300000);
	assert_holds(&figures(PM)->error, 0);
	assert_int_equal(figures(PM)->change.value, figures(PM)->change_since.value);
	for (unsigned i = HPET; i < CLOCKS; i++)
		assert_false(figures(i)->rate_whole_run);
}

TEST(the_first_window_without_a_discontinuity_counts)
{
	world.jumps_ns = START_NS + WINDOW_NS * 3 / 2;
	world.jump_ns[HPET] = 500000000;
	put_window(1, RECORD_JUMPED, START_NS, START_NS + WINDOW_NS);
	put_window(2, 0, START_NS + 2 * WINDOW_NS, START_NS + 3 * WINDOW_NS);
	put_window(3, RECORD_JUMPED, START_NS + 4 * WINDOW_NS, START_NS + 9 * WINDOW_NS);
	analyse();
	assert_holds(&figures(HPET)->error, 0);
	assert_int_equal(figures(HPET)->window_ns, WINDOW_NS);
}

/* A reading after the jump would give a wrong rate of the HPET. */
TEST(if_all_windows_have_a_discontinuity_the_longest_counts_up_to_the_jump)
{
	world.jumps_ns = START_NS + 3 * WINDOW_NS;
	world.jump_ns[HPET] = 500000000;
	put_all(RECORD_FIRST, 1, 0, START_NS);
	put_all(RECORD_LOOK, 1, 0, START_NS + WINDOW_NS);
	put_all(RECORD_LAST, 1, 0, START_NS + 3 * WINDOW_NS + WINDOW_NS / 2);
	put_all(RECORD_CLOSE, 1, RECORD_JUMPED, START_NS + 2 * WINDOW_NS);
	put_window(2, RECORD_JUMPED, START_NS + 4 * WINDOW_NS, START_NS + 5 * WINDOW_NS);
	analyse();
	assert_holds(&figures(HPET)->error, 0);
	assert_int_equal(figures(HPET)->window_ns, 2 * WINDOW_NS);
	assert_int_equal(figures(HPET)->rate_fit, RATE_FIT_ALL);
}

TEST(a_window_that_did_not_end_gives_no_rates)
{
	put_all(RECORD_FIRST, 1, 0, START_NS);
	put_all(RECORD_LAST, 1, 0, START_NS + WINDOW_NS);
	analyse();
	assert_false(report.figures.tsc_within.known || figures(HPET)->implied.known);
	assert_string_equal(report.figures.tsc_source, "claimed by CPUID; no other clock could measure the rate");
	report.facts.clocks[TSC].clock.state = CLOCK_STUCK;
	analyse();
	assert_string_equal(report.figures.tsc_source, "the TSC does not count");
	assert_int_equal(report.figures.tsc.den, 0);
}

#define PIT_WRAP_NS UINT64_C(54925494)
#define LOOK_NS     UINT64_C(20000000)

/* Lets all counters except the HPET wrap as on a PC. */
static void
let_counters_wrap(void)
{
	report.facts.clocks[PM].clock.wrap_ticks = 0xffffff;
	report.facts.clocks[PIT].clock.wrap_ticks = 0xffff;
	report.facts.clocks[RTC].clock.wrap_ticks = 59;
}

/* Records a look (a batch within the window) of all clocks except the RTC, at the time NS. */
static void
put_look(uint16_t window, uint64_t ns)
{
	for (unsigned i = HPET; i < RTC; i++)
		put(i, RECORD_LOOK, window, 0, ns);
	look++;
}

/* Records looks (batches within the window) of the PIT from FROM_NS to TO_NS, and the RTC's edge in each second. */
static void
put_looks(uint16_t window, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t ns = from_ns; ns < to_ns; ns += LOOK_NS, look++) {
		if (ns % 1000000000 < LOOK_NS)
			put(RTC, RECORD_LOOK, window, 0, ns / 1000000000 * 1000000000);
		put(PIT, RECORD_LOOK, window, 0, ns);
	}
}

/*
 * A counter may be set back to a value below its first reading. If the TSC steps back, the time that passed counts as
 * 0.
 */
TEST(a_clock_may_step_back)
{
	static const struct clock rtc = { .wrap_ticks = 59 }, tsc = { .wrap_ticks = UINT64_MAX };
	static const struct clock of_63_bits = { .wrap_ticks = INT64_MAX };
	struct wraps_count count = { &rtc, 1, { 990, 3, 1000 } };

	assert_int_equal(wraps_passed(&count, 1100), 100);
	assert_int_equal(wraps_passed(&count, 900), 0);
	wraps_count_until_reading(&count, &(struct sample){ 1090, 55, 1100 }, 0);
	assert_true(count.latest.ticks == UINT64_C(0) - 5);
	assert_int_equal(wraps_reading(&rtc, count.latest.ticks), 55);
	assert_true(wraps_reading(&tsc, count.latest.ticks) == count.latest.ticks);
	assert_true(wraps_reading(&of_63_bits, count.latest.ticks) == count.latest.ticks);
}

/* The PIT wraps 36 times in the window and 328 times after it, the PM timer four times, and the RTC once. */
TEST(the_wraps_of_all_counters_are_counted)
{
	for (unsigned jumped = 0; jumped < 2; jumped++) {
		uint64_t from_ns = UINT64_C(59000000000);

		begin();
		let_counters_wrap();
		world.fast_ppb[PIT] = 200000;
		put_all(RECORD_FIRST, 1, 0, from_ns);
		put_looks(1, from_ns + LOOK_NS, from_ns + WINDOW_NS);
		if (!jumped)
			put_all(RECORD_LAST, 1, 0, from_ns + WINDOW_NS);
		put_all(RECORD_CLOSE, 1, jumped ? RECORD_JUMPED : 0, from_ns + WINDOW_NS);
		if (!jumped)
			put_all(RECORD_FINAL, 2, 0, from_ns + 10 * WINDOW_NS);
		analyse();
		assert_int_equal(outcome.whole_run, !jumped);
		for (unsigned i = HPET; i < CLOCKS; i++)
			assert_holds(&figures(i)->error, world.fast_ppb[i]);
	}
}

/*
 * After the window the PIT becomes faster by 2 %. Until the end of the run it then wraps six more times than at the
 * window's rate. Only readings between the window and the end of the run show these wraps.
 */
TEST(wraps_after_the_window_are_counted_with_the_readings_in_between)
{
	uint64_t to_ns = START_NS + WINDOW_NS;

	for (unsigned between = 0; between < 2; between++) {
		begin();
		let_counters_wrap();
		world.changes_ns = to_ns;
		world.more_ppb[PIT] = 20000000;
		put_all(RECORD_FIRST, 1, 0, START_NS);
		put_looks(1, START_NS + LOOK_NS, to_ns);
		put_ends(to_ns);
		for (uint64_t ns = to_ns; between && ns < END_NS; ns += WINDOW_NS / 4)
			put(PIT, RECORD_BETWEEN, ns < END_NS / 2 ? 1 : 2, 0, ns);
		put_all(RECORD_FINAL, 2, 0, END_NS);
		analyse();
		assert_true(figures(PIT)->change_since.known);
		assert_int_equal(figures(PIT)->change_since.low <= 20000000 && figures(PIT)->change_since.high >= 20000000, between);
		assert_holds(&figures(PIT)->error, 0);
		assert_holds(&figures(PM)->change_since, 0);
	}
}

/*
 * The TSC runs at 1 GHz. A clock that is twice as fast as its nominal frequency implies half of this rate. A slow clock
 * has a pace of 1, because it may have wrapped unseen.
 */
TEST(the_pace_of_a_clock_is_the_rounded_multiple_of_its_nominal_frequency)
{
	static const struct {
		uint64_t implied_hz, pace;
	} cases[] = { { 1000000000, 1 }, { 500000000, 2 }, { 690000000, 1 }, { 640000000, 2 }, { 3000000000, 1 } };
	struct scale scale;

	scale_init(&scale, (struct rate){ 1000000000, 1 });
	assert_int_equal(wraps_clock_speed_factor(&scale, &(struct rate_interval){ .known = false }), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t microhz = cases[i].implied_hz * 1000000;

		assert_int_equal(wraps_clock_speed_factor(&scale, &(struct rate_interval){ true, microhz, microhz, microhz }),
				 cases[i].pace);
	}
}

/* A reading after the jump must not decide how often the counter wrapped before the jump. */
TEST(wraps_up_to_a_jump_are_counted_without_the_readings_after_it)
{
	let_counters_wrap();
	world.jumps_ns = START_NS + WINDOW_NS;
	world.jump_ns[PIT] = 400000000;
	put_all(RECORD_FIRST, 1, 0, START_NS);
	put_looks(1, START_NS + LOOK_NS, START_NS + WINDOW_NS);
	put_look(1, START_NS + WINDOW_NS + PIT_WRAP_NS * 5 / 2);
	put_all(RECORD_CLOSE, 1, RECORD_JUMPED, START_NS + WINDOW_NS - LOOK_NS / 2);
	analyse();
	assert_false(figures(PIT)->uncounted);
	assert_holds(&figures(PIT)->error, 0);
}

/*
 * Records a window in which the core is preempted for AWAY_NS. The wraps of the PIT in this time can be counted only
 * with the estimate of the TSC's rate, which is wrong by SCALE_PPB. Returns true if the analysis finds that the PIT's
 * wraps were miscounted.
 */
static bool
is_miscounted(uint64_t away_ns, int64_t scale_ppb)
{
	uint64_t back_ns = START_NS + WINDOW_NS / 2 + away_ns, to_ns = back_ns + WINDOW_NS / 2;
	int64_t error_hz = (int64_t)(TSC_HZ / 1000000) * scale_ppb / 1000;
	struct record_scale scale = { (uint64_t)((int64_t)TSC_HZ + error_hz), 1, 0, 0, 1 };

	begin();
	let_counters_wrap();
	record_put(&record, RECORD_SCALE, &scale, NULL, 0);
	put_all(RECORD_FIRST, 1, 0, START_NS);
	for (uint64_t ns = START_NS + LOOK_NS; ns < START_NS + WINDOW_NS / 2; ns += LOOK_NS)
		put_look(1, ns);
	for (uint64_t ns = back_ns; ns < to_ns; ns += LOOK_NS)
		put_look(1, ns);
	put_ends(to_ns);
	analyse();
	assert_false(figures(PM)->uncounted || figures(HPET)->uncounted);
	assert_true(figures(PM)->implied.known);
	assert_int_equal(figures(PIT)->implied.known, !figures(PIT)->uncounted);
	assert_int_equal(figures(PIT)->error.known, !figures(PIT)->uncounted);
	assert_int_equal(report.figures.rate_count, figures(PIT)->uncounted ? 6 : 10);
	return figures(PIT)->uncounted;
}

TEST(one_wrap_too_many_or_too_few_is_noticed)
{
	for (uint64_t ms = 400; ms <= 4000; ms += 70) {
		/* error of the TSC's rate in ppb that adds one wrap */
		int64_t wrap_ppb = (int64_t)(PIT_WRAP_NS * 1000 / ms);

		assert_false(is_miscounted(ms * 1000000, 0));
		assert_true(is_miscounted(ms * 1000000, wrap_ppb));
		assert_true(is_miscounted(ms * 1000000, -wrap_ppb));
		assert_false(is_miscounted(ms * 1000000, wrap_ppb / 5));
	}
}

TEST(without_a_preemption_wraps_are_counted_right_with_a_wrong_tsc_rate)
{
	assert_false(is_miscounted(LOOK_NS, 300000000));
	assert_false(is_miscounted(LOOK_NS, -300000000));
}

/* If the record had no space for looks, the PIT may have wrapped between two looks without being counted. */
TEST(a_clock_with_missing_looks_has_no_rate)
{
	for (unsigned missing = 0; missing < 3; missing++) {
		begin();
		let_counters_wrap();
		left_out_ns = LOOK_NS;
		put_all(RECORD_FIRST, 1, 0, START_NS);
		for (unsigned i = 1; i < 40; i++)
			put_look(1, START_NS + i * LOOK_NS + (i < 20 ? 0 : missing * PIT_WRAP_NS * 3 / 4));
		put_ends(START_NS + 42 * LOOK_NS + missing * PIT_WRAP_NS * 3 / 4);
		analyse();
		assert_int_equal(figures(PIT)->uncounted, missing == 2);
		assert_int_equal(figures(PIT)->implied.known, missing < 2);
		assert_true(figures(PM)->implied.known);
	}
}

/*
 * In the six seconds, the PIT's count is wrong by 1.3 s, which is more than a quarter of the PM timer's range. But the
 * PIT wraps sooner, so it must not contradict the PM timer.
 */
TEST(only_clocks_that_wrap_later_contradict_a_count)
{
	assert_true(is_miscounted(UINT64_C(6000000000), -180000000));
	assert_true(is_miscounted(UINT64_C(1000000000), PIT_WRAP_NS));
	report.facts.clocks[HPET].clock.by_tsc = report.facts.clocks[PM].clock.by_tsc = true;
	analyse();
	assert_false(figures(PIT)->uncounted);
	report.facts.clocks[PM].clock.by_tsc = false;
	analyse();
	assert_true(figures(PIT)->uncounted);
}

/* Makes the first reading of the HPET begin a second later than it ends. */
static void
begin_first_reading_after_its_end(void)
{
	uint64_t word = 0, end = 2 * START_NS + BRACKET / 2;
	size_t at = 0;

	while (word != end - BRACKET)
		memcpy(&word, bytes + at++, sizeof(word));
	word = end + TSC_HZ;
	memcpy(bytes + at - 1, &word, sizeof(word));
}

TEST(a_count_read_while_the_tsc_stepped_back_is_not_compared_with_the_tsc)
{
	report.facts.clocks[HPET].clock.by_tsc = true;
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	analyse();
	assert_true(figures(HPET)->behind_tsc.known);
	begin_first_reading_after_its_end();
	analyse();
	assert_false(figures(HPET)->behind_tsc.known);
}

TEST(only_a_clock_that_was_not_tracked_may_lack_a_reading_at_the_end)
{
	static const struct record_mark mark = { 1, RECORD_MARK_TICK, 1, "" }, other = { 1, RECORD_MARK_TICK + 1, 1, "" };

	for (unsigned marks = 0; marks < 5; marks++) {
		bool may_have_stopped = marks == 1;

		begin();
		report.facts.clocks[PIT].clock.firmware_ticks = marks != 2;
		if (marks == 3)
			record_put(&record, RECORD_MARK, &mark, NULL, 0);
		put_window(1, 0, START_NS, START_NS + WINDOW_NS);
		if (marks == 1 || marks == 2)
			record_put(&record, RECORD_MARK, &mark, NULL, 0);
		if (marks == 4)
			record_put(&record, RECORD_MARK, &other, NULL, 0);
		for (unsigned i = HPET; i < CLOCKS; i++)
			if (i != PIT)
				put(i, RECORD_FINAL, 2, 0, END_NS);
		analyse();
		assert_int_equal(outcome.whole_run, may_have_stopped);
		assert_int_equal(figures(HPET)->rate_whole_run, may_have_stopped);
		assert_false(figures(PIT)->rate_whole_run);
		assert_true(figures(PIT)->implied.known);
	}
}

/* A clock that stopped in the window has no batch of stage CLOSE. Its last readings were before the stop. */
TEST(a_clock_that_stopped_in_the_window_has_no_rate)
{
	put_window(1, RECORD_JUMPED, START_NS, START_NS + WINDOW_NS);
	for (unsigned i = HPET; i < CLOCKS; i++) {
		put(i, RECORD_FIRST, 2, 0, START_NS + 2 * WINDOW_NS);
		put(i, RECORD_LAST, 2, 0, START_NS + 3 * WINDOW_NS);
		if (i != RTC)
			put(i, RECORD_CLOSE, 2, 0, START_NS + 3 * WINDOW_NS);
	}
	analyse();
	assert_false(figures(RTC)->implied.known || figures(RTC)->error.known || figures(RTC)->window_ns);
	assert_holds(&figures(HPET)->error, 0);
	assert_int_equal(report.figures.rate_count, 6);
}

/*
 * The RTC jumps between two extra measurements of its edges. A rate from an edge of the first to an edge of the second
 * would be wrong.
 */
TEST(two_extra_measurements_of_edges_are_not_joined)
{
	report.facts.machine.hypervisor[0] = 'K';
	world.jumps_ns = START_NS + 45 * WINDOW_NS;
	world.jump_ns[RTC] = UINT64_C(7000000000);
	put_window(1, 0, START_NS, START_NS + 10 * WINDOW_NS);
	for (unsigned stretch = 30; stretch < 70; stretch += 20) {
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + stretch * WINDOW_NS);
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + (stretch + 10) * WINDOW_NS);
		analyse();
		assert_true(figures(RTC)->implied_since.known);
		assert_in_range(TSC_HZ * MICROHZ, figures(RTC)->implied_since.low, figures(RTC)->implied_since.high);
	}
}

TEST(a_counter_with_a_lower_value_at_the_end_stepped_back)
{
	world.jumps_ns = START_NS + 2 * WINDOW_NS;
	world.jump_ns[PM] = -15 * (int64_t)WINDOW_NS;
	put_window(1, 0, START_NS + WINDOW_NS / 2, START_NS + WINDOW_NS * 3 / 2);
	put_all(RECORD_FINAL, 2, 0, END_NS * 2);
	analyse();
	assert_int_equal(outcome.went_back, 0); /* the clock has advanced beyond its earlier value */
	assert_true(figures(PM)->change_since.high < -1000000);
	begin();
	world.jumps_ns = START_NS + 2 * WINDOW_NS;
	world.jump_ns[PM] = -9 * (int64_t)WINDOW_NS;
	put_window(1, 0, START_NS + WINDOW_NS / 2, START_NS + WINDOW_NS * 3 / 2);
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_int_equal(outcome.went_back, set_of(PM));
	assert_false(outcome.whole_run || figures(PM)->change_since.known);
}

/*
 * The host delays the RTC's edge at the end of the rate window. The interval after the window starts with the same
 * edge, so both intervals give a false rate.
 */
TEST(a_guests_late_rtc_edge_accuses_no_clock_without_confirmation)
{
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		int64_t fast_ppb = wrong ? -300000000 : 0;

		begin();
		report.facts.machine.hypervisor[0] = 'K';
		for (unsigned i = HPET; i < RTC; i++) {
			put(i, RECORD_FIRST, 1, 0, START_NS);
			put(i, RECORD_LAST, 1, 0, START_NS + WINDOW_NS);
			put(i, RECORD_CLOSE, 1, 0, START_NS + WINDOW_NS);
		}
		world.fast_ppb[RTC] = fast_ppb;
		put(RTC, RECORD_FIRST, 1, 0, START_NS);
		world.fast_ppb[RTC] = -300000000;
		if (wrong)
			put(RTC, RECORD_MIDDLE, 1, 0, START_NS + 5 * WINDOW_NS);
		put(RTC, RECORD_LAST, 1, 0, START_NS + 10 * WINDOW_NS);
		put(RTC, RECORD_CLOSE, 1, 0, START_NS + 10 * WINDOW_NS);
		for (unsigned i = HPET; i < RTC; i++)
			put(i, RECORD_FINAL, 2, 0, START_NS + 20 * WINDOW_NS);
		analyse();
		assert_int_equal(outcome.unsure, set_of(RTC));
		struct rate_interval window = figures(RTC)->implied_window;
		world.fast_ppb[RTC] = fast_ppb;
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + 30 * WINDOW_NS);
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + 40 * WINDOW_NS);
		analyse();
		assert_true(figures(RTC)->implied_since.known);
		assert_int_equal(figures(RTC)->implied_since.low > TSC_HZ * MICROHZ, wrong);
		/*
		 * The first half of the window and the extra measurement do not include the delayed edge. If both give
		 * the same wrong rate, the RTC's rate is wrong.
		 */
		assert_int_equal(figures(RTC)->implied_window.high != window.high, wrong);
		assert_int_equal(outcome.unsure, 0);
	}
}

TEST(an_extra_measurement_that_failed_leaves_the_rate_unknown)
{
	struct record_batch none = { .clock = RTC, .stage = RECORD_AGAIN, .window = 2 };

	put_window(1, 0, START_NS, START_NS + 10 * WINDOW_NS);
	put_all(RECORD_FINAL, 2, 0, START_NS + 20 * WINDOW_NS);
	analyse();
	assert_true(figures(RTC)->implied_since.known);
	record_put(&record, RECORD_BATCH, &none, NULL, 0);
	analyse();
	assert_false(figures(RTC)->implied_since.known);
}

/* The run ends after the first edge of a second extra measurement. The first one does not give it an edge. */
TEST(an_extra_measurement_that_ended_after_its_first_edge_leaves_the_rate_unknown)
{
	struct record_batch none = { .clock = RTC, .stage = RECORD_AGAIN, .window = 2 };

	put_window(1, 0, START_NS, START_NS + 10 * WINDOW_NS);
	for (unsigned at = 30; at <= 50; at += 10)
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + at * WINDOW_NS);
	record_put(&record, RECORD_BATCH, &none, NULL, 0);
	analyse();
	assert_false(figures(RTC)->implied_since.known);
}

TEST(a_clock_that_was_never_seen_to_move_has_no_rate)
{
	static const enum record_stage stages[] = { RECORD_FIRST, RECORD_LAST, RECORD_CLOSE };

	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	for (size_t i = 0; i < 3; i++) {
		uint64_t ns = START_NS + (i ? WINDOW_NS : 0);
		struct record_batch batch = { .clock = PM, .stage = (uint16_t)stages[i], .window = 1, .begin = 2 * ns,
					      .ticks = count_of(PM, ns), .end = 2 * ns + BRACKET };

		record_put(&record, RECORD_BATCH, &batch, NULL, 0);
	}
	analyse();
	assert_false(figures(PM)->implied.known);
	assert_true(figures(HPET)->implied.known);
}

/* The analysis keeps only some of the looks, evenly spread. The rate must be known for any number of looks. */
TEST(the_rate_does_not_depend_on_the_number_of_looks)
{
	for (size_t looks = 1; looks < 200; looks = looks * 3 + 1) {
		begin();
		put_all(RECORD_FIRST, 1, 0, START_NS);
		for (size_t i = 0; i < looks; i++) {
			struct record_batch batch = { .clock = HPET, .stage = RECORD_LOOK, .window = 1, .number = i, .gcd_ticks = 1,
						      .smallest_ticks = 1 };
			uint64_t ns = START_NS + WINDOW_NS * (i + 1) / (looks + 2);

			batch.begin = 2 * ns;
			batch.ticks = count_of(HPET, ns + BRACKET / 4);
			batch.end = 2 * ns + BRACKET;
			record_put(&record, RECORD_BATCH, &batch, (struct record_corner[]){ { BRACKET, 0, 0 }, { 0, 0, 1 } }, 2);
		}
		put_ends(START_NS + WINDOW_NS);
		analyse();
		assert_holds(&figures(HPET)->error, 0);
		assert_int_equal(figures(HPET)->rate_fit, RATE_FIT_ALL);
	}
}

TEST(the_same_record_gives_the_same_report_again)
{
	static struct report before;

	world.fast_ppb[PIT] = 12345;
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	before = report;
	analyse();
	assert_memory_equal(&before, &report, sizeof(report));
}

TEST(a_batch_of_a_clock_missing_from_the_report_is_left_out)
{
	struct record_batch batch = { .clock = REPORT_CLOCKS_MAX, .stage = RECORD_FIRST, .window = 1, .begin = 1, .end = 2 };

	record_put(&record, RECORD_BATCH, &batch, NULL, 0);
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	batch.clock = UINT16_MAX;
	record_put(&record, RECORD_BATCH, &batch, NULL, 0);
	analyse();
	assert_holds(&figures(HPET)->error, 0);
}

#define ROWS   2
#define ROW_NS (5 * WINDOW_NS)

static struct sample
read_at(unsigned clock, uint64_t ns)
{
	return (struct sample){ 2 * ns - BRACKET / 2, count_of(clock, ns), 2 * ns + BRACKET / 2 };
}

/* The PM timer becomes faster by 300 ppm in the second row, in which the HPET has no last reading. */
TEST(each_row_of_a_soak_has_the_rates_between_its_own_readings)
{
	static uint64_t memory[32768];
	uint64_t ns = START_NS + WINDOW_NS;
	struct series_rate (*rates)[CLOCKS];

	assert_true(series_size_bytes(CLOCKS, 1, ROWS) <= sizeof(memory));
	series_init(&report.facts.series, memory, CLOCKS, 1, ROWS, ROW_NS);
	const struct series_row *rows = report.facts.series.rows;
	rates = (void *)report.facts.series.rates;
	world.changes_ns = ns + ROW_NS;
	world.more_ppb[PM] = 300000;
	put_window(1, 0, START_NS, ns);
	for (size_t r = 0; r < ROWS; r++, ns += ROW_NS)
		for (unsigned i = HPET; i < CLOCKS; i++) {
			rows[r].clocks[i].first = read_at(i, ns);
			if (r == 0 || i != HPET)
				rows[r].clocks[i].last = read_at(i, ns + ROW_NS);
		}
	rates[1][HPET].implied.known = rates[1][HPET].ppb.known = true;
	report.facts.series.count = ROWS;
	analyse();
	assert_string_equal(report.figures.relative_to, "rtc");
	for (unsigned i = TSC; i < CLOCKS; i++)
		assert_holds(&rates[0][i].ppb, 0);
	assert_holds(&rates[1][PM].ppb, 300000);
	assert_true(rates[1][PM].implied.high < rates[0][PM].implied.low);
	assert_holds(&rates[1][PIT].ppb, 0);
	assert_false(rates[1][HPET].implied.known || rates[1][HPET].ppb.known);
	assert_int_equal(rates[1][RTC].ppb.high - rates[1][RTC].ppb.low, 0);
}
