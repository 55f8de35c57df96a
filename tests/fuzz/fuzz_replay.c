/*
 * libFuzzer target for replays. If the first byte of an input is 0, the rest is a whole file. Otherwise the rest is a
 * sequence of entries. Each entry is put into its own block with a valid checksum, and the entry END is added. If a
 * report can be made from these bytes, it is judged and rendered in all formats, and the outputs are checked: they have
 * no control characters, the JSON is well-formed, and the data in the page has no '<'.
 *
 * Half of the mutations know the structure of a record: they change one field of a fact or one number of an entry, and
 * mend all lengths. Otherwise nearly every mutation would be rejected as damaged.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "analysis/facts.h"
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
#define JSON_DEPTH_MAX 16u
#define NUMBERS_MAX 64u /* a mutation changes one of this many fields */
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
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);

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

static void
render_all(const struct report *report)
{
	static const char page[] = "<p>" HTML_REPORT_MARK "</p>";
	static char bytes[(size_t)24 << 20];
	struct text text;

	if (report->facts.core_count > CORES_MAX || report->facts.series.count > CORES_MAX)
		return;
	text_init(&text, bytes, sizeof(bytes));
	json_render(&text, report);
	check_json(&text);
	text_init(&text, bytes, sizeof(bytes));
	json_render_for_serial_port(&text, report);
	check_json(&text);
	text_init(&text, bytes, sizeof(bytes));
	table_render(&text, report);
	check_characters(&text);
	text_init(&text, bytes, sizeof(bytes));
	csv_render(&text, report);
	check_characters(&text);
	text_init(&text, bytes, sizeof(bytes));
	html_render(&text, (struct html_page){ .bytes = page, .length = sizeof(page) - 1 }, report);
	check_page(&text);
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

/* ---- mutations ---- */

static unsigned random_state;

static unsigned
get_random(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % below;
}

/* Writes one of the numbers at which arithmetic goes wrong to the SIZE bytes at BYTES. */
static void
put_extreme_number(uint8_t *bytes, size_t size)
{
	static const int64_t small[] = { 0, 1, -1, 2, INT64_MAX, INT64_MIN, UINT32_MAX, INT32_MAX, 1000, 1000000000 };
	uint64_t value = (uint64_t)small[get_random(sizeof(small) / sizeof(small[0]))];

	if (get_random(2))
		value = (UINT64_C(1) << get_random(64)) - get_random(2);
	else if (get_random(3) == 0 && size <= sizeof(value)) {
		memcpy(&value, bytes, size);
		value += get_random(2) ? 1 : UINT64_MAX;
	}
	for (size_t i = 0; i < size; i++)
		bytes[i] = i < sizeof(value) ? (uint8_t)(value >> (8 * i)) : bytes[i];
}

/*
 * Replaces the OLD bytes at AT in DATA by NEW bytes of any value. Returns the new size, or 0 if there is no space.
 */
static size_t
resize(uint8_t *data, size_t size, size_t size_max, size_t at, size_t old, size_t new)
{
	if (size - old + new > size_max)
		return 0;
	memmove(data + at + new, data + at + old, size - at - old);
	return size - old + new;
}

struct entry_place {
	size_t at, fixed, items, end; /* offsets in the input */
	uint16_t kind;
};

/* Finds a random entry, preferably one with facts. Returns false if there is none. */
static bool
find_random_entry(const uint8_t *data, size_t size, struct entry_place *found)
{
	bool wants_facts = get_random(2), any = false;
	unsigned seen = 0;

	for (size_t at = 1; at + RECORD_ENTRY_BYTES <= size; ) {
		uint16_t head[4];
		struct entry_place place = { .at = at };

		memcpy(head, data + at, sizeof(head));
		place.kind = head[0];
		place.fixed = at + RECORD_ENTRY_BYTES;
		place.items = place.fixed + head[1];
		place.end = place.items + (size_t)head[2] * head[3];
		if (place.end > size)
			return any;
		if ((place.kind == RECORD_FACTS) == wants_facts && get_random(++seen) == 0) {
			*found = place;
			any = true;
		}
		at = place.end;
	}
	return any;
}

/*
 * Finds the fields in the LENGTH bytes at AT, also those in structs. Stores the offsets of the lengths of a random
 * field and of all that contain it. Returns the number of these offsets, or 0.
 */
static size_t
find_random_field(const uint8_t *data, size_t at, size_t length, size_t *places, size_t depth)
{
	size_t fields[NUMBERS_MAX], count = 0;

	for (size_t i = at; i + FACTS_HEAD_BYTES <= at + length && count < NUMBERS_MAX; ) {
		uint16_t size;

		memcpy(&size, data + i + 1, sizeof(size));
		fields[count++] = i + 1;
		i += FACTS_HEAD_BYTES + size;
	}
	if (!count || depth == 4)
		return depth;
	places[depth] = fields[get_random((unsigned)count)];
	uint16_t size;

	memcpy(&size, data + places[depth], sizeof(size));
	if (places[depth] + sizeof(size) + size > at + length)
		return depth;
	if (size > 8 && get_random(4))
		return find_random_field(data, places[depth] + sizeof(size), size, places, depth + 1);
	return depth + 1;
}

/* Changes value or length of the field whose length is at PLACES[COUNT - 1]. Returns the new size, or 0. */
static size_t
change_field(uint8_t *data, size_t size, size_t size_max, const struct entry_place *entry, size_t *places, size_t count)
{
	static const uint16_t lengths[] = { 0, 1, 2, 4, 8, 8, 8, 12 };
	size_t at = places[count - 1] + 2, padding, used;
	struct record_facts facts;
	uint16_t old, new, head[4];

	memcpy(&old, data + places[count - 1], sizeof(old));
	new = get_random(3) ? old : lengths[get_random(8)];
	memcpy(&facts, data + entry->fixed, sizeof(facts));
	used = (size_t)facts.length - old + new;
	padding = (8 - used % 8) % 8;
	/* removes the padding, changes the field, and adds padding */
	size = resize(data, size, size_max, entry->items + facts.length, entry->end - entry->items - facts.length, 0);
	size = resize(data, size, size_max, at, old, new);
	size = size ? resize(data, size, size_max, entry->items + used, 0, padding) : 0;
	if (!size)
		return 0;
	memset(data + entry->items + used, 0, padding);
	if (new)
		put_extreme_number(data + at, new);
	for (size_t i = 0; i < count; i++) {
		uint16_t length;

		memcpy(&length, data + places[i], sizeof(length));
		length = (uint16_t)(length - old + new);
		memcpy(data + places[i], &length, sizeof(length));
	}
	facts.length = (uint16_t)used;
	memcpy(data + entry->fixed, &facts, sizeof(facts));
	memcpy(head, data + entry->at, sizeof(head));
	head[2] = (uint16_t)((used + padding) / 8);
	memcpy(data + entry->at, head, sizeof(head));
	return size;
}

static size_t
change_fact(uint8_t *data, size_t size, size_t size_max, const struct entry_place *entry)
{
	size_t places[8], elements[NUMBERS_MAX], count = 0;
	struct record_facts facts;

	if (entry->items - entry->fixed < sizeof(facts))
		return 0;
	memcpy(&facts, data + entry->fixed, sizeof(facts));
	if (facts.length > entry->end - entry->items)
		return 0;
	for (size_t at = entry->items; at + 2 <= entry->items + facts.length && count < NUMBERS_MAX; ) {
		uint16_t length;

		memcpy(&length, data + at, sizeof(length));
		elements[count++] = at;
		at += sizeof(length) + length;
	}
	if (!count)
		return 0;
	places[0] = elements[get_random((unsigned)count)];
	uint16_t length;

	memcpy(&length, data + places[0], sizeof(length));
	if (places[0] + sizeof(length) + length > entry->items + facts.length)
		return 0;
	count = find_random_field(data, places[0] + sizeof(length), length, places, 1);
	return count < 2 ? 0 : change_field(data, size, size_max, entry, places, count);
}

/* Puts an extreme number at a random place in the fixed part or in the items of ENTRY. */
static size_t
change_reading(uint8_t *data, size_t size, const struct entry_place *entry)
{
	static const size_t sizes[] = { 1, 2, 4, 8, 8, 8 };
	size_t begin = entry->items > entry->fixed && get_random(3) ? entry->fixed : entry->items;
	size_t end = begin == entry->fixed ? entry->items : entry->end, width = sizes[get_random(6)];

	if (end - begin < width)
		return 0;
	put_extreme_number(data + begin + 2 * get_random((unsigned)((end - begin - width) / 2 + 1)), width);
	return size;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
	struct entry_place entry;
	size_t changed = 0;

	random_state = seed;
	if (size && data[0] && get_random(4) && find_random_entry(data, size, &entry))
		changed = entry.kind == RECORD_FACTS ? change_fact(data, size, size_max, &entry) : change_reading(data, size, &entry);
	return changed ? changed : LLVMFuzzerMutate(data, size, size_max);
}
