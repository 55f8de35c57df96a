/* The report about many cores on a serial line has an entry for each core, and takes at most a minute. */
#include <stdio.h>

#include "test.h"
#include "many_cores.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "report/report_sizes.h"

#define BYTES_A_S    (115200 / 10)
#define MATRIX       "\"matrix\": "
#define CORE         "{\"apic_id\": "

/* Returns the rendered report. The caller frees it. */
static char *
rendered(void (*render)(struct text *, const struct report *), size_t count, size_t *length)
{
	struct report *report = make_report(count);
	size_t size = report_size_json(count) + report_size_csv(count);
	struct text text;

	text_init(&text, malloc(size), size);
	assert_non_null(text.bytes);
	render(&text, report);
	free(report);
	assert_false(text.truncated);
	*length += text.length;
	return text.bytes;
}

static size_t
count_of(const char *bytes, const char *word)
{
	size_t count = 0;

	for (const char *at = bytes; (at = strstr(at, word)) != NULL; at += strlen(word))
		count++;
	return count;
}

static size_t
length_of(void (*render)(struct text *, const struct report *), size_t count)
{
	size_t length = 0;

	free(rendered(render, count, &length));
	return length;
}

TEST(json_and_csv_of_1024_cores_take_a_minute_at_115200_baud)
{
	for (size_t count = 64; count <= CORES; count *= 4)
		print_message("%zu cores: %zu bytes, and %zu on a serial line\n", count,
			      length_of(json_render, count) + length_of(csv_render, count),
			      length_of(json_render_for_serial_port, count) +
			      length_of(csv_render_for_serial_port, count));
	assert_true(length_of(json_render_for_serial_port, CORES) + length_of(csv_render_for_serial_port, CORES) <
		    60 * BYTES_A_S);
}

TEST(a_serial_report_has_each_core_without_latencies_and_no_matrix)
{
	size_t length = 0;
	char *json = rendered(json_render_for_serial_port, 200, &length);
	char *csv = rendered(csv_render_for_serial_port, 200, &length);
	char *all = rendered(json_render, 200, &length);

	assert_int_equal(count_of(json, "\n    " CORE), 200);
	assert_int_equal(count_of(json, "\"latency\": {}, \"latency_contended\": {}}"), 200);
	assert_int_equal(count_of(json, MATRIX), count_of(json, MATRIX "null"));
	assert_true(count_of(all, MATRIX) > count_of(all, MATRIX "null"));
	assert_non_null(strstr(csv, ",,0,offset,"));
	assert_null(strstr(csv, ",,1,offset,"));
	free(json);
	free(csv);
	free(all);
}
