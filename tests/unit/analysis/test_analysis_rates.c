/*
 * Rates from records that the tests write batch by batch. The TSC has two ticks in a nanosecond. The simulated clocks
 * count exactly at their rates. The TSC is read directly before and after each reading of a clock.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "base/set.h"
#include "consensus/rate_fit.h"

#define TSC_HZ    UINT64_C(2000000000)
#define MICROHZ   UINT64_C(1000000)
#define LIMIT_PPB 100000
#define BRACKET   200 /* duration of a reading in ticks of the TSC: 100 ns */
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

/* Errors of the simulated clocks: the rate error of each clock, and its change at CHANGES_NS. */
static struct {
	int64_t fast_ppb[CLOCKS];
	int64_t more_ppb[CLOCKS];
	uint64_t changes_ns;
	int64_t jump_ns[CLOCKS]; /* jump of each clock at JUMPS_NS */
	uint64_t jumps_ns;
} world;

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

/* Records samples of CLOCK at the time NS, as a batch of STAGE. If it is an edge clock, it has an edge at this time. */
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

		samples[i] = (struct sample){ 2 * at_ns - BRACKET / 2, count_of(clock, at_ns), 2 * at_ns + BRACKET / 2 };
	}
	if (stage == RECORD_CLOSE && flags & RECORD_JUMPED)
		corners = rate_corners(&report.clocks[clock].clock, 0, 0, samples, 1);
	else if (clock != RTC && stage != RECORD_CLOSE)
		corners = rate_corners(&report.clocks[clock].clock, 0, (clocks[clock].hz << 32) / TSC_HZ, samples, SAMPLES);
	for (size_t i = 0; i < corners.lower_count; i++)
		items[count++] = (struct record_corner){ (uint64_t)corners.lower[i].tsc, (uint64_t)corners.lower[i].ticks, 0 };
	for (size_t i = 0; i < corners.upper_count; i++)
		items[count++] = (struct record_corner){ (uint64_t)corners.upper[i].tsc, (uint64_t)corners.upper[i].ticks, 1 };
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
	outcome = analysis_rates(record.bytes, record.length, LIMIT_PPB, &report);
}

static int
begin(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	memset(&world, 0, sizeof(world));
	world.changes_ns = world.jumps_ns = UINT64_MAX;
	report.clock_count = CLOCKS;
	for (unsigned i = 0; i < CLOCKS; i++) {
		struct clock *clock = &report.clocks[i].clock;

		clock->id = clock->main = clocks[i].id;
		clock->state = CLOCK_PRESENT;
		clock->claimed = (struct rate){ clocks[i].hz, 1 };
		clock->wrap_ticks = UINT64_MAX;
		clock->edges_only = i == RTC;
	}
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ TSC_HZ, 1, 0, 0, 1 }, NULL, 0);
	return 0;
}

TEST_FIXTURE(begin, NULL);

static const struct report_clock *
row(unsigned clock)
{
	return &report.clocks[clock];
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
	assert_true(report.tsc_within.known);
	assert_in_range(TSC_HZ * MICROHZ, report.tsc_within.low, report.tsc_within.high);
	assert_string_equal(report.relative_to, "rtc"); /* the error of the RTC's edges is only the duration of a reading */
	assert_string_equal(report.tsc_source, "measured against rtc");
	assert_int_equal(report.rate_count, CLOCKS * (CLOCKS - 1) / 2);
	assert_false(outcome.undecided || outcome.whole_run || outcome.went_back || outcome.unsure);
	for (unsigned i = HPET; i < CLOCKS; i++) {
		assert_holds(&row(i)->error, world.fast_ppb[i]);
		assert_holds(&row(i)->change_halves, 0);
		assert_false(row(i)->rate_whole_run || row(i)->change_since.known);
		assert_int_equal(row(i)->window_ns, WINDOW_NS);
	}
	assert_int_equal(row(HPET)->rate_fit, RATE_FIT_ALL);
}

TEST(readings_at_the_end_narrow_the_rates_if_no_clock_changed)
{
	int64_t width_ppb;

	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	analyse();
	width_ppb = row(PM)->error.high - row(PM)->error.low;
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_true(outcome.whole_run);
	for (unsigned i = HPET; i < CLOCKS; i++) {
		assert_true(row(i)->rate_whole_run);
		assert_holds(&row(i)->error, 0);
		assert_holds(&row(i)->change_since, 0);
		assert_int_equal(row(i)->since_ns, END_NS - START_NS - WINDOW_NS);
	}
	assert_true((row(PM)->error.high - row(PM)->error.low) * 5 < width_ppb);
}

TEST(a_clock_that_changed_since_the_window_keeps_all_rates_in_the_window)
{
	world.changes_ns = START_NS + WINDOW_NS;
	world.more_ppb[PM] = 300000;
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_false(outcome.whole_run);
	assert_holds(&row(PM)->change_since, 300000);
	assert_holds(&row(PM)->error, 0);
	assert_int_equal(row(PM)->change.value, row(PM)->change_since.value);
	for (unsigned i = HPET; i < CLOCKS; i++)
		assert_false(row(i)->rate_whole_run);
}

TEST(the_first_window_without_a_discontinuity_counts)
{
	world.jumps_ns = START_NS + WINDOW_NS * 3 / 2;
	world.jump_ns[HPET] = 500000000;
	put_window(1, RECORD_JUMPED, START_NS, START_NS + WINDOW_NS);
	put_window(2, 0, START_NS + 2 * WINDOW_NS, START_NS + 3 * WINDOW_NS);
	put_window(3, RECORD_JUMPED, START_NS + 4 * WINDOW_NS, START_NS + 9 * WINDOW_NS);
	analyse();
	assert_holds(&row(HPET)->error, 0);
	assert_int_equal(row(HPET)->window_ns, WINDOW_NS);
}

/* A reading after the jump would give the HPET a wrong rate. */
TEST(without_such_a_window_the_longest_counts_up_to_the_jump)
{
	world.jumps_ns = START_NS + 3 * WINDOW_NS;
	world.jump_ns[HPET] = 500000000;
	put_all(RECORD_FIRST, 1, 0, START_NS);
	put_all(RECORD_LOOK, 1, 0, START_NS + WINDOW_NS);
	put_all(RECORD_LAST, 1, 0, START_NS + 3 * WINDOW_NS + WINDOW_NS / 2);
	put_all(RECORD_CLOSE, 1, RECORD_JUMPED, START_NS + 2 * WINDOW_NS);
	put_window(2, RECORD_JUMPED, START_NS + 4 * WINDOW_NS, START_NS + 5 * WINDOW_NS);
	analyse();
	assert_holds(&row(HPET)->error, 0);
	assert_int_equal(row(HPET)->window_ns, 2 * WINDOW_NS);
	assert_int_equal(row(HPET)->rate_fit, RATE_FIT_ALL);
}

TEST(a_window_that_did_not_end_gives_no_rates)
{
	put_all(RECORD_FIRST, 1, 0, START_NS);
	put_all(RECORD_LAST, 1, 0, START_NS + WINDOW_NS);
	analyse();
	assert_false(report.tsc_within.known || row(HPET)->implied.known);
	assert_string_equal(report.tsc_source, "claimed by CPUID; no other clock could measure it");
	report.clocks[TSC].clock.state = CLOCK_STUCK;
	analyse();
	assert_string_equal(report.tsc_source, "the TSC does not count");
	assert_int_equal(report.tsc.den, 0);
}

TEST(a_clock_whose_wraps_were_miscounted_has_no_rate)
{
	for (unsigned i = HPET; i < CLOCKS; i++) {
		put(i, RECORD_FIRST, 1, 0, START_NS);
		put(i, RECORD_LAST, 1, 0, START_NS + WINDOW_NS);
		put(i, RECORD_CLOSE, 1, i == PIT ? RECORD_UNCOUNTED : 0, START_NS + WINDOW_NS);
	}
	analyse();
	assert_true(row(PIT)->uncounted && !row(PIT)->implied.known && !row(PIT)->error.known);
	assert_true(row(PM)->implied.known && !row(PM)->uncounted);
	assert_int_equal(report.rate_count, 6);
}

TEST(only_a_clock_that_was_not_followed_may_lack_a_reading_at_the_end)
{
	for (unsigned stood = 0; stood < 2; stood++) {
		struct record_batch none = { .clock = PIT, .stage = RECORD_FINAL, .window = 2, .flags = RECORD_STOOD };

		begin(NULL);
		put_window(1, 0, START_NS, START_NS + WINDOW_NS);
		for (unsigned i = HPET; i < CLOCKS; i++)
			if (i != PIT)
				put(i, RECORD_FINAL, 2, 0, END_NS);
		if (stood)
			record_put(&record, RECORD_BATCH, &none, NULL, 0);
		analyse();
		assert_int_equal(outcome.whole_run, stood);
		assert_int_equal(row(HPET)->rate_whole_run, stood);
		assert_false(row(PIT)->rate_whole_run);
		assert_true(row(PIT)->implied.known);
	}
}

TEST(a_counter_that_reads_less_at_the_end_has_gone_back)
{
	world.jumps_ns = START_NS + 2 * WINDOW_NS;
	world.jump_ns[PM] = -15 * (int64_t)WINDOW_NS;
	put_window(1, 0, START_NS + WINDOW_NS / 2, START_NS + WINDOW_NS * 3 / 2);
	put_all(RECORD_FINAL, 2, 0, END_NS * 2);
	analyse();
	assert_int_equal(outcome.went_back, 0); /* the clock has caught up */
	assert_true(row(PM)->change_since.high < -1000000);
	begin(NULL);
	world.jumps_ns = START_NS + 2 * WINDOW_NS;
	world.jump_ns[PM] = -9 * (int64_t)WINDOW_NS;
	put_window(1, 0, START_NS + WINDOW_NS / 2, START_NS + WINDOW_NS * 3 / 2);
	put_all(RECORD_FINAL, 2, 0, END_NS);
	analyse();
	assert_int_equal(outcome.went_back, set_of(PM));
	assert_false(outcome.whole_run || row(PM)->change_since.known);
}

/*
 * The host delays the RTC's edge at the end of the rate window. The time after the window starts with the same edge, so
 * both show a false rate.
 */
TEST(a_guests_late_edge_accuses_no_clock_until_another_stretch_confirms_it)
{
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		int64_t fast_ppb = wrong ? -300000000 : 0;
		struct rate_interval window;

		begin(NULL);
		report.hypervisor[0] = 'K';
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
		window = row(RTC)->implied_window;
		world.fast_ppb[RTC] = fast_ppb;
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + 30 * WINDOW_NS);
		put(RTC, RECORD_AGAIN, 2, 0, START_NS + 40 * WINDOW_NS);
		analyse();
		assert_true(row(RTC)->implied_since.known);
		assert_int_equal(row(RTC)->implied_since.low > TSC_HZ * MICROHZ, wrong);
		/* The first half and the new stretch share no edge, so together they decide it. */
		assert_int_equal(row(RTC)->implied_window.high != window.high, wrong);
		assert_int_equal(outcome.unsure, 0);
	}
}

TEST(a_stretch_that_was_tried_and_failed_leaves_the_rate_unknown)
{
	struct record_batch none = { .clock = RTC, .stage = RECORD_AGAIN, .window = 2 };

	put_window(1, 0, START_NS, START_NS + 10 * WINDOW_NS);
	put_all(RECORD_FINAL, 2, 0, START_NS + 20 * WINDOW_NS);
	analyse();
	assert_true(row(RTC)->implied_since.known);
	record_put(&record, RECORD_BATCH, &none, NULL, 0);
	analyse();
	assert_false(row(RTC)->implied_since.known);
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
	assert_false(row(PM)->implied.known);
	assert_true(row(HPET)->implied.known);
}

/*
 * Only readings that are evenly spread between the ends are kept. Each batch has the corners of its samples (see
 * src/consensus/rate_fit.h), so the rate is known for each number of readings.
 */
TEST(any_number_of_looks_gives_one_rate)
{
	for (size_t looks = 1; looks < 200; looks = looks * 3 + 1) {
		begin(NULL);
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
		put_all(RECORD_LAST, 1, 0, START_NS + WINDOW_NS);
		put_all(RECORD_CLOSE, 1, 0, START_NS + WINDOW_NS);
		analyse();
		assert_holds(&row(HPET)->error, 0);
		assert_int_equal(row(HPET)->rate_fit, RATE_FIT_ALL);
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

TEST(a_batch_of_a_clock_that_the_report_does_not_have_is_left_out)
{
	struct record_batch batch = { .clock = REPORT_CLOCKS_MAX, .stage = RECORD_FIRST, .window = 1, .begin = 1, .end = 2 };

	record_put(&record, RECORD_BATCH, &batch, NULL, 0);
	put_window(1, 0, START_NS, START_NS + WINDOW_NS);
	batch.clock = UINT16_MAX;
	record_put(&record, RECORD_BATCH, &batch, NULL, 0);
	analyse();
	assert_holds(&row(HPET)->error, 0);
}
