/* skew of the JSON report: the cores' TSCs against one another. */
#include "json_internal.h"

#define MATRIX_CORES_MAX 256 /* beyond, n x n entries would be most of the report */
#define NO_RANK          UINT16_MAX
#define NS_PER_US        1000
#define US_PER_MS_DIGITS 3 /* behind the point */

static void
put_pair(struct json *json, const char *key, uint32_t a, uint32_t b)
{
	json_open_flat(json, key, '[');
	json_unsigned(json, NULL, a);
	json_unsigned(json, NULL, b);
	json_close(json, ']');
}

static void
put_contended(struct json *json, const char *key, const struct report_contended *check)
{
	if (!check->measured) {
		json_null(json, key);
		return;
	}
	json_open(json, key, '{');
	json_unsigned(json, "cores", check->cores);
	json_unsigned(json, "iterations", check->iterations);
	json_unsigned(json, "warps", check->warps);
	json_bool(json, "starved", check->starved);
	json_unsigned_or_null(json, "worst_ns", check->warps, check->worst_ns);
	if (check->warps)
		put_pair(json, "worst_pair", check->worst_a, check->worst_b);
	else
		json_null(json, "worst_pair");
	json_close(json, '}');
}

/* How the tournament went. */
static void
put_schedule(struct json *json, const struct report_skew *skew)
{
	bool known = skew->measured;

	json_string_or_null(json, "schedule", !known ? NULL : skew->kind == TOURNAMENT_ALL ? "all" : "star");
	json_string_or_null(json, "schedule_reason", known ? skew->kind_reason : NULL);
	json_unsigned_or_null(json, "cores", known, skew->offsets.cores);
	json_unsigned_or_null(json, "pairs", known, skew->summary.pairs);
	json_unsigned_or_null(json, "rounds", known, skew->rounds);
	json_unsigned_or_null(json, "concurrency", known, skew->concurrency);
	json_unsigned_or_null(json, "pingpongs", known, skew->pingpongs);
	if (known)
		json_decimal(json, "elapsed_ms", skew->elapsed_ns / NS_PER_US, US_PER_MS_DIGITS);
	else
		json_null(json, "elapsed_ms");
	json_unsigned(json, "warps", skew->warps + skew->locked.warps + skew->lock_free.warps);
}

static void
put_worst(struct json *json, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	struct interval_ns worst = report_offset_ns(report, skew->summary.worst);

	if (!worst.known) {
		json_null(json, "worst_offset_ns");
		json_null(json, "worst_pair");
		json_null(json, "error_ns");
		return;
	}
	json_signed(json, "worst_offset_ns", worst.value);
	put_pair(json, "worst_pair", report->cores[skew->core_of[skew->summary.worst_a]].apic_id,
		 report->cores[skew->core_of[skew->summary.worst_b]].apic_id);
	json_signed(json, "error_ns", worst.high - worst.value);
}

static void
put_summary(struct json *json, const struct report *report)
{
	const struct report_skew *skew = &report->skew;
	struct interval_ns within = report_within_ns(report);

	put_worst(json, report);
	json_unsigned_or_null(json, "within_ns", within.known, (uint64_t)within.high);
	json_unsigned_or_null(json, "contradictions", skew->measured, skew->summary.contradictions);
	json_unsigned_or_null(json, "best_trip_ns", skew->measured, skew->best_trip_ns);
	json_unsigned_or_null(json, "median_trip_ns", skew->measured, skew->median_trip_ns);
}

static void
put_entry(struct json *json, const struct report *report, uint16_t row, uint16_t column)
{
	struct offset offset = OFFSET_UNKNOWN;
	struct interval_ns ns;

	if (row != NO_RANK && column != NO_RANK)
		offset = offsets_pair(&report->skew.offsets, row, column);
	ns = report_offset_ns(report, offset);
	if (!ns.known) {
		json_null(json, NULL);
		return;
	}
	json_open(json, NULL, '[');
	json_signed(json, NULL, ns.low);
	json_signed(json, NULL, ns.high);
	json_close(json, ']');
}

static void
put_matrix(struct json *json, const struct report *report)
{
	uint16_t ranks[MATRIX_CORES_MAX]; /* of each core */

	if (!report->skew.measured || report->core_count > MATRIX_CORES_MAX) {
		json_null(json, "matrix");
		return;
	}
	for (size_t i = 0; i < report->core_count; i++)
		ranks[i] = NO_RANK;
	for (size_t i = 0; i < report->skew.offsets.cores; i++)
		ranks[report->skew.core_of[i]] = (uint16_t)i;
	json_open(json, "matrix", '[');
	for (size_t row = 0; row < report->core_count; row++) {
		json_open_flat(json, NULL, '[');
		for (size_t column = 0; column < report->core_count; column++)
			put_entry(json, report, ranks[row], ranks[column]);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void
put_drifts(struct json *json, const struct report *report)
{
	if (!report->skew.drift_measured) {
		json_null(json, "drift_ppm");
		return;
	}
	json_open(json, "drift_ppm", '[');
	for (size_t i = 0; i < report->core_count; i++) {
		struct interval_ppb drift = report_drift_ppb(report, &report->cores[i]);

		json_ppm(json, NULL, &drift);
	}
	json_close(json, ']');
}

void
json_skew(struct json *json, const struct report *report)
{
	const struct report_skew *skew = &report->skew;

	if (!skew->measured && !skew->locked.measured && !skew->lock_free.measured) {
		json_null(json, "skew");
		return;
	}
	json_open(json, "skew", '{');
	put_schedule(json, skew);
	put_summary(json, report);
	put_matrix(json, report);
	put_drifts(json, report);
	put_contended(json, "contended", &skew->locked);
	put_contended(json, "lock_free", &skew->lock_free);
	json_close(json, '}');
}
