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
	struct survey_tournament tournament;

	memory->star.cores = memory->first.cores;
	if (!series_open_row(&survey->report->series) || memory->star.cores < 2 || survey_end_if_due(survey))
		return;
	survey_tournament_begin(&tournament, survey, &memory->star, TOURNAMENT_STAR);
	tournament.trips_max = TRIPS;
	tournament.plan_ns = tournament.late_ns = 0;
	tournament.round = survey->star_next;
	while (survey_tournament_elapsed_ns(&tournament) < STAR_NS && survey_tournament_batch(&tournament))
		;
	survey->star_next = survey_tournament_is_over(&tournament) ? 0 : tournament.round;
	for (size_t rank = 1; rank < memory->star.cores; rank++)
		series_offset(&survey->report->series, memory->core_of[rank], offsets_pair(&memory->star, 0, rank));
}
