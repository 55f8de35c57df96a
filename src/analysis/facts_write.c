/* Writes the entries `facts` and `latency`. See facts.h. */
#include "analysis/facts.h"

#include "base/text.h"

#define BYTES_MAX  6000u /* largest size of the elements in one entry; it is a multiple of 8 */
#define CELLS_MAX  2000u /* largest size of all cells in one entry `latency`; it is a multiple of 8 */
#define CELL_MAX   20u   /* largest size of a cell: two numbers of up to 10 bytes */

struct output {
	uint8_t *bytes;
	size_t length, size;
	bool is_full; /* true if a field did not fit into the output */
};

static void put_struct(struct output *out, enum facts_table table, const uint8_t *object);

static void
put_bytes(struct output *out, const void *bytes, size_t length)
{
	out->is_full |= out->size - out->length < length;
	if (out->is_full)
		return;
	__builtin_memcpy(out->bytes + out->length, bytes, length);
	out->length += length;
}

/* Starts a field. Returns the position after its length, which end_with_length() sets. */
static size_t
begin_field(struct output *out, uint8_t number)
{
	const uint8_t head[FACTS_HEAD_BYTES] = { number };

	put_bytes(out, head, sizeof(head));
	return out->length;
}

/* Stores the number of bytes from BEGIN on in the two bytes before BEGIN. */
static void
end_with_length(struct output *out, size_t begin)
{
	uint16_t length = (uint16_t)(out->length - begin);

	if (!out->is_full)
		__builtin_memcpy(out->bytes + begin - sizeof(length), &length, sizeof(length));
}

static void
put_value(struct output *out, uint8_t number, const void *value, size_t length)
{
	size_t begin = begin_field(out, number);

	put_bytes(out, value, length);
	end_with_length(out, begin);
}

/* Returns the number of BYTES without the zeros at their end. */
static size_t
length_without_trailing_zeros(const uint8_t *bytes, size_t size)
{
	while (size > 0 && !bytes[size - 1])
		size--;
	return size;
}

static void
put_structs(struct output *out, const struct facts_field *field, const uint8_t *object)
{
	size_t count = field->max;

	if (field->count != FACTS_NO_COUNT)
		__builtin_memcpy(&count, object + field->count, sizeof(count));
	if (count == 1 && field->count == FACTS_NO_COUNT &&
	    !length_without_trailing_zeros(object + field->offset, field->size))
		return;
	for (size_t i = 0; i < count; i++) {
		size_t begin = begin_field(out, field->number);

		put_struct(out, field->table, object + field->offset + i * field->size);
		end_with_length(out, begin);
	}
}

static void
put_field(struct output *out, const struct facts_field *field, const uint8_t *object)
{
	const uint8_t *member = object + field->offset;
	const char *words;
	size_t length;

	switch (field->kind) {
	case FACTS_NUMBER:
		length = length_without_trailing_zeros(member, field->size);
		if (length)
			put_value(out, field->number, member, length);
		break;
	case FACTS_TEXT:
		if (member[0])
			put_value(out, field->number, member, text_length((const char *)member));
		break;
	case FACTS_WORDS:
	case FACTS_OPTIONAL:
		__builtin_memcpy(&words, member, sizeof(words));
		if (words)
			put_value(out, field->number, words, text_length(words));
		break;
	case FACTS_STRUCTS:
		put_structs(out, field, object);
		break;
	}
}

static void
put_struct(struct output *out, enum facts_table table, const uint8_t *object)
{
	struct facts_shape shape = facts_get_table_shape(table);

	for (size_t i = 0; i < shape.count; i++)
		put_field(out, &shape.fields[i], object);
}

/*
 * Appends an element of a list: its length, then its fields. If there is no space, leaves OUT unchanged and returns
 * false.
 */
static bool
put_element(struct output *out, enum facts_table table, const void *element)
{
	const uint16_t no_length = 0;
	size_t before = out->length;

	put_bytes(out, &no_length, sizeof(no_length));
	size_t begin = out->length;

	put_struct(out, table, element);
	end_with_length(out, begin);
	if (out->is_full)
		out->length = before;
	return !out->is_full;
}

/* Appends one entry with the elements of LIST from FIRST on, as many as fit. Returns the index of the next element. */
static size_t
put_facts_entry(struct record *record, enum facts_list list, const struct facts_elements *elements, size_t first)
{
	struct record_taken words[BYTES_MAX / sizeof(struct record_taken)];
	struct output out = { .bytes = (uint8_t *)words, .size = sizeof(words) };
	size_t next = first;

	while (next < elements->count &&
	       put_element(&out, elements->table, (uint8_t *)elements->first + next * elements->stride))
		next++;
	if (next == first) {
		record->dropped++; /* the element is too large for an entry */
		return first + 1;
	}
	__builtin_memset(out.bytes + out.length, 0, out.size - out.length);
	const struct record_facts facts = { (uint16_t)list, (uint16_t)out.length, (uint32_t)first };

	record_put(record, RECORD_FACTS, &facts, words, (out.length + sizeof(words[0]) - 1) / sizeof(words[0]));
	return next;
}

/*
 * Returns the number of reads in BUCKET that took less than LATENCY_EXACT_NS. The cells for single ns already count
 * them.
 */
static uint64_t
count_reads_in_1ns_cells_of_bucket(const struct latency *latency, size_t bucket)
{
	uint64_t low = histogram_bucket_low(bucket), count = 0;

	for (uint64_t ns = low; ns <= histogram_bucket_high(bucket) && ns < LATENCY_EXACT_NS; ns++)
		count += latency->exact[ns];
	return count;
}

static uint64_t
count_reads_in_cell(const struct latency *latency, size_t i)
{
	size_t bucket = i - LATENCY_EXACT_NS;

	if (i < LATENCY_EXACT_NS)
		return latency->exact[i];
	return latency->histogram.counts[bucket] - count_reads_in_1ns_cells_of_bucket(latency, bucket);
}

/* Appends VALUE with 7 bits in each byte, the lowest first. All bytes except the last have their top bit set. */
static void
put_varint(struct output *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		out->bytes[out->length++] = (uint8_t)(value | 0x80);
	out->bytes[out->length++] = (uint8_t)value;
}

static void
put_latency_entry(struct record *record, struct record_latency *is, const struct record_taken *words,
		  struct output *out)
{
	is->length = (uint16_t)out->length;
	__builtin_memset(out->bytes + out->length, 0, out->size - out->length);
	record_put(record, RECORD_LATENCY, is, words, (out->length + sizeof(words[0]) - 1) / sizeof(words[0]));
	out->length = 0;
}

/* Appends the durations of a clock's reads on the boot core, in as many entries as its cells need. */
static void
put_latency(struct record *record, size_t clock, const struct latency *latency)
{
	struct record_latency is = { (uint16_t)clock, 0, latency->count, latency->min_ns, latency->max_ns,
				     latency->max_count, latency->total_ticks, latency->total_ns };
	struct record_taken words[CELLS_MAX / sizeof(struct record_taken)] = { { 0 } };
	struct output out = { .bytes = (uint8_t *)words, .size = sizeof(words) };
	size_t before = 0;

	for (size_t i = 0; i < FACTS_CELLS; i++) {
		uint64_t reads = count_reads_in_cell(latency, i);

		if (!reads)
			continue;
		if (out.size - out.length < CELL_MAX) {
			put_latency_entry(record, &is, words, &out);
			before = 0;
		}
		put_varint(&out, i - before);
		put_varint(&out, reads);
		before = i;
	}
	put_latency_entry(record, &is, words, &out);
}

void
facts_write(struct record *record, const struct report *report)
{
	struct calibration_loop loops[CALIBRATION_LOOPS];

	for (size_t i = 0; i < report->facts.calibration_count; i++)
		loops[i] = *report->facts.calibrations[i].loop;
	for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++) {
		/* The elements are only read here, although facts_get_list_elements() returns them without const. */
		const struct facts_elements elements = facts_get_list_elements(list, (struct report *)(uintptr_t)report, loops);

		for (size_t next = 0; next < elements.count; )
			next = put_facts_entry(record, list, &elements, next);
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->facts.clocks[i].latency && report->facts.clocks[i].latency->count)
			put_latency(record, i, report->facts.clocks[i].latency);
}
