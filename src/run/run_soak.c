/* Runs the rounds of a soak. See run_internal.h. */
#include "run/run_internal.h"

#include "measure/clocks/survey_clocks.h"
#include "measure/rates/survey_rates.h"
#include "measure/skew/survey_skew.h"

/* Repeats each long measurement for a short time, so that each row of the series has results of every measurement. */
static void
measure_soak_round(struct survey *survey)
{
	survey->soak.round++;
	survey_measure_latencies_on_boot_core(survey);
	survey_soak_rows_count_wraps(survey);
	survey_observe_gaps(survey);
	survey_measure_soak_row_offsets(survey);
	survey_soak_rows_count_wraps(survey);
}

static bool
is_soak_row_over(const struct survey *survey)
{
	const struct series *series = &survey->report->facts.series;
	const struct series_row *row = series_get_open_row(series);
	uint64_t now_tsc = survey->hooks.tsc_ordered();

	return row && scale_ns(&survey->scale, now_tsc - row->from_tsc) >= series->interval_ns;
}

void
run_soak_rounds(struct survey *survey)
{
	while (survey->soak.round + 1 < survey->soak.rounds && !survey_end_run_if_due(survey) &&
	       !survey->report->facts.run.ended_early) {
		if (is_soak_row_over(survey))
			survey_soak_rows_close_row(survey, false);
		measure_soak_round(survey);
	}
	survey_soak_rows_close_row(survey, true);
}
