/* interference, behaviours[] and advice[] of the JSON report. */
#include "json_internal.h"

#include "gaps.h"
#include "rules.h"

static void
put_gap_histogram(struct json *json, const struct report_interference *interference)
{
	json_open(json, "histogram", '[');
	for (size_t i = 0; i < GAPS_OCTAVES; i++)
		if (interference->octave[i])
			json_bar(json, "le_ns", gaps_octave_high_ns(i), interference->octave[i]);
	json_close(json, ']');
}

static void
put_events(struct json *json, const struct report_interference *interference)
{
	json_open(json, "events", '[');
	for (size_t i = 0; i < interference->event_count; i++) {
		const struct report_gap *gap = &interference->events[i];

		json_open_flat(json, NULL, '{');
		json_unsigned(json, "at_ms", gap->at_ms);
		json_unsigned(json, "core", gap->core);
		json_unsigned(json, "ns", gap->ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void
json_interference(struct json *json, const struct report *report)
{
	const struct report_interference *interference = &report->interference;
	bool measured = interference->measured, any = measured && interference->gaps;

	if (!measured && !interference->smi_known) {
		json_null(json, "interference");
		return;
	}
	json_open(json, "interference", '{');
	json_unsigned_or_null(json, "threshold_ns", measured, interference->threshold_ns);
	json_unsigned_or_null(json, "observed_ns", measured, interference->observed_ns);
	json_unsigned_or_null(json, "gaps", measured, interference->gaps);
	json_unsigned_or_null(json, "total_ns", measured, interference->total_ns);
	json_unsigned_or_null(json, "worst_ns", any, interference->worst_ns);
	json_unsigned_or_null(json, "worst_core", any, interference->worst_core);
	json_unsigned_or_null(json, "smi_count", interference->smi_known, interference->smi_count);
	put_gap_histogram(json, interference);
	put_events(json, interference);
	json_close(json, '}');
}

static void
put_behaviour(struct json *json, const struct report *report, const struct behaviour *row)
{
	const struct rule *rule = rules_find(row->rule);
	bool has_figure = row->seen && row->has_figure;
	const int64_t figures[] = { row->measured, row->low, row->high };
	static const char *const keys[] = { "measured", "low", "high" };
	static const char *const outcomes[] = {
		[OUTCOME_PASSED] = "passed", [OUTCOME_FAILED] = "failed", [OUTCOME_NOT_CHECKED] = "not_checked",
	};

	json_open(json, NULL, '{');
	json_string(json, "rule", row->rule);
	json_string(json, "clock", row->clock);
	json_string_or_null(json, "severity", rule ? verdict_word(rule->severity) : NULL);
	json_string(json, "outcome", outcomes[rules_outcome(row, &report->options)]);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (has_figure)
			json_signed(json, keys[i], figures[i]);
		else
			json_null(json, keys[i]);
	}
	json_unsigned_or_null(json, "limit", rule && rule->what, rule ? rules_limit(rule, &report->options) : 0);
	json_string_or_null(json, "unit", rule ? rule->unit : NULL);
	json_string_or_null(json, "text", row->text);
	json_close(json, '}');
}

void
json_behaviours(struct json *json, const struct report *report)
{
	json_open(json, "behaviours", '[');
	for (size_t i = 0; i < report->behaviours.count; i++)
		put_behaviour(json, report, &report->behaviours.rows[i]);
	json_close(json, ']');
}

void
json_advice(struct json *json, const struct report *report)
{
	json_open(json, "advice", '[');
	for (size_t i = 0; i < report->advice.count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "clock", report->advice.rows[i].clock);
		json_bool(json, "avoid", report->advice.rows[i].avoid);
		json_string(json, "reason", report->advice.rows[i].reason);
		json_close(json, '}');
	}
	json_close(json, ']');
}
