/* Reads records. See record.h. */
#include "record/record.h"

#include "base/crc32.h"

static uint32_t
read_number_at(const uint8_t *at, size_t width)
{
	uint32_t number = 0;

	__builtin_memcpy(&number, at, width);
	return number;
}

static bool
stop_reading(struct record_reader *reader, enum record_state state, const char *error)
{
	reader->state = state;
	reader->error = error;
	return false;
}

struct record_reader
record_open(const void *bytes, size_t size)
{
	struct record_reader reader = { .bytes = bytes, .size = size, .state = RECORD_READS };
	size_t magic = size < RECORD_MAGIC_BYTES ? size : RECORD_MAGIC_BYTES;

	if (magic && __builtin_memcmp(bytes, RECORD_MAGIC, magic)) {
		stop_reading(&reader, RECORD_FOREIGN, "This file is no record of baretick.");
	} else if (size < RECORD_HEADER_BYTES) {
		stop_reading(&reader, RECORD_CUT, "The record ends within its header.");
	} else if (read_number_at(reader.bytes + 12, 4) != crc32_add(0, bytes, 12)) {
		stop_reading(&reader, RECORD_DAMAGED, "The checksum of the record's header is wrong.");
	} else if (read_number_at(reader.bytes + 8, 4) != RECORD_VERSION) {
		stop_reading(&reader, RECORD_FOREIGN, "The record's format has another version.");
	} else {
		reader.at = reader.block_end = RECORD_HEADER_BYTES;
	}
	return reader;
}

struct record_reader
record_open_without_checksums(const void *bytes, size_t size)
{
	struct record_reader reader = record_open(bytes, size);

	reader.is_checked = true;
	return reader;
}

/* Checks the next block. Returns false if it is not valid. */
static bool
check_next_block(struct record_reader *reader)
{
	const uint8_t *header = reader->bytes + reader->at;
	size_t left = reader->size - reader->at, length;

	if (left == 0)
		return stop_reading(reader, RECORD_CUT, "The record ends without its last entry.");
	if (left < RECORD_BLOCK_BYTES)
		return stop_reading(reader, RECORD_CUT, "The record ends within a block.");
	length = read_number_at(header + 4, 4);
	if (length == 0 || length > RECORD_ENTRY_MAX)
		return stop_reading(reader, RECORD_DAMAGED, "A block has an impossible length.");
	if (length > left - RECORD_BLOCK_BYTES)
		return stop_reading(reader, RECORD_CUT, "The record ends within a block.");
	if (!reader->is_checked &&
	    crc32_add(crc32_add(0, header, 4), header + RECORD_BLOCK_BYTES, length) != read_number_at(header + 8, 4))
		return stop_reading(reader, RECORD_DAMAGED, "The checksum of a block is wrong.");
	if (read_number_at(header, 4) != reader->blocks)
		return stop_reading(reader, RECORD_DAMAGED, "A block is missing or occurs twice.");
	reader->blocks++;
	reader->at += RECORD_BLOCK_BYTES;
	reader->block_end = reader->at + length;
	return true;
}

/* Finds the parts of the next entry, and sets the reader's position after this entry. */
static bool
find_next_entry(struct record_reader *reader, struct record_entry *entry)
{
	const uint8_t *header = reader->bytes + reader->at;
	size_t left = reader->block_end - reader->at, fixed_bytes, bytes;

	if (left < RECORD_ENTRY_BYTES)
		return stop_reading(reader, RECORD_DAMAGED, "A block ends within an entry.");
	fixed_bytes = read_number_at(header + 2, 2);
	*entry = (struct record_entry){
		.kind = (enum record_kind)read_number_at(header, 2),
		.item_count = (uint16_t)read_number_at(header + 4, 2),
		.item_bytes = (uint16_t)read_number_at(header + 6, 2),
		.fixed = header + RECORD_ENTRY_BYTES,
		.items = header + RECORD_ENTRY_BYTES + fixed_bytes,
	};
	bytes = RECORD_ENTRY_BYTES + fixed_bytes + (size_t)entry->item_count * entry->item_bytes;
	if (bytes > left)
		return stop_reading(reader, RECORD_DAMAGED, "A block ends within an entry.");
	if (entry->kind < RECORD_KINDS && record_kinds[entry->kind].fixed_bytes &&
	    (fixed_bytes < record_kinds[entry->kind].fixed_bytes ||
	     (entry->item_count && entry->item_bytes < record_kinds[entry->kind].item_bytes)))
		return stop_reading(reader, RECORD_DAMAGED, "An entry is shorter than its fields.");
	reader->at += bytes;
	return true;
}

static bool
read_end_entry(struct record_reader *reader, const struct record_entry *entry)
{
	struct record_end end;

	record_read_fixed_part(entry, &end);
	if (reader->at != reader->size)
		return stop_reading(reader, RECORD_DAMAGED, "More bytes follow the record's last entry.");
	if (end.entries != reader->entries)
		return stop_reading(reader, RECORD_DAMAGED, "The record's last entry states a different number of entries.");
	reader->dropped = end.dropped;
	return stop_reading(reader, RECORD_WHOLE, NULL);
}

bool
record_read_next(struct record_reader *reader, struct record_entry *entry)
{
	while (reader->state == RECORD_READS) {
		if (reader->at == reader->block_end && !check_next_block(reader))
			break;
		if (!find_next_entry(reader, entry))
			break;
		if (entry->kind == RECORD_END)
			return read_end_entry(reader, entry);
		reader->entries++;
		if (entry->kind < RECORD_KINDS && record_kinds[entry->kind].fixed_bytes)
			return true;
		reader->skipped++;
	}
	return false;
}

void
record_read_fixed_part(const struct record_entry *entry, void *fixed)
{
	__builtin_memcpy(fixed, entry->fixed, record_kinds[entry->kind].fixed_bytes);
}

void
record_read_item(const struct record_entry *entry, size_t i, void *item)
{
	__builtin_memcpy(item, entry->items + i * entry->item_bytes, record_kinds[entry->kind].item_bytes);
}
