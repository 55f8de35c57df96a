/* What the files of the survey share. */
#ifndef BARETICK_SURVEY_INTERNAL_H
#define BARETICK_SURVEY_INTERNAL_H

#include "measure/survey.h"
#include "measure/survey_plan.h"

#define SURVEY_WARM_UP   64 /* samples thrown away before a clock is measured: first execution is slow */

/* Takes COUNT samples of CLOCK into the survey's buffer on this core, with interrupts masked. */
void survey_batch(struct survey *survey, const struct clock *clock, size_t count);

/* How many samples of a clock fill about BATCH_NS, when COUNT of them took TICKS; within the buffer's size. */
size_t survey_batch_size(const struct survey *survey, uint64_t ticks, size_t count);

/* Adds the STEPS of one measurement on CORE to the steps of this core in the report. */
void survey_add_steps(struct survey *survey, size_t core, const struct tsc_steps *steps);

size_t survey_living(const struct survey *survey); /* cores that are alive */

/* Somebody asked for the end: the report says when, and the run goes on as a quick one. */
void survey_hurry(struct survey *survey);

/* Of what takes NS in all: up to the end of this round, and in this round alone. Without rounds it is all. */
uint64_t survey_share_ns(const struct survey *survey, uint64_t ns);
uint64_t survey_slice_ns(const struct survey *survey, uint64_t ns);

/* As survey_end_if_due(); whether the TSC stopped, so that what was just done was not timed and doesn't count. */
static inline bool
survey_end_if_untimed(struct survey *survey)
{
	return survey_end_if_due(survey) && survey->tsc_stopped;
}

/*
 * A pass is a part of the run that asks one core after another, or all of them again and again. With hundreds of cores
 * on a few processors of a host it may take longer than planned by any factor. This function returns the TSC at which
 * it ends: after a third of the time up to ten seconds before the deadline, so that later phases end in time, too.
 */
uint64_t survey_pass_end(const struct survey *survey);

/* Returns true if the pass that ends at END_TSC is over. */
bool survey_pass_is_over(const struct survey *survey, uint64_t end_tsc);

/* A clock whose readings can be taken now. */
static inline bool
survey_usable(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT;
}

/* A main clock with a claim, by which the TSC can be measured now. */
bool survey_can_vouch(const struct survey *survey, const struct report_clock *entry);

/* ENTRY's clock was well at first, and was seen to be sick at NOW_TSC; the first time counts. */
void survey_turned_sick(const struct survey *survey, struct report_clock *entry, uint64_t now_tsc);

/*
 * The clock's counter did not move for STOPPED_NS up to NOW_TSC although it should have: it is stuck from now on.
 */
void survey_mark_stuck(const struct survey *survey, struct report_clock *entry, uint64_t stopped_ns,
		       uint64_t now_tsc);

#define SURVEY_STUCK_PERIODS 16 /* without moving in so many periods the clock is stuck, not slow */

static inline bool
survey_any_differs(const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (samples[i].ticks != samples[0].ticks)
			return true;
	return false;
}

/* Whether the clock showed one value in all of COUNT samples, for longer than a clock that moves can. */
bool survey_is_stopped(const struct survey *survey, const struct clock *clock, const struct sample *samples,
		       size_t count);

/*
 * The rates' window has shown how much of the time the host takes from the boot core: what waits for several cores, or
 * has so much to do, takes longer then by what is added to the plan.
 */
void survey_plan_late(struct survey *survey);
uint64_t survey_late_tournament_ns(const struct survey *survey); /* of that, for one tournament */

/* The TSC ticks in COUNT periods of the clock, at most 2^32; 0 where it claims no rate. */
uint64_t survey_periods(const struct survey *survey, const struct clock *clock, uint64_t count);

/*
 * For clock_comparable(): the TSC ticks in a quarter of the clock's range; 0 where it has no wrap to fear, 1, which no
 * two samples are within, where it has and claims no rate.
 */
uint64_t survey_trust_ticks(const struct survey *survey, const struct clock *clock);

#define SURVEY_MICROHZ_PER_HZ UINT64_C(1000000)

/* Whether a clock may say so of the TSC's rate: else it says that the TSC leapt, or was set back again and again. */
bool survey_is_rate(const struct survey *survey, const struct rate_interval *tsc);

/* The latest reading of the report's clock I, as it was read; AT_EDGE: where an edge clock has moved. */
void survey_step_take(struct survey *survey, size_t i, const struct sample *now, bool at_edge);

/*
 * Whether since the step began time went otherwise for some clocks than for others, by the latest reading of each. The
 * report says so then. A new step begins. What does not fit is looked at again, which may take two seconds.
 * STRICTLY: so, too, where an edge came late that is to be an end of a rate; of that nothing is said.
 */
bool survey_steps_compare(struct survey *survey, bool strictly);

/*
 * A clock was just read to leap against the TSC, by LEAP_NS: whether all clocks together show that time went otherwise
 * for some of them, which the report says then. At the first leaps of a run only.
 */
bool survey_leapt(struct survey *survey, uint64_t leap_ns);

#endif
