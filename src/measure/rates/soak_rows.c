/*
 * Reads the clocks at the ends of the rows of a soak's series. The reading at the end of a row also starts the next
 * row. Therefore merged rows give rates as exact as a single long row. See survey_rates.h.
 */
#include "measure/rates/clock_tracker.h"

/*
 * Returns true if TRACK's clock is read at the ends of rows. A guest's RTC is not, because the guest may see an edge 10
 * ms late, which is too inexact for the rate over a minute. Also, waiting for each edge takes a second.
 */
static bool
is_clock_read_at_row_ends(const struct survey *survey, const struct survey_track *track)
{
	return survey_can_clock_be_followed(track) && !(track->entry->clock.edges_only && survey->report->hypervisor[0]);
}

void
survey_soak_rows_count_wraps(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count && !survey->tsc.is_stopped; i++)
		if (is_clock_read_at_row_ends(survey, &survey->tracks[i]) && !survey->tracks[i].entry->clock.edges_only)
			survey_track_read(survey, &survey->tracks[i]);
}

/* Returns a sample of TRACK's clock at the end of a row. Its END is 0 if there is none. */
static struct sample
take_reading_at_row_end(struct survey *survey, struct survey_track *track)
{
	if (!is_clock_read_at_row_ends(survey, track))
		return (struct sample){ 0, 0, 0 };
	if (!track->entry->clock.edges_only)
		return survey_track_take_batch(survey, track, SURVEY_END_SAMPLES).tightest;
	survey_track_read(survey, track);
	return survey_wait_for_edge(survey, track, NULL) ? track->edge : (struct sample){ 0, 0, 0 };
}

/*
 * Reads all clocks at the end of a row. The edge clocks (RTCs, see clock.h) are read first, because the wait for an
 * edge takes up to a second.
 */
static void
take_readings_at_row_end(struct survey *survey, struct sample ends[REPORT_CLOCKS_MAX])
{
	for (unsigned edges = 2; edges-- > 0;)
		for (size_t i = 0; i < survey->report->clock_count && !survey->tsc.is_stopped; i++)
			if (survey->report->clocks[i].clock.edges_only == edges)
				ends[i] = take_reading_at_row_end(survey, &survey->tracks[i]);
}

static void
begin_soak_row(struct survey *survey, const struct sample ends[REPORT_CLOCKS_MAX])
{
	struct series_row *row = series_get_open_row(&survey->report->series);

	survey->soak.cuts = survey->steps.cuts;
	for (size_t i = 0; i < survey->report->clock_count; i++)
		row->clocks[i].first = ends[i];
}

void
survey_soak_rows_begin(struct survey *survey)
{
	struct sample ends[REPORT_CLOCKS_MAX] = { { 0 } };

	if (!survey->report->series.max || survey_end_run_if_due(survey))
		return;
	survey->report->series.count = 0;
	take_readings_at_row_end(survey, ends);
	series_start_row(&survey->report->series, survey->hooks.tsc_ordered());
	begin_soak_row(survey, ends);
}

void
survey_soak_rows_close_row(struct survey *survey, bool last)
{
	struct sample ends[REPORT_CLOCKS_MAX] = { { 0 } };
	struct series *series = &survey->report->series;
	struct series_row *row = series_get_open_row(series);
	uint64_t now_tsc = survey->hooks.tsc_ordered();

	if (!row)
		return;
	survey_read_and_compare_clocks(survey);
	take_readings_at_row_end(survey, ends);
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (row->clocks[i].first.end && survey->steps.cuts == survey->soak.cuts && !survey->tsc.is_stopped)
			row->clocks[i].last = ends[i];
	series_close_row(series, now_tsc, last);
	if (!last)
		begin_soak_row(survey, ends);
	if (!survey->hooks.row)
		return;
	survey_analyse_rates(survey);
	analysis_calculate_offsets(survey->record.bytes, survey->record.length, survey->report);
	survey->hooks.row(survey->hooks.context, survey->report);
}
