/* What the files of the survey share, and nobody else needs. */
#ifndef BARETICK_SURVEY_INTERNAL_H
#define BARETICK_SURVEY_INTERNAL_H

#include "survey.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
#define SURVEY_WARM_UP   64 /* samples thrown away before a clock is measured: first execution is slow */

/* Takes COUNT samples of CLOCK into the survey's buffer on this core, with interrupts masked. */
void survey_batch(struct survey *survey, const struct clock *clock, size_t count);

/* How many samples of a clock fill about BATCH_NS, when COUNT of them took TICKS; within the buffer's room. */
size_t survey_batch_size(const struct survey *survey, uint64_t ticks, size_t count);

bool survey_expired(struct survey *survey); /* notes in the report that the run is incomplete */

uint64_t survey_rates_ns(const struct report *report); /* the window and the waits for its edges */
uint64_t survey_core_ns(const struct report *report, size_t cores); /* of one core, with its overhead */
uint64_t survey_core_share_ns(const struct report *report, size_t cores); /* of measuring, for one core */
uint64_t survey_window_ns(const struct report *report);                   /* between the ends of a rate window */

/* A clock whose readings can be taken now. */
static inline bool
survey_usable(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT;
}

/* The clock's counter did not move for STOOD_NS although it should have: it is stuck from now on. */
void survey_mark_stuck(struct report_clock *entry, uint64_t stood_ns);

/* The TSC ticks in COUNT periods of the clock, at most 2^32; 0 where it claims no rate. */
uint64_t survey_periods(const struct survey *survey, const struct clock *clock, uint64_t count);

/* For clock_comparable(): the TSC ticks in a quarter of the clock's range; 0 where it has no wrap to fear. */
uint64_t survey_trust_ticks(const struct survey *survey, const struct clock *clock);

#endif
