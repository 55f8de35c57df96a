/* Section on the calibration loops of operating systems: how wrong their rates of the TSC and the LAPIC timer are. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "report/phrase.h"

#define LABEL_COLUMNS 16

static void
put_row_of_loop(struct text *out, const struct calibration_figures *row)
{
	size_t line_start = out->length;

	text_printf(out, "%-*s%-6s", LABEL_COLUMNS, row->loop->id, row->loop->clock);
	if (!row->runs) {
		text_put_char(out, ' ');
		table_put_wrapped(out, line_start, LABEL_COLUMNS + 7, row->reason);
		return;
	}
	text_printf(out, "%5lu%8lu%11s%11s\n", row->runs, row->refused,
		    row->median.known ? number_ppm_from_ppb(row->median.value).text : "-",
		    row->worst.known ? number_ppm_from_ppb(row->worst.value).text : "-");
}

static void
put_reasons_for_no_rate(struct text *out, const struct calibration_figures *row)
{
	for (size_t i = 0; i < row->refusal_count; i++)
		table_put_paragraph(out, 2, "%s gave no rate%s: %s.", row->loop->id,
				    phrase_in_count_of("run", row->refusals[i].count, row->runs).bytes,
				    row->refusals[i].reason);
}

/* Returns the error bound of the TSC's measured rate in ppb: half the width of its interval, rounded up. */
static uint64_t
tsc_rate_error_ppb(const struct report *report)
{
	const struct rate_interval *tsc = &report->figures.tsc_within;

	return scale_mul_div_up(tsc->high - tsc->low, 1000000000, 2 * tsc->value);
}

void
table_put_calibrations(struct text *out, const struct report *report)
{
	if (!report->figures.calibration_count)
		return;
	text_printf_coloured(out, INK_HEADING,
			     "\nCalibration loops: how systems measure a clock's rate, tried here\n\n");
	text_put(out, "loop            clock  runs refused median ppm  worst ppm\n");
	for (size_t i = 0; i < report->figures.calibration_count; i++)
		put_row_of_loop(out, &report->figures.calibrations[i]);
	for (size_t i = 0; i < report->figures.calibration_count; i++) {
		put_reasons_for_no_rate(out, &report->figures.calibrations[i]);
		if (report->advice.remarks[i][0])
			table_put_paragraph(out, 2, "%s", report->advice.remarks[i]);
	}
	if (report->figures.tsc_within.known)
		table_put_paragraph(out, 0, "\"refused\": runs in which the loop gave no rate. Errors are against the TSC's "
					"rate, measured to +-%s ppm against the reference clock.",
				    number_ppm_from_ppb((int64_t)tsc_rate_error_ppb(report)).text);
	if (report->advice.calibrated[0])
		table_put_paragraph(out, 0, "%s", report->advice.calibrated);
}
