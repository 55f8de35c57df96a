/* Divides a measurement over the rounds of a soak. See survey_internal.h. */
#include "measure/survey_internal.h"

uint64_t
survey_share_until_end_of_round_ns(const struct survey *survey, uint64_t ns)
{
	if (survey->soak.rounds < 2 || survey->report->ended_early)
		return ns;
	return scale_mul_div(ns, survey->soak.round + 1, survey->soak.rounds);
}

uint64_t
survey_share_of_round_ns(const struct survey *survey, uint64_t ns)
{
	if (survey->soak.rounds < 2 || survey->report->ended_early)
		return ns;
	return survey_share_until_end_of_round_ns(survey, ns) - scale_mul_div(ns, survey->soak.round, survey->soak.rounds);
}
