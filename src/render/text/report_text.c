/* Renders the report as text. See report_text.h. */
#include "render/text/report_text.h"

#include "render/cores/table_cores.h"
#include "render/sections/table_sections.h"
#include "render/text/table_firmware.h"

void
table_render(struct text *out, const struct report *report)
{
	table_put_run_start(out, report);
	table_put_summary(out, report);
	table_put_cpu(out, report);
	table_put_machine(out, report);
	table_put_verdict(out, report);
	table_put_timing_quality(out, report);
	text_put_char(out, '\n');
	table_put_clocks(out, report);
	table_put_costs_that_differ(out, report);
	text_put_char(out, '\n');
	if (report->outcomes.finding_count)
		table_put_findings(out, report, NULL, true);
	table_put_notes(out, report);
	if (!report->outcomes.finding_count)
		table_put_findings(out, report, NULL, true);
	table_put_advice(out, report);
	table_put_discontinuities(out, report);
	table_put_all_histograms(out, report);
	table_put_interference(out, report);
	table_put_series(out, report);
	table_put_claims(out, report);
	table_put_intervals(out, report);
	table_put_sleeps(out, report);
	table_put_cores(out, report);
	table_put_skew_section(out, report);
	table_put_behaviours(out, report);
	table_put_calibrations(out, report);
	table_put_firmware_times(out, report);
	table_put_database_timing_cost(out, report);
	table_put_phases(out, report);
	table_put_durations(out, report);
}

size_t
table_get_summary_length(const struct text *text)
{
	static const char detail[] = "\n" TABLE_DURATIONS "\n";

	for (size_t i = 0; i + sizeof(detail) <= text->length; i++)
		if (__builtin_memcmp(text->bytes + i, detail, sizeof(detail) - 1) == 0)
			return i;
	return text->length;
}
