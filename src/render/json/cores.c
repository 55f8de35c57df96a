/* cores[] of the JSON report. */
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

static void
put_latencies(struct json *json, const char *key, const struct report *report,
	      const struct core_latency latencies[REPORT_CLOCKS_MAX])
{
	json_open(json, key, '{');
	for (size_t i = 0; i < report->clock_count; i++)
		put_latency(json, report->clocks[i].clock.id, &latencies[i]);
	json_close(json, '}');
}

/* What the core says of itself. */
static void
put_facts(struct json *json, const struct report_core *core)
{
	const struct core_facts *facts = &core->facts;
	bool has_topology = core->facts_known && facts->has_topology;

	if (core->facts_known && facts->has_tsc_adjust)
		json_signed(json, "tsc_adjust", facts->tsc_adjust);
	else
		json_null(json, "tsc_adjust");
	json_unsigned_or_null(json, "tsc_aux", core->facts_known && facts->has_tsc_aux, facts->tsc_aux);
	json_unsigned_or_null(json, "package", has_topology, facts->package);
	json_unsigned_or_null(json, "core", has_topology, facts->core);
	json_unsigned_or_null(json, "thread", has_topology, facts->thread);
}

static void
put_offset(struct json *json, const struct report *report, const struct report_core *core)
{
	struct interval_ns offset = report_offset_ns(report, core->offset);

	if (!offset.known) {
		json_null(json, "offset_ns");
		return;
	}
	json_open_flat(json, "offset_ns", '{');
	json_signed(json, "value", offset.value);
	json_signed(json, "low", offset.low);
	json_signed(json, "high", offset.high);
	json_close(json, '}');
}

void
json_cores(struct json *json, const struct report *report)
{
	json_open(json, "cores", '[');
	for (size_t i = 0; i < report->core_count; i++) {
		const struct report_core *core = &report->cores[i];
		struct interval_ppb drift = report_drift_ppb(report, core);

		json_open(json, NULL, '{');
		json_unsigned(json, "apic_id", core->apic_id);
		json_bool(json, "boot", core->boot);
		json_bool(json, "started", core->started);
		json_string_or_null(json, "reason", core->reason);
		put_facts(json, core);
		json_unsigned(json, "pingpongs", core->pingpongs);
		put_offset(json, report, core);
		json_ppm(json, "drift_ppm", &drift);
		json_bool(json, "off_majority", core->off_majority);
		json_bool(json, "drifts", core->drifts);
		json_unsigned_or_null(json, "observed_ns", core->observed_ns, core->observed_ns);
		json_unsigned_or_null(json, "gaps", core->observed_ns, core->gaps);
		json_unsigned_or_null(json, "worst_gap_ns", core->gaps, core->worst_gap_ns);
		put_latencies(json, "latency", report, core->latency);
		put_latencies(json, "latency_contended", report, core->contended);
		json_close(json, '}');
	}
	json_close(json, ']');
}
