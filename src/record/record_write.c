/* Writes records. See record.h. */
#include "record/record.h"

#include "base/crc32.h"
#include "record/record_ranges.h"

/* space that is always left free for the last block, which contains the entry END */
#define END_BYTES (RECORD_BLOCK_BYTES + RECORD_ENTRY_BYTES + 16u)

_Static_assert(RECORD_SIZE_MIN == RECORD_HEADER_BYTES + END_BYTES, "a record without entries");

#define KIND_SIZES(kind, number, entry, item) [kind] = { sizeof(struct record_##entry), sizeof(struct record_##item) },
const struct record_kind_row record_kinds[RECORD_KINDS] = { RECORD_KIND_TABLE(KIND_SIZES) };

void
record_begin(struct record *record, void *bytes, size_t size)
{
	struct record_header *header = bytes;

	*record = (struct record){ .bytes = bytes, .size = size, .length = sizeof(*header) };
	*header = (struct record_header){ .magic = RECORD_MAGIC, .version = RECORD_VERSION };
	header->crc = crc32_add(0, header, offsetof(struct record_header, crc));
}

static size_t
entry_size_bytes(enum record_kind kind, size_t count)
{
	return RECORD_ENTRY_BYTES + record_kinds[kind].fixed_bytes + count * record_kinds[kind].item_bytes;
}

size_t
record_entry_size_bytes(enum record_kind kind, size_t count)
{
	return RECORD_BLOCK_BYTES + entry_size_bytes(kind, count);
}

/* Returns true if an entry of BYTES does not fit into the current block, so that it needs a new block. */
static bool
does_entry_need_new_block(const struct record *record, size_t bytes)
{
	return !record->block || record->length - record->block - RECORD_BLOCK_BYTES + bytes > RECORD_BLOCK_MAX;
}

static void
begin_block(struct record *record)
{
	struct record_block *block = (void *)(record->bytes + record->length);

	record->block = record->length;
	record->length += sizeof(*block);
	*block = (struct record_block){ .number = record->blocks++ };
	block->crc = record_block_crc(block);
}

/* Adds BYTES to the size of the current block, after an entry was appended to the block. */
static void
add_bytes_to_block_size(struct record *record, size_t bytes)
{
	struct record_block *block = (void *)(record->bytes + record->block);

	block->crc = crc32_add(block->crc, record->bytes + record->length, bytes);
	block->bytes += (uint32_t)bytes;
	record->length += bytes;
}

/* Limits the number at BYTES to its range. */
static void
limit_number(uint8_t *bytes, const struct record_range *range)
{
	uint64_t value = 0;

	__builtin_memcpy(&value, bytes, range->size);
	if (value > range->most)
		__builtin_memcpy(bytes, &range->most, range->size);
}

/* Limits the numbers in an entry of KIND: in the struct at FIXED, and in COUNT items at ITEMS. */
static void
limit_numbers(enum record_kind kind, uint8_t *fixed, uint8_t *items, size_t count)
{
	for (const struct record_range *range = record_ranges; range->kind; range++) {
		if (range->kind == kind && !range->is_item)
			limit_number(fixed + range->offset, range);
		for (size_t i = 0; range->kind == kind && range->is_item && i < count; i++)
			limit_number(items + i * record_kinds[kind].item_bytes + range->offset, range);
	}
}

static void
put_entry(uint8_t *at, enum record_kind kind, const void *fixed, const void *items, size_t count)
{
	const struct record_kind_row *row = &record_kinds[kind];
	struct record_entry_header *header = (void *)at;

	*header = (struct record_entry_header){ (uint16_t)kind, row->fixed_bytes, (uint16_t)count, row->item_bytes };
	at += sizeof(*header);
	__builtin_memcpy(at, fixed, row->fixed_bytes);
	if (count)
		__builtin_memcpy(at + row->fixed_bytes, items, count * row->item_bytes);
	limit_numbers(kind, at, at + row->fixed_bytes, count);
}

static void
append_entry(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count)
{
	size_t bytes = entry_size_bytes(kind, count);

	if (does_entry_need_new_block(record, bytes))
		begin_block(record);
	record->last = record->length;
	put_entry(record->bytes + record->last, kind, fixed, items, count);
	add_bytes_to_block_size(record, bytes);
}

bool
record_put(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count)
{
	size_t bytes = count > RECORD_ENTRY_MAX ? SIZE_MAX : entry_size_bytes(kind, count);
	size_t header = bytes <= RECORD_ENTRY_MAX && does_entry_need_new_block(record, bytes) ? RECORD_BLOCK_BYTES : 0;

	if (record->ended || bytes > RECORD_ENTRY_MAX ||
	    record->size - record->length < END_BYTES + record->reserved + header + bytes) {
		record->dropped++;
		return false;
	}
	append_entry(record, kind, fixed, items, count);
	record->entries++;
	record->entries_of[kind]++;
	return true;
}

/* Returns the block that contains the byte at offset AT. */
static struct record_block *
find_block(const struct record *record, size_t at)
{
	struct record_block *block;
	uint8_t *next = record->bytes + RECORD_HEADER_BYTES;

	do {
		block = (void *)next;
		next += sizeof(*block) + block->bytes;
	} while (next <= record->bytes + at);
	return block;
}

void
record_put_or_replace(struct record *record, size_t *at, enum record_kind kind, const void *fixed, const void *items,
		      size_t count)
{
	if (*at) {
		struct record_block *block = find_block(record, *at);

		put_entry(record->bytes + *at, kind, fixed, items, count);
		block->crc = record_block_crc(block);
	} else if (record_put(record, kind, fixed, items, count)) {
		*at = record->last;
	}
}

void
record_end(struct record *record)
{
	const struct record_end end = { record->entries, record->dropped };

	if (record->ended)
		return;
	record->ended = true;
	append_entry(record, RECORD_END, &end, NULL, 0);
}
