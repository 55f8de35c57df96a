/*
 * libFuzzer target for records. If the first byte of an input is 0, the rest is a whole file. Otherwise the rest is a
 * sequence of entries. Each entry is put into its own block with a valid checksum, and the entry END is added. All
 * entries are read. If a report can be made from these bytes, it is judged and rendered in all formats, and the outputs
 * are checked: they fit into their memory and have no control characters, the JSON is well-formed, and the data in the
 * page has no '<'.
 *
 * If the environment variable FUZZ_REPORTS is set, the JSON of each report is appended to the file that it names, as
 * one line. check_reports.py checks these reports against the schema, and by the programs in Python and the page.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "entries.h"
#include "mutations.h"
#include "render/csv/csv.h"
#include "render/json/compact.h"
#include "render/json/json.h"
#include "render/screen/screen.h"
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
#define JSON_DEPTH_MAX 16u
#define CORES_MAX  68u  /* limit on cores, because of the time for a run; above 64 cores, rows are about packages */
#define TEXT_MAX   ((size_t)24 << 20) /* more than the size of each text with CORES_MAX cores and rows of the series */
#define COLUMNS    80u
#define ROWS       25u

struct block {
	struct block *next;
	max_align_t bytes[];
};

struct pool {
	struct block *blocks;
	size_t used;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);

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

/* Requires that TEXT is complete, and has only printable ASCII and newlines. */
static void
check_characters(const struct text *text)
{
	require_true(!text->truncated);
	for (size_t i = 0; i < text->length; i++)
		require_true(text->bytes[i] == '\n' || (text->bytes[i] >= ' ' && text->bytes[i] <= '~'));
}

static const char *check_json_value(const char *at, unsigned depth);

static const char *
skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\n')
		at++;
	return at;
}

static const char *
check_json_string(const char *at)
{
	require_true(*at++ == '"');
	for (; *at != '"'; at++) {
		require_true(*at >= ' ' && *at != '<');
		if (*at == '\\') {
			at++;
			require_true(*at && strchr("\"\\u", *at));
			for (int i = 0; *at == 'u' && i < 4; i++)
				require_true(strchr("0123456789abcdef", at[i + 1]) && at[i + 1]);
			at += *at == 'u' ? 4 : 0;
		}
	}
	return at + 1;
}

static const char *
check_json_number_or_word(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < 3; i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	at += *at == '-';
	require_true(*at >= '0' && *at <= '9' && !(*at == '0' && at[1] >= '0' && at[1] <= '9'));
	at += strspn(at, "0123456789");
	if (*at == '.') {
		require_true(strspn(at + 1, "0123456789") > 0);
		at += 1 + strspn(at + 1, "0123456789");
	}
	return at;
}

/* Requires that a list or an object of JSON is at AT. Returns the position after it. */
static const char *
check_json_items(const char *at, unsigned depth)
{
	char end = *at == '{' ? '}' : ']';

	at = skip_spaces(at + 1);
	if (*at == end)
		return at + 1;
	for (;; at++) {
		if (end == '}') {
			at = skip_spaces(check_json_string(skip_spaces(at)));
			require_true(*at++ == ':');
		}
		at = skip_spaces(check_json_value(skip_spaces(at), depth + 1));
		if (*at == end)
			return at + 1;
		require_true(*at == ',');
	}
}

static const char *
check_json_value(const char *at, unsigned depth)
{
	require_true(depth < JSON_DEPTH_MAX);
	if (*at == '{' || *at == '[')
		return check_json_items(at, depth);
	return *at == '"' ? check_json_string(at) : check_json_number_or_word(at);
}

static void
check_json(const struct text *text)
{
	check_characters(text);
	require_true(*skip_spaces(check_json_value(skip_spaces(text->bytes), 0)) == '\0');
}

/* Requires that the page has the report between the two tags of its template, and no other tag. */
static void
check_page(struct text *page)
{
	check_characters(page);
	require_true(!strncmp(page->bytes, "<p>", 3) && !strcmp(page->bytes + page->length - 4, "</p>"));
	page->bytes[page->length - 4] = '\0';
	require_true(!strchr(page->bytes + 3, '<'));
	require_true(*skip_spaces(check_json_value(skip_spaces(page->bytes + 3), 0)) == '\0');
}

/* Appends JSON to the file FUZZ_REPORTS, without its newlines. */
static void
save_report(const struct text *json)
{
	const char *path = getenv("FUZZ_REPORTS");
	FILE *file = path ? fopen(path, "ab") : NULL;

	for (size_t i = 0; file && i < json->length; i++)
		fputc(json->bytes[i] == '\n' ? ' ' : json->bytes[i], file);
	if (file) {
		fputc('\n', file);
		fclose(file);
	}
}

/* Renders each page of the screen, and moves in it. */
static void
render_screen(const struct report *report, char *bytes)
{
	static const unsigned keys[] = { SCREEN_KEY_END, SCREEN_KEY_RIGHT };
	struct screen screen = { .version = "1", .report = report, .title = "", .document = "", .saved = "",
				 .columns = COLUMNS, .rows = ROWS, .buffer = bytes, .buffer_size = SCREEN_BUFFER_SIZE };
	struct screen_row row;

	screen_open(&screen);
	for (size_t page = 0; page < SCREEN_PAGES + 1; page++)
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			for (size_t k = 0; k < ROWS; k++) {
				screen_render_row(&screen, k, &row);
				require_true(strlen(row.bytes) == COLUMNS);
				for (size_t c = 0; c < COLUMNS; c++)
					require_true(row.bytes[c] >= ' ' && row.bytes[c] <= '~');
			}
			screen_handle_key(&screen, keys[i]);
		}
}

#define PART(bytes) { (bytes), sizeof(bytes) - 1 }

static void
render_all(const struct report *report)
{
	/* "<p>", nothing, and "</p>": the length of each in 4 bytes, and then one block with fixed Huffman codes */
	static const uint8_t before[] = "\x03\x00\x00\x00\xb3\x29\xb0\x03\x00", between[] = "\x00\x00\x00\x00\x03\x00";
	static const uint8_t after[] = "\x04\x00\x00\x00\xb3\xd1\x2f\xb0\x03\x00";
	static const struct html_page page = { .parts = { PART(before), PART(between), PART(after) } };
	static char bytes[TEXT_MAX], other[TEXT_MAX];
	static struct deflate_work work;
	size_t cores = report->facts.core_count, series = report_size_series(cores, report->facts.series.count);
	struct text text, json;

	if (cores > CORES_MAX || report->facts.series.count > CORES_MAX)
		return;
	text_init(&text, bytes, report_size_json(cores) + series);
	json_render(&text, report);
	check_json(&text);
	save_report(&text);
	text_init(&text, bytes, report_size_json(cores) + series);
	json_render_for_serial_port(&text, report);
	check_json(&text);
	text_init(&text, bytes, sizeof(bytes));
	text_init(&json, other, sizeof(other));
	compact_render(&text, &json, &work, report);
	check_characters(&text);
	text_init(&text, bytes, report_size_table(cores));
	table_render(&text, report);
	check_characters(&text);
	text_init(&text, bytes, report_size_csv(cores));
	csv_render(&text, report);
	check_characters(&text);
	text_init(&text, bytes, report_size_html(cores, html_length(&page)) + series);
	html_render(&text, &page, report);
	check_page(&text);
	render_screen(report, bytes);
}

static void
replay_record(uint8_t *bytes, size_t size)
{
	static struct report report;
	struct pool pool = { .blocks = NULL };
	const struct replay_memory memory = { allocate, &pool };
	struct replay_found found;

	read_all_entries(bytes, size);
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

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
	bool is_changed = false;

	random_state = seed;
	for (unsigned tries = 1 + get_random(6); size && data[0] && tries; tries--) {
		size_t changed = mutate_once(data, size, size_max);

		is_changed |= changed > 0;
		size = changed ? changed : size;
	}
	return is_changed ? size : LLVMFuzzerMutate(data, size, size_max);
}
