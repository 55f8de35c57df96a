/*
 * Gaps (times in which a core did not run) and stolen time, calculated from records that the tests write entry by
 * entry. A tick is half a nanosecond.
 */
#include "test.h"
#include "analysis/analysis.h"
#include "record/record.h"

#define CORES     3
#define START_TSC 1000000
#define TICKS_MS  UINT64_C(2000000)
#define ID_OF(core) (10 * (uint32_t)(core) + 7)

static uint8_t bytes[65536];
static struct record record;
static struct report report;
static const struct report_interference *const all = &report.figures.interference;
static struct report_core core_facts[CORES];
static struct core_figures cores[CORES];

static void
begin(void)
{
	memset(&report, 0, sizeof(report));
	memset(core_facts, 0, sizeof(core_facts));
	memset(cores, 0, sizeof(cores));
	report.facts.options.gap_ns = 10000;
	report.facts.run.start_tsc = START_TSC;
	report.facts.cores = core_facts;
	report.figures.cores = cores;
	report.facts.core_count = CORES;
	for (size_t i = 0; i < CORES; i++)
		core_facts[i].apic_id = ID_OF(i);
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 2000000000, .hz_den = 1 }, NULL, 0);
}

TEST_FIXTURE(begin, NULL);

/*
 * Writes the entry for a search for gaps on CORE that lasted OBSERVED_MS. It found GAPS gaps of WORST_TICKS each, all
 * in octave number OCTAVE: each gap lasted 2^(OCTAVE-1) to 2^OCTAVE - 1 ns.
 */
static void
put_watch(uint32_t core, uint64_t observed_ms, size_t octave, uint64_t gaps, uint64_t worst_ticks)
{
	const struct record_watch watch = { .core = core, .observed_ticks = observed_ms * TICKS_MS, .gaps = gaps,
					    .threshold_ticks = 20000, .total_ticks = gaps * worst_ticks,
					    .worst_ticks = worst_ticks };
	struct record_octave octaves[OCTAVES] = { { 0 } };

	octaves[octave].gaps = gaps;
	record_put(&record, RECORD_WATCH, &watch, octaves, OCTAVES);
}

static void
put_gap(uint32_t core, uint64_t at_ms, uint64_t ticks)
{
	const struct record_gap gap = { core, START_TSC + at_ms * TICKS_MS, ticks };

	record_put(&record, RECORD_GAP, &gap, NULL, 0);
}

static const struct report_interference *
analyse(void)
{
	analysis_calculate_gaps(bytes, record.length, &report, &report.figures);
	return all;
}

TEST(a_record_without_a_search_for_gaps_has_no_stolen_time)
{
	assert_false(analyse()->measured);
	assert_int_equal(all->threshold_ns, 0);
}

TEST(stolen_time_of_two_cores_is_added_up_and_the_third_was_not_observed)
{
	put_watch(0, 100, 15, 3, 50000);
	put_watch(2, 200, 17, 2, 160001);
	analyse();
	assert_true(all->measured);
	assert_int_equal(all->threshold_ns, 10000);
	assert_int_equal(all->observed_ns, 300000000);
	assert_int_equal(all->gaps, 5);
	assert_int_equal(all->total_ns, 75000 + 160001);
	assert_int_equal(all->worst_ns, 80001);
	assert_int_equal(all->worst_core, ID_OF(2));
	assert_int_equal(all->octave[15], 3);
	assert_int_equal(all->octave[17], 2);
	assert_int_equal(cores[0].observed_ns, 100000000);
	assert_int_equal(cores[0].gaps, 3);
	assert_int_equal(cores[0].worst_gap_ns, 25000);
	assert_int_equal(cores[1].observed_ns, 0);
	assert_int_equal(cores[2].gaps, 2);
}

TEST(two_searches_on_one_core_are_added_up)
{
	put_watch(1, 100, 15, 3, 50000);
	put_watch(1, 100, 16, 1, 70000);
	analyse();
	assert_int_equal(cores[1].observed_ns, 200000000);
	assert_int_equal(cores[1].gaps, 4);
	assert_int_equal(cores[1].worst_gap_ns, 35000);
}

TEST(a_gap_has_its_core_and_its_time_in_the_run)
{
	put_gap(1, 250, 40000);
	put_gap(0, 9, 30001);
	analyse();
	assert_int_equal(all->event_count, 2);
	assert_int_equal(all->events[0].at_ms, 250);
	assert_int_equal(all->events[0].ns, 20000);
	assert_int_equal(all->events[0].core, ID_OF(1));
	assert_int_equal(all->events[1].at_ms, 9);
	assert_int_equal(all->events[1].ns, 15001);
}

/* Ticks must be converted with the entry `scale` before the search for gaps, not with a later one. */
TEST(ticks_are_converted_with_the_rate_known_at_that_time)
{
	put_watch(0, 100, 15, 1, 50000);
	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 1000000000, .hz_den = 1 }, NULL, 0);
	put_watch(1, 100, 15, 1, 50000);
	analyse();
	assert_int_equal(cores[0].observed_ns, 100000000);
	assert_int_equal(cores[1].observed_ns, 200000000);
	assert_int_equal(all->worst_core, ID_OF(1));
}

TEST(a_longer_record_replaces_all_figures)
{
	put_watch(0, 100, 15, 3, 50000);
	put_gap(0, 9, 30001);
	analyse();
	put_watch(1, 100, 15, 1, 50000);
	analyse();
	assert_int_equal(all->observed_ns, 200000000);
	assert_int_equal(all->gaps, 4);
	assert_int_equal(all->event_count, 1);
	assert_int_equal(cores[0].gaps, 3);
}

/*
 * Writes the entry for a search for gaps on CORE that lasted 100 ms. The core ran for at least 70 ms, and its gaps of
 * 500 us or more took 9 ms. The host's counter of stolen time was read before and after the search, in an interval that
 * is AROUND_MS longer, and advanced by REPORTED_NS. If AROUND_MS is 0, the counter was not read.
 */
static void
put_reported(uint32_t core, uint64_t reported_ns, uint64_t around_ms)
{
	const struct record_watch watch = { .core = core, .observed_ticks = 100 * TICKS_MS, .ran_ticks = 70 * TICKS_MS,
					    .long_ticks = 9 * TICKS_MS, .reported_ns = reported_ns,
					    .reported_ticks = around_ms ? (100 + around_ms) * TICKS_MS : 0 };
	const struct record_octave octaves[OCTAVES] = { { 0 } };

	record_put(&record, RECORD_WATCH, &watch, octaves, OCTAVES);
}

TEST(stolen_time_that_the_host_reports_is_added_up_over_the_cores)
{
	const struct report_stolen *stolen = &all->stolen;

	put_reported(0, 10000000, 2);
	put_reported(1, 1000000, 3);
	put_reported(2, 0, 0);
	report.facts.stolen_counters.counter = "kvm_steal";
	analyse();
	assert_int_equal(all->observed_ns, 300000000);
	assert_int_equal(stolen->observed_ns, 200000000);
	assert_int_equal(stolen->reported_ns, 11000000);
	/*
	 * The counter's interval is longer than the search. Therefore up to 2 of the first core's 10 ms, and all of the
	 * second core's 1 ms, may have been stolen outside the search.
	 */
	assert_int_equal(stolen->reported_low_ns, 8000000);
	assert_int_equal(stolen->low_ns, 18000000);
	assert_int_equal(stolen->high_ns, 60000000);
	assert_string_equal(report.facts.stolen_counters.counter, "kvm_steal");
}

TEST(a_core_missing_from_the_report_is_left_out)
{
	put_watch(CORES, 100, 15, 3, 50000);
	put_gap(CORES, 9, 30001);
	put_watch(0, 100, 15, 1, 50000);
	analyse();
	assert_int_equal(all->gaps, 1);
	assert_int_equal(all->event_count, 0);
}

TEST(more_gaps_than_the_report_has_space_for_are_cut)
{
	for (uint64_t i = 0; i <= REPORT_EVENTS_MAX; i++)
		put_gap(0, i, 30000);
	assert_int_equal(analyse()->event_count, REPORT_EVENTS_MAX);
	assert_int_equal(all->events[REPORT_EVENTS_MAX - 1].at_ms, REPORT_EVENTS_MAX - 1);
}

TEST(a_damaged_record_counts_up_to_the_damage)
{
	size_t length = 0;

	put_watch(0, 100, 15, 1, 50000);
	while (record.blocks == 1) {
		length = record.length;
		put_gap(0, 9, 30000);
	}
	bytes[length + RECORD_BLOCK_BYTES] ^= 1;
	put_watch(1, 100, 15, 1, 50000);
	analyse();
	assert_int_equal(all->gaps, 1);
	assert_int_equal(cores[0].gaps, 1);
	assert_int_equal(cores[1].observed_ns, 0);
}
