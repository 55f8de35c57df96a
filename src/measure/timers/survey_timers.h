/* Tests timers: programs intervals, and records whether, how often and when their interrupts come. */
#ifndef BARETICK_SURVEY_TIMERS_H
#define BARETICK_SURVEY_TIMERS_H

#include "clock/timer.h"
#include "measure/survey.h"
#include "measure/timers/lateness.h"

#define SURVEY_TIMERS_MAX 24

#define SURVEY_AWAY_MAX 512

struct survey_away { /* the core was preempted between these two readings of the TSC */
	uint64_t from, to;
};

struct survey_timers {
	const struct timer_window *window;
	const struct timer_driver *const *drivers; /* ends with NULL */
	const struct platform *platform;
	struct timer timers[SURVEY_TIMERS_MAX];
	struct lateness values[TIMER_EVENTS_MAX];
	uint8_t slots[TIMER_EVENTS_MAX];
	/* Lateness of a window's ticks by slot, in ps: see lateness_rate(). */
	int64_t residuals[TIMER_EVENTS_MAX];
	struct survey_away gaps[SURVEY_AWAY_MAX];
};

/*
 * Adds a row to report.intervals for each source, mode and period, on the boot core. Every wait is bounded by
 * the TSC and by a count.
 */
void survey_timers(struct survey *survey, struct survey_timers *timers);

/*
 * Does the same on every other live core for the sources that each core has. With more than 64 cores only the
 * first core of each package is tested.
 */
void survey_core_timers(struct survey *survey, struct survey_timers *timers);

#endif
