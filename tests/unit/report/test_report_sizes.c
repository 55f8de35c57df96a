/* The planned memory for the report's texts must be enough for the longest possible text. */
#include "test.h"
#include "many_cores.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "report/report_sizes.h"
#include "render/text/report_text.h"

#define MANY  255
#define FAR   (INT64_C(1) << 60) /* the largest possible difference of ticks, see scale.h */
#define WORST ((struct offset){ -FAR, FAR })

static void
fill_worst_core(struct report_core *core)
{
	*core = (struct report_core){
		.apic_id = UINT32_MAX, .started = true, .facts_known = true,
		.facts = { true, true, true, INT64_MIN, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
	};
	memset(core->reason, '<', sizeof(core->reason) - 1); /* each of these characters takes six bytes in JSON */
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		core->latency[i] = core->contended[i] =
			(struct core_latency){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
}

/*
 * Makes a report with sixteen clocks that have long ids and no histograms. The memory for clocks does not depend on
 * the number of cores.
 */
static struct report *
make_worst_report(size_t count)
{
	struct report *report = make_report(count);

	memset(report->facts.run.started_at, '0', sizeof(report->facts.run.started_at) - 1);
	report->facts.clock_count = REPORT_CLOCKS_MAX;
	for (size_t i = CLOCKS; i < REPORT_CLOCKS_MAX; i++)
		report->facts.clocks[i] = report->facts.clocks[0];
	for (size_t i = 0; i < count; i++) {
		fill_worst_core(&many_cores[i]);
		many_core_figures[i] = (struct core_figures){ .pingpongs = UINT64_MAX, .observed_ns = UINT64_MAX,
							      .gaps = UINT64_MAX, .worst_gap_ns = UINT64_MAX, .rank = i };
		many_core_outcomes[i].off_majority = true;
		many_core_offsets[i] = WORST;
	}
	for (size_t i = 0; i < sizeof(many_pairs) / sizeof(many_pairs[0]); i++)
		many_pairs[i] = WORST;
	report->figures.interval_count = REPORT_INTERVALS_MAX;
	for (size_t i = 0; i < REPORT_INTERVALS_MAX; i++)
		report->figures.intervals[i] = (struct interval_figures){
			.test = { .source = "lapic_deadline", .periodic = true, .core = UINT32_MAX, .route_kind = "ioapic",
				  .asked_ns = UINT64_MAX },
			.reason = "", .state = CLOCK_PRESENT,
			.asked = UINT64_MAX, .expected = UINT64_MAX, .delivered = UINT64_MAX,
			.empty = UINT64_MAX, .doubled = UINT64_MAX, .early = UINT64_MAX, .excused = UINT64_MAX,
			.lateness = { UINT64_MAX, -FAR, -FAR, -FAR, -FAR, -FAR, UINT64_MAX }, .rate = { true, -FAR, -FAR, -FAR },
			.held_ns = UINT64_MAX, .held_delivered = UINT64_MAX,
		};
	/* each of these characters takes two bytes in quotes */
	memset(report->facts.machine.identity.serial, '"', sizeof(report->facts.machine.identity.serial) - 1);
	report->figures.skew.pass_count = REPORT_PASSES;
	report->figures.skew.passes[2] = report->figures.skew.passes[0];
	return report;
}

static size_t
length_of(void (*render)(struct text *, const struct report *), size_t count, size_t room)
{
	struct report *report = make_worst_report(count);
	struct text text;
	char *bytes = malloc(room);

	assert_non_null(bytes);
	text_init(&text, bytes, room);
	render(&text, report);
	free(bytes);
	free(report);
	assert_false(text.truncated);
	return text.length;
}

/* The report has as many rows as possible, and all figures are as long as possible. */
TEST(json_of_a_series_with_the_longest_figures_fits)
{
	enum { ROWS = 3 };
	static struct series_clock clocks[REPORT_CLOCKS_MAX];
	static struct series_rate rates[REPORT_CLOCKS_MAX];
	static struct offset offsets[MANY];
	struct series_row rows[ROWS];
	size_t size = report_size_json(MANY) + report_size_series(MANY, ROWS);
	size_t without = length_of(json_render, MANY, size);
	struct report *report = make_worst_report(MANY);
	char *bytes = malloc(size);
	struct text text;

	assert_non_null(bytes);
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++) {
		clocks[i] = (struct series_clock){ .count = UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
		rates[i].ppb = (struct interval_ppb){ true, -FAR, -FAR, -FAR };
	}
	for (size_t i = 0; i < MANY; i++)
		offsets[i] = WORST;
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct series_row){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, clocks, offsets };
	report->facts.series = (struct series){ .max = ROWS, .count = ROWS, .rows = rows };
	report->figures.soak_rates = rates;
	text_init(&text, bytes, size);
	json_render(&text, report);
	assert_false(text.truncated);
	assert_in_range(text.length - without, report_size_series(MANY, ROWS) / 3, report_size_series(MANY, ROWS));
	free(bytes);
	free(report);
}

TEST(reports_of_255_cores_with_the_longest_figures_fit)
{
	static const struct {
		const char *name;
		void (*render)(struct text *, const struct report *);
		size_t (*size)(size_t cores);
		size_t least_bytes; /* smallest number of bytes for the other 254 cores */
	} reports[] = {
		{ "JSON", json_render, report_size_json, 6000000 },
		{ "text", table_render, report_size_table, 2000 },
		{ "CSV", csv_render, report_size_csv, 1000000 },
	};

	for (size_t i = 0; i < 3; i++) {
		size_t one = length_of(reports[i].render, 1, reports[i].size(1));
		size_t all = length_of(reports[i].render, MANY, reports[i].size(MANY));

		print_message("%s\n", reports[i].name);
		assert_in_range(all - one, reports[i].least_bytes, reports[i].size(MANY) - reports[i].size(1));
	}
}

TEST(above_256_cores_no_memory_is_planned_for_pairs)
{
	assert_int_equal(report_size_json(257), report_size_table(257));
	assert_int_equal(report_size_json(256) - report_size_table(256),
			 REPORT_PASSES * 256 * 256 * REPORT_SIZE_PER_PAIR);
}
