/* The file format of records: each kind of entry is written and read back, and damaged bytes give an error. */
#include "test.h"
#include "base/crc32.h"
#include "record/record_ranges.h"

#define SIZE 65536u
#define WIDE 512u /* size of a buffer for one entry, larger than the struct of each kind of entry */

static uint8_t bytes[SIZE];
static struct record record;
static struct record_reader reader;
static struct record_entry entry;
static uint64_t entries;  /* number of entries that read_all() read */
static const char *error; /* the reader's error in read_all() */

static void
begin(void)
{
	memset(bytes, 0xa5, sizeof(bytes));
	record_begin(&record, bytes, sizeof(bytes));
}

TEST_FIXTURE(begin, NULL);

/* Fills COUNT bytes with different values. */
static void
fill(uint8_t *to, size_t count, uint8_t seed)
{
	for (size_t i = 0; i < count; i++)
		to[i] = ++seed;
}

/*
 * Reads a copy of exactly SIZE bytes to its end, so that the sanitizer sees a read beyond the end. Returns the
 * reader's state at the end.
 */
static enum record_state
read_all(const uint8_t *from, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	uint8_t wide[WIDE];

	memcpy(copy, from, size);
	reader = record_open(copy, size);
	for (entries = 0; record_read_next(&reader, &entry); entries++) {
		record_read_fixed_part(&entry, wide);
		for (size_t i = 0; i < entry.item_count; i++)
			record_read_item(&entry, i, wide);
	}
	assert_false(record_read_next(&reader, &entry));
	assert_int_not_equal(reader.state, RECORD_READS);
	assert_true((reader.error == NULL) == (reader.state == RECORD_WHOLE));
	error = reader.error;
	free(copy);
	return reader.state;
}

/* Writes a record with several kinds of entries, in two blocks. */
static void
put_some(void)
{
	struct record_event events[100];

	for (uint64_t i = 0; i < 100; i++)
		events[i] = (struct record_event){ 7 * i, 1000 + i };
	record_put(&record, RECORD_RUN, &(struct record_run){ .version = "0.1.0", .start_tsc = 5 }, NULL, 0);
	record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 0 }, events, 100);
	record_put(&record, RECORD_GAP, &(struct record_gap){ 1, 2, 3 }, NULL, 0);
	record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 1 }, events, 100);
	record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 2 }, events, 100);
	record_end(&record);
	assert_int_equal(record.blocks, 2);
}

/* Returns true if no entry has this kind. src/record/README.md says that these kinds are not used. */
static bool
is_unused(unsigned kind)
{
	return kind == 4 || kind == 6;
}

/* Reduces the numbers in the fixed part and in an item of KIND to their ranges, because the writer limits them. */
static void
reduce_numbers(unsigned kind, uint8_t *fixed, uint8_t *item)
{
	for (const struct record_range *range = record_ranges; range->kind; range++) {
		uint8_t *at = (range->is_item ? item : fixed) + range->offset;
		uint64_t value = 0;

		if (range->kind != kind)
			continue;
		memcpy(&value, at, range->size);
		value %= range->most;
		memcpy(at, &value, range->size);
	}
}

TEST(every_kind_of_entry_is_read_as_it_was_written)
{
	for (unsigned kind = RECORD_RUN; kind < RECORD_KINDS; kind++) {
		const struct record_kind_row *row = &record_kinds[kind];
		uint8_t fixed[WIDE] = { 0 }, item[WIDE] = { 0 }, back[WIDE] = { 0 };

		if (kind == RECORD_END)
			continue; /* record_end() writes this kind of entry, not the test */
		if (is_unused(kind)) {
			assert_int_equal(row->fixed_bytes, 0);
			continue;
		}
		assert_true(row->fixed_bytes > 0);
		fill(fixed, row->fixed_bytes, (uint8_t)kind);
		fill(item, row->item_bytes, (uint8_t)(kind + 100));
		reduce_numbers(kind, fixed, item);
		record_begin(&record, bytes, sizeof(bytes));
		assert_true(record_put(&record, (enum record_kind)kind, fixed, item, row->item_bytes ? 1 : 0));
		record_end(&record);
		reader = record_open(bytes, record.length);
		assert_true(record_read_next(&reader, &entry));
		assert_int_equal(entry.kind, kind);
		assert_int_equal(entry.item_count, row->item_bytes ? 1 : 0);
		record_read_fixed_part(&entry, back);
		assert_memory_equal(back, fixed, WIDE);
		if (entry.item_count) {
			memset(back, 0, sizeof(back));
			record_read_item(&entry, 0, back);
			assert_memory_equal(back, item, WIDE);
		}
		assert_false(record_read_next(&reader, &entry));
		assert_int_equal(reader.state, RECORD_WHOLE);
	}
}

/* src/record/README.md lists these sizes. A change would make older records unreadable. */
TEST(the_structs_of_entries_and_items_have_no_padding)
{
	static const struct record_kind_row expected[RECORD_KINDS] = {
		[RECORD_RUN] = { 48, 0 }, [RECORD_SCALE] = { 40, 0 }, [RECORD_CORE] = { 8, 0 }, [RECORD_MARK] = { 42, 0 },
		[RECORD_BATCH] = { 64, 18 }, [RECORD_LATENCY] = { 52, 8 }, [RECORD_EXCHANGE] = { 20, 36 },
		[RECORD_INTERRUPTS] = { 66, 16 }, [RECORD_WATCH] = { 84, 8 }, [RECORD_GAP] = { 20, 0 },
		[RECORD_END] = { 16, 0 }, [RECORD_TIMER] = { 96, 0 }, [RECORD_CALIBRATION] = { 40, 12 },
		[RECORD_STEP] = { 36, 93 }, [RECORD_STATED] = { 24, 0 }, [RECORD_LOOP] = { 20, 8 },
		[RECORD_FACTS] = { 8, 8 }, [RECORD_PASS] = { 32, 8 }, [RECORD_FIRMWARE] = { 32, 24 },
		[RECORD_SLEEP] = { 192, 18 }, [RECORD_SLEPT] = { 8, 74 },
	};

	for (unsigned kind = 0; kind < RECORD_KINDS; kind++) {
		assert_int_equal(record_kinds[kind].fixed_bytes, expected[kind].fixed_bytes);
		assert_int_equal(record_kinds[kind].item_bytes, expected[kind].item_bytes);
	}
}

TEST(several_items_are_read_in_their_order)
{
	struct record_event event;

	put_some();
	reader = record_open(bytes, record.length);
	assert_true(record_read_next(&reader, &entry) && record_read_next(&reader, &entry));
	assert_int_equal(entry.kind, RECORD_INTERRUPTS);
	assert_int_equal(entry.item_count, 100);
	for (size_t i = 0; i < 100; i++) {
		record_read_item(&entry, i, &event);
		assert_int_equal(event.count, 7 * i);
		assert_int_equal(event.tsc, 1000 + i);
	}
}

/* The expected bytes were written by hand from src/record/README.md. The checksums are compared separately below. */
TEST(a_record_with_one_gap_has_these_bytes)
{
	static const uint8_t expected[] = {
		0x89, 'B', 'T', 'R', 'E', 'C', '\r', '\n', 1, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0,
		12, 0, 20, 0, 0, 0, 0, 0,
		3, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x10, 0x27, 0, 0, 0, 0, 0, 0,
	};

	record_put(&record, RECORD_GAP, &(struct record_gap){ 3, UINT64_C(0x1122334455667788), 10000 }, NULL, 0);
	assert_int_equal(record.length, sizeof(expected));
	for (size_t i = 0; i < sizeof(expected); i++)
		if (i < 12 || (i >= 16 && i < 24) || i >= 28) /* all bytes except the two checksums */
			assert_int_equal(bytes[i], expected[i]);
	assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926); /* published check value of CRC-32/ISO-HDLC */
	uint32_t sums[2] = { crc32_add(0, bytes, 12), crc32_add(crc32_add(0, bytes + 16, 4), bytes + 28, 28) };

	assert_memory_equal(bytes + 12, &sums[0], 4);
	assert_memory_equal(bytes + 24, &sums[1], 4);
}

TEST(an_unfinished_record_is_valid_after_each_entry)
{
	for (uint64_t i = 0; i < 500; i++) {
		assert_int_equal(read_all(bytes, record.length), RECORD_CUT);
		assert_int_equal(entries, i);
		assert_string_equal(error, "The record ends without its last entry.");
		record_put(&record, RECORD_GAP, &(struct record_gap){ 1, i, 3 }, NULL, 0);
	}
	record_end(&record);
	assert_int_equal(read_all(bytes, record.length), RECORD_WHOLE);
	assert_int_equal(entries, 500);
}

/* The replaced entries are in finished blocks and in the open block. */
TEST(an_entry_that_is_replaced_has_its_new_bytes_and_a_valid_checksum)
{
	size_t at[500];
	struct record_gap gap;

	for (uint32_t i = 0; i < 500; i++) {
		record_put(&record, RECORD_GAP, &(struct record_gap){ i, 1, 1 }, NULL, 0);
		at[i] = record.last;
	}
	assert_true(record.blocks > 3);
	for (uint32_t i = 0; i < 500; i++) {
		record_put_or_replace(&record, &at[i], RECORD_GAP, &(struct record_gap){ i, 2, 1000 + i }, NULL, 0);
		assert_int_equal(read_all(bytes, record.length), RECORD_CUT);
		assert_int_equal(entries, 500);
	}
	record_put(&record, RECORD_GAP, &(struct record_gap){ 500, 2, 1500 }, NULL, 0);
	record_end(&record);
	reader = record_open(bytes, record.length);
	for (uint32_t i = 0; record_read_next(&reader, &entry); i++) {
		record_read_fixed_part(&entry, &gap);
		assert_int_equal(gap.core, i);
		assert_int_equal(gap.tsc, 2);
		assert_int_equal(gap.ticks, 1000 + i);
	}
	assert_int_equal(reader.state, RECORD_WHOLE);
	assert_int_equal(reader.entries, 501);
}

TEST(a_record_cut_at_any_byte_is_never_complete)
{
	put_some();
	assert_int_equal(read_all(bytes, record.length), RECORD_WHOLE);
	uint64_t all = entries;
	for (size_t size = 0; size < record.length; size++) {
		assert_int_equal(read_all(bytes, size), RECORD_CUT);
		assert_true(entries <= all);
		assert_true(strncmp(error, "The record ends with", 20) == 0);
	}
}

TEST(a_record_with_any_byte_changed_is_never_complete)
{
	put_some();
	for (size_t i = 0; i < record.length; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			bytes[i] ^= (uint8_t)(1u << bit);
			assert_int_not_equal(read_all(bytes, record.length), RECORD_WHOLE);
			assert_true(error && error[strlen(error) - 1] == '.');
			bytes[i] ^= (uint8_t)(1u << bit);
		}
}

/* Corrects the checksum of the only block. */
static void
seal(void)
{
	uint32_t length, crc;

	memcpy(&length, bytes + 20, 4);
	crc = crc32_add(crc32_add(0, bytes + 16, 4), bytes + 28, length);
	memcpy(bytes + 24, &crc, 4);
}

static void
assert_damaged(const char *sentence)
{
	assert_int_equal(read_all(bytes, record.length), RECORD_DAMAGED);
	assert_string_equal(error, sentence);
}

TEST(an_entry_that_is_longer_than_its_block_is_damage)
{
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	record_end(&record);
	bytes[32] = 0xff; /* 255 items ... */
	bytes[33] = 0xff;
	bytes[34] = 0xff; /* the entry's length field, now 255 bytes */
	seal();
	assert_damaged("A block ends within an entry.");
}

TEST(an_entry_without_all_fields_is_damage)
{
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	record_end(&record);
	bytes[30] = 12; /* the fixed part now has 12 bytes, and the other 8 bytes are an item */
	bytes[32] = 1;
	bytes[34] = 8;
	seal();
	assert_damaged("An entry is shorter than its fields.");
}

TEST(a_block_of_another_number_or_an_impossible_length_is_damage)
{
	record_end(&record);
	for (uint32_t length = 0; length <= RECORD_ENTRY_MAX + 1; length += RECORD_ENTRY_MAX + 1) {
		memcpy(bytes + 20, &length, 4);
		assert_damaged("A block has an impossible length.");
	}
	record_begin(&record, bytes, sizeof(bytes));
	record_end(&record);
	bytes[16] = 1; /* the block's number */
	seal();
	assert_damaged("A block is missing or occurs twice.");
}

TEST(a_wrong_count_of_entries_is_damage)
{
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	record_end(&record);
	bytes[28 + 28 + 8] = 2;
	seal();
	assert_damaged("The record's last entry states a different number of entries.");
}

TEST(bytes_after_the_last_entry_are_damage)
{
	put_some();
	record.length++;
	assert_damaged("More bytes follow the record's last entry.");
}

TEST(records_of_another_version_and_other_files_are_refused)
{
	put_some();
	bytes[8] = 2;
	uint32_t crc = crc32_add(0, bytes, 12);
	memcpy(bytes + 12, &crc, 4);
	assert_int_equal(read_all(bytes, record.length), RECORD_FOREIGN);
	assert_string_equal(error, "The record's format has another version.");
	assert_int_equal(read_all((const uint8_t *)"{\"schema\": \"\"}", 14), RECORD_FOREIGN);
	assert_string_equal(error, "This file is no record of baretick.");
}

TEST(an_unknown_kind_is_skipped_and_counted)
{
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	record_put(&record, RECORD_CORE, &(struct record_core){ 1, 2 }, NULL, 0);
	record_end(&record);
	bytes[28] = 99;
	seal();
	reader = record_open(bytes, record.length);
	assert_true(record_read_next(&reader, &entry));
	assert_int_equal(entry.kind, RECORD_CORE);
	assert_false(record_read_next(&reader, &entry));
	assert_int_equal(reader.state, RECORD_WHOLE);
	assert_int_equal(reader.entries, 2);
	assert_int_equal(reader.skipped, 1);
}

TEST(only_the_first_reader_of_a_record_calculates_its_checksums)
{
	record_put(&record, RECORD_CORE, &(struct record_core){ 1, 2 }, NULL, 0);
	record_end(&record);
	bytes[record.length - 1] ^= 1; /* a byte in the number of dropped entries */
	reader = record_open(bytes, record.length);
	assert_false(record_read_next(&reader, &entry));
	assert_string_equal(reader.error, "The checksum of a block is wrong.");
	reader = record_open_without_checksums(bytes, record.length);
	assert_true(record_read_next(&reader, &entry));
	assert_false(record_read_next(&reader, &entry));
	assert_int_equal(reader.state, RECORD_WHOLE);
	reader = record_open_without_checksums(bytes, record.length - 1);
	assert_false(record_read_next(&reader, &entry));
	assert_string_equal(reader.error, "The record ends within a block.");
}

/* If a later version adds a field at the end of an entry, this reader uses the fields that it knows. */
TEST(fields_that_a_later_version_added_are_skipped)
{
	struct record_core core;

	record_put(&record, RECORD_GAP, &(struct record_gap){ 7, UINT64_C(0x100000009), 0 }, NULL, 0);
	record_end(&record);
	bytes[28] = RECORD_CORE; /* the fixed part of a core's entry has 8 bytes, but in this record it has 20 */
	seal();
	reader = record_open(bytes, record.length);
	assert_true(record_read_next(&reader, &entry));
	record_read_fixed_part(&entry, &core);
	assert_int_equal(core.core, 7);
	assert_int_equal(core.apic_id, 9);
	assert_false(record_read_next(&reader, &entry));
	assert_int_equal(reader.state, RECORD_WHOLE);
}

TEST(without_space_entries_are_dropped_and_the_record_stays_valid)
{
	for (size_t size = RECORD_SIZE_MIN; size < RECORD_SIZE_MIN + 200; size++) {
		memset(bytes, 0xa5, sizeof(bytes));
		record_begin(&record, bytes, size);
		for (unsigned i = 0; i < 20; i++)
			record_put(&record, RECORD_GAP, &(struct record_gap){ i, 2, 3 }, NULL, 0);
		record_end(&record);
		assert_int_equal(record.entries + record.dropped, 20);
		assert_int_equal(record.entries, size < RECORD_SIZE_MIN + 12 ? 0 : (size - RECORD_SIZE_MIN - 12) / 28);
		assert_true(record.length <= size);
		assert_int_equal(bytes[size], 0xa5);
		assert_int_equal(read_all(bytes, record.length), RECORD_WHOLE);
		assert_int_equal(entries, record.entries);
	}
}

TEST(an_entry_of_more_than_4096_bytes_has_its_own_block)
{
	static struct record_event events[2000];

	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	assert_true(record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 0 }, events, 2000));
	assert_int_equal(record.blocks, 2);
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	assert_int_equal(record.blocks, 3);
	record_end(&record);
	assert_int_equal(read_all(bytes, record.length), RECORD_WHOLE);
	assert_int_equal(entries, 3);
}

TEST(an_entry_larger_than_32768_bytes_is_dropped)
{
	static struct record_event events[2100];

	assert_false(record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 0 }, events, 2100));
	assert_false(record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 0 }, events, SIZE_MAX));
	assert_true(record_put(&record, RECORD_INTERRUPTS, &(struct record_interrupts){ .timer = 0 }, events, 250));
	record_end(&record);
	assert_false(record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0));
	assert_int_equal(record.dropped, 3);
	assert_int_equal(record.entries, 1);
}

TEST(the_reader_returns_the_number_of_dropped_entries)
{
	record_begin(&record, bytes, RECORD_SIZE_MIN);
	record_put(&record, RECORD_GAP, &(struct record_gap){ 0 }, NULL, 0);
	record_end(&record);
	reader = record_open(bytes, record.length);
	assert_false(record_read_next(&reader, &entry));
	assert_int_equal(reader.state, RECORD_WHOLE);
	assert_int_equal(reader.dropped, 1);
}

TEST(numbers_above_their_range_are_limited_when_an_entry_is_written)
{
	const struct record_octave octaves[] = { { 5 }, { UINT64_MAX } };
	struct record_gap gap;
	struct record_octave octave;
	size_t at = 0;

	record_put(&record, RECORD_GAP, &(struct record_gap){ 1, UINT64_MAX, RECORD_TICKS_MAX + 1 }, NULL, 0);
	record_put_or_replace(&record, &at, RECORD_WATCH, &(struct record_watch){ .core = 1 }, octaves, 2);
	record_end(&record);
	reader = record_open(bytes, record.length);
	assert_true(record_read_next(&reader, &entry));
	record_read_fixed_part(&entry, &gap);
	assert_true(gap.ticks == RECORD_TICKS_MAX && gap.core == 1);
	assert_true(record_read_next(&reader, &entry));
	record_read_item(&entry, 0, &octave);
	assert_true(octave.gaps == 5);
	record_read_item(&entry, 1, &octave);
	assert_true(octave.gaps == RECORD_COUNT_MAX);
}
