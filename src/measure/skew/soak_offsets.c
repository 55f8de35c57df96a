/*
 * Measures the cores' offsets in a round of a soak. Each core is measured only against the boot core. See
 * survey_skew.h.
 */
#include "measure/skew/pair_pass.h"

#define TRIPS  200 /* round trips of a ping-pong: fewer than in a full pass, because a soak has many rounds */
#define STAR_NS (2 * SURVEY_NS_PER_S)

void
survey_measure_soak_row_offsets(struct survey *survey)
{
	struct survey_pair_pass pass;

	if (!series_get_open_row(&survey->report->series) || survey->memory.offsets.cores < 2 || survey_end_run_if_due(survey))
		return;
	survey_pair_pass_begin(&pass, survey, PAIR_SCHEDULE_STAR, 0);
	pass.is_soak = true;
	pass.trips_max = TRIPS;
	pass.plan_ns = pass.late_ns = 0;
	pass.round = survey->soak.star_next;
	while (survey_pair_pass_elapsed_ns(&pass) < STAR_NS && survey_pair_pass_run_next_batch(&pass))
		;
	survey->soak.star_next = survey_pair_pass_is_over(&pass) ? 0 : pass.round;
}
