/* The report as one tidy table. See csv.h. */
#include "csv.h"

#include "scale.h"

#define MILLI 3 /* digits behind the point of what is kept in thousandths */

struct csv {
	struct text *out;
	const struct report *report;
};

struct subject {
	const char *clock; /* NULL: of no clock alone */
	uint32_t core;     /* APIC id, or REPORT_NO_CORE */
};

struct figure { /* each divided by 10^digits; wide enough for what is signed and what is not */
	unsigned digits;
	bool known, is_interval;
	__int128 value, low, high;
};

static const struct subject whole_run = { NULL, REPORT_NO_CORE };

/* In quotes where it has in it what would end it. */
static void
put_field(struct text *out, const char *field)
{
	bool quoted = false;

	for (const char *c = field; *c; c++)
		quoted |= *c == ',' || *c == '"' || *c == '\n' || *c == '\r';
	if (quoted)
		text_put_char(out, '"');
	for (; *field; field++) {
		if (*field == '"')
			text_put_char(out, '"');
		text_put_char(out, *field);
	}
	if (quoted)
		text_put_char(out, '"');
}

static void
put_number(struct text *out, bool known, __int128 value, unsigned digits)
{
	text_put_char(out, ',');
	if (!known)
		return;
	if (value < 0)
		text_put_char(out, '-');
	text_put_decimal(out, (uint64_t)(value < 0 ? -value : value), digits, digits);
}

static void
put_row(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit)
{
	struct text *out = csv->out;
	bool is_interval = figure.known && figure.is_interval;

	put_field(out, csv->report->started_at);
	text_put_char(out, ',');
	put_field(out, of.clock ? of.clock : "");
	text_put_char(out, ',');
	if (of.core != REPORT_NO_CORE)
		text_printf(out, "%u", of.core);
	text_put_char(out, ',');
	put_field(out, metric);
	put_number(out, figure.known, figure.value, figure.digits);
	put_number(out, is_interval, figure.low, figure.digits);
	put_number(out, is_interval, figure.high, figure.digits);
	text_put_char(out, ',');
	put_field(out, unit ? unit : "");
	text_put_char(out, '\n');
}

/* The row of what was measured; no row for the rest. */
static void
put_known(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit)
{
	if (figure.known)
		put_row(csv, of, metric, figure, unit);
}

static struct figure
number(bool known, uint64_t value, unsigned digits)
{
	return (struct figure){ .digits = digits, .known = known, .value = value };
}

static struct figure
ppm(const struct interval_ppb *ppb)
{
	return (struct figure){ MILLI, ppb->known, true, ppb->value, ppb->low, ppb->high };
}

static struct figure
hertz(const struct interval_millihz *millihz)
{
	return (struct figure){ MILLI, millihz->known, true, millihz->value, millihz->low, millihz->high };
}

static struct figure
rate(const struct rate *rate)
{
	return number(rate->den, rate->den ? scale_mul_div_nearest(rate->num, 1000, rate->den) : 0, MILLI);
}

static struct figure
offset_ns(const struct report *report, struct offset offset)
{
	struct interval_ns ns = report_offset_ns(report, offset);

	return (struct figure){ 0, ns.known, true, ns.value, ns.low, ns.high };
}

/* 0 pass, 1 warn, 2 fail, 3 incomplete: the higher, the worse; empty where there is none. */
static void
put_verdict(const struct csv *csv, struct subject of, enum verdict verdict)
{
	put_row(csv, of, "verdict", number(verdict != VERDICT_ABSENT, verdict, 0), "");
}

static void
put_run(const struct csv *csv)
{
	const struct report *report = csv->report;

	put_verdict(csv, whole_run, report->verdict);
	put_known(csv, whole_run, "elapsed", number(report->elapsed_known, report->elapsed_ms, 0), "ms");
	put_row(csv, whole_run, "cores_listed", number(true, report->cores_listed, 0), "cores");
	put_row(csv, whole_run, "cores_started", number(true, report->cores_started, 0), "cores");
	put_known(csv, whole_run, "tsc_rate", rate(&report->tsc), "Hz");
}

static void
put_latency(const struct csv *csv, struct subject of, const struct latency *latency)
{
	struct scale scale;

	if (!latency || !latency->count)
		return;
	scale_init(&scale, csv->report->tsc);
	put_row(csv, of, "reads", number(true, latency->count, 0), "reads");
	put_row(csv, of, "latency_min", number(true, latency->min_ns, 0), "ns");
	put_row(csv, of, "latency_p50", number(true, latency_percentile_ns(latency, 50000), 0), "ns");
	put_row(csv, of, "latency_p90", number(true, latency_percentile_ns(latency, 90000), 0), "ns");
	put_row(csv, of, "latency_p99", number(true, latency_percentile_ns(latency, 99000), 0), "ns");
	put_row(csv, of, "latency_p999", number(true, latency_percentile_ns(latency, 99900), 0), "ns");
	put_row(csv, of, "latency_max", number(true, latency->max_ns, 0), "ns");
	put_row(csv, of, "latency_mean", number(true, latency_mean_ps(latency), MILLI), "ns");
	put_row(csv, of, "loop", number(true, latency_loop_ps(latency, &scale), MILLI), "ns");
}

static void
put_monotonic(const struct csv *csv, struct subject of, const struct monotonic *monotonic)
{
	bool known = monotonic->reads;

	put_known(csv, of, "steps_back", number(known, monotonic->backward, 0), "steps");
	put_known(csv, of, "worst_step_back", number(known, monotonic->worst_ticks, 0), "ticks");
	put_known(csv, of, "stalls", number(known, monotonic->stalls, 0), "stalls");
}

static void
put_clock(const struct csv *csv, const struct report_clock *entry)
{
	const struct subject of = { entry->clock.id, REPORT_NO_CORE };
	const struct resolution *resolution = &entry->resolution;
	uint64_t step_ps = resolution->steps ? report_clock_ps(entry, resolution->gcd_ticks) : 0;

	if (entry->verdict == VERDICT_INCOMPLETE) /* present, but never read */
		put_verdict(csv, of, VERDICT_ABSENT);
	else
		put_verdict(csv, of, entry->verdict);
	put_known(csv, of, "width", number(entry->clock.width_bits, entry->clock.width_bits, 0), "bits");
	put_known(csv, of, "claimed_rate", rate(&entry->clock.claimed), "Hz");
	put_known(csv, of, "rate", hertz(&entry->measured), "Hz");
	put_known(csv, of, "rate_error", ppm(&entry->error), "ppm");
	put_known(csv, of, "rate_change", ppm(&entry->change), "ppm");
	put_known(csv, of, "resolution", number(step_ps, step_ps, MILLI), "ns");
	put_known(csv, of, "step", number(resolution->steps, resolution->gcd_ticks, 0), "ticks");
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
	put_known(csv, (struct subject){ row->a, REPORT_NO_CORE }, metric_bytes, ppm(&row->ppb), "ppm");
}

static void
put_core_latency(const struct csv *csv, struct subject of, const char *const metrics[3],
		 const struct core_latency *latency)
{
	const uint64_t figures[] = { latency->min_ns, latency->p50_ns, latency->p99_ns };

	for (size_t i = 0; i < 3; i++)
		put_known(csv, of, metrics[i], number(latency->count, figures[i], 0), "ns");
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

	put_row(csv, of, "started", number(true, core->started, 0), "");
	put_known(csv, of, "tsc_adjust", (struct figure){ .known = core->facts_known && facts->has_tsc_adjust,
							   .value = facts->tsc_adjust }, "ticks");
	put_known(csv, of, "offset", offset_ns(report, core->offset), "ns");
	put_known(csv, of, "drift", ppm(&drift), "ppm");
	put_known(csv, of, "watched", number(core->watched_ns, core->watched_ns, 0), "ns");
	put_known(csv, of, "gaps", number(core->watched_ns, core->gaps, 0), "gaps");
	put_known(csv, of, "worst_gap", number(core->gaps, core->worst_gap_ns, 0), "ns");
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
	bool checked = skew->measured || skew->locked.measured || skew->lock_free.measured;

	put_known(csv, whole_run, "pairs", number(skew->measured, skew->summary.pairs, 0), "pairs");
	put_known(csv, whole_run, "warps",
		  number(checked, skew->warps + skew->locked.warps + skew->lock_free.warps, 0), "warps");
	put_known(csv, whole_run, "worst_offset", offset_ns(report, skew->summary.worst), "ns");
	put_known(csv, whole_run, "best_trip", number(skew->measured, skew->best_trip_ns, 0), "ns");
	put_known(csv, whole_run, "median_trip", number(skew->measured, skew->median_trip_ns, 0), "ns");
}

static void
put_interference(const struct csv *csv)
{
	const struct report_interference *found = &csv->report->interference;
	bool known = found->measured;

	put_known(csv, whole_run, "watched", number(known, found->watched_ns, 0), "ns");
	put_known(csv, whole_run, "gaps", number(known, found->gaps, 0), "gaps");
	put_known(csv, whole_run, "gaps_total", number(known, found->total_ns, 0), "ns");
	put_known(csv, whole_run, "worst_gap", number(known && found->gaps, found->worst_ns, 0), "ns");
	put_known(csv, whole_run, "smi_count", number(found->smi_known, found->smi_count, 0), "SMIs");
}

/* A finding's figure; a fact has none, and its row is there all the same. */
static void
put_finding(const struct csv *csv, const struct finding *finding)
{
	char metric_bytes[64];
	struct text metric;
	struct figure figure = { 0, finding->has_measured, true, finding->measured, finding->low, finding->high };

	text_init(&metric, metric_bytes, sizeof(metric_bytes));
	text_printf(&metric, "finding_%s", finding->rule);
	put_row(csv, (struct subject){ finding->clock, finding->core }, metric_bytes, figure, finding->unit);
}

void
csv_render(struct text *out, const struct report *report)
{
	const struct csv csv = { out, report };

	text_put(out, "run,clock,core,metric,value,low,high,unit\n");
	put_run(&csv);
	for (size_t i = 0; i < report->clock_count; i++)
		put_clock(&csv, &report->clocks[i]);
	for (size_t i = 0; i < report->rate_count; i++)
		put_rate(&csv, &report->rates[i]);
	for (size_t i = 0; i < report->core_count; i++)
		put_core(&csv, &report->cores[i]);
	put_skew(&csv);
	put_interference(&csv);
	for (size_t i = 0; i < report->finding_count; i++)
		put_finding(&csv, &report->findings[i]);
}
