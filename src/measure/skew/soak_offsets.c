/*
 * Measures the cores' offsets in a round of a soak. Each core is measured only against the boot core. See
 * survey_skew.h.
 */
#include "measure/skew/pair_pass.h"

#define TRIPS  200 /* round trips of a ping-pong: fewer than in a full pass, because a soak has many rounds */
#define STAR_NS (2 * SURVEY_NS_PER_S)

void
survey_series_offsets(struct survey *survey)
{
	struct survey_memory *memory = &survey->memory;
	struct survey_pair_pass pass;

	memory->star.cores = memory->first.cores;
	if (!series_open_row(&survey->report->series) || memory->star.cores < 2 || survey_end_if_due(survey))
		return;
	survey_pair_pass_begin(&pass, survey, &memory->star, PAIR_SCHEDULE_STAR);
	pass.trips_max = TRIPS;
	pass.plan_ns = pass.late_ns = 0;
	pass.round = survey->star_next;
	while (survey_pair_pass_elapsed_ns(&pass) < STAR_NS && survey_pair_pass_batch(&pass))
		;
	survey->star_next = survey_pair_pass_is_over(&pass) ? 0 : pass.round;
	for (size_t rank = 1; rank < memory->star.cores; rank++)
		series_offset(&survey->report->series, memory->core_of[rank], offsets_pair(&memory->star, 0, rank));
}
