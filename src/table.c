/* The report as a table. See table.h. */
#include "table_internal.h"

#include "number.h"

#define LABEL_COLUMNS  9
#define LINE_SIZE      320

static const char *
or_dash(const char *string)
{
	return string && string[0] ? string : "-";
}

enum text_ink
table_ink(enum verdict verdict)
{
	static const enum text_ink inks[] = {
		[VERDICT_PASS] = INK_PASS,	 [VERDICT_WARN] = INK_WARN,  [VERDICT_FAIL] = INK_FAIL,
		[VERDICT_INCOMPLETE] = INK_WARN, [VERDICT_ABSENT] = INK_DIM,
	};

	return inks[verdict];
}

const char *
table_loud(enum verdict verdict)
{
	static const char *const loud[] = {
		[VERDICT_PASS] = "PASS",	     [VERDICT_WARN] = "WARN",	  [VERDICT_FAIL] = "FAIL",
		[VERDICT_INCOMPLETE] = "INCOMPLETE", [VERDICT_ABSENT] = "ABSENT",
	};

	return loud[verdict];
}

void
table_line(struct text *out, const char *label, const char *format, ...)
{
	size_t line_start = out->length;
	char line[LINE_SIZE];
	struct text text;
	va_list arguments;

	text_init(&text, line, sizeof(line));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	text_printf(out, "%-*s", LABEL_COLUMNS, label);
	table_wrap(out, line_start, LABEL_COLUMNS, line);
}

void
table_begun(struct text *out, const struct report *report)
{
	struct text elapsed;
	char bytes[24];

	text_init(&elapsed, bytes, sizeof(bytes));
	if (report->elapsed_known)
		text_put_decimal(&elapsed, report->elapsed_ms, 3, 3);
	table_line(out, "baretick", "%s (%s), started %s, ran %s%s", report->version, report->commit,
		   or_dash(report->started_at), or_dash(bytes), report->elapsed_known ? " s" : "");
}

void
table_cpu(struct text *out, const struct report *report)
{
	table_line(out, "cpu", "%s", or_dash(report->cpu));
}

void
table_machine(struct text *out, const struct report *report)
{
	struct rate tsc = report->tsc;
	uint64_t tsc_millihz = tsc.den ? scale_mul_div_nearest(tsc.num, 1000, tsc.den) : 0;
	char line[LINE_SIZE];
	struct text text;

	if (report->hypervisor[0])
		table_line(out, "machine", "hypervisor %s (%s), firmware %s", report->hypervisor,
			   or_dash(report->accelerator), or_dash(report->firmware));
	else
		table_line(out, "machine", "bare metal, firmware %s", or_dash(report->firmware));
	table_line(out, "cores", "%u listed, %u started; %s per clock; bracket %s",
		   report->cores_listed, report->cores_started, number_ns(report->duration_ns).text,
		   or_dash(report->fence));
	table_line(out, "tsc", "%s%s%s, %s",
		   tsc_millihz ? number_rate(tsc_millihz).text : "rate unknown: 1 tick is shown as 1 ns",
		   report->tsc_source[0] ? ", " : "", report->tsc_source,
		   report->tsc_is_invariant ? "invariant" : "not invariant");
	text_init(&text, line, sizeof(line));
	table_skew_in_short(&text, report);
	table_line(out, "skew", "%s", line);
}

void
table_verdict(struct text *out, const struct report *report)
{
	size_t line_start = out->length;
	char line[LINE_SIZE];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_printf(&text, ", %zu finding%s%s", report->finding_count, table_plural(report->finding_count),
		    report->incomplete ? "; not all that was asked for has been measured" : "");
	text_printf(out, "%-*s", LABEL_COLUMNS, "verdict");
	text_put_inked(out, table_ink(report->verdict), table_loud(report->verdict));
	table_wrap(out, line_start, LABEL_COLUMNS, line);
}

void
table_render(struct text *out, const struct report *report)
{
	table_begun(out, report);
	table_cpu(out, report);
	table_machine(out, report);
	table_verdict(out, report);
	text_put_char(out, '\n');
	table_clocks(out, report);
	text_put_char(out, '\n');
	if (report->finding_count)
		table_findings(out, report, NULL, true);
	table_notes(out, report);
	if (!report->finding_count)
		table_findings(out, report, NULL, true);
	table_advice(out, report);
	table_histogram(out, report);
	table_interference(out, report);
	table_cores(out, report);
	table_skew(out, report);
	table_behaviours(out, report);
	table_database(out, report);
	table_durations(out, report);
}
