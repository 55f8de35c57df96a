/*
 * libFuzzer target for replays. If the first byte of an input is 0, the rest is a whole file. Otherwise the rest is a
 * sequence of entries. Each entry is put into its own block with a valid checksum, and the entry END is added. If a
 * report can be made from these bytes, it is judged and rendered in all formats.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "render/text/report_text.h"
#include "replay/replay.h"
#include "report/report_sizes.h"

#define INPUT_MAX  ((size_t)1 << 18)
#define MEMORY_MAX ((size_t)64 << 20) /* memory for the report of one record */
/*
 * Largest factor by which wrap_as_record() makes an input longer: each entry gets a block header, and the smallest
 * entry has only its own header.
 */
#define GROWTH ((RECORD_BLOCK_BYTES + RECORD_ENTRY_BYTES) / RECORD_ENTRY_BYTES + 1)
#define CORES_MAX 64u /* limit on cores; reports with more cores would make each run of the fuzzer slow */

struct block {
	struct block *next;
	max_align_t bytes[];
};

struct pool {
	struct block *blocks;
	size_t used;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require_true(int condition)
{
	if (!condition)
		abort();
}

static void *
allocate(void *context, size_t bytes)
{
	struct pool *pool = context;
	struct block *block;

	if (bytes > MEMORY_MAX - pool->used)
		return NULL;
	block = calloc(1, sizeof(*block) + bytes);
	require_true(block != NULL);
	block->next = pool->blocks;
	pool->blocks = block;
	pool->used += bytes;
	return block->bytes;
}

static void
free_all(struct pool *pool)
{
	for (struct block *next; pool->blocks; pool->blocks = next) {
		next = pool->blocks->next;
		free(pool->blocks);
	}
}

/* Writes a block with the LENGTH bytes of one entry. Returns its size. */
static size_t
put_block(uint8_t *to, uint32_t number, const uint8_t *entry, uint32_t length)
{
	uint32_t crc = crc32_add(crc32_add(0, &number, 4), entry, length);

	memcpy(to, &number, 4);
	memcpy(to + 4, &length, 4);
	memcpy(to + 8, &crc, 4);
	memcpy(to + RECORD_BLOCK_BYTES, entry, length);
	return RECORD_BLOCK_BYTES + length;
}

/*
 * Writes a record with the entries in DATA. If the last entry is longer than the rest of DATA, it is cut. Returns the
 * size.
 */
static size_t
wrap_as_record(uint8_t *to, const uint8_t *data, size_t size)
{
	const uint16_t end[] = { RECORD_END, 16, 0, 0 };
	uint8_t last[RECORD_ENTRY_BYTES + 16] = { 0 };
	struct record record;
	uint64_t entries = 0;
	size_t at;

	record_begin(&record, to, RECORD_SIZE_MIN);
	at = record.length;
	for (; size >= RECORD_ENTRY_BYTES; entries++) {
		uint16_t head[4];

		memcpy(head, data, sizeof(head));
		size_t length = RECORD_ENTRY_BYTES + head[1] + (size_t)head[2] * head[3];

		length = length < size ? length : size;
		at += put_block(to + at, (uint32_t)entries, data, (uint32_t)length);
		data += length;
		size -= length;
	}
	memcpy(last, end, sizeof(end));
	memcpy(last + RECORD_ENTRY_BYTES, &entries, sizeof(entries));
	return at + put_block(to + at, (uint32_t)entries, last, sizeof(last));
}

static void
render_all(const struct report *report)
{
	static const char page[] = "<p>" HTML_REPORT_MARK "</p>";
	static char bytes[(size_t)24 << 20];
	struct text text;

	if (report->core_count > CORES_MAX || report->series.count > CORES_MAX)
		return;
	text_init(&text, bytes, sizeof(bytes));
	json_render(&text, report);
	require_true(!text.truncated);
	text_init(&text, bytes, sizeof(bytes));
	table_render(&text, report);
	require_true(!text.truncated);
	text_init(&text, bytes, sizeof(bytes));
	csv_render(&text, report);
	require_true(!text.truncated);
	text_init(&text, bytes, sizeof(bytes));
	html_render(&text, (struct html_page){ .bytes = page, .length = sizeof(page) - 1 }, report);
	require_true(!text.truncated);
}

static void
replay_record(uint8_t *bytes, size_t size)
{
	static struct report report;
	struct pool pool = { .blocks = NULL };
	const struct replay_memory memory = { allocate, &pool };
	struct replay_found found;

	if (!replay_restore_report(bytes, size, &memory, &report, &found)) {
		replay_calculate_results(&report, bytes, size, found.entries, found.dropped);
		render_all(&report);
	}
	free_all(&pool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;

	if (size == 0 || size > INPUT_MAX)
		return 0;
	bytes = malloc(2 * RECORD_SIZE_MIN + GROWTH * size);
	require_true(bytes != NULL);
	if (data[0] == 0)
		memcpy(bytes, data + 1, --size);
	else
		size = wrap_as_record(bytes, data + 1, size - 1);
	/* memory of exactly the record's size, so that the sanitizer sees a read beyond its end */
	bytes = realloc(bytes, size ? size : 1);
	require_true(bytes != NULL);
	replay_record(bytes, size);
	free(bytes);
	return 0;
}
