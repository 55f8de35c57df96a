/* The planned memory for the report's texts must be enough for the longest possible text. */
#include "test.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "report/report_sizes.h"
#include "render/text/report_text.h"

#define CORES 255
#define FAR   (INT64_C(1) << 60) /* the largest possible difference of ticks, see scale.h */
#define WORST ((struct offset){ -FAR, FAR })

static struct latency none;
static struct report_core cores[CORES];
static struct core_figures figures[CORES];
static struct core_outcome outcomes[CORES];
static uint32_t core_of[CORES];
static struct offset core_offsets[CORES];
static struct offset pairs[CORES * (CORES - 1) / 2];
static uint64_t moved_ticks[CORES * (CORES - 1) / 2];

static void
fill_core(struct report_core *core)
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
make_report(size_t count)
{
	struct report *report = calloc(1, sizeof(*report));

	assert_non_null(report);
	report->facts.run.version = report->facts.run.commit = report->facts.machine.fence = "x";
	memset(report->facts.run.started_at, '0', sizeof(report->facts.run.started_at) - 1);
	report->facts.clock_count = REPORT_CLOCKS_MAX;
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++) {
		report->facts.clocks[i].clock = (struct clock){
			.id = "tsc_rdtscp", .title = "", .main = "tsc", .found_by = "", .state = CLOCK_PRESENT,
		};
		report->facts.clocks[i].latency = &none;
	}
	for (size_t i = 0; i < count; i++) {
		fill_core(&cores[i]);
		figures[i] = (struct core_figures){ .pingpongs = UINT64_MAX, .observed_ns = UINT64_MAX, .gaps = UINT64_MAX,
						    .worst_gap_ns = UINT64_MAX, .rank = i };
		outcomes[i].off_majority = true;
		core_of[i] = (uint32_t)i;
		core_offsets[i] = WORST;
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		pairs[i] = WORST;
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
	report->facts.cores = cores;
	report->figures.cores = figures;
	report->outcomes.sync.cores = outcomes;
	report->facts.core_count = report->facts.machine.cores_listed = report->facts.machine.cores_started =
		(uint32_t)count;
	report->figures.skew.pass_count = REPORT_PASSES;
	report->figures.skew.kind_reason = "";
	report->figures.skew.core_of = core_of;
	report->figures.skew.passes[0].offsets = (struct offsets){
		.kind = PAIR_SCHEDULE_ALL, .cores = count, .pairs = pairs, .moved_ticks = moved_ticks, .end_tsc = 1,
	};
	report->figures.skew.passes[0].core_offsets = core_offsets;
	report->figures.skew.passes[1] = report->figures.skew.passes[2] = report->figures.skew.passes[0];
	report->figures.skew.drifts = report->figures.skew.passes[0].offsets;
	return report;
}

static size_t
length_of(void (*render)(struct text *, const struct report *), size_t count, size_t room)
{
	struct report *report = make_report(count);
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

TEST(json_of_255_cores_with_the_longest_figures_fits)
{
	size_t one = length_of(json_render, 1, report_size_json(1));
	size_t all = length_of(json_render, CORES, report_size_json(CORES));

	assert_in_range(all - one, 6000000, report_size_json(CORES) - report_size_json(1));
}

/* The report has as many rows as possible, and all figures are as long as possible. */
TEST(json_of_a_series_with_the_longest_figures_fits)
{
	enum { ROWS = 3 };
	static struct series_clock clocks[REPORT_CLOCKS_MAX];
	static struct series_rate rates[REPORT_CLOCKS_MAX];
	static struct offset offsets[CORES];
	struct series_row rows[ROWS];
	size_t size = report_size_json(CORES) + report_size_series(CORES, ROWS);
	size_t without = length_of(json_render, CORES, size);
	struct report *report = make_report(CORES);
	char *bytes = malloc(size);
	struct text text;

	assert_non_null(bytes);
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++) {
		clocks[i] = (struct series_clock){ .count = UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
		rates[i].ppb = (struct interval_ppb){ true, -FAR, -FAR, -FAR };
	}
	for (size_t i = 0; i < CORES; i++)
		offsets[i] = WORST;
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct series_row){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, clocks, offsets };
	report->facts.series = (struct series){ .max = ROWS, .count = ROWS, .rows = rows };
	report->figures.soak_rates = rates;
	text_init(&text, bytes, size);
	json_render(&text, report);
	assert_false(text.truncated);
	assert_in_range(text.length - without, report_size_series(CORES, ROWS) / 3, report_size_series(CORES, ROWS));
	free(bytes);
	free(report);
}

TEST(text_report_of_255_cores_with_the_longest_figures_fits)
{
	size_t one = length_of(table_render, 1, report_size_table(1));
	size_t all = length_of(table_render, CORES, report_size_table(CORES));

	assert_in_range(all - one, 2000, report_size_table(CORES) - report_size_table(1));
}

TEST(csv_of_255_cores_with_the_longest_figures_fits)
{
	size_t one = length_of(csv_render, 1, report_size_csv(1));
	size_t all = length_of(csv_render, CORES, report_size_csv(CORES));

	assert_in_range(all - one, 1000000, report_size_csv(CORES) - report_size_csv(1));
}

TEST(above_256_cores_no_memory_is_planned_for_pairs)
{
	assert_int_equal(report_size_json(257), report_size_table(257));
	assert_int_equal(report_size_json(256) - report_size_table(256),
			 REPORT_PASSES * 256 * 256 * REPORT_SIZE_PER_PAIR);
}
