/* Reads records. See record.h. */
#include "record/record.h"

#include "base/crc32.h"

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
	const struct record_header *header = bytes;
	size_t magic = size < sizeof(header->magic) ? size : sizeof(header->magic);

	if (magic && __builtin_memcmp(bytes, RECORD_MAGIC, magic)) {
		stop_reading(&reader, RECORD_FOREIGN, "This file is no record of baretick.");
	} else if (size < sizeof(*header)) {
		stop_reading(&reader, RECORD_CUT, "The record ends within its header.");
	} else if (header->crc != crc32_add(0, bytes, offsetof(struct record_header, crc))) {
		stop_reading(&reader, RECORD_DAMAGED, "The checksum of the record's header is wrong.");
	} else if (header->version != RECORD_VERSION) {
		stop_reading(&reader, RECORD_FOREIGN, "The record's format has another version.");
	} else {
		reader.at = reader.block_end = sizeof(*header);
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
	const struct record_block *block = (const void *)(reader->bytes + reader->at);
	size_t left = reader->size - reader->at;

	if (left == 0)
		return stop_reading(reader, RECORD_CUT, "The record ends without its last entry.");
	if (left < sizeof(*block))
		return stop_reading(reader, RECORD_CUT, "The record ends within a block.");
	if (block->bytes == 0 || block->bytes > RECORD_ENTRY_MAX)
		return stop_reading(reader, RECORD_DAMAGED, "A block has an impossible length.");
	if (block->bytes > left - sizeof(*block))
		return stop_reading(reader, RECORD_CUT, "The record ends within a block.");
	if (!reader->is_checked && record_block_crc(block) != block->crc)
		return stop_reading(reader, RECORD_DAMAGED, "The checksum of a block is wrong.");
	if (block->number != reader->blocks)
		return stop_reading(reader, RECORD_DAMAGED, "A block is missing or occurs twice.");
	reader->blocks++;
	reader->at += sizeof(*block);
	reader->block_end = reader->at + block->bytes;
	return true;
}

/* Finds the parts of the next entry, and sets the reader's position after this entry. */
static bool
find_next_entry(struct record_reader *reader, struct record_entry *entry)
{
	const struct record_entry_header *header = (const void *)(reader->bytes + reader->at);
	size_t left = reader->block_end - reader->at, bytes;

	if (left < sizeof(*header))
		return stop_reading(reader, RECORD_DAMAGED, "A block ends within an entry.");
	bytes = sizeof(*header) + header->fixed_bytes + (size_t)header->item_count * header->item_bytes;
	if (bytes > left)
		return stop_reading(reader, RECORD_DAMAGED, "A block ends within an entry.");
	*entry = (struct record_entry){
		.kind = (enum record_kind)header->kind,
		.item_count = header->item_count,
		.item_bytes = header->item_bytes,
		.fixed = (const uint8_t *)(header + 1),
		.items = (const uint8_t *)(header + 1) + header->fixed_bytes,
	};
	if (entry->kind < RECORD_KINDS && record_kinds[entry->kind].fixed_bytes &&
	    (header->fixed_bytes < record_kinds[entry->kind].fixed_bytes ||
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
