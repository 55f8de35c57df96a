/* The report of many cores on a serial line has each core, and takes a minute at most. */
#include <stdio.h>

#include "test.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "random.h"
#include "report/report_sizes.h"

#define CORES        1024
#define CLOCKS       12
#define BYTES_A_S    (115200 / 10)
#define APART_NS     900
#define MATRIX       "\"matrix\": "
#define CORE         "{\"apic_id\": "

static struct latency none;
static struct report_core cores[CORES];
static uint32_t core_of[CORES];
static struct offset pairs[CORES * (CORES - 1) / 2];
static uint64_t moved_ticks[CORES * (CORES - 1) / 2];

static uint64_t
below(uint64_t end)
{
	static uint64_t seed = 1;

	return random_next(&seed) % end;
}

static struct offset
some_offset(void)
{
	return (struct offset){ -(int64_t)below(APART_NS), (int64_t)below(APART_NS) };
}

static void
fill_core(struct report_core *core, size_t i)
{
	*core = (struct report_core){
		.apic_id = (uint32_t)i, .boot = i == 0, .started = true, .pingpongs = CORES - 1,
		.offset = some_offset(), .last_offset = some_offset(), .drift_ppb = some_offset(),
		.observed_ns = 80000000 + below(9999999), .gaps = below(30), .worst_gap_ns = below(99999),
	};
	for (size_t k = 0; k < CLOCKS; k++)
		core->latency[k] = core->contended[k] = (struct core_latency){
			.count = 1000, .min_ns = below(99), .p50_ns = below(999), .p99_ns = below(9999),
		};
}

static struct report *
make_report(size_t count)
{
	struct report *report = calloc(1, sizeof(*report));

	assert_non_null(report);
	report->version = report->commit = report->fence = "x";
	report->tsc = (struct rate){ 2000000000, 1 };
	report->clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++) {
		report->clocks[i].clock = (struct clock){
			.id = "tsc_rdtscp", .title = "", .main = "tsc", .found_by = "", .state = CLOCK_PRESENT,
		};
		report->clocks[i].latency = &none;
	}
	for (size_t i = 0; i < count; i++) {
		fill_core(&cores[i], i);
		core_of[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		pairs[i] = some_offset();
	report->cores = cores;
	report->core_count = report->cores_listed = report->cores_started = (uint32_t)count;
	report->skew.measured = report->skew.drift_measured = true;
	report->skew.kind = TOURNAMENT_ALL;
	report->skew.kind_reason = "";
	report->skew.core_of = core_of;
	report->skew.offsets = (struct offsets){
		.kind = TOURNAMENT_ALL, .cores = count, .pairs = pairs, .moved_ticks = moved_ticks, .end_tsc = 1,
	};
	report->skew.latest = report->skew.offsets;
	return report;
}

/* The caller frees it. */
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
			      length_of(json_render_serial, count) + length_of(csv_render_serial, count));
	assert_true(length_of(json_render_serial, CORES) + length_of(csv_render_serial, CORES) < 60 * BYTES_A_S);
}

TEST(each_core_is_in_it_on_a_line_without_its_latencies_and_no_matrix_is)
{
	size_t length = 0;
	char *json = rendered(json_render_serial, 200, &length), *csv = rendered(csv_render_serial, 200, &length);
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
