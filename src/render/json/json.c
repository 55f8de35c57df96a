/* Writes the report as JSON from its tables of fields. See json.h. */
#include "render/json/json.h"

#include "render/fields/fields.h"
#include "render/json/json_writer.h"
#include "stats/observed.h"

struct walk {
	struct json json;
	const struct report *report;
	bool short_cores;    /* true: the latencies of single cores and the matrices are left out */
	bool without_bars;   /* true: histograms and matrices are null */
	bool without_series; /* true: the series of a soak is null */
};

static void put_element(struct walk *walk, const char *key, const struct field_table *table, const void *object,
			size_t i);

static void
put_number(struct walk *walk, const char *key, const struct field *field, uint64_t number)
{
	json_put_number(&walk->json, key, number, field->digits, field->is_signed);
}

static void
put_interval(struct walk *walk, const char *key, const struct field *field, const struct field_value *value)
{
	static const char *const keys[] = { "value", "low", "high" };

	json_open(&walk->json, key, '{', true);
	for (size_t i = 0; i < 3; i++)
		put_number(walk, keys[i], field, value->numbers[i]);
	json_close(&walk->json, '}');
}

static void
put_pair_of_numbers(struct walk *walk, const char *key, const struct field *field, uint64_t a, uint64_t b)
{
	json_open(&walk->json, key, '[', true);
	put_number(walk, NULL, field, a);
	put_number(walk, NULL, field, b);
	json_close(&walk->json, ']');
}

/* Returns the key of element I in a map: the clock's id, or the rule that a limit belongs to. */
static const char *
get_map_key(const struct report *report, const struct field_table *table, const void *element, size_t i)
{
	return table == &field_by_clock || table == &field_series_clock ? report->facts.clocks[i].clock.id :
		((const struct options_limit *)element)->rule;
}

static void
put_elements(struct walk *walk, const char *key, const struct field *field, const struct field_value *value)
{
	bool is_map = field->shape == FIELD_MAP, is_bare = !field->table->fields[0].key[0];
	size_t count = walk->short_cores && field->table == &field_by_clock ? 0 : value->count;
	const char *element = value->first;

	json_open(&walk->json, key, is_map ? '{' : '[', is_bare && field->table->on_one_line);
	for (size_t i = 0; i < count; i++, element += value->stride)
		if (field->shape != FIELD_BARS || *(const uint64_t *)(const void *)element)
			put_element(walk, is_map ? get_map_key(walk->report, field->table, element, i) : NULL, field->table,
				    element, i);
	json_close(&walk->json, is_map ? '}' : ']');
}

/*
 * Writes all durations with their counts. For a page, writes null: the durations are the largest part of a report, and
 * a page does not use them.
 */
static void
put_counts_of_durations(struct walk *walk, const char *key, const struct field *field, const struct latency *latency)
{
	struct observed_list list = observed_make_duration_list(latency, walk->report->facts.options.cutoff_millionths);
	struct observed row;

	if (walk->json.dense) {
		json_put_null(&walk->json, key);
		return;
	}
	json_open(&walk->json, key, '[', false);
	while (observed_get_next_row(&list, &row))
		put_element(walk, NULL, field->table, &row, 0);
	json_close(&walk->json, ']');
}

static void
put_offset(struct walk *walk, const struct field *field, struct offset offset)
{
	struct offset ns = report_offset_to_ns(walk->report, offset);

	if (offset_is_known(ns))
		put_pair_of_numbers(walk, NULL, field, (uint64_t)ns.low, (uint64_t)ns.high);
	else
		json_put_null(&walk->json, NULL);
}

/*
 * Writes a matrix of offsets: the TSC of the column's core minus the TSC of the row's core. An HTML page gets only the
 * matrix of the measurement pass that its tables show.
 */
static void
put_matrix_of_offsets(struct walk *walk, const char *key, const struct field *field, const struct offsets *offsets)
{
	const struct core_figures *cores = walk->report->figures.cores;
	size_t count = walk->report->facts.core_count;

	if (walk->short_cores || walk->without_bars ||
	    (walk->json.dense && offsets != &report_get_shown_pass(walk->report)->offsets)) {
		json_put_null(&walk->json, key);
		return;
	}
	json_open(&walk->json, key, '[', false);
	for (size_t row = 0; row < count; row++) {
		json_open(&walk->json, NULL, '[', true);
		for (size_t column = 0; column < count; column++)
			put_offset(walk, field, report_get_offset_of_ranks(offsets, cores[row].rank, cores[column].rank));
		json_close(&walk->json, ']');
	}
	json_close(&walk->json, ']');
}

static bool
is_field_left_out(const struct walk *walk, const struct field *field)
{
	return (walk->without_bars && field->shape == FIELD_BARS) ||
	       (walk->without_series && field->table == &field_series_row);
}

static void
put_field(struct walk *walk, const char *key, const struct field *field, const struct field_value *value)
{
	struct json *json = &walk->json;

	if (!value->known || is_field_left_out(walk, field)) {
		json_put_null(json, key);
		return;
	}
	switch ((enum field_shape)field->shape) {
	case FIELD_WORD:
		json_put_string(json, key, value->word);
		break;
	case FIELD_FLAG:
		json_put_bool(json, key, value->numbers[0]);
		break;
	case FIELD_VERDICT:
		json_put_string(json, key, verdict_words[value->numbers[0]]);
		break;
	case FIELD_NUMBER:
	case FIELD_MIDDLE:
		put_number(walk, key, field, value->numbers[0]);
		break;
	case FIELD_INTERVAL:
		put_interval(walk, key, field, value);
		break;
	case FIELD_PAIR:
		put_pair_of_numbers(walk, key, field, value->numbers[0], value->numbers[1]);
		break;
	case FIELD_OBJECT:
		put_element(walk, key, field->table, value->first, 0);
		break;
	case FIELD_LIST:
	case FIELD_BARS:
	case FIELD_MAP:
		put_elements(walk, key, field, value);
		break;
	case FIELD_EXACT:
		put_counts_of_durations(walk, key, field, value->first);
		break;
	case FIELD_MATRIX:
		put_matrix_of_offsets(walk, key, field, value->first);
		break;
	}
}

static void
put_element(struct walk *walk, const char *key, const struct field_table *table, const void *object, size_t i)
{
	bool is_bare = !table->fields[0].key[0];
	struct field_value value;

	if (!is_bare)
		json_open(&walk->json, key, '{', table->on_one_line || (walk->short_cores && table == &field_core));
	for (size_t row = 0; row < table->count; row++) {
		table->get(walk->report, object, i, row, &value);
		put_field(walk, is_bare ? key : table->fields[row].key, &table->fields[row], &value);
	}
	if (!is_bare)
		json_close(&walk->json, '}');
}

static void
put_report(struct text *out, const struct report *report, bool brief)
{
	struct walk walk = { .json = json_start_writer(out), .report = report };

	walk.json.dense = brief;
	put_element(&walk, NULL, &field_report, report, 0);
	if (!brief)
		text_put_char(out, '\n');
}

void
json_render(struct text *out, const struct report *report)
{
	put_report(out, report, false);
}

void
json_render_brief(struct text *out, const struct report *report)
{
	put_report(out, report, true);
}

void
json_render_for_serial_port(struct text *out, const struct report *report)
{
	struct walk walk = { .json = json_start_writer(out), .report = report, .short_cores = true };

	put_element(&walk, NULL, &field_report, report, 0);
	text_put_char(out, '\n');
}

void
json_render_compact(struct text *out, const struct report *report, enum json_detail detail)
{
	struct walk walk = {
		.json = json_start_writer(out), .report = report, .without_bars = true,
		.short_cores = detail < JSON_WITH_BOTH, .without_series = detail == JSON_WITHOUT_SERIES,
	};

	walk.json.dense = true;
	put_element(&walk, NULL, &field_report, report, 0);
}
