/*
 * Mutations of records for fuzz_replay.c. They know the structure of a record: they change a field of a fact or a
 * number of an entry, or add and remove entries, fields and elements. They mend all lengths and counts. Otherwise
 * nearly every mutation would be rejected as damaged.
 *
 * An input is a byte that is not 0, followed by entries as in a record, without blocks.
 */
#ifndef BARETICK_MUTATIONS_H
#define BARETICK_MUTATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/facts.h"
#include "record/record_ranges.h"
#include "replay/fact_names.h"
#include "rules/rules.h"

#define DEPTH      8u
#define TEXT_BYTES 80u  /* largest size of a new text */

static unsigned random_state;

static unsigned
get_random(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % below;
}

/* Returns a number at which arithmetic may go wrong. MOST is the largest valid number, and LEAST the smallest. */
static uint64_t
draw_number(uint64_t old, int64_t least, uint64_t most)
{
	static const int64_t small[] = { 0, 1, -1, 2, INT64_MAX, INT64_MIN, UINT32_MAX, INT32_MAX, 1000, 1000000000 };

	uint64_t span = most - (uint64_t)least;

	switch (get_random(12)) {
	case 0:  return (uint64_t)small[get_random(sizeof(small) / sizeof(small[0]))];
	case 1:  return (UINT64_C(1) << get_random(64)) - get_random(2);
	case 2:  return old + (get_random(2) ? 1 : UINT64_MAX);
	case 3:  return old + (UINT64_C(1) << get_random(64));
	case 4:  return old - (UINT64_C(1) << get_random(64));
	case 5:  return get_random(2) ? old << get_random(8) : old >> get_random(8);
	case 6:  return most;
	case 7:  return (uint64_t)least;
	case 8:  return most - get_random(3);
	case 9:  return most >> get_random(64);
	default: return span == UINT64_MAX ? old ^ (UINT64_C(1) << get_random(64)) :
			(uint64_t)least + ((uint64_t)get_random(1 << 24) << get_random(40)) % (span + 1);
	}
}

/* Replaces the OLD bytes at AT in DATA by NEW bytes of any value. Returns the new size, or 0 if there is no space. */
static size_t
resize(uint8_t *data, size_t size, size_t size_max, size_t at, size_t old, size_t new)
{
	if (size - old + new > size_max)
		return 0;
	memmove(data + at + new, data + at + old, size - at - old);
	return size - old + new;
}

/* ---- entries ---- */

struct place { /* offsets of an entry and its parts in the input */
	size_t at, fixed, items, end;
	uint16_t kind, list; /* LIST is the list of an entry FACTS */
};

/* Reads the place of the entry at AT. Returns false if there is none. */
static bool
read_place(const uint8_t *data, size_t size, size_t at, struct place *place)
{
	uint16_t head[4];

	if (at + RECORD_ENTRY_BYTES > size)
		return false;
	memcpy(head, data + at, sizeof(head));
	*place = (struct place){ .at = at, .fixed = at + RECORD_ENTRY_BYTES, .items = at + RECORD_ENTRY_BYTES + head[1],
				 .end = at + RECORD_ENTRY_BYTES + head[1] + (size_t)head[2] * head[3], .kind = head[0] };
	if (place->end > size)
		return false;
	if (place->kind == RECORD_FACTS && head[1] >= sizeof(struct record_facts))
		memcpy(&place->list, data + place->fixed, sizeof(place->list));
	return true;
}

/* Finds a random entry; one of KIND if KIND is not 0, and of LIST unless LIST is FACTS_LISTS. */
static bool
find_entry(const uint8_t *data, size_t size, uint16_t kind, uint16_t list, struct place *found)
{
	struct place place;
	unsigned seen = 0;

	for (size_t at = 1; read_place(data, size, at, &place); at = place.end)
		if ((!kind || place.kind == kind) && (list == FACTS_LISTS || place.list == list) && get_random(++seen) == 0)
			*found = place;
	return seen > 0;
}

static size_t
remove_entry(uint8_t *data, size_t size, const struct place *place)
{
	return resize(data, size, size, place->at, place->end - place->at, 0);
}

/* Copies an entry to the place of another one. */
static size_t
copy_entry(uint8_t *data, size_t size, size_t size_max, const struct place *from, const struct place *to)
{
	static uint8_t entry[1 << 16];
	size_t length = from->end - from->at;

	if (length > sizeof(entry))
		return 0;
	memcpy(entry, data + from->at, length);
	size = resize(data, size, size_max, to->at, 0, length);
	if (size)
		memcpy(data + to->at, entry, length);
	return size;
}

/* Changes a number in the fixed part or in the items of ENTRY, mostly one that has a range. */
static size_t
change_reading(uint8_t *data, size_t size, const struct place *entry)
{
	const struct record_range *chosen = NULL;
	size_t begin = entry->items > entry->fixed && get_random(3) ? entry->fixed : entry->items;
	size_t end = begin == entry->fixed ? entry->items : entry->end, at;
	size_t width = get_random(3) ? 8 : (size_t)1 << get_random(4);
	uint64_t value = 0;
	unsigned seen = 0;
	uint16_t item;

	for (const struct record_range *range = record_ranges; range->kind; range++)
		if (range->kind == entry->kind && range->is_item == (begin == entry->items) && get_random(++seen) == 0)
			chosen = range;
	memcpy(&item, data + entry->at + 6, sizeof(item));
	if (chosen && get_random(3)) {
		at = begin + chosen->offset + (chosen->is_item && item ? item * get_random((unsigned)((end - begin) / item + 1)) : 0);
		width = chosen->size;
	} else {
		chosen = NULL;
		at = end - begin < width ? end : begin + 2 * get_random((unsigned)((end - begin - width) / 2 + 1));
	}
	if (at + width > end)
		return 0;
	memcpy(&value, data + at, width);
	value = draw_number(value, 0, chosen && get_random(16) ? chosen->most : UINT64_MAX);
	memcpy(data + at, &value, width);
	return size;
}

/* ---- facts ---- */

struct way { /* the way from an entry FACTS to a field */
	size_t lengths[DEPTH]; /* places of the lengths of the element, and of all fields that contain the field */
	size_t depth;
	enum facts_table table; /* the table of the struct that the last length belongs to */
	const struct facts_field *field; /* the field, or NULL if the way ends at a struct */
};

static uint16_t
read_16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const struct facts_field *
find_field(enum facts_table table, uint8_t number)
{
	struct facts_shape shape = facts_get_table_shape(table);

	for (size_t i = 0; i < shape.count; i++)
		if (shape.fields[i].number == number)
			return &shape.fields[i];
	return NULL;
}

/* Extends WAY by a random field of its struct, and mostly by a field in this field. */
static bool
go_to_field(const uint8_t *data, struct way *way)
{
	size_t begin = way->lengths[way->depth - 1] + 2, end = begin + read_16(data + begin - 2), chosen = 0;
	unsigned seen = 0;

	for (size_t at = begin; at + FACTS_HEAD_BYTES <= end; at += FACTS_HEAD_BYTES + read_16(data + at + 1))
		if (get_random(++seen) == 0)
			chosen = at;
	if (!chosen || chosen + FACTS_HEAD_BYTES + read_16(data + chosen + 1) > end)
		return false;
	way->field = find_field(way->table, data[chosen]);
	if (way->depth == DEPTH)
		return true;
	way->lengths[way->depth++] = chosen + 1;
	if (!way->field || way->field->kind != FACTS_STRUCTS || !get_random(8))
		return true;
	way->table = way->field->table;
	return go_to_field(data, way);
}

/* Finds the element NUMBER of ENTRY, or a random one if NUMBER is SIZE_MAX. */
static bool
go_to_element(const uint8_t *data, const struct place *entry, size_t number, struct way *way)
{
	static struct report report;
	struct record_facts facts;
	unsigned seen = 0;

	if (entry->items - entry->fixed < sizeof(facts) || entry->list >= FACTS_LISTS)
		return false;
	memcpy(&facts, data + entry->fixed, sizeof(facts));
	if (facts.length > entry->end - entry->items)
		return false;
	way->table = facts_get_list_elements(entry->list, &report, NULL).table;
	for (size_t at = entry->items; at + 2 <= entry->items + facts.length; at += 2 + read_16(data + at)) {
		if (at + 2 + read_16(data + at) > entry->items + facts.length)
			return false;
		if (number == SIZE_MAX ? get_random(seen + 1) == 0 : number == seen)
			way->lengths[0] = at;
		seen++;
	}
	way->depth = 1;
	way->field = NULL;
	return number == SIZE_MAX ? seen > 0 : number < seen;
}

/* Replaces OLD bytes at AT, which is in a list of elements, by NEW bytes. Mends the lengths of WAY up to DEPTH. */
static size_t
resize_facts(uint8_t *data, size_t size, size_t size_max, const struct place *entry, const struct way *way,
	     size_t depth, size_t at, size_t old, size_t new)
{
	struct record_facts facts;
	uint16_t head[4];

	memcpy(&facts, data + entry->fixed, sizeof(facts));
	size_t used = facts.length - old + new, padding = (8 - used % 8) % 8;

	if (used > RECORD_ENTRY_MAX || (used + padding) / 8 > UINT16_MAX)
		return 0;
	/* removes the padding, changes the bytes, and adds padding */
	size = resize(data, size, size_max, entry->items + facts.length, entry->end - entry->items - facts.length, 0);
	size = resize(data, size, size_max, at, old, new);
	size = size ? resize(data, size, size_max, entry->items + used, 0, padding) : 0;
	if (!size)
		return 0;
	memset(data + entry->items + used, 0, padding);
	for (size_t i = 0; i < depth; i++) {
		uint16_t length = (uint16_t)(read_16(data + way->lengths[i]) - old + new);

		memcpy(data + way->lengths[i], &length, sizeof(length));
	}
	facts.length = (uint16_t)used;
	memcpy(data + entry->fixed, &facts, sizeof(facts));
	memcpy(head, data + entry->at, sizeof(head));
	head[2] = (uint16_t)((used + padding) / 8);
	memcpy(data + entry->at, head, sizeof(head));
	return size;
}

/* Copies one of the words of FIELD, a rule, a clock, or hostile bytes to TEXT. Returns the length. */
static size_t
draw_text(const struct facts_field *field, char text[TEXT_BYTES])
{
	static const char *const texts[] = { "", "tsc", "tsc_lfence", "hpet", "hpet_32", "acpi_pm", "pit", "rtc", "rtc_pf",
					     "kvmclock", "hv_page", "xen", "null", "lapic", "lapic_deadline", "self_ipi",
					     "hpet0", "hv_timer", "</script>", "\x1b[2J", "\"\\", "%s%n", "<!--", "\n\r\t",
					     "@REPORT@", "=1+1", ",\"", "\xff\xfe", "# SKIP" };
	const char *from = texts[get_random(sizeof(texts) / sizeof(texts[0]))];
	size_t length = strlen(from);
	unsigned rule_count = 0;

	if (field && field->words && get_random(8)) {
		from = field->words;
		for (unsigned skip = get_random(8); skip && strchr(from, ' '); skip--)
			from = strchr(from, ' ') + 1;
		length = strcspn(from, " ");
	} else if (get_random(2)) {
		while (rules[rule_count].id)
			rule_count++;
		from = rules[get_random(rule_count)].id;
		length = strlen(from);
	} else if (get_random(8) == 0) {
		length = field && field->kind == FACTS_TEXT ? field->size - 1u : TEXT_BYTES - 1;
		length = length < TEXT_BYTES ? length : TEXT_BYTES - 1;
		memset(text, "<x\"\\"[get_random(4)], length);
		return length;
	}
	memcpy(text, from, length);
	return length;
}

/* Writes a new value of the field at WAY. */
static size_t
change_field(uint8_t *data, size_t size, size_t size_max, const struct place *entry, const struct way *way)
{
	const struct facts_field *field = way->field;
	size_t at = way->lengths[way->depth - 1] + 2, old = read_16(data + at - 2), length = old;
	uint8_t bytes[TEXT_BYTES] = { 0 };
	uint64_t value = 0;

	if (!field || field->kind == FACTS_NUMBER || get_random(64) == 0) {
		memcpy(&value, data + at, old < sizeof(value) ? old : sizeof(value));
		value = field && get_random(16) ? draw_number(value, field->least, field->most) : draw_number(value, 0, UINT64_MAX);
		memcpy(bytes, &value, sizeof(value));
		length = field && field->size < sizeof(value) ? field->size : sizeof(value);
		while (length && !bytes[length - 1])
			length--;
		length = get_random(64) ? length : get_random(10);
	} else if (field->kind != FACTS_STRUCTS) {
		length = draw_text(field, (char *)bytes);
	} else {
		return 0;
	}
	size = resize_facts(data, size, size_max, entry, way, way->depth, at, old, length);
	if (size)
		memcpy(data + at, bytes, length);
	return size;
}

static size_t
remove_field(uint8_t *data, size_t size, size_t size_max, const struct place *entry, const struct way *way)
{
	size_t at = way->lengths[way->depth - 1], length = FACTS_HEAD_BYTES + read_16(data + at);

	return resize_facts(data, size, size_max, entry, way, way->depth - 1, at - 1, length, 0);
}

/* Adds a field of the struct that contains the field at WAY in front of this field. It has one byte. */
static size_t
add_field(uint8_t *data, size_t size, size_t size_max, const struct place *entry, const struct way *way)
{
	struct facts_shape shape = facts_get_table_shape(way->table);
	const struct facts_field *field = &shape.fields[get_random((unsigned)shape.count)];
	size_t at = way->lengths[way->depth - 1] - 1, length = field->kind == FACTS_NUMBER;

	size = resize_facts(data, size, size_max, entry, way, way->depth - 1, at, 0, FACTS_HEAD_BYTES + length);
	if (size)
		memcpy(data + at, (uint8_t[]){ field->number, (uint8_t)length, 0, 1 }, FACTS_HEAD_BYTES + length);
	return size;
}

/* Numbers of the fields in facts.def that have the number of elements of a list. */
static const uint8_t count_fields[FACTS_LISTS] = {
	[FACTS_CLOCKS] = 26, [FACTS_CLAIMS] = 27, [FACTS_CORES] = 28, [FACTS_INTERVALS] = 29, [FACTS_NOTES] = 31,
	[FACTS_CHECKS] = 32, [FACTS_PROBLEMS] = 33,
};

/* Adds CHANGE to the number of elements of LIST in the report. */
static size_t
change_count(uint8_t *data, size_t size, size_t size_max, uint16_t list, int change)
{
	struct way way;
	struct place entry;

	if (!find_entry(data, size, RECORD_FACTS, FACTS_REPORT, &entry) || !go_to_element(data, &entry, 0, &way))
		return 0;
	size_t begin = way.lengths[0] + 2, end = begin + read_16(data + begin - 2);

	for (size_t at = begin; at + FACTS_HEAD_BYTES <= end; at += FACTS_HEAD_BYTES + read_16(data + at + 1)) {
		if (data[at] != count_fields[list] || read_16(data + at + 1) != 1)
			continue;
		data[at + FACTS_HEAD_BYTES] = (uint8_t)(data[at + FACTS_HEAD_BYTES] + change);
		if (data[at + FACTS_HEAD_BYTES])
			return size;
		way.lengths[1] = at + 1;
		way.depth = 2;
		return remove_field(data, size, size_max, &entry, &way);
	}
	return 0;
}

/* Finds the last entry of LIST. */
static bool
find_last_entry(const uint8_t *data, size_t size, uint16_t list, struct place *found)
{
	struct place place;
	bool any = false;

	for (size_t at = 1; read_place(data, size, at, &place); at = place.end)
		if (place.kind == RECORD_FACTS && place.list == list) {
			*found = place;
			any = true;
		}
	return any;
}

/*
 * Extends WAY, which ends at an element, to the field that identifies it. Returns false if the element does not have
 * this field.
 */
static bool
go_to_unique_field(const uint8_t *data, struct way *way)
{
	uint8_t number = fact_unique_fields[way->table];
	size_t at = way->lengths[way->depth - 1] + 2, end = at + read_16(data + at - 2);

	while (at + FACTS_HEAD_BYTES <= end && data[at] != number)
		at += FACTS_HEAD_BYTES + read_16(data + at + 1);
	if (!number || at + FACTS_HEAD_BYTES > end || at + FACTS_HEAD_BYTES + read_16(data + at + 1) > end)
		return false;
	way->field = find_field(way->table, number);
	way->lengths[way->depth++] = at + 1;
	if (way->field->kind != FACTS_STRUCTS)
		return true;
	way->table = way->field->table;
	return go_to_unique_field(data, way);
}

/*
 * Removes the last element of a list, or appends a copy of an element in the last entry of the list. The copy gets
 * another id, because two elements with one id are not accepted.
 */
static size_t
change_list(uint8_t *data, size_t size, size_t size_max)
{
	static uint8_t copy[1 << 16];
	uint16_t list = (uint16_t)(1 + get_random(FACTS_LISTS - 1));
	struct place entry;
	struct way way;
	size_t number = 0;

	if (!count_fields[list] || !find_last_entry(data, size, list, &entry))
		return 0;
	while (go_to_element(data, &entry, number, &way))
		number++;
	if (!number)
		return 0;
	if (get_random(2)) {
		go_to_element(data, &entry, number - 1, &way);
		size = resize_facts(data, size, size_max, &entry, &way, 0, way.lengths[0], 2u + read_16(data + way.lengths[0]), 0);
	} else {
		go_to_element(data, &entry, get_random((unsigned)number), &way);
		size_t length = 2u + read_16(data + way.lengths[0]);

		memcpy(copy, data + way.lengths[0], length);
		go_to_element(data, &entry, number - 1, &way);
		size_t at = way.lengths[0] + 2 + read_16(data + way.lengths[0]);

		size = resize_facts(data, size, size_max, &entry, &way, 0, at, 0, length);
		if (!size)
			return 0;
		memcpy(data + at, copy, length);
		find_last_entry(data, size, list, &entry);
		if (go_to_element(data, &entry, number, &way) && go_to_unique_field(data, &way))
			size = change_field(data, size, size_max, &entry, &way);
		return size ? change_count(data, size, size_max, list, 1) : 0;
	}
	return size ? change_count(data, size, size_max, list, -1) : 0;
}

/* Makes one mutation. Returns the new size, or 0 if the mutation is not possible. The data may then be damaged. */
static size_t
mutate_once(uint8_t *data, size_t size, size_t size_max)
{
	unsigned what = get_random(32);
	struct place entry, other;
	struct way way;

	if (what < 10)
		return find_entry(data, size, 0, FACTS_LISTS, &entry) && entry.kind != RECORD_FACTS ?
			change_reading(data, size, &entry) : 0;
	if (what < 12)
		return change_list(data, size, size_max);
	if (what == 12)
		return find_entry(data, size, 0, FACTS_LISTS, &entry) ? remove_entry(data, size, &entry) : 0;
	if (what == 13)
		return find_entry(data, size, 0, FACTS_LISTS, &entry) && find_entry(data, size, 0, FACTS_LISTS, &other) ?
			copy_entry(data, size, size_max, &entry, &other) : 0;
	/* chooses the list first, because one list may have most of the entries */
	if (!find_entry(data, size, RECORD_FACTS, (uint16_t)get_random(FACTS_LISTS), &entry) ||
	    !go_to_element(data, &entry, SIZE_MAX, &way) || !go_to_field(data, &way))
		return 0;
	if (what == 14)
		return remove_field(data, size, size_max, &entry, &way);
	if (what == 15)
		return add_field(data, size, size_max, &entry, &way);
	return change_field(data, size, size_max, &entry, &way);
}

#endif
