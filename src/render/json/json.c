/* The report as JSON. See json.h. */
#include "json_internal.h"

#include "rules.h"
#include "scale.h"

#define NS_PER_MS 1000000

static void
put_tool(struct json *json, const struct report *report)
{
	json_open_flat(json, "tool", '{');
	json_string(json, "name", "baretick");
	json_string(json, "version", report->version);
	json_string(json, "commit", report->commit);
	json_close(json, '}');
}

static void
put_options(struct json *json, const struct report *report)
{
	const struct options *options = &report->options;

	json_open(json, "options", '{');
	json_decimal(json, "duration_ms", report->duration_ns / (NS_PER_MS / 1000), 3);
	json_open_flat(json, "clocks", '[');
	for (size_t i = 0; i < options->clock_count; i++)
		json_string(json, NULL, options->clocks[i]);
	json_close(json, ']');
	json_string(json, "cores", options_cores_word(options->cores));
	if (options->cores_max == UINT32_MAX)
		json_null(json, "cores_max");
	else
		json_unsigned(json, "cores_max", options->cores_max);
	json_string(json, "profile", options_profile_word(options->profile));
	json_decimal(json, "cutoff", options->cutoff_millionths, 6);
	json_string(json, "exit", options_exit_word(options->exit));
	json_string(json, "save", options->save ? "auto" : "off");
	if (options->deadline_ns)
		json_decimal(json, "deadline_ms", options->deadline_ns / (NS_PER_MS / 1000), 3);
	else
		json_null(json, "deadline_ms");
	json_unsigned_or_null(json, "tsc_hz", options->tsc_hz, options->tsc_hz);
	json_decimal(json, "gap_us", options->gap_ns, 3);
	json_open_flat(json, "limits", '{');
	for (size_t i = 0; i < options->limit_count; i++)
		json_unsigned(json, options->limits[i].rule, options->limits[i].value);
	json_close(json, '}');
	json_close(json, '}');
}

static void
put_times(struct json *json, const struct report *report)
{
	json_string_or_null(json, "started_at", report->started_at);
	if (report->elapsed_known)
		json_unsigned(json, "elapsed_ms", report->elapsed_ms);
	else
		json_null(json, "elapsed_ms");
}

static void
put_machine(struct json *json, const struct report *report)
{
	json_open(json, "machine", '{');
	json_string_or_null(json, "cpu", report->cpu);
	json_string_or_null(json, "hypervisor", report->hypervisor);
	json_string_or_null(json, "firmware", report->firmware);
	json_string_or_null(json, "accelerator", report->accelerator);
	json_unsigned(json, "cores_listed", report->cores_listed);
	json_unsigned(json, "cores_started", report->cores_started);
	json_string_or_null(json, "fence", report->fence);
	json_bool(json, "tsc_is_invariant", report->tsc_is_invariant);
	if (report->tsc.den)
		json_decimal(json, "tsc_hz", scale_mul_div_nearest(report->tsc.num, 1000, report->tsc.den), 3);
	else
		json_null(json, "tsc_hz");
	json_string_or_null(json, "tsc_source", report->tsc_source);
	json_close(json, '}');
}

static void
put_rates(struct json *json, const struct report *report)
{
	json_open(json, "rates", '[');
	for (size_t i = 0; i < report->rate_count; i++) {
		json_open_flat(json, NULL, '{');
		json_string(json, "a", report->rates[i].a);
		json_string(json, "b", report->rates[i].b);
		json_ppm(json, "ppm", &report->rates[i].ppb);
		json_bool(json, "same_source", report->rates[i].same_source);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void
put_figures(struct json *json, const struct finding *finding)
{
	static const char *const keys[] = { "measured", "low", "high", "limit" };
	const int64_t figures[] = { finding->measured, finding->low, finding->high, finding->limit };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (finding->has_measured)
			json_signed(json, keys[i], figures[i]);
		else
			json_null(json, keys[i]);
	}
}

static void
put_findings(struct json *json, const struct report *report)
{
	json_open(json, "findings", '[');
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];
		const struct rule *rule = rules_find(finding->rule);

		json_open(json, NULL, '{');
		json_string(json, "rule", finding->rule);
		json_string(json, "severity", verdict_word(finding->severity));
		json_string_or_null(json, "clock", finding->clock);
		if (finding->core == REPORT_NO_CORE)
			json_null(json, "core");
		else
			json_unsigned(json, "core", finding->core);
		put_figures(json, finding);
		json_string_or_null(json, "unit", finding->unit);
		json_string(json, "text", finding->text);
		json_string_or_null(json, "cause", rule ? rule->cause : NULL);
		json_string_or_null(json, "advice", rule ? rule->advice : NULL);
		json_string_or_null(json, "source", finding->source);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void
put_notes(struct json *json, const struct report *report)
{
	json_open(json, "notes", '[');
	for (size_t i = 0; i < report->note_count; i++)
		json_string(json, NULL, report->notes[i]);
	json_close(json, ']');
}

static void
put_report(struct text *out, const struct report *report, bool brief)
{
	struct json json = json_writer(out);

	json.dense = brief;
	json_open(&json, NULL, '{');
	json_string(&json, "schema", "baretick.report/2");
	put_tool(&json, report);
	put_options(&json, report);
	put_times(&json, report);
	put_machine(&json, report);
	json_clocks(&json, report, brief);
	put_rates(&json, report);
	json_cores(&json, report);
	json_skew(&json, report);
	json_interference(&json, report);
	json_behaviours(&json, report);
	put_findings(&json, report);
	json_advice(&json, report);
	put_notes(&json, report);
	json_string(&json, "verdict", verdict_word(report->verdict));
	json_close(&json, '}');
	if (!brief)
		text_put_char(out, '\n');
}

void
json_render(struct text *out, const struct report *report)
{
	put_report(out, report, false);
}

void
json_render_brief(struct text *out, const struct report *report)
{
	put_report(out, report, true);
}
