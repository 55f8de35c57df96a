/* Renders the report as text. See report_text.h. */
#include "render/text/report_text.h"

#include "render/cores/table_cores.h"
#include "render/sections/table_sections.h"

void
table_render(struct text *out, const struct report *report)
{
	table_run_start(out, report);
	table_answer(out, report);
	table_cpu(out, report);
	table_machine(out, report);
	table_verdict(out, report);
	table_quality(out, report);
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
	table_series(out, report);
	table_claims(out, report);
	table_intervals(out, report);
	table_cores(out, report);
	table_skew(out, report);
	table_behaviours(out, report);
	table_calibrations(out, report);
	table_database(out, report);
	table_durations(out, report);
}
