/* cores[] and skew of the JSON report. */
#include "json_internal.h"

static void
put_latency(struct json *json, const char *clock_id, const struct core_latency *latency)
{
	if (!latency->count) {
		json_null(json, clock_id);
		return;
	}
	json_open_flat(json, clock_id, '{');
	json_unsigned(json, "min_ns", latency->min_ns);
	json_unsigned(json, "p50_ns", latency->p50_ns);
	json_unsigned(json, "p99_ns", latency->p99_ns);
	json_close(json, '}');
}

void
json_cores(struct json *json, const struct report *report)
{
	json_open(json, "cores", '[');
	for (size_t i = 0; i < report->core_count; i++) {
		const struct report_core *core = &report->cores[i];

		json_open(json, NULL, '{');
		json_unsigned(json, "apic_id", core->apic_id);
		json_bool(json, "boot", core->boot);
		json_bool(json, "started", core->started);
		json_string_or_null(json, "reason", core->reason);
		if (core->has_tsc_adjust)
			json_signed(json, "tsc_adjust", core->tsc_adjust);
		else
			json_null(json, "tsc_adjust");
		json_open(json, "latency", '{');
		for (size_t c = 0; c < report->clock_count; c++)
			put_latency(json, report->clocks[c].clock.id, &core->latency[c]);
		json_close(json, '}');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void
put_contended(struct json *json, const struct report_skew *skew)
{
	json_open(json, "contended", '{');
	json_unsigned(json, "cores", skew->cores);
	json_unsigned(json, "iterations", skew->iterations);
	json_unsigned(json, "warps", skew->warps);
	json_bool(json, "starved", skew->starved);
	if (skew->warps) {
		json_unsigned(json, "worst_ns", skew->worst_ns);
		json_open_flat(json, "worst_pair", '[');
		json_unsigned(json, NULL, skew->worst_a);
		json_unsigned(json, NULL, skew->worst_b);
		json_close(json, ']');
	} else {
		json_null(json, "worst_ns");
		json_null(json, "worst_pair");
	}
	json_close(json, '}');
}

/* Only the contended check is made so far: what comes from pairs of cores is null. */
void
json_skew(struct json *json, const struct report_skew *skew)
{
	if (!skew->measured) {
		json_null(json, "skew");
		return;
	}
	json_open(json, "skew", '{');
	json_null(json, "pairs");
	json_unsigned(json, "warps", skew->warps);
	json_null(json, "worst_offset_ns");
	json_null(json, "worst_pair");
	json_null(json, "error_ns");
	json_null(json, "matrix");
	json_null(json, "drift_ppm");
	put_contended(json, skew);
	json_close(json, '}');
}
