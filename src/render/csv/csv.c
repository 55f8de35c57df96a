/* The report as one tidy table. See csv.h. */
#include "csv.h"

#include "csv_internal.h"
#include "scale.h"

static const struct subject whole_run = { NULL, REPORT_NO_CORE };

/* 0 pass, 1 warn, 2 fail, 3 incomplete: the higher, the worse; empty where there is none. */
static void
put_verdict(const struct csv *csv, struct subject of, enum verdict verdict)
{
	csv_row(csv, of, "verdict", csv_number(verdict != VERDICT_ABSENT, verdict, 0), "");
}

static void
put_run(const struct csv *csv)
{
	const struct report *report = csv->report;

	put_verdict(csv, whole_run, report->verdict);
	csv_known(csv, whole_run, "elapsed", csv_number(report->elapsed_known, report->elapsed_ms, 0), "ms");
	csv_row(csv, whole_run, "cores_listed", csv_number(true, report->cores_listed, 0), "cores");
	csv_row(csv, whole_run, "cores_started", csv_number(true, report->cores_started, 0), "cores");
	csv_known(csv, whole_run, "tsc_rate", csv_rate(&report->tsc), "Hz");
}

static void
put_latency(const struct csv *csv, struct subject of, const struct latency *latency)
{
	struct scale scale;

	if (!latency || !latency->count)
		return;
	scale_init(&scale, csv->report->tsc);
	csv_row(csv, of, "reads", csv_number(true, latency->count, 0), "reads");
	csv_row(csv, of, "latency_min", csv_number(true, latency->min_ns, 0), "ns");
	csv_row(csv, of, "latency_p50", csv_number(true, latency_percentile_ns(latency, 50000), 0), "ns");
	csv_row(csv, of, "latency_p90", csv_number(true, latency_percentile_ns(latency, 90000), 0), "ns");
	csv_row(csv, of, "latency_p99", csv_number(true, latency_percentile_ns(latency, 99000), 0), "ns");
	csv_row(csv, of, "latency_p999", csv_number(true, latency_percentile_ns(latency, 99900), 0), "ns");
	csv_row(csv, of, "latency_max", csv_number(true, latency->max_ns, 0), "ns");
	csv_row(csv, of, "latency_mean", csv_number(true, latency_mean_ps(latency), CSV_MILLI), "ns");
	csv_row(csv, of, "loop", csv_number(true, latency_loop_ps(latency, &scale), CSV_MILLI), "ns");
}

static void
put_monotonic(const struct csv *csv, struct subject of, const struct monotonic *monotonic)
{
	bool known = monotonic->reads;

	csv_known(csv, of, "steps_back", csv_number(known, monotonic->backward, 0), "steps");
	csv_known(csv, of, "worst_step_back", csv_number(known, monotonic->worst_ticks, 0), "ticks");
	csv_known(csv, of, "stalls", csv_number(known, monotonic->stalls, 0), "stalls");
}

static void
put_clock(const struct csv *csv, const struct report *report, const struct report_clock *entry)
{
	const struct subject of = { entry->clock.id, REPORT_NO_CORE };
	const struct resolution *resolution = &entry->resolution;
	uint64_t step_ps = resolution->steps ? report_clock_ps(report, entry, resolution->gcd_ticks) : 0;

	if (entry->verdict == VERDICT_INCOMPLETE) /* present, but never read */
		put_verdict(csv, of, VERDICT_ABSENT);
	else
		put_verdict(csv, of, entry->verdict);
	csv_known(csv, of, "width", csv_number(entry->clock.width_bits, entry->clock.width_bits, 0), "bits");
	csv_known(csv, of, "claimed_rate", csv_rate(&entry->clock.claimed), "Hz");
	csv_known(csv, of, "rate", csv_hertz(&entry->measured), "Hz");
	csv_known(csv, of, "rate_error", csv_ppm(&entry->error), "ppm");
	csv_known(csv, of, "rate_change", csv_ppm(&entry->change), "ppm");
	csv_known(csv, of, "resolution", csv_number(step_ps, step_ps, CSV_MILLI), "ns");
	csv_known(csv, of, "step", csv_number(resolution->steps, resolution->gcd_ticks, 0), "ticks");
	put_latency(csv, of, entry->latency);
	put_monotonic(csv, of, &entry->monotonic);
}

static void
put_rate(const struct csv *csv, const struct report_rate *row)
{
	char metric_bytes[64];
	struct text metric;

	text_init(&metric, metric_bytes, sizeof(metric_bytes));
	text_printf(&metric, "rate_against_%s", row->b);
	csv_known(csv, (struct subject){ row->a, REPORT_NO_CORE }, metric_bytes, csv_ppm(&row->ppb), "ppm");
}

static void
put_core_latency(const struct csv *csv, struct subject of, const char *const metrics[3],
		 const struct core_latency *latency)
{
	const uint64_t figures[] = { latency->min_ns, latency->p50_ns, latency->p99_ns };

	for (size_t i = 0; i < 3; i++)
		csv_known(csv, of, metrics[i], csv_number(latency->count, figures[i], 0), "ns");
}

static void
put_core(const struct csv *csv, const struct report_core *core)
{
	static const char *const alone[] = { "latency_min", "latency_p50", "latency_p99" };
	static const char *const together[] = { "contended_latency_min", "contended_latency_p50",
						"contended_latency_p99" };
	const struct report *report = csv->report;
	const struct subject of = { NULL, core->apic_id };
	const struct core_facts *facts = &core->facts;
	struct interval_ppb drift = report_drift_ppb(report, core);

	csv_row(csv, of, "started", csv_number(true, core->started, 0), "");
	csv_known(csv, of, "tsc_adjust", (struct figure){ .known = core->facts_known && facts->has_tsc_adjust,
							   .value = facts->tsc_adjust }, "ticks");
	csv_known(csv, of, "offset", csv_ns(report_offset_ns(report, core->offset)), "ns");
	csv_known(csv, of, "drift", csv_ppm(&drift), "ppm");
	csv_known(csv, of, "observed", csv_number(core->observed_ns, core->observed_ns, 0), "ns");
	csv_known(csv, of, "gaps", csv_number(core->observed_ns, core->gaps, 0), "gaps");
	csv_known(csv, of, "worst_gap", csv_number(core->gaps, core->worst_gap_ns, 0), "ns");
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct subject read = { report->clocks[i].clock.id, core->apic_id };

		put_core_latency(csv, read, alone, &core->latency[i]);
		put_core_latency(csv, read, together, &core->contended[i]);
	}
}

static void
put_skew(const struct csv *csv)
{
	const struct report *report = csv->report;
	const struct report_skew *skew = &report->skew;
	struct interval_ns within = report_within_ns(report);
	bool checked = skew->measured || skew->locked.measured || skew->lock_free.measured;

	csv_known(csv, whole_run, "pairs", csv_number(skew->measured, skew->summary.pairs, 0), "pairs");
	csv_known(csv, whole_run, "warps",
		  csv_number(checked, skew->warps + skew->locked.warps + skew->lock_free.warps, 0), "warps");
	csv_known(csv, whole_run, "worst_offset", csv_ns(report_offset_ns(report, skew->summary.worst)), "ns");
	csv_known(csv, whole_run, "within", csv_number(within.known, (uint64_t)within.high, 0), "ns");
	csv_known(csv, whole_run, "contradictions", csv_number(skew->measured, skew->summary.contradictions, 0), "pairs");
	csv_known(csv, whole_run, "best_trip", csv_number(skew->measured, skew->best_trip_ns, 0), "ns");
	csv_known(csv, whole_run, "median_trip", csv_number(skew->measured, skew->median_trip_ns, 0), "ns");
}

static void
put_interference(const struct csv *csv)
{
	const struct report_interference *found = &csv->report->interference;
	bool known = found->measured;

	csv_known(csv, whole_run, "observed", csv_number(known, found->observed_ns, 0), "ns");
	csv_known(csv, whole_run, "gaps", csv_number(known, found->gaps, 0), "gaps");
	csv_known(csv, whole_run, "gaps_total", csv_number(known, found->total_ns, 0), "ns");
	csv_known(csv, whole_run, "worst_gap", csv_number(known && found->gaps, found->worst_ns, 0), "ns");
	csv_known(csv, whole_run, "smi_count", csv_number(found->smi_known, found->smi_count, 0), "SMIs");
}

static bool
is_same(const char *a, const char *b)
{
	return a == b || (a && b && text_equal(a, b));
}

/* How many of the findings before FINDING are of its rule, clock and core. */
static unsigned
count_before(const struct report *report, const struct finding *finding)
{
	unsigned count = 0;

	for (const struct finding *other = report->findings; other < finding; other++)
		count += is_same(other->rule, finding->rule) && is_same(other->clock, finding->clock) &&
			 other->core == finding->core;
	return count;
}

/* A finding's figure; a fact has none, and its row is there all the same. Each row has a name of its own. */
static void
put_finding(const struct csv *csv, const struct finding *finding)
{
	unsigned before = count_before(csv->report, finding);
	char metric_bytes[64];
	struct text metric;
	struct figure figure = { 0, finding->has_measured, true, finding->measured, finding->low, finding->high };

	text_init(&metric, metric_bytes, sizeof(metric_bytes));
	text_printf(&metric, "finding_%s", finding->rule);
	if (before)
		text_printf(&metric, "_%u", before + 1);
	csv_row(csv, (struct subject){ finding->clock, finding->core }, metric_bytes, figure, finding->unit);
}

void
csv_render(struct text *out, const struct report *report)
{
	const struct csv csv = { out, report };

	text_put(out, "run,clock,core,metric,value,low,high,unit\n");
	put_run(&csv);
	for (size_t i = 0; i < report->clock_count; i++)
		put_clock(&csv, report, &report->clocks[i]);
	for (size_t i = 0; i < report->rate_count; i++)
		put_rate(&csv, &report->rates[i]);
	for (size_t i = 0; i < report->core_count; i++)
		put_core(&csv, &report->cores[i]);
	put_skew(&csv);
	put_interference(&csv);
	for (size_t i = 0; i < report->finding_count; i++)
		put_finding(&csv, &report->findings[i]);
}
