/* clocks[] of the JSON report. */
#include "json_internal.h"

#include "observed.h"
#include "scale.h"

static void
put_millihz(struct json *json, const char *key, const struct interval_millihz *measured)
{
	if (!measured->known) {
		json_null(json, key);
		return;
	}
	json_open_flat(json, key, '{');
	json_decimal(json, "value", measured->value, 3);
	json_decimal(json, "low", measured->low, 3);
	json_decimal(json, "high", measured->high, 3);
	json_close(json, '}');
}

static void
put_claimed(struct json *json, const struct rate *claimed)
{
	if (claimed->den)
		json_decimal(json, "claimed_hz", scale_mul_div_nearest(claimed->num, 1000, claimed->den), 3);
	else
		json_null(json, "claimed_hz");
}

static void
put_step(struct json *json, const struct report *report, const struct report_clock *entry)
{
	const struct resolution *resolution = &entry->resolution;
	uint64_t step_ps = report_clock_ps(report, entry, resolution->gcd_ticks);

	if (resolution->steps && step_ps)
		json_decimal(json, "resolution_ns", step_ps, 3);
	else
		json_null(json, "resolution_ns");
	if (resolution->steps)
		json_unsigned(json, "step_ticks", resolution->gcd_ticks);
	else
		json_null(json, "step_ticks");
}

static void
put_histogram(struct json *json, const struct latency *latency)
{
	json_open(json, "histogram", '[');
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (latency->histogram.counts[i])
			json_bar(json, "le_ns", histogram_bucket_high(i), latency->histogram.counts[i]);
	json_close(json, ']');
}

static void
put_exact(struct json *json, const struct latency *latency, uint32_t cutoff_millionths)
{
	struct observed_list list = observed_list(latency, cutoff_millionths);
	struct observed row;

	json_open(json, "exact", '[');
	while (observed_next(&list, &row))
		json_bar(json, "ns", row.ns, row.count);
	json_close(json, ']');
}

static void
put_clean(struct json *json, const struct latency *latency, uint64_t gap_ns)
{
	struct latency_clean clean = latency_clean(latency, gap_ns);

	json_open_flat(json, "clean", '{');
	json_unsigned(json, "count", clean.count);
	json_unsigned(json, "hit", clean.hit);
	json_unsigned(json, "p99_ns", clean.p99_ns);
	json_unsigned(json, "p999_ns", clean.p999_ns);
	json_unsigned(json, "max_ns", clean.max_ns);
	json_close(json, '}');
}

static void
put_latency(struct json *json, const struct report *report, const struct latency *latency, bool brief)
{
	struct scale scale;

	if (!latency || !latency->count) {
		json_null(json, "latency");
		return;
	}
	scale_init(&scale, report->tsc);
	json_open(json, "latency", '{');
	json_unsigned(json, "count", latency->count);
	json_unsigned(json, "min_ns", latency->min_ns);
	json_unsigned(json, "p50_ns", latency_percentile_ns(latency, 50000));
	json_unsigned(json, "p90_ns", latency_percentile_ns(latency, 90000));
	json_unsigned(json, "p99_ns", latency_percentile_ns(latency, 99000));
	json_unsigned(json, "p999_ns", latency_percentile_ns(latency, 99900));
	json_unsigned(json, "max_ns", latency->max_ns);
	json_decimal(json, "mean_ns", latency_mean_ps(latency), 3);
	json_decimal(json, "loop_ns", latency_loop_ps(latency, &scale), 3);
	put_clean(json, latency, report->options.gap_ns);
	put_histogram(json, latency);
	if (brief)
		json_null(json, "exact");
	else
		put_exact(json, latency, report->options.cutoff_millionths);
	json_close(json, '}');
}

static void
put_monotonic(struct json *json, const struct monotonic *monotonic)
{
	if (!monotonic->reads) {
		json_null(json, "monotonic");
		return;
	}
	json_open_flat(json, "monotonic", '{');
	json_unsigned(json, "reads", monotonic->reads);
	json_unsigned(json, "backward", monotonic->backward);
	json_unsigned(json, "worst_ticks", monotonic->worst_ticks);
	json_unsigned(json, "stalls", monotonic->stalls);
	json_close(json, '}');
}

static void
put_clock(struct json *json, const struct report *report, const struct report_clock *entry, bool brief)
{
	const struct clock *clock = &entry->clock;

	json_open(json, NULL, '{');
	json_string(json, "id", clock->id);
	json_string(json, "title", clock->title);
	json_string(json, "main", clock->main);
	json_unsigned(json, "series", entry->series);
	json_string(json, "state", clock_state_word(clock->state));
	json_string_or_null(json, "reason", clock->reason);
	json_string_or_null(json, "found_by", clock->found_by);
	if (clock->width_bits)
		json_unsigned(json, "width_bits", clock->width_bits);
	else
		json_null(json, "width_bits");
	put_claimed(json, &clock->claimed);
	put_millihz(json, "measured_hz", &entry->measured);
	json_ppm(json, "error_ppm", &entry->error);
	json_ppm(json, "change_ppm", &entry->change);
	json_unsigned_or_null(json, "turned_sick_ms", entry->turned_sick, entry->turned_sick_ms);
	put_step(json, report, entry);
	put_latency(json, report, entry->latency, brief);
	put_monotonic(json, &entry->monotonic);
	json_string_or_null(json, "verdict",
			    entry->verdict == VERDICT_INCOMPLETE ? NULL : verdict_word(entry->verdict));
	json_close(json, '}');
}

void
json_clocks(struct json *json, const struct report *report, bool brief)
{
	json_open(json, "clocks", '[');
	for (size_t i = 0; i < report->clock_count; i++)
		put_clock(json, report, &report->clocks[i], brief);
	json_close(json, ']');
}
