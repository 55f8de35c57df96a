/* A report's facts are restored from a record. A record with contradictory or damaged facts gives an error. */
#include <stdio.h>

#include "test.h"
#include "analysis/facts.h"
#include "replay/fact_names.h"
#include "replay/replay.h"
#include "report_literal.h"

#define RECORD_SIZE ((size_t)1 << 20)
#define BLOCKS_MAX  4096
#define NO_FACTS    "The record contains no facts about the machine, because an older version wrote it."
#define BAD_FACTS   "The record's facts about the machine contradict each other."
#define NO_MEMORY   "There is not enough memory for the record."

/* Numbers of fields, in the order of analysis/facts.def. */
enum { OPTIONS = 1, CPU_VENDOR = 5, INVARIANT = 13, SERIES = 22, HURRIED_MS = 24, CLOCK_COUNT = 26, CORE_COUNT = 28,
       INTERVAL_COUNT = 29, CALIBRATION_COUNT = 30, CHECK_COUNT = 32, PROBLEM_COUNT = 33 };
enum { OPTIONS_CLOCKS = 2, OPTIONS_CORES = 3 };
enum { CLOCK_CLOCK = 1, CLOCK_ID = 1, CLOCK_TITLE = 2, CLOCK_MAIN = 3, CLOCK_STATE = 6,
       CLOCK_WIDTH = 9, CLOCK_CLAIMED = 11 };
enum { CORE_APIC_ID = 1 };
enum { INTERVAL_SOURCE = 1, INTERVAL_PERIODIC = 2, INTERVAL_ROUTE = 4, INTERVAL_STATE = 7, INTERVAL_ASKED = 9 };
enum { UNKNOWN = 250 };

static uint8_t bytes[RECORD_SIZE], elements[8192];
static size_t used;
static struct record record;
static struct report report;
static struct replay_found found;
static void *blocks[BLOCKS_MAX];
static size_t block_count, blocks_left;

static void *
allocate(void *context, size_t size)
{
	if (block_count == blocks_left)
		return NULL;
	assert_true(block_count < BLOCKS_MAX);
	return blocks[block_count++] = calloc(1, size ? size : 1);
}

static const char *
replay(const uint8_t *from, size_t size)
{
	const struct replay_memory memory = { allocate, NULL };
	uint8_t *copy = malloc(size ? size : 1);

	while (block_count)
		free(blocks[--block_count]);
	/* allocated with exactly this size, so that the sanitizer sees a read beyond its end */
	memcpy(copy, from, size);
	const char *error = replay_restore_report(copy, size, &memory, &report, &found);
	free(copy);
	return error;
}

static void
begin(void)
{
	/* does not free the blocks of the last report, because a test may write this report's facts again */
	blocks_left = BLOCKS_MAX;
	used = 0;
	memset(elements, 0, sizeof(elements));
	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_RUN, &(struct record_run){ .version = "1.2.3", .commit = "abc", .start_tsc = 7 }, NULL, 0);
}

static void
end(void)
{
	while (block_count)
		free(blocks[--block_count]);
}

TEST_FIXTURE(begin, end);

static size_t
begin_element(void)
{
	used += 2;
	return used;
}

static void
end_element(size_t at)
{
	uint16_t length = (uint16_t)(used - at);

	memcpy(elements + at - 2, &length, sizeof(length));
}

static size_t
begin_field(uint8_t number)
{
	elements[used] = number;
	used += 1;
	return begin_element();
}

static void
put_bytes(uint8_t number, const void *value, size_t size)
{
	size_t at = begin_field(number);

	memcpy(elements + used, value, size);
	used += size;
	end_element(at);
}

static void
put_byte(uint8_t number, uint8_t value)
{
	put_bytes(number, &value, 1);
}

static void
put_words(uint8_t number, const char *words)
{
	put_bytes(number, words, strlen(words));
}

/* Appends an entry that consists of the elements in the buffer. */
static void
put_entry(uint16_t list, uint32_t first)
{
	const struct record_facts facts = { list, (uint16_t)used, first };

	record_put(&record, RECORD_FACTS, &facts, elements, (used + 7) / 8);
	used = 0;
	memset(elements, 0, sizeof(elements));
}

/* Appends a report that has only the one-byte field NUMBER. */
static void
put_report(uint8_t number, uint8_t value)
{
	size_t at = begin_element();

	put_byte(number, value);
	end_element(at);
	put_entry(FACTS_REPORT, 0);
}

/* Appends an element without fields. */
static void
put_empty(uint16_t list, uint32_t first)
{
	end_element(begin_element());
	put_entry(list, first);
}

/* Appends the clock number FIRST, which has only its names. */
static void
put_named_clock(uint32_t first)
{
	size_t at = begin_element(), inner = begin_field(CLOCK_CLOCK);

	put_bytes(CLOCK_ID, &"abcdefghijklmnopqrstuvwxyz"[first], 1);
	put_words(CLOCK_MAIN, "hpet");
	put_words(CLOCK_TITLE, "HPET");
	end_element(inner);
	end_element(at);
	put_entry(FACTS_CLOCKS, first);
}

static const char *
replay_all(void)
{
	record_end(&record);
	return replay(bytes, record.length);
}

/* Ends the record with the facts of FROM. */
static void
put_facts(const struct report *from)
{
	facts_write(&record, from);
	record_end(&record);
	assert_int_equal(record.dropped, 0);
}

/* Writes the record of a report with a finding, behaviours, timers, four cores and latencies. */
static const struct report *
put_literal(void)
{
	struct report *from = literal_make_clean_report();

	literal_add_intervals(from);
	literal_record_ns(from->facts.clocks[0].latency, 5000, 127);
	literal_record_ns(from->facts.clocks[0].latency, 5001,
			  128); /* the smallest count that takes two bytes in the record */
	literal_record_ns(from->facts.clocks[0].latency, 90000, 300);
	notes_add(&from->facts.table_problems, "MADT: its checksum is wrong.");
	put_facts(from);
	return from;
}

/* If a fact is not restored, or is restored as another value, the second record has other bytes. */
TEST(facts_are_restored_as_they_were_written)
{
	static uint8_t first[RECORD_SIZE];
	const struct report *from = put_literal();
	size_t length = record.length;

	memcpy(first, bytes, length);
	assert_null(replay(bytes, length));
	assert_string_equal(report.facts.run.version, "1.2.3");
	assert_string_equal(report.facts.run.commit, "abc");
	assert_int_equal(report.facts.run.start_tsc, 7);
	assert_int_equal(report.duration_ns, options_duration_ns(&report.facts.options));
	assert_int_equal(found.entries, record.entries);
	assert_int_equal(report.facts.machine.identity.microcode, from->facts.machine.identity.microcode);
	assert_string_equal(report.facts.machine.paravirtual.interfaces[1].name, "KVM");
	assert_string_equal(report.facts.clocks[4].clock.title, from->facts.clocks[4].clock.title);
	assert_int_equal(report.facts.clocks[4].clock.claimed.num, from->facts.clocks[4].clock.claimed.num);
	assert_int_equal(report.facts.cores[3].apic_id, from->facts.cores[3].apic_id);
	assert_int_equal(report.facts.intervals[1].test.pin, 23);
	assert_string_equal(report.facts.checks.rows[2].text, from->facts.checks.rows[2].text);
	assert_string_equal(report.facts.table_problems.sentences[0], "MADT: its checksum is wrong.");
	for (size_t i = 0; i < report.facts.clock_count; i++)
		/* the record has the typical latency of each core instead of the blocks of reads */
		assert_memory_equal(report.facts.clocks[i].latency, from->facts.clocks[i].latency,
				    offsetof(struct latency, blocks));
	begin();
	put_facts(&report);
	assert_int_equal(record.length, length);
	assert_memory_equal(bytes, first, length);
}

TEST(a_record_that_is_cut_or_has_a_wrong_byte_gives_an_error)
{
	put_literal();
	assert_non_null(replay(bytes, 0));
	assert_non_null(replay(bytes, record.length - 1));
	bytes[record.length / 2] ^= 0x10;
	assert_non_null(replay(bytes, record.length));
	bytes[record.length / 2] ^= 0x10;
	assert_null(replay(bytes, record.length));
}

TEST(without_memory_a_record_gives_an_error)
{
	put_literal();
	assert_null(replay(bytes, record.length));
	for (size_t needed = block_count, left = 0; left < needed; left++) {
		blocks_left = left;
		assert_string_equal(replay(bytes, record.length), NO_MEMORY);
	}
}

TEST(a_report_without_fields_is_accepted)
{
	put_empty(FACTS_REPORT, 0);
	assert_null(replay_all());
	assert_int_equal(report.facts.clock_count, 0);
	assert_string_equal(report.facts.machine.fence, "");
	assert_null(report.facts.stolen_counters.counter);
}

TEST(texts_of_missing_structs_are_empty)
{
	put_report(CLOCK_COUNT, 1);
	put_named_clock(0);
	assert_null(replay_all());
	assert_string_equal(report.facts.clocks[0].clock.found_by, "");
	assert_null(report.facts.clocks[0].clock.caveat);
}

TEST(clock_without_an_id_is_rejected)
{
	put_report(CLOCK_COUNT, 1);
	put_empty(FACTS_CLOCKS, 0);
	assert_string_equal(replay_all(), "The record's fact clocks[0].clock.id is missing.");
}

TEST(a_record_without_facts_is_from_an_older_version)
{
	assert_string_equal(replay_all(), NO_FACTS);
}

TEST(a_record_needs_exactly_one_entry_run)
{
	record_put(&record, RECORD_RUN, &(struct record_run){ .version = "2" }, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), BAD_FACTS);
	record_begin(&record, bytes, sizeof(bytes));
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

/* The options are in one element, which must fit into an entry. put_facts() fails if an entry was dropped. */
TEST(limits_of_all_rules_and_the_longest_texts_of_options_fit_into_their_entry)
{
	struct report *from = literal_make_clean_report();
	struct options *options = &from->facts.options;
	const char *ids[RULES_MAX + 1];

	rules_list_ids_with_limit(ids);
	for (size_t i = 0; ids[i]; i++) {
		assert_true(options->limit_count < OPTIONS_LIMITS_MAX);
		snprintf(options->limits[options->limit_count].rule, sizeof(options->limits[0].rule), "%s", ids[i]);
		options->limits[options->limit_count++].value = FACTS_LIMIT_MAX;
	}
	memset(options->save.url, 'x', sizeof(options->save.url) - 1);
	memcpy(options->save.url, "http://", strlen("http://"));
	memset(options->label, 'l', sizeof(options->label) - 1);
	options->clocks.count = OPTIONS_CLOCKS_MAX;
	for (size_t i = 0; i < OPTIONS_CLOCKS_MAX; i++)
		memset(options->clocks.ids[i], 'a' + (int)i, sizeof(options->clocks.ids[i]) - 1);
	put_facts(from);
	assert_null(replay(bytes, record.length));
	assert_int_equal(report.facts.options.limit_count, options->limit_count);
	assert_memory_equal(report.facts.options.limits, options->limits, sizeof(options->limits));
}

TEST(fields_and_lists_of_a_later_version_are_skipped)
{
	size_t at = begin_element(), inner;

	put_words(UNKNOWN, "something new");
	inner = begin_field(OPTIONS);
	put_words(UNKNOWN, "and new");
	put_byte(OPTIONS_CORES, CORES_OFF);
	end_element(inner);
	put_words(CPU_VENDOR, "GenuineIntel");
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	put_empty(FACTS_LISTS, 3);
	assert_null(replay_all());
	assert_int_equal(report.facts.options.cores.method, CORES_OFF);
	assert_string_equal(report.facts.machine.cpu_vendor, "GenuineIntel");
}

TEST(missing_element_gives_an_error)
{
	put_report(CLOCK_COUNT, 2);
	put_named_clock(0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(additional_element_gives_an_error)
{
	put_report(CLOCK_COUNT, 1);
	put_named_clock(0);
	put_named_clock(1);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(elements_in_the_wrong_order_give_an_error)
{
	put_report(CLOCK_COUNT, 2);
	put_empty(FACTS_CLOCKS, 1);
	put_named_clock(0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(elements_before_the_report_give_an_error)
{
	put_empty(FACTS_NOTES, 0);
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(second_report_gives_an_error)
{
	put_report(CLOCK_COUNT, 1);
	put_named_clock(0);
	put_entry(FACTS_REPORT, 1);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(report_that_is_missing_in_its_entry_gives_an_error)
{
	put_entry(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

/* Appends a report whose options have only the field NUMBER, with VALUE. */
static void
put_option(uint8_t number, uint8_t value)
{
	size_t at = begin_element(), inner = begin_field(OPTIONS);

	put_byte(number, value);
	end_element(inner);
	end_element(at);
	put_entry(FACTS_REPORT, 0);
}

TEST(enum_out_of_range_gives_an_error)
{
	put_option(OPTIONS_CORES, CORES_OFF + 1);
	assert_string_equal(replay_all(), "The record's fact facts.options.cores.method is 3, which is not from 0 to 2.");
}

TEST(bool_above_1_gives_an_error)
{
	put_report(INVARIANT, 2);
	assert_string_equal(replay_all(), "The record's fact facts.machine.tsc_is_invariant is 2, which is not from 0 to 1.");
}

TEST(number_that_is_wider_than_its_field_gives_an_error)
{
	size_t at = begin_element();

	put_bytes(HURRIED_MS, "\1\2\3\4", 4);
	put_bytes(INVARIANT, "\1\0", 2);
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	assert_string_equal(replay_all(),
			    "The record's fact facts.machine.tsc_is_invariant has 2 bytes, but it can have only 1.");
	assert_int_equal(report.facts.run.ended_early_ms, 0x04030201);
}

TEST(text_that_is_too_long_gives_an_error)
{
	size_t at = begin_element();

	put_words(CPU_VENDOR, "GenuineIntel!");
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	assert_string_equal(replay_all(),
			    "The record's fact facts.machine.cpu_vendor has 13 characters, but it can have only 12.");
}

TEST(bytes_that_are_not_printable_are_replaced)
{
	size_t at = begin_element();

	put_words(CPU_VENDOR, "a\x1b[2J\x7f\xff~ b");
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	assert_null(replay_all());
	assert_string_equal(report.facts.machine.cpu_vendor, "a?[2J??~ b");
}

TEST(more_elements_than_an_array_has_give_an_error)
{
	const size_t most = sizeof(report.facts.options.clocks.ids) / sizeof(report.facts.options.clocks.ids[0]);

	for (size_t more = 0; more < 2; more++) {
		begin();
		size_t at = begin_element(), inner = begin_field(OPTIONS);

		for (size_t i = 0; i < most + more; i++) {
			size_t clock = begin_field(OPTIONS_CLOCKS);

			put_bytes(1, &"abcdefghijklmnopqrstuvwxyz"[i], 1);
			end_element(clock);
		}
		end_element(inner);
		end_element(at);
		put_entry(FACTS_REPORT, 0);
		const char *error = replay_all();

		if (more)
			assert_string_equal(error, "The record's fact facts.options.clocks.ids has more than 16 elements.");
		else
			assert_null(error);
	}
	assert_int_equal(report.facts.options.clocks.count, most);
}

TEST(counts_above_their_maximum_give_an_error)
{
	static const struct {
		uint8_t number;
		size_t most;
	} counts[] = {
		{ CLOCK_COUNT, REPORT_CLOCKS_MAX }, { 27, CLAIMS_MAX }, { INTERVAL_COUNT, REPORT_INTERVALS_MAX },
		{ CALIBRATION_COUNT, CALIBRATION_LOOPS }, { 31, REPORT_NOTES_MAX }, { CHECK_COUNT, BEHAVIOURS_MAX },
		{ PROBLEM_COUNT, REPORT_NOTES_MAX },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		begin();
		put_report(counts[i].number, (uint8_t)(counts[i].most + 1));
		assert_non_null(strstr(replay_all(), "which is not from 0 to"));
		/* memory was only allocated for the texts of the entry `run` and for the error */
		assert_int_equal(block_count, 2);
	}
}

/* Replays a report with 2 clocks, 2 cores, and a series whose row has CLOCKS clocks and CORES cores. */
static const char *
replay_series(uint8_t clocks, uint8_t cores)
{
	size_t at, inner;

	begin();
	at = begin_element();
	inner = begin_field(SERIES);
	put_byte(2, clocks);
	put_byte(3, cores);
	put_byte(4, 1);
	end_element(inner);
	put_byte(CLOCK_COUNT, 2);
	put_byte(CORE_COUNT, 2);
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	for (uint32_t i = 0; i < 2; i++)
		put_named_clock(i);
	for (uint8_t i = 0; i < 2; i++) {
		at = begin_element();
		put_byte(CORE_APIC_ID, i);
		end_element(at);
		put_entry(FACTS_CORES, i);
	}
	put_empty(FACTS_ROWS, 0);
	for (uint32_t i = 0; i < clocks; i++)
		put_empty(FACTS_ROW_CLOCKS, i);
	for (uint32_t i = 0; i < cores; i++)
		put_empty(FACTS_ROW_OFFSETS, i);
	return replay_all();
}

TEST(series_needs_all_clocks_and_cores_of_the_report)
{
	assert_null(replay_series(2, 2));
	assert_null(replay_series(REPORT_CLOCKS_MAX, 3));
	assert_int_equal(report.facts.series.count, 1);
	assert_string_equal(replay_series(1, 2), BAD_FACTS);
	assert_string_equal(replay_series(2, 1), BAD_FACTS);
	assert_string_equal(replay_series(REPORT_CLOCKS_MAX + 1, 2),
			    "The record's fact facts.series.clocks is 17, which is not from 0 to 16.");
}

TEST(lengths_beyond_their_container_give_an_error)
{
	for (int which = 0; which < 3; which++) {
		begin();
		size_t at = begin_element();

		put_byte(HURRIED_MS, 5);
		end_element(at);
		if (which == 0)
			elements[0]++; /* the element is longer than the entry */
		else if (which == 1)
			elements[3]++; /* the field is longer than the element */
		else
			elements[0] = 2; /* the element ends within a field's header */
		put_entry(FACTS_REPORT, 0);
		assert_string_equal(replay_all(), BAD_FACTS);
	}
}

TEST(entry_that_states_more_bytes_than_it_has_gives_an_error)
{
	put_empty(FACTS_REPORT, 0);
	record_put(&record, RECORD_FACTS, &(struct record_facts){ FACTS_NOTES, 9, 0 }, elements, 1);
	assert_string_equal(replay_all(), BAD_FACTS);
}

/* Appends a report with one clock, which has the given width and rate. */
static void
put_clock(uint8_t width, uint8_t numerator, uint8_t denominator)
{
	size_t at, inner, rate;

	put_report(CLOCK_COUNT, 1);
	at = begin_element();
	inner = begin_field(CLOCK_CLOCK);
	put_words(CLOCK_ID, "hpet");
	put_words(CLOCK_MAIN, "hpet");
	put_words(CLOCK_TITLE, "HPET");
	put_byte(CLOCK_STATE, CLOCK_PRESENT);
	put_byte(CLOCK_WIDTH, width);
	rate = begin_field(CLOCK_CLAIMED);
	put_byte(1, numerator);
	put_byte(2, denominator);
	end_element(rate);
	end_element(inner);
	end_element(at);
	put_entry(FACTS_CLOCKS, 0);
}

TEST(clock_needs_a_possible_width_and_rate)
{
	put_clock(64, 3, 1);
	assert_null(replay_all());
	assert_int_equal(report.facts.clocks[0].clock.claimed.num, 3);
	begin();
	put_clock(65, 3, 1);
	assert_string_equal(replay_all(), "The record's fact clocks[0].clock.width_bits is 65, which is not from 0 to 64.");
	begin();
	put_clock(64, 3, 0);
	assert_string_equal(replay_all(),
			    "The claimed rate of the clock hpet in the record is 3 / 0 Hz, which is impossible.");
}

/* Replays a record with the latency of CLOCK: COUNT reads, and histogram cells whose bytes are CELLS. */
static const char *
replay_latency(uint16_t clock, uint64_t count, const char *cells, uint16_t length)
{
	struct record_taken words[4] = { { 0 } };
	const struct record_latency latency = { .clock = clock, .length = length, .count = count,
						 .min_ns = 5, .max_ns = 7, .max_count = 1 };

	begin();
	put_clock(24, 3, 1);
	if (length <= sizeof(words))
		memcpy(words, cells, length);
	record_put(&record, RECORD_LATENCY, &latency, words, 4);
	return replay_all();
}

/* Replays a record with a periodic timer. A text is omitted if it is NULL, and the period if it is 0. */
static const char *
replay_timer(const char *source, const char *route, uint8_t period_ns, const struct record_timer *timer)
{
	begin();
	if (timer)
		record_put(&record, RECORD_TIMER, timer, NULL, 0);
	put_report(INTERVAL_COUNT, 1);
	size_t at = begin_element();
	if (source)
		put_words(INTERVAL_SOURCE, source);
	put_byte(INTERVAL_PERIODIC, 1);
	if (route)
		put_words(INTERVAL_ROUTE, route);
	put_byte(INTERVAL_STATE, CLOCK_PRESENT);
	if (period_ns)
		put_byte(INTERVAL_ASKED, period_ns);
	end_element(at);
	put_entry(FACTS_INTERVALS, 0);
	return replay_all();
}

TEST(timer_needs_a_source_and_a_known_route_and_a_period)
{
	assert_null(replay_timer("hpet0", "ioapic", 100, NULL));
	assert_string_equal(replay_timer("hpet0", NULL, 100, NULL),
			    "The record's fact intervals[0].test.route_kind is missing.");
	assert_string_equal(replay_timer(NULL, "ioapic", 100, NULL), "The record's fact intervals[0].test.source is missing.");
	assert_string_equal(replay_timer("", "ioapic", 100, NULL), "The record's fact intervals[0].test.source is empty.");
	for (size_t i = 0; i < 3; i++) {
		static const char *const words[] = { "api", "ioapi", "c fsb" };

		assert_non_null(strstr(replay_timer("hpet0", words[i], 100, NULL),
				       "which is none of: lapic ioapic fsb pic status."));
	}
	assert_string_equal(replay_timer("hpet0", "ioapic", 0, NULL),
			    "The record's fact intervals[0].test.asked_ns is 0, although the timer is periodic.");
}

TEST(description_of_a_timer_must_match_its_row)
{
	const struct record_timer good = { .flags = RECORD_PERIODIC, .source = "hpet0", .interval_ns = 100 };
	struct record_timer timer = good;

	assert_null(replay_timer("hpet0", "ioapic", 100, &timer));
	timer.interval_ns = 101;
	assert_string_equal(replay_timer("hpet0", "ioapic", 100, &timer),
			    "The timer 0 in entry 1 of the record, with the interval 101 ns, is not in the list "
			    "intervals.");
	timer = good;
	timer.flags = 0;
	assert_non_null(replay_timer("hpet0", "ioapic", 100, &timer));
	timer = good;
	timer.timer = 1;
	assert_non_null(replay_timer("hpet0", "ioapic", 100, &timer));
}

/* Sets the number at OFFSET in the struct or items of the last entry to 2^62, which the writer would limit. */
static void
damage_last_entry(size_t offset)
{
	const uint64_t value = UINT64_C(1) << 62;
	struct record_block *block = (void *)(bytes + record.block);

	memcpy(bytes + record.last + RECORD_ENTRY_BYTES + offset, &value, sizeof(value));
	block->crc = record_block_crc(block);
}

TEST(reading_outside_of_its_range_gives_an_error)
{
	const struct record_octave octaves[] = { { 1 }, { 2 } };

	record_put(&record, RECORD_SCALE, &(struct record_scale){ .hz_num = 1, .hz_den = 1, .step_ticks = 1 }, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), "The rate of the TSC in entry 1 of the record is 1 / 1 Hz, "
			    "from 0 to 0 microhertz: it is impossible.");
	begin();
	record_put(&record, RECORD_SCALE, &(struct record_scale){ 1000000000, 1, 0, 0, 1 }, NULL, 0);
	damage_last_entry(offsetof(struct record_scale, step_ticks));
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), "The number step_ticks in entry 1 of the record is "
			    "4611686018427387904, which is above 1099511627776.");
	begin();
	record_put(&record, RECORD_WATCH, &(struct record_watch){ .gaps = 1 }, octaves, 2);
	damage_last_entry(sizeof(struct record_watch) + sizeof(octaves[0]));
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), "The number gaps in entry 1 of the record is 4611686018427387904, "
			    "which is above 9007199254740992.");
}

TEST(a_pass_without_pairs_at_the_same_time_gives_an_error)
{
	struct record_pass pass = { .pass = 1, .stage = RECORD_PASS_FIRST, .concurrency = 1 };

	record_put(&record, RECORD_PASS, &pass, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_null(replay_all());
	begin();
	pass.concurrency = 0;
	record_put(&record, RECORD_PASS, &pass, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(),
			    "The pass in entry 1 of the record measured 0 pairs of cores at the same time.");
}

/* Replays a record with a calibration loop whose first refusal has the reason TEXT. */
static const char *
replay_refusal(const char *text)
{
	size_t at, inner;

	begin();
	put_report(CALIBRATION_COUNT, 1);
	at = begin_element();
	put_words(1, "edk2");
	put_words(2, "EDK II");
	put_words(3, "tsc");
	inner = begin_field(4);
	put_words(1, text);
	end_element(inner);
	end_element(at);
	put_entry(FACTS_LOOPS, 0);
	put_empty(FACTS_LOOP_REASONS, 0);
	return replay_all();
}

TEST(refusal_of_a_loop_without_a_reason_gives_an_error)
{
	assert_null(replay_refusal("too late"));
	assert_string_equal(replay_refusal(""), "The record's fact loops[0].refusals[0].text is empty.");
}

/* Returns true if FIELD states how many elements the record has, so that a larger value is another error. */
static bool
is_number_of_elements(const char *name)
{
	return strstr(name, "count") && strcmp(name, "smi_count");
}

/*
 * Sets each number in OBJECT, a struct of TABLE, to one above its maximum, one after another. Each time, a replay of
 * the facts of FROM, which contains OBJECT, must give an error that names the field. Returns the number of such fields.
 */
static size_t
check_each_number(const struct report *from, enum facts_table table, uint8_t *object)
{
	struct facts_shape shape = facts_get_table_shape(table);
	size_t checked = 0;

	for (size_t i = 0; i < shape.count; i++) {
		const struct facts_field *field = &shape.fields[i];
		uint64_t before = 0, wrong = field->most + 1;
		const char *name = fact_names_get_field(table, field->number), *error;

		size_t elements_in_use = 1;

		if (field->kind == FACTS_STRUCTS && field->count != FACTS_NO_COUNT)
			memcpy(&elements_in_use, object + field->count, sizeof(elements_in_use));
		if (field->kind == FACTS_STRUCTS && elements_in_use)
			checked += check_each_number(from, field->table, object + field->offset);
		if (field->kind != FACTS_NUMBER || !wrong || (field->size < 8 && wrong >> (8 * field->size)) ||
		    (field->is_signed && wrong > INT64_MAX) || is_number_of_elements(name))
			continue;
		memcpy(&before, object + field->offset, field->size);
		memcpy(object + field->offset, &wrong, field->size);
		begin();
		put_facts(from);
		memcpy(object + field->offset, &before, field->size);
		error = replay(bytes, record.length);
		if (!error || !strstr(error, name) || !strstr(error, "which is not from"))
			fail_msg("%s: %s", name, error ? error : "no error");
		checked++;
	}
	return checked;
}

TEST(each_fact_above_its_maximum_gives_an_error_that_names_it)
{
	struct report *from = literal_make_clean_report();
	size_t checked = 0;

	literal_add_intervals(from);
	notes_add(&from->facts.table_problems, "MADT: its checksum is wrong.");
	for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++) {
		struct facts_elements of = facts_get_list_elements(list, from, NULL);

		if (of.count && list != FACTS_LOOPS)
			checked += check_each_number(from, of.table, of.first);
	}
	assert_in_range(checked, 100, SIZE_MAX);
}

static const char *
replay_changed(struct report *from)
{
	begin();
	put_facts(from);
	return replay(bytes, record.length);
}

TEST(the_cells_of_a_latency_are_restored)
{
	assert_null(replay_latency(0, 300, "\5\xaa\2\1\2", 5)); /* 298 reads of 5 ns and 2 reads of 6 ns */
	assert_int_equal(report.facts.clocks[0].latency->exact[5], 298);
	assert_int_equal(report.facts.clocks[0].latency->exact[6], 2);
	assert_int_equal(report.facts.clocks[0].latency->histogram.total, 300);
	assert_int_equal(report.facts.clocks[0].latency->max_ns, 7);
}

TEST(wrong_cells_of_a_latency_give_an_error)
{
	assert_string_equal(replay_latency(1, 1, "\5\1", 2), BAD_FACTS);                   /* there is no clock 1 */
	/* the cells are longer than the entry */
	assert_string_equal(replay_latency(0, 1, "\5\1", 33), BAD_FACTS);
	/* the cell's count has no last byte */
	assert_string_equal(replay_latency(0, 1, "\5\x81", 2), BAD_FACTS);
	assert_string_equal(replay_latency(0, 1, "\5", 1), BAD_FACTS);                     /* a cell without a count */
	assert_string_equal(replay_latency(0, 2, "\5\1", 2), BAD_FACTS);                   /* fewer cells than reads */
	assert_string_equal(replay_latency(0, 1, "\x80\x80\x80\x01\1", 5), BAD_FACTS);     /* cell 2^21 */
	assert_string_equal(replay_latency(0, 2, "\xff\x4f\1\xff\x4f\1", 6), BAD_FACTS);   /* cells 10,239 and 20,478 */
	assert_string_equal(replay_latency(0, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1", 12), BAD_FACTS);
}

/* An entry has up to 2,000 bytes of cells, and each cell needs at least two bytes. */
TEST(a_latency_that_needs_several_entries_is_restored)
{
	struct report *from = literal_make_clean_report();
	struct latency *latency = from->facts.clocks[0].latency;

	memset(latency, 0, sizeof(*latency));
	for (uint64_t ns = 0; ns < 5000; ns++)
		literal_record_ns(latency, 2 * ns, 1 + ns % 200);
	assert_null(replay_changed(from));
	assert_memory_equal(report.facts.clocks[0].latency, latency, offsetof(struct latency, blocks));
}

/* The second entry states as many reads as the cells of both entries have. */
TEST(second_latency_of_a_clock_gives_an_error)
{
	const struct record_taken cell_5_once = { 0x0105 };

	put_clock(24, 3, 1);
	for (uint64_t reads = 1; reads <= 2; reads++)
		record_put(&record, RECORD_LATENCY,
			   &(struct record_latency){ .length = 2, .count = reads, .max_ns = 7, .max_count = 1 }, &cell_5_once, 1);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(latency_before_the_report_gives_an_error)
{
	record_put(&record, RECORD_LATENCY, &(struct record_latency){ .clock = 0 }, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_string_equal(replay_all(), BAD_FACTS);
}

TEST(rules_of_another_version_are_omitted)
{
	static const char *const rules_of_rows[] = { "no-such-rule", "rtc-update" };
	size_t at = begin_element();

	put_byte(CHECK_COUNT, 2);
	end_element(at);
	put_entry(FACTS_REPORT, 0);
	for (size_t i = 0; i < 2; i++) {
		at = begin_element();
		put_words(1, rules_of_rows[i]);
		put_words(2, "rtc");
		end_element(at);
	}
	put_entry(FACTS_CHECKS, 0);
	assert_null(replay_all());
	assert_int_equal(report.facts.checks.count, 1);
	assert_string_equal(report.facts.checks.rows[0].rule, "rtc-update");
	assert_int_equal(report.notes.count, 1);
	assert_string_equal(report.notes.sentences[0],
			    "1 result of rules that this version of baretick does not have is left out. "
					     "The last one is of the rule no-such-rule.");
}

/*
 * The latency of the null clock is the cost of the two TSC reads around each sample. It is restored from the record.
 * The null clock has no rate, and its cost is subtracted from the cost of the other clocks' reads.
 */
TEST(the_null_row_has_the_cost_of_the_tsc_reads_alone)
{
	struct report *from = literal_make_clean_report();
	size_t null = (size_t)(literal_find_clock(from, "null") - from->facts.clocks);
	size_t hpet = (size_t)(literal_find_clock(from, "hpet") - from->facts.clocks);
	const struct report_clock *row = &report.facts.clocks[null];

	memset(from->facts.clocks[null].latency, 0, sizeof(*from->facts.clocks[null].latency));
	literal_record_ns(from->facts.clocks[null].latency, 24, 700);
	literal_record_ns(from->facts.clocks[null].latency, 25, 290);
	literal_record_ns(from->facts.clocks[null].latency, 31, 10);
	for (size_t i = 0; i < from->facts.core_count; i++) {
		from->facts.cores[i].latency[null] = (struct core_latency){ 1000, 24, 24, 25, 24360, 24300, 24400 };
		from->facts.cores[i].latency[hpet] = (struct core_latency){ 1000, 500, 524, 525, 524360, 524000,
									    525000 };
	}
	put_facts(from);
	assert_null(replay(bytes, record.length));
	replay_calculate_results(&report, bytes, record.length, found.entries, found.dropped);
	assert_int_equal(row->latency->count, 1000);
	assert_int_equal(row->latency->min_ns, 24);
	assert_int_equal(latency_percentile_ns(row->latency, 50000), 24);
	assert_int_equal(latency_percentile_ns(row->latency, 99000), 25);
	assert_int_equal(row->latency->max_ns, 31);
	assert_int_equal(row->latency->total_ticks, 2 * (700 * 24 + 290 * 25 + 10 * 31));
	assert_false(report_get_figures(&report, row)->measured.known || report_get_figures(&report, row)->absolute.known ||
		     report_get_figures(&report, row)->implied.known ||
		     report_get_figures(&report, row)->cost.read_ps.known);
	for (size_t i = 0; i < report.figures.rate_count; i++)
		assert_true(report.figures.rates[i].a != row->clock.id && report.figures.rates[i].b != row->clock.id);
	assert_true(report.figures.clocks[hpet].cost.read_ps.known);
	assert_int_equal(report.figures.clocks[hpet].cost.read_ps.value, 500000);
	assert_int_equal(report.figures.clocks[hpet].cost.null_ps, 24360);
}

/* All fields of the cores have all bits set, except for the 0 at the end of their texts. */
TEST(the_space_for_facts_is_enough_for_any_facts_of_cores)
{
	enum { CORES = 16 };
	static struct report_core cores[CORES];
	struct report from = { .facts.core_count = 0 };
	size_t begin = record.length, empty;

	memset(cores, 0xff, sizeof(cores));
	for (size_t i = 0; i < CORES; i++)
		cores[i].reason[sizeof(cores[i].reason) - 1] = '\0';
	facts_write(&record, &from);
	empty = record.length - begin;
	begin = record.length;
	from.facts.core_count = CORES;
	from.facts.cores = cores;
	facts_write(&record, &from);
	assert_int_equal(record.dropped, 0);
	assert_true(record.length - begin - empty <= facts_max_bytes(CORES, 0) - facts_max_bytes(0, 0));
}

/* Sets each number of OBJECT to VALUE, except for the numbers of elements in lists. */
static void
set_all_numbers(enum facts_table table, uint8_t *object, uint64_t value)
{
	struct facts_shape shape = facts_get_table_shape(table);

	for (size_t i = 0; i < shape.count; i++) {
		const struct facts_field *field = &shape.fields[i];
		size_t count = field->max;

		if (field->kind == FACTS_NUMBER && (table != FACTS_OF_report || field->number < CLOCK_COUNT))
			memcpy(object + field->offset, &value, field->size);
		if (field->kind == FACTS_STRUCTS && field->count != FACTS_NO_COUNT)
			memcpy(&count, object + field->count, sizeof(count));
		if (field->kind == FACTS_STRUCTS && field->table != FACTS_OF_series)
			for (size_t k = 0; k < count; k++)
				set_all_numbers(field->table, object + field->offset + k * field->size, value);
	}
}

/* A faulty machine may give any number. Its own record must not be refused. */
TEST(the_record_of_a_machine_with_any_numbers_is_accepted)
{
	const uint64_t values[] = { UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)INT64_MIN, UINT64_C(1) << 54, 1 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct report *from = literal_make_clean_report();

		begin();
		literal_add_intervals(from);
		literal_record_ns(from->facts.clocks[0].latency, 5000, 127);
		from->facts.clocks[0].latency->total_ns = from->facts.clocks[0].latency->max_ns = values[i] > 5000 ? values[i] : 5000;
		for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++) {
			const struct facts_elements all = facts_get_list_elements(list, from, NULL);

			for (size_t k = 0; list != FACTS_LOOPS && k < all.count; k++)
				set_all_numbers(all.table, (uint8_t *)all.first + k * all.stride, values[i]);
		}
		facts_limit_numbers(from);
		/* only a rule with a limit has a figure, only a clock that is there has reads, and each core has its own id */
		for (uint32_t k = 0; k < from->facts.core_count; k++)
			from->facts.cores[k].apic_id = k;
		for (uint32_t k = 0; k < from->facts.machine.paravirtual.count; k++)
			from->facts.machine.paravirtual.interfaces[k].base = 0x40000000 + 0x100 * k;
		for (size_t k = 0; k < from->facts.checks.count; k++)
			from->facts.checks.rows[k].has_figure &= rules_find(from->facts.checks.rows[k].rule)->unit != NULL;
		for (size_t k = 0; k < from->facts.clock_count; k++)
			from->facts.clocks[k].clock.state = CLOCK_PRESENT;
		put_facts(from);
		assert_null(replay(bytes, record.length));
		assert_int_equal(report.notes.count, from->notes.count);
		if (values[i] > 1)
			assert_non_null(strstr(report.notes.sentences[report.notes.count - 1],
					       "numbers that this machine gave are impossible"));
		replay_calculate_results(&report, bytes, record.length, found.entries, found.dropped);
	}
}

TEST(facts_that_contradict_each_other_give_an_error)
{
	struct report *from = literal_make_clean_report();
	struct report_clock *absent = &from->facts.clocks[0];

	assert_null(replay_changed(from));
	snprintf(from->facts.run.started_at, sizeof(from->facts.run.started_at), "tomorrow");
	assert_string_equal(replay_changed(from), "The record's fact started_at is \"tomorrow\", which is no time.");
	from->facts.run.started_at[0] = '\0';
	snprintf(from->facts.options.save.url, sizeof(from->facts.options.save.url), "file:///etc");
	assert_string_equal(replay_changed(from), "The record's fact options.save.url is no URL.");
	snprintf(from->facts.options.save.url, sizeof(from->facts.options.save.url), "http://a/b");
	assert_null(replay_changed(from));
	literal_record_ns(absent->latency, 5000, 127);
	absent->clock.state = CLOCK_ABSENT;
	assert_non_null(strstr(replay_changed(from), ", which is absent."));
	absent->clock.state = CLOCK_PRESENT;
	absent->resolution.steps = 1;
	absent->resolution.gcd_ticks = 0;
	assert_non_null(strstr(replay_changed(from), " has steps of 0 ticks."));
	absent->resolution.gcd_ticks = 1;
	from->facts.checks.rows[0].rule = "hpet-stops";
	from->facts.checks.rows[0].has_figure = true;
	assert_string_equal(replay_changed(from), "The record has a figure for the rule hpet-stops, which has no limit.");
	for (const struct rule *rule = rules; rule->id; rule++)
		if (rule->severity == VERDICT_PASS) {
			from->facts.checks.rows[0].rule = rule->id;
			assert_non_null(strstr(replay_changed(from), ", which is only a limit."));
		}
}

/* Code finds an element by these fields, and programs that read reports use them as keys. */
TEST(two_elements_with_the_same_id_give_an_error)
{
	struct report *from = literal_make_clean_report();
	struct options *options = &from->facts.options;

	options->clocks.count = options->limit_count = 3;
	for (size_t i = 0; i < 3; i++) {
		snprintf(options->clocks.ids[i], sizeof(options->clocks.ids[i]), "%s", (const char *[]){ "tsc", "pit", "rtc" }[i]);
		options->limits[i].value = 1;
		snprintf(options->limits[i].rule, sizeof(options->limits[i].rule), "rule-%c", 'a' + (int)i);
	}
	from->facts.signals = (struct signals){ 2, { { .id = "kvmclock" }, { .id = "vmgenid" } } };
	assert_null(replay_changed(from));
	snprintf(options->clocks.ids[2], sizeof(options->clocks.ids[2]), "tsc");
	assert_string_equal(replay_changed(from),
			    "The record's fact facts.options.clocks.ids[2].text is the same as in element 0.");
	options->clocks.count = 2;
	snprintf(options->limits[2].rule, sizeof(options->limits[2].rule), "rule-b");
	assert_string_equal(replay_changed(from),
			    "The record's fact facts.options.limits[2].rule is the same as in element 1.");
	options->limit_count = 2;
	from->facts.machine.paravirtual.interfaces[1].base = from->facts.machine.paravirtual.interfaces[0].base;
	assert_string_equal(replay_changed(from), "The record's fact facts.machine.paravirtual.interfaces[1].base is the "
			    "same as in element 0.");
	from->facts.machine.paravirtual.count = 1;
	from->facts.signals.list[1].id = "kvmclock";
	assert_string_equal(replay_changed(from),
			    "The record's fact facts.signals.list[1].id is the same as in element 0.");
	from->facts.signals.count = 1;
	from->facts.cores[3].apic_id = from->facts.cores[2].apic_id;
	assert_string_equal(replay_changed(from), "The record's fact cores[3].apic_id is the same as in element 2.");
	from->facts.clocks[1].clock.id = from->facts.clocks[0].clock.id;
	assert_string_equal(replay_changed(from), "The record's fact clocks[1].clock.id is the same as in element 0.");
}

TEST(a_name_of_a_clock_or_a_rule_has_only_the_characters_of_an_id)
{
	static const char *const names[] = { "a-b", "A", "1a", "_a", "a b", "<a>" };
	struct report *from = literal_make_clean_report();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		from->facts.clocks[0].clock.id = names[i];
		assert_non_null(strstr(replay_changed(from), "clocks[0].clock.id is \""));
	}
	from->facts.clocks[0].clock.id = "a_1";
	assert_null(replay_changed(from));
}

TEST(gaps_that_are_longer_than_the_watch_give_an_error)
{
	const struct record_watch good = { .observed_ticks = 100, .total_ticks = 50, .worst_ticks = 50,
					   .long_ticks = 50, .ran_ticks = 100 };
	struct record_watch watches[] = { good, good, good, good };

	watches[0].worst_ticks = watches[1].long_ticks = 51;
	watches[2].total_ticks = watches[3].ran_ticks = 101;
	record_put(&record, RECORD_WATCH, &good, NULL, 0);
	put_empty(FACTS_REPORT, 0);
	assert_null(replay_all());
	for (size_t i = 0; i < 4; i++) {
		begin();
		record_put(&record, RECORD_WATCH, &watches[i], NULL, 0);
		put_empty(FACTS_REPORT, 0);
		assert_string_equal(replay_all(), "The gaps in entry 1 of the record are longer than the observed time.");
	}
}
