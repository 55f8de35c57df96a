/* Makes a report about many cores with random figures. Each figure has as many digits as on real machines. */
#ifndef BARETICK_MANY_CORES_H
#define BARETICK_MANY_CORES_H

#include "test.h"
#include "random.h"
#include "report/report.h"

#define CORES    1024
#define CLOCKS   12
#define APART_NS 900

static struct latency no_reads;
static struct report_core many_cores[CORES];
static struct core_figures many_core_figures[CORES];
static struct core_outcome many_core_outcomes[CORES];
static uint32_t core_of[CORES];
static struct offset many_core_offsets[CORES];
static struct offset many_pairs[CORES * (CORES - 1) / 2];
static uint64_t moved_ticks[CORES * (CORES - 1) / 2];

static uint64_t
draw_below(uint64_t end)
{
	static uint64_t seed = 1;

	return random_next(&seed) % end;
}

static struct offset
draw_offset(void)
{
	return (struct offset){ -(int64_t)draw_below(APART_NS), (int64_t)draw_below(APART_NS) };
}

static void
fill_core(struct report_core *core, size_t i)
{
	*core = (struct report_core){
		.apic_id = (uint32_t)i, .boot = i == 0, .started = true,
	};
	many_core_figures[i] = (struct core_figures){
		.pingpongs = CORES - 1, .rank = i, .observed_ns = 80000000 + draw_below(9999999), .gaps = draw_below(30),
		.worst_gap_ns = draw_below(99999),
	};
	for (size_t k = 0; k < CLOCKS; k++)
		core->latency[k] = core->contended[k] = (struct core_latency){
			.count = 1000, .min_ns = draw_below(99), .p50_ns = draw_below(999), .p99_ns = draw_below(9999),
		};
}

static struct report *
make_report(size_t count)
{
	struct report *report = calloc(1, sizeof(*report));

	assert_non_null(report);
	report->facts.run.version = report->facts.run.commit = report->facts.machine.fence = "x";
	report->figures.tsc = (struct rate){ 2000000000, 1 };
	report->facts.clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++) {
		report->facts.clocks[i].clock = (struct clock){
			.id = "tsc_rdtscp", .title = "", .main = "tsc", .found_by = "", .state = CLOCK_PRESENT,
		};
		report->facts.clocks[i].latency = &no_reads;
	}
	for (size_t i = 0; i < count; i++) {
		fill_core(&many_cores[i], i);
		core_of[i] = (uint32_t)i;
		many_core_offsets[i] = draw_offset();
	}
	for (size_t i = 0; i < sizeof(many_pairs) / sizeof(many_pairs[0]); i++)
		many_pairs[i] = draw_offset();
	report->facts.cores = many_cores;
	report->figures.cores = many_core_figures;
	report->outcomes.sync.cores = many_core_outcomes;
	report->facts.core_count = report->facts.machine.cores_listed = report->facts.machine.cores_started =
		(uint32_t)count;
	report->figures.skew.pass_count = 2;
	report->figures.skew.kind_reason = "";
	report->figures.skew.core_of = core_of;
	report->figures.skew.passes[0].offsets = (struct offsets){
		.kind = PAIR_SCHEDULE_ALL, .cores = count, .pairs = many_pairs, .moved_ticks = moved_ticks, .end_tsc = 1,
	};
	report->figures.skew.passes[0].core_offsets = many_core_offsets;
	report->figures.skew.passes[1] = report->figures.skew.passes[0];
	report->figures.skew.drifts = report->figures.skew.passes[0].offsets;
	return report;
}

#endif
