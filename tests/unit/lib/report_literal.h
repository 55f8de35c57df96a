/*
 * Reports for tests of the renderers and the judge, as real runs make them. In all of them the TSC runs at 2 GHz, so a
 * tick is half a nanosecond.
 */
#ifndef BARETICK_REPORT_LITERAL_H
#define BARETICK_REPORT_LITERAL_H

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/histogram.h"
#include "base/text.h"
#include "clocks/drivers.h"
#include "offsets_literal.h"
#include "judge/judge.h"
#include "report/report.h"
#include "rules/rules.h"

#define LITERAL_TSC_HZ  2000000000u
#define LITERAL_REPORTS 32 /* largest number of reports that a test uses at the same time */

struct literal_duration { /* COUNT reads with a duration of NS each; a COUNT of 0 ends a list */
	uint64_t ns, count;
};

static inline void
literal_record_ns(struct latency *latency, uint64_t ns, uint64_t count)
{
	latency->histogram.counts[histogram_find_bucket(ns)] += count;
	latency->histogram.total += count;
	if (ns < LATENCY_EXACT_NS)
		latency->exact[ns] += count;
	if (!latency->count || ns < latency->min_ns)
		latency->min_ns = ns;
	if (ns > latency->max_ns) {
		latency->max_ns = ns;
		latency->max_count = count;
	}
	latency->count += count;
	latency->total_ns += ns * count;
	latency->total_ticks += 2 * ns * count;
}

static inline struct latency *
literal_make_latency(const struct literal_duration *durations)
{
	struct latency *latency = calloc(1, sizeof(*latency));
	uint64_t ns = 0, count = 0; /* sums of the frequent durations, which all blocks of reads have alike */

	for (; durations->count; durations++) {
		literal_record_ns(latency, durations->ns, durations->count);
		ns += durations->count > 1 ? durations->ns * durations->count : 0;
		count += durations->count > 1 ? durations->count : 0;
	}
	if (count >= LATENCY_BLOCK) {
		latency->blocks.total = count / LATENCY_BLOCK;
		latency->blocks.counts[histogram_find_bucket(64 * ns / count)] = latency->blocks.total;
	}
	return latency;
}

struct literal_clock {
	const char *id, *title, *main, *found_by;
	unsigned width_bits;
	struct rate claimed;
	uint64_t measured_millihz, step_ticks;
	int64_t error_ppb;
	struct literal_duration durations[8];
};

static const struct literal_clock literal_clocks[] = {
	{ "tsc", "TSC by RDTSC alone, not ordered", "tsc", "CPUID 1h", 64, { 0, 0 }, 2000000000000, 2, 0,
	  { { 9, 700000 }, { 10, 299000 }, { 11, 900 }, { 47, 90 }, { 3021, 9 }, { 15872, 1 } } },
	{ "tsc_lfence", "TSC by LFENCE; RDTSC", "tsc", "CPUID 1h", 64, { 0, 0 }, 2000000000000, 2, 0,
	  { { 19, 480000 }, { 20, 19500 }, { 31, 499 }, { 4096, 1 } } },
	{ "tsc_rdtscp", "TSC by RDTSCP", "tsc", "CPUID 80000001h", 64, { 0, 0 }, 2000000000000, 2, 0,
	  { { 18, 480000 }, { 21, 19500 }, { 32, 499 }, { 4097, 1 } } },
	{ "tsc_cpuid", "TSC by CPUID and RDTSC; CPUID traps in a guest", "tsc", "CPUID 1h", 64, { 0, 0 },
	  2000000000000, 2, 0, { { 1190, 9000 }, { 1240, 990 }, { 22000, 10 } } },
	{ "hpet", "HPET main counter, full width", "hpet", "ACPI HPET table", 64,
	  { UINT64_C(1000000000000000), 69841279 }, 14318180027, 1, 2,
	  { { 512, 1000 }, { 559, 17000 }, { 629, 1990 }, { 40960, 10 } } },
	{ "hpet_32", "HPET main counter, low half in one read", "hpet", "ACPI HPET table", 32,
	  { UINT64_C(1000000000000000), 69841279 }, 14318180027, 1, 2,
	  { { 511, 1000 }, { 558, 17000 }, { 628, 1999 }, { 999999, 1 } } },
	{ "acpi_pm", "ACPI PM timer, one read", "acpi_pm", "ACPI FADT X_PM_TMR_BLK", 24, { 3579545, 1 },
	  3579545311, 1, 87, { { 838, 4000 }, { 1117, 5950 }, { 1397, 49 }, { 122880, 1 } } },
	{ "pit", "PIT channel 2 by counter latch", "pit", "PC/AT ports 40h-43h", 16, { 105000000, 88 },
	  1193180000, 1, -1524, { { 3352, 1800 }, { 4190, 199 }, { 5028, 1 } } },
	{ "pit_rdback", "PIT channel 2 by read-back", "pit", "PC/AT ports 40h-43h", 16, { 105000000, 88 },
	  1193180000, 1, -1524, { { 5028, 1800 }, { 5866, 199 }, { 1048575, 1 } } },
	{ "rtc", "RTC seconds register, outside updates", "rtc", "PC/AT ports 70h-71h", 6, { 1, 1 }, 1000, 1,
	  -3000, { { 2100, 900 }, { 2400, 99 }, { 244000, 1 } } },
	{ "rtc_pf", "RTC periodic flag in register C, 8192 Hz", "rtc", "PC/AT ports 70h-71h", 64, { 8192, 1 },
	  8191975, 1, -3052, { { 1050, 900 }, { 1190, 100 } } },
	{ "null", "no clock; its latency is the cost of two TSC reads", "null", "", 0, { 0, 0 }, 0, 0, 0,
	  { { 0, 1 }, { 8, 999000 }, { 9, 999 } } },
};

#define LITERAL_CLOCKS (sizeof(literal_clocks) / sizeof(literal_clocks[0]))

/* Returns the clock with this id as its driver defines it. */
static inline const struct clock *
literal_find_driver_row(const char *id)
{
	for (size_t d = 0; drivers[d]; d++)
		for (size_t i = 0; i < drivers[d]->clock_count; i++)
			if (text_equal(drivers[d]->rows[i].id, id))
				return &drivers[d]->rows[i];
	abort();
}

static inline void
literal_fill_clock(struct report_clock *entry, struct clock_figures *figures, const struct literal_clock *from)
{
	uint64_t millihz = from->measured_millihz, error_millihz = millihz / 10000000;

	entry->clock = *literal_find_driver_row(from->id);
	entry->clock.title = from->title;
	entry->clock.main = from->main;
	entry->clock.state = CLOCK_PRESENT;
	entry->clock.found_by = from->found_by;
	entry->clock.width_bits = from->width_bits;
	entry->clock.claimed = from->claimed;
	figures->measured = (struct interval_millihz){ millihz != 0, millihz, millihz - error_millihz,
						     millihz + error_millihz };
	if (from->claimed.den)
		figures->error = (struct interval_ppb){ true, from->error_ppb, from->error_ppb - 100,
						      from->error_ppb + 100 };
	figures->absolute =
		(struct interval_millihz){ millihz != 0, millihz, millihz - millihz / 5000, millihz + millihz / 5000 };
	if (millihz)
		figures->budget = (struct rate_budget){ true, 51000, 2000, 400, 46000, 0, 600 };
	if (from->claimed.den && !entry->clock.edges_only && report_clock_is_main_of_device(entry))
		figures->rate_fit = RATE_FIT_ALL;
	figures->rate_whole_run = true;
	entry->latency = literal_make_latency(from->durations);
	if (from->step_ticks) {
		entry->resolution.steps = entry->latency->count - 1;
		entry->resolution.gcd_ticks = from->step_ticks;
	}
	entry->monotonic.reads = entry->latency->count;
}

static inline struct report_clock *
literal_find_clock(struct report *report, const char *id)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (text_equal(report->facts.clocks[i].clock.id, id))
			return &report->facts.clocks[i];
	abort();
}

static inline struct clock_outcome *
literal_find_outcome(struct report *report, const char *id)
{
	return &report->outcomes.clocks[literal_find_clock(report, id) - report->facts.clocks];
}

static inline struct clock_figures *
literal_find_figures(struct report *report, const char *id)
{
	return &report->figures.clocks[literal_find_clock(report, id) - report->facts.clocks];
}

/* Calculates the costs of the reads, judges REPORT, and adds the judge's notes to its notes. */
static inline void
literal_judge(struct report *report)
{
	analysis_calculate_costs(report, &report->figures);
	report->facts.checks = report->outcomes.behaviours; /* the rows that a test added are results of device checks */
	judge_report(report, &report->outcomes);
	notes_add_all(&report->notes, &report->outcomes.notes);
}

static inline void
literal_copy_string(char *out, size_t size, const char *string)
{
	struct text text;

	text_init(&text, out, size);
	text_put(&text, string);
}

#define LITERAL_COPY(field, string) literal_copy_string(field, sizeof(field), string)

static inline void
literal_remove_pass(struct report *report)
{
	struct report_skew *skew = &report->figures.skew;

	free(skew->passes[0].offsets.pairs);
	free(skew->passes[0].offsets.moved_ticks);
	free(skew->passes[0].core_offsets);
	free(skew->passes[0].outlier);
	for (size_t i = 0; i < REPORT_PASSES; i++)
		free(report->outcomes.sync.passes[i].off);
	free(skew->core_of);
	free(skew->drifts.pairs);
	free(report->outcomes.sync.moved);
	*skew = (struct report_skew){ .pass_count = 0 };
	report->outcomes.sync = (struct sync_outcome){ .cores = report->outcomes.sync.cores };
	for (size_t i = 0; i < report->facts.core_count; i++) {
		report->figures.cores[i].pingpongs = 0;
		report->outcomes.sync.cores[i].off_majority = report->outcomes.sync.cores[i].drifts = false;
	}
}

/* Fills in COUNT cores, 64 per package. Their APIC ids are even, as if the second thread of each core was disabled. */
static inline void
literal_fill_cores(struct report *report, size_t count)
{
	literal_remove_pass(report);
	free(report->facts.cores);
	free(report->figures.cores);
	free(report->outcomes.sync.cores);
	report->facts.cores = calloc(count, sizeof(*report->facts.cores));
	report->figures.cores = calloc(count, sizeof(*report->figures.cores));
	report->outcomes.sync.cores = calloc(count, sizeof(*report->outcomes.sync.cores));
	report->facts.core_count = report->facts.machine.cores_listed = report->facts.machine.cores_started =
		(uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		struct report_core *core = &report->facts.cores[i];

		*core = (struct report_core){ .apic_id = (uint32_t)(2 * i), .started = true, .boot = i == 0,
					      .facts_known = true, .tsc = { .reads = 100000 } };
		core->facts = (struct core_facts){ .has_tsc_adjust = true, .has_tsc_aux = true,
						   .has_topology = true, .tsc_aux = (uint32_t)i,
						   .package = (uint32_t)(i / 64), .core = (uint32_t)(i % 64) };
		for (size_t c = 0; c < report->facts.clock_count; c++) {
			const struct latency *latency = report->facts.clocks[c].latency;
			uint64_t p50_ns = latency_percentile_ns(latency, 50000) + i;
			uint64_t p99_ns = latency_percentile_ns(latency, 99000) + i;
			uint64_t times = text_equal(report->facts.clocks[c].clock.main, "tsc") ? 1 : count < 6 ? count :
					 6;

			struct latency_typical typical = latency_get_typical(latency);

			core->latency[c] = (struct core_latency){ latency->count, latency->min_ns, p50_ns, p99_ns, typical.ps,
								  typical.low_ps, typical.high_ps };
			if (i && !text_equal(report->facts.clocks[c].clock.id, "null"))
				core->latency[c].typical_ps += 1000 * i, core->latency[c].typical_low_ps += 1000 * i,
					core->latency[c].typical_high_ps += 1000 * i;
			core->contended[c] =
				(struct core_latency){ count > 1 ? 128 : 0, latency->min_ns, p50_ns * times,
						       p99_ns * times, 0, 0, 0 };
		}
	}
	report->figures.skew = (struct report_skew){ .pass_count = 0 };
	report->facts.warp_checks = (struct warp_checks){
		.locked = { .measured = count > 1, .cores = count, .iterations = 20000 * count },
		.lock_free = { .measured = count > 1, .cores = count, .iterations = 20000 * count },
	};
}

/* Calculates the results of the first pass from its pairs' offsets. The last pass has the same results. */
static inline void
literal_calculate_cores(struct report *report)
{
	struct report_pass *first = &report->figures.skew.passes[0], *last = &report->figures.skew.passes[1];

	first->summary = offsets_calculate_core_offsets(&first->offsets, first->core_offsets, first->outlier);
	last->summary = first->summary;
	last->core_offsets = first->core_offsets;
	last->outlier = first->outlier;
	last->offsets.kind = first->offsets.kind;
	last->offsets.cores = first->offsets.cores;
	last->offsets.pairs = first->offsets.pairs;
	last->offsets.moved_ticks = first->offsets.moved_ticks;
}

/* Sets the drift of core number CORE against the boot core, and its drift against each other core. */
static inline void
literal_set_drift(struct report *report, size_t core, struct offset drift)
{
	struct offsets *drifts = &report->figures.skew.drifts;
	size_t rank = report->figures.cores[core].rank;

	if (rank)
		literal_set_offset(drifts, 0, rank, drift);
	for (size_t other = 1; other < drifts->cores && rank && drifts->kind == PAIR_SCHEDULE_ALL; other++)
		if (other != rank)
			literal_set_offset(drifts, other, rank,
					   offset_add(drift, offset_negate(offsets_get_offset(drifts, 0, other))));
}

/* Inserts a pass with OFFSETS between the first and the last pass. */
static inline void
literal_insert_middle_pass(struct report *report, struct offsets offsets)
{
	report->figures.skew.passes[2] = report->figures.skew.passes[1];
	report->figures.skew.passes[1] = (struct report_pass){ .offsets = offsets };
	report->outcomes.sync.passes[2] = report->outcomes.sync.passes[1];
	report->outcomes.sync.passes[1] = (struct pass_outcome){ .off = NULL };
	report->figures.skew.pass_count = 3;
}

/* Replaces the results of the last pass by the results of the first pass of OTHER, but not its time. */
static inline void
literal_replace_last_pass(struct report *report, const struct report *other)
{
	struct report_pass *last = &report->figures.skew.passes[1], old = *last;

	*last = other->figures.skew.passes[0];
	last->offsets.begin_tsc = old.offsets.begin_tsc;
	last->offsets.end_tsc = old.offsets.end_tsc;
}

static inline void
literal_remove_last_pass(struct report *report)
{
	report->figures.skew.pass_count = 1;
	report->figures.skew.drifts.cores = 0;
}

/* Marks core number RANK as different from the majority, as if its pairs had proven it. */
static inline void
literal_set_outlier(struct report *report, size_t rank)
{
	((bool *)report->figures.skew.passes[0].outlier)[rank] = true;
}

/*
 * Fills in two measurement passes over the pairs of started cores, with schedule KIND. Each pair's interval extends by
 * 40 to 59 ticks to each side of the true offset. TRUTH_TICKS has each core's true lead over the boot core, or is NULL
 * if all TSCs agree.
 */
static inline void
literal_fill_pass(struct report *report, enum pair_schedule kind, const int64_t *truth_ticks)
{
	struct report_skew *skew = &report->figures.skew;
	struct report_pass *first = &skew->passes[0], *last = &skew->passes[1];
	uint32_t *cores = calloc(report->facts.core_count, sizeof(*cores));
	size_t count = 0, pairs;

	literal_remove_pass(report);
	for (uint32_t i = 0; i < report->facts.core_count; i++) {
		report->figures.cores[i].rank = report->facts.cores[i].started ? count : REPORT_NO_RANK;
		if (report->facts.cores[i].started)
			cores[count++] = i;
	}
	skew->pass_count = count > 1 ? 2 : 0;
	skew->kind_reason = kind == PAIR_SCHEDULE_ALL ? "" :
		"Measuring all pairs would take longer than this profile allows.";
	skew->core_of = cores;
	first->concurrency = kind == PAIR_SCHEDULE_ALL ? count / 2 : 1;
	first->rounds = pair_schedule_count_rounds(kind, count);
	first->pingpongs = pair_schedule_count_pairs(kind, count);
	first->elapsed_ns = 1000000 * first->rounds;
	skew->best_trip_ns = 41;
	skew->median_trip_ns = 58;
	pairs = first->pingpongs + 1; /* no array is empty */
	first->offsets = (struct offsets){ .kind = kind, .cores = count, .pairs = calloc(pairs, sizeof(struct offset)),
					   .moved_ticks = calloc(pairs, sizeof(uint64_t)),
					   .begin_tsc = 6200001000, .end_tsc = 6202000000 };
	first->core_offsets = calloc(count + 1, sizeof(*first->core_offsets));
	first->outlier = calloc(count + 1, sizeof(*first->outlier));
	for (size_t i = 0; i < 2; i++)
		report->outcomes.sync.passes[i].off = calloc(count + 1, sizeof(*report->outcomes.sync.passes[i].off));
	last->offsets = (struct offsets){ .begin_tsc = 42340000000, .end_tsc = 42342000000 };
	skew->drifts = (struct offsets){ .kind = kind, .cores = count > 1 ? count : 0,
					 .pairs = calloc(pairs, sizeof(struct offset)) };
	report->outcomes.sync.moved = calloc(count + 1, sizeof(*report->outcomes.sync.moved));
	skew->drift_span_ns = 18071000000;
	report->facts.run.start_tsc = 1000;
	for (size_t a = 0; a < count; a++) {
		for (size_t b = a + 1; b < count && (!a || kind == PAIR_SCHEDULE_ALL); b++) {
			int64_t truth = truth_ticks ? truth_ticks[cores[b]] - truth_ticks[cores[a]] : 0;

			literal_set_offset(&first->offsets, a, b,
				    (struct offset){ truth - 40 - (int64_t)((7 * a + 3 * b) % 20),
						     truth + 40 + (int64_t)((3 * a + 7 * b) % 20) });
			report->figures.cores[cores[a]].pingpongs++;
			report->figures.cores[cores[b]].pingpongs++;
		}
	}
	literal_calculate_cores(report);
	for (size_t rank = 1; rank < count; rank++)
		literal_set_drift(report, cores[rank], (struct offset){ -3, 3 });
}

/* Fills in a search for gaps, which took one second on each started core and found none. */
static inline void
literal_fill_gap_search(struct report *report)
{
	struct report_interference *all = &report->figures.interference;

	*all = (struct report_interference){ .measured = true, .threshold_ns = report->facts.options.gap_ns };
	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct core_figures *core = &report->figures.cores[i];

		core->observed_ns = report->facts.cores[i].started ? 1000000000 : 0;
		core->gaps = core->worst_gap_ns = 0;
		all->observed_ns += core->observed_ns;
	}
}

/* Adds stolen time: core CORE was preempted for NS, AT_MS after the run's start. */
static inline void
literal_add_stolen_time(struct report *report, size_t core, uint64_t at_ms, uint64_t ns)
{
	struct report_interference *all = &report->figures.interference;
	struct core_figures *row = &report->figures.cores[core];
	uint32_t apic_id = report->facts.cores[core].apic_id;

	all->gaps++;
	all->total_ns += ns;
	all->octave[octave_of(ns)]++;
	all->events[all->event_count++] = (struct report_gap){ at_ms, ns, apic_id };
	if (ns > all->worst_ns) {
		all->worst_ns = ns;
		all->worst_core = apic_id;
	}
	row->gaps++;
	row->worst_gap_ns = ns > row->worst_gap_ns ? ns : row->worst_gap_ns;
}

/* Adds a discontinuity between the two groups of clocks ONE and OTHER. Bit I of each group is clock I of IDS. */
static inline void
literal_part_clocks(struct report *report, unsigned one, unsigned other)
{
	struct report_discontinuity *row = &report->figures.discontinuities[report->figures.discontinuity_count++];
	const char *const ids[] = { "hpet", "acpi_pm", "pit", "tsc" };

	for (size_t g = 0; g < 2; g++) {
		struct report_group *group = &row->groups[row->group_count++];

		for (size_t i = 0; i < 4; i++) {
			size_t clock = (size_t)(literal_find_clock(report, ids[i]) - report->facts.clocks);

			if (!((g ? other : one) & 1u << i))
				continue;
			group->clocks |= UINT32_C(1) << clock;
			group->members[group->clock_count++] = (uint8_t)clock;
		}
	}
}

/* Adds a result of a rule that was checked. */
static inline struct behaviour *
literal_add_behaviour(struct report *report, const char *rule, const char *clock, const char *sentence)
{
	struct behaviour *row = behaviour_add_row(&report->outcomes.behaviours, rule, clock);

	row->checked = true;
	behaviour_set_text(row, "%s", sentence);
	return row;
}

static inline void
literal_set_figure(struct behaviour *row, int64_t low, int64_t high)
{
	row->has_figure = true;
	row->low = low;
	row->high = high;
	row->measured = low + (high - low) / 2;
}

/* Fills in the texts of the report's options, as at the start of a run. */
static inline void
literal_fill_options(struct report *report)
{
	struct text given;

	text_init(&given, report->options_given, sizeof(report->options_given));
	options_put_changed_options(&given, &report->facts.options);
}

static inline void
literal_set_limit(struct report *report, const char *rule, uint64_t value)
{
	struct options_limit *limit = &report->facts.options.limits[report->facts.options.limit_count++];

	LITERAL_COPY(limit->rule, rule);
	limit->value = value;
}

/* Adds the results of three timers: a healthy one, one that loses ticks, and an absent one. */
static inline void
literal_add_intervals(struct report *report)
{
	struct interval_figures *row = report->figures.intervals;

	*row++ = (struct interval_figures){
		.test = { .source = "lapic", .route_kind = "lapic", .vector = 0xe0, .asked_ns = 100000 },
		.state = CLOCK_PRESENT, .reason = "", .asked = 200, .expected = 200, .delivered = 200, .excused = 3,
		.lateness = { .count = 197, 812, 1021, 4096, 5210, 5210, 310, .p1_ns = 815 },
	};
	*row++ = (struct interval_figures){
		.test = { .source = "hpet0", .periodic = true, .route_kind = "ioapic", .pin = 23, .vector = 0xe0,
			  .asked_ns = 1000000 },
		.state = CLOCK_PRESENT, .reason = "", .asked = 800, .expected = 802, .delivered = 783, .empty = 19,
		.early = 2, .doubled = 4,
		.lateness = { 781, -1250, 2400, 61000, 250000, 250000, 35, .p1_ns = -900 }, .held_ns = 20500000, .held_delivered = 38,
		.rate = { true, 12400, -3100, 28000 }, .policy = REPORT_POLICY_CATCH_UP,
	};
	*row = (struct interval_figures){
		.test = { .source = "hpet0", .route_kind = "ioapic", .asked_ns = 100000 },
		.state = CLOCK_DISABLED, .reason = "In use by the firmware: not tested.",
	};
	report->figures.interval_count = report->facts.interval_count = 3;
	for (size_t i = 0; i < 3; i++) {
		row = &report->figures.intervals[i];
		report->facts.intervals[i] = (struct interval_facts){ .test = row->test, .state = row->state };
		LITERAL_COPY(report->facts.intervals[i].reason, row->reason);
	}
}

static inline struct claim *
literal_add_claim(struct report *report, enum claim_source source, enum claim_clock clock, const char *by, uint64_t hz,
		  uint64_t within_hz)
{
	struct claims claims = { .count = 0 };
	struct claim *claim = claims_add(&claims, source, clock, by);

	claim_set_rate(claim, (struct rate){ hz, 1 }, within_hz);
	report_add_claim(report, claim);
	return &report->facts.claims[report->facts.claim_count - 1].claim;
}

/* Adds stated rates. The rates for the TSC are right, and the rate of the LAPIC's timer was not tested. */
static inline void
literal_add_claims(struct report *report)
{
	LITERAL_COPY(report->facts.machine.cpu_vendor, "GenuineIntel");
	literal_add_claim(report, CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", 0, 0);
	literal_add_claim(report, CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", LITERAL_TSC_HZ, 50000000);
	literal_add_claim(report, CLAIM_HYPERV, CLAIM_OF_TSC, "MSR 40000022h", LITERAL_TSC_HZ, 1000);
	literal_add_claim(report, CLAIM_HYPERV, CLAIM_OF_LAPIC, "MSR 40000023h", 1000000000, 1000);
}

/* Returns an empty report. It is valid until LITERAL_REPORTS more reports are made. */
static inline struct report *
literal_make_new_report(void)
{
	static struct report *reports[LITERAL_REPORTS];
	static size_t made;
	struct report **place = &reports[made++ % LITERAL_REPORTS], *old = *place;

	for (size_t i = 0; old && i < old->facts.clock_count; i++)
		free(old->facts.clocks[i].latency);
	if (old) {
		literal_remove_pass(old);
		free(old->facts.cores);
		free(old->figures.cores);
		free(old->outcomes.sync.cores);
		free(old);
	}
	*place = calloc(1, sizeof(**place));
	return *place;
}

/* Returns a report that is not yet judged. All clocks and four cores are present and healthy. */
static inline struct report *
literal_make_clean_report(void)
{
	struct report *report = literal_make_new_report();

	report->facts.run.version = "0.1.0";
	report->facts.run.commit = "0123456789ab";
	options_set_defaults(&report->facts.options);
	report->duration_ns = options_duration_ns(&report->facts.options);
	LITERAL_COPY(report->facts.run.started_at, "2026-01-01T00:00:05");
	report->facts.run.elapsed_ms = 24071;
	report->facts.run.phases[0] = (struct report_phase){ "prepare", 1000000, 250000000 };
	report->facts.run.phases[1] = (struct report_phase){ "rates", 260000000, 4000000001 };
	report->facts.run.phase_count = 2;
	report->facts.run.elapsed_known = true;
	LITERAL_COPY(report->facts.machine.cpu, "Example CPU 9000 @ 2.00GHz");
	LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
	LITERAL_COPY(report->facts.machine.firmware, "EDK II 2022.11");
	LITERAL_COPY(report->facts.machine.accelerator, "kvm");
	LITERAL_COPY(report->facts.machine.identity.vendor, "Example Inc.");
	LITERAL_COPY(report->facts.machine.identity.product, "Server 9000");
	LITERAL_COPY(report->facts.machine.identity.serial, "SN-0042");
	LITERAL_COPY(report->facts.machine.identity.board, "Example Boards X99-B");
	LITERAL_COPY(report->facts.machine.identity.bios, "Example BIOS 2.10.0");
	LITERAL_COPY(report->facts.machine.identity.bios_date, "2020-11-30");
	LITERAL_COPY(report->facts.machine.identity.oem, "EXMPL SRV9000");
	LITERAL_COPY(report->facts.machine.identity.host, "CPUID leaves to 40000001h");
	report->facts.machine.paravirtual = (struct paravirtual){ 2, {
		{ PARAVIRTUAL_HYPERV, "Hyper-V", 0x40000000, 0x40000005, 0xa02, "10.0.14393",
		  "reference counter, reference TSC page, frequency MSRs", { LITERAL_TSC_HZ, 1 }, 1000,
		  "Hyper-V's MSR 40000022h", STABLE_UNKNOWN, 0, NULL, false },
		{ PARAVIRTUAL_KVM, "KVM", 0x40000100, 0x40000101, 0x1000008, "", "kvm-clock, whether it is stable", { 0, 0 },
		  0, "", STABLE_YES, 0, NULL, false },
	} };
	report->facts.machine.identity.cpu_known = true;
	report->facts.machine.identity.family = 6;
	report->facts.machine.identity.model = 85;
	report->facts.machine.identity.stepping = 4;
	report->facts.machine.identity.microcode = 0x200006b;
	report->facts.machine.fence = "lfence;rdtsc";
	report->facts.machine.tsc_is_invariant = true;
	report->figures.tsc = (struct rate){ LITERAL_TSC_HZ, 1 };
	LITERAL_COPY(report->figures.tsc_source, "measured against hpet");
	report->figures.relative_to = "hpet";
	report->facts.clock_count = LITERAL_CLOCKS;
	for (size_t i = 0, series = 0; i < LITERAL_CLOCKS; i++) {
		literal_fill_clock(&report->facts.clocks[i], &report->figures.clocks[i], &literal_clocks[i]);
		series += i && text_equal(literal_clocks[i].id, literal_clocks[i].main);
		report->facts.clocks[i].series = series;
	}
	literal_add_claims(report);
	report->figures.rate_count = 2;
	report->figures.rates[0] = (struct report_rate){ "hpet", "acpi_pm", { true, -85, -120, -50 }, false };
	report->figures.rates[1] = (struct report_rate){ "hpet", "rtc", { false, 0, 0, 0 }, false };
	literal_fill_cores(report, 4);
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, NULL);
	literal_fill_gap_search(report);
	literal_add_behaviour(report, "hpet-stops", "hpet",
			      "The counter stops at 8cad4651h with ENABLE_CNF 0 and continues from there.");
	literal_add_behaviour(report, "pm-high-bits", "acpi_pm",
			      "The timer has 24 bits, as the FADT says: bits 24 to 31 are 0 in 64 readings.");
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen 3 times, for 244 us."), 243, 246);
	report->facts.checks = report->outcomes.behaviours;
	return report;
}

/* Returns a clean report about a machine without a hypervisor. */
static inline struct report *
literal_make_bare_metal_report(void)
{
	struct report *report = literal_make_clean_report();

	report->facts.machine.hypervisor[0] = '\0';
	return report;
}

/*
 * Returns a clean report with CORES cores, whose pairs were measured with schedule KIND. See literal_fill_pass() for
 * TRUTH_TICKS.
 */
static inline struct report *
literal_make_report_of_cores(size_t cores, enum pair_schedule kind, const int64_t *truth_ticks)
{
	struct report *report = literal_make_clean_report();

	literal_fill_cores(report, cores);
	literal_fill_pass(report, kind, truth_ticks);
	return report;
}

static inline void
literal_remove_core_latencies(struct report *report, size_t clock)
{
	for (size_t i = 0; i < report->facts.core_count; i++)
		report->facts.cores[i].latency[clock].count = report->facts.cores[i].contended[clock].count = 0;
}

static inline void
literal_remove_clock(struct report *report, const char *id, enum clock_state state, const char *reason)
{
	struct report_clock *entry = literal_find_clock(report, id);
	struct clock_figures *figures = literal_find_figures(report, id);

	entry->clock.state = state;
	LITERAL_COPY(entry->clock.reason, reason);
	latency_clear(entry->latency);
	figures->measured.known = figures->absolute.known = figures->error.known = figures->budget.known = false;
	entry->resolution.steps = 0;
	entry->monotonic = (struct monotonic){ .reads = 0 };
	literal_remove_core_latencies(report, (size_t)(entry - report->facts.clocks));
}

/*
 * Returns a report that is not yet judged, about a machine with many faults. The machine has no HPET, a PIT that does
 * not count, and a broken RTC. It has six cores. One is missing, and one was lost in the run. One core's TSC differs
 * from the majority, and one core drifts. One core has another value of TSC_ADJUST, and two had a warp.
 */
static inline struct report *
literal_make_faulty_report(void)
{
	static const int64_t truth_ticks[6] = { [4] = -1000000 };
	struct report *report = literal_make_clean_report();

	literal_remove_clock(report, "hpet", CLOCK_ABSENT, "ACPI has no HPET table");
	literal_remove_clock(report, "hpet_32", CLOCK_ABSENT, "ACPI has no HPET table");
	literal_remove_clock(report, "pit", CLOCK_STUCK,
			     "channel 2 was given a new reload value and its gate opened, and its count did not move in "
			     "100,000 reads");
	literal_remove_clock(report, "pit_rdback", CLOCK_STUCK, "channel 2 did not move");
	literal_remove_clock(report, "rtc", CLOCK_BROKEN, "an update has been in progress for longer than 3 ms");
	literal_remove_clock(report, "rtc_pf", CLOCK_DISABLED, "register A could not be set to 8192 Hz");
	LITERAL_COPY(literal_find_clock(report, "acpi_pm")->clock.reason,
		     "The FADT says 32 bits, the counter wraps at 24.");
	LITERAL_COPY(report->facts.machine.cpu, "Bad \"CPU\"\\ </script> \x01\xc3\xa9");
	LITERAL_COPY(report->facts.machine.identity.vendor, "Bad \"Vendor\", </script>");
	LITERAL_COPY(report->facts.options.label, "rack 7, </script> 'left'");
	literal_fill_cores(report, 6);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->facts.clocks[i].clock.state != CLOCK_PRESENT)
			literal_remove_core_latencies(report, i);
	report->facts.cores[2] = (struct report_core){ .apic_id = 4 };
	LITERAL_COPY(report->facts.cores[2].reason, "it did not check in within 100 ms");
	LITERAL_COPY(report->facts.cores[3].reason, "it did not come back from a job within 2 s");
	report->facts.machine.cores_started = 5;
	report->facts.warp_checks.locked = report->facts.warp_checks.lock_free = (struct report_contended){
		.measured = true, .cores = 5, .iterations = 100000, .warps = 17, .worst_ticks = 3563,
		.worst_a = 0, .worst_b = 2 };
	report->facts.warp_checks.lock_free.warps = 0;
	report->facts.warp_checks.lock_free.starved = true;
	literal_fill_pass(report, PAIR_SCHEDULE_ALL, truth_ticks);
	report->figures.skew.warps = 3;
	report->figures.skew.worst_warp_ticks = 999952;
	report->figures.skew.worst_warp_ns = 499976;
	report->figures.skew.worst_warp_a = 0;
	report->figures.skew.worst_warp_b = 8;
	literal_set_drift(report, 3, (struct offset){ INT64_MIN, INT64_MAX });
	literal_set_drift(report, 5, (struct offset){ 49996, 50004 });
	report->facts.cores[4].facts.tsc_adjust = -1000000;
	literal_fill_gap_search(report);
	literal_add_stolen_time(report, 1, 12034, 9876543);
	literal_add_stolen_time(report, 3, 14001, 12345);
	literal_add_stolen_time(report, 3, 14002, 16384);
	report->facts.stolen_counters.smi_known = true;
	report->facts.stolen_counters.smi_count = 2;
	report->facts.stolen_counters.counter = "kvm_steal";
	report->figures.interference.stolen = (struct report_stolen){ 3000000000, 123456, 120000, 9000000, 900000000 };
	report->outcomes.behaviours.count = 0;
	literal_add_behaviour(report, "hpet-stops", "hpet", "There is no HPET.")->checked = false;
	literal_add_behaviour(report, "pm-width", "acpi_pm",
			      "By the FADT the timer has 32 bits, but after fcf2c7h it read 45ebh: it wraps at 24 "
			      "bits.")->failed = true;
	literal_set_figure(literal_add_behaviour(report, "rtc-update", "rtc", "UIP was seen once, for 4000 us."), 3990, 4010);
	report->figures.rates[0].same_source = true;
	literal_find_figures(report, "acpi_pm")->change = (struct interval_ppb){ true, 1500, 1250, 1750 };
	literal_find_clock(report,
			   "pit")->failed_tsc = report->facts.run.start_tsc + UINT64_C(7031) * (LITERAL_TSC_HZ / 1000);
	notes_add(&report->notes, "No volume could be written: the report goes to screen and serial line only.");
	notes_add(&report->facts.table_problems, "MADT: its checksum is wrong; it was read all the same.");
	literal_set_limit(report, "tsc-warp", 16);
	literal_fill_options(report);
	literal_add_intervals(report);
	return report;
}

/*
 * Returns a report that is not yet judged, about a run whose deadline passed before any measurement. Little is known
 * about the machine.
 */
static inline struct report *
literal_make_empty_report(void)
{
	struct report *report = literal_make_clean_report();

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct report_clock *entry = &report->facts.clocks[i];

		literal_remove_clock(report, entry->clock.id, CLOCK_PRESENT, "");
	}
	report->facts.machine.cores_started = 1;
	report->facts.core_count = 1;
	report->facts.options.cores.method = CORES_OFF;
	report->facts.options.exit = EXIT_DEBUG;
	literal_fill_options(report);
	report->facts.machine.identity = (struct report_identity){ .cpu_known = false };
	report->facts.machine.paravirtual.count = report->facts.claim_count = 0;
	report->facts.machine.cpu[0] = report->facts.machine.hypervisor[0] = report->facts.machine.firmware[0] =
		report->facts.machine.accelerator[0] = '\0';
	report->facts.run.started_at[0] = report->figures.tsc_source[0] = '\0';
	report->facts.run.elapsed_known = report->facts.machine.tsc_is_invariant = false;
	report->figures.tsc = (struct rate){ 0, 0 };
	literal_remove_pass(report);
	report->facts.warp_checks.locked.measured = report->facts.warp_checks.lock_free.measured = false;
	report->facts.cores[0].facts_known = false;
	report->figures.cores[0].observed_ns = 0;
	report->figures.interference = (struct report_interference){ .measured = false };
	report->outcomes.behaviours.count = 0;
	report->figures.rate_count = 0;
	report->facts.run.incomplete = true;
	return report;
}

/* Declares `report`, which is a new report of a clean machine in each test of the file. See TEST_FIXTURE in test.h. */
#define LITERAL_REPORT_FIXTURE \
	static struct report *report; \
	static void \
	begin(void) \
	{ \
		report = literal_make_clean_report(); \
	} \
	TEST_FIXTURE(begin, NULL)

#endif
