/* Writes records. See record.h. */
#include "record/record.h"

#include "base/crc32.h"

/* space that is always left free for the last block, which contains the entry END */
#define END_BYTES (RECORD_BLOCK_BYTES + RECORD_ENTRY_BYTES + 16u)

_Static_assert(RECORD_SIZE_MIN == RECORD_HEADER_BYTES + END_BYTES, "a record without entries");

static void
put_number(uint8_t *at, uint32_t number, size_t width)
{
	__builtin_memcpy(at, &number, width);
}

void
record_begin(struct record *record, void *bytes, size_t size)
{
	*record = (struct record){ .bytes = bytes, .size = size, .length = RECORD_HEADER_BYTES };
	__builtin_memcpy(bytes, RECORD_MAGIC, RECORD_MAGIC_BYTES);
	put_number(record->bytes + 8, RECORD_VERSION, 4);
	put_number(record->bytes + 12, crc32_add(0, bytes, 12), 4);
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
	uint8_t *header = record->bytes + record->length;

	record->block = record->length;
	record->length += RECORD_BLOCK_BYTES;
	put_number(header, record->blocks++, 4);
	put_number(header + 4, 0, 4);
	put_number(header + 8, crc32_add(0, header, 4), 4);
}

/* Adds BYTES to the size of the current block, after an entry was appended to the block. */
static void
add_bytes_to_block_size(struct record *record, size_t bytes)
{
	uint8_t *header = record->bytes + record->block;
	uint32_t crc;

	__builtin_memcpy(&crc, header + 8, 4);
	put_number(header + 8, crc32_add(crc, record->bytes + record->length, bytes), 4);
	record->length += bytes;
	put_number(header + 4, (uint32_t)(record->length - record->block - RECORD_BLOCK_BYTES), 4);
}

static void
put_entry(uint8_t *at, enum record_kind kind, const void *fixed, const void *items, size_t count)
{
	const struct record_kind_row *row = &record_kinds[kind];

	put_number(at, kind, 2);
	put_number(at + 2, row->fixed_bytes, 2);
	put_number(at + 4, (uint32_t)count, 2);
	put_number(at + 6, row->item_bytes, 2);
	at += RECORD_ENTRY_BYTES;
	__builtin_memcpy(at, fixed, row->fixed_bytes);
	if (count)
		__builtin_memcpy(at + row->fixed_bytes, items, count * row->item_bytes);
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

/* Returns the header of the block that contains the byte at offset AT. */
static uint8_t *
find_block_header(const struct record *record, size_t at)
{
	uint8_t *header = record->bytes + RECORD_HEADER_BYTES, *next = header;
	uint32_t length;

	while (next <= record->bytes + at) {
		header = next;
		__builtin_memcpy(&length, header + 4, 4);
		next = header + RECORD_BLOCK_BYTES + length;
	}
	return header;
}

void
record_replace_entry(struct record *record, size_t at, enum record_kind kind, const void *fixed, const void *items,
		     size_t count)
{
	uint8_t *header = find_block_header(record, at);
	uint32_t length;

	put_entry(record->bytes + at, kind, fixed, items, count);
	__builtin_memcpy(&length, header + 4, 4);
	put_number(header + 8, crc32_add(crc32_add(0, header, 4), header + RECORD_BLOCK_BYTES, length), 4);
}

void
record_put_or_replace(struct record *record, size_t *at, enum record_kind kind, const void *fixed, const void *items,
		      size_t count)
{
	if (*at)
		record_replace_entry(record, *at, kind, fixed, items, count);
	else if (record_put(record, kind, fixed, items, count))
		*at = record->last;
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
