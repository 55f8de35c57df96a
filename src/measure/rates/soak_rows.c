/*
 * Reads the clocks at the ends of the rows of a soak's series. The reading at the end of a row also starts the next
 * row. Therefore merged rows give rates as exact as a single long row. A guest's RTC is not read, because the guest may
 * see an edge 10 ms late, which is too inexact for the rate over a minute. See survey_rates.h.
 */
#include "measure/rates/clock_tracker.h"

void
survey_soak_rows_count_wraps(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count && !survey->tsc.is_stopped; i++)
		if (survey_can_clock_be_followed(survey, &survey->tracks[i]) && !survey->tracks[i].entry->clock.edges_only)
			survey_track_read(survey, &survey->tracks[i]);
}

static void
begin_soak_row(struct survey *survey, const struct survey_batch_end *ends)
{
	struct series_row *row = series_get_open_row(&survey->report->facts.series);

	survey->soak.cuts = survey->steps.cuts;
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		row->clocks[i].first = ends[i].tightest;
}

void
survey_soak_rows_begin(struct survey *survey)
{
	struct survey_batch_end ends[REPORT_CLOCKS_MAX] = { { .unread_ticks = 0 } };

	if (!survey->report->facts.series.max || survey_end_run_if_due(survey))
		return;
	survey->report->facts.series.count = 0;
	survey_take_end_readings(survey, !report_is_guest(survey->report), ends);
	series_start_row(&survey->report->facts.series, survey->hooks.tsc_ordered());
	begin_soak_row(survey, ends);
}

void
survey_soak_rows_close_row(struct survey *survey, bool last)
{
	struct survey_batch_end ends[REPORT_CLOCKS_MAX] = { { .unread_ticks = 0 } };
	struct series *series = &survey->report->facts.series;
	struct series_row *row = series_get_open_row(series);
	uint64_t now_tsc = survey->hooks.tsc_ordered();

	if (!row)
		return;
	survey_read_and_compare_clocks(survey);
	survey_take_end_readings(survey, !report_is_guest(survey->report), ends);
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (row->clocks[i].first.end && survey->steps.cuts == survey->soak.cuts && !survey->tsc.is_stopped)
			row->clocks[i].last = ends[i].tightest;
	series_close_row(series, now_tsc, last);
	if (!last)
		begin_soak_row(survey, ends);
	if (!survey->hooks.row)
		return;
	survey_analyse_rates(survey);
	analysis_calculate_offsets(survey->record.bytes, survey->record.length, survey->report, &survey->report->figures);
	survey->hooks.row(survey->hooks.context, survey->report);
}
