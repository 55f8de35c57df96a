/* Intervals that are programmed, and whether, how often and when their interrupts come. */
#ifndef BARETICK_SURVEY_TIMERS_H
#define BARETICK_SURVEY_TIMERS_H

#include "clock/timer.h"
#include "measure/survey.h"
#include "measure/timers/lateness.h"

#define SURVEY_TIMERS_MAX 24

#define SURVEY_AWAY_MAX 512

struct survey_away { /* the core was, between two readings of the TSC */
	uint64_t from, to;
};

struct survey_timers {
	const struct timer_window *window;
	const struct timer_driver *const *drivers; /* ends with NULL */
	const struct platform *platform;
	struct timer timers[SURVEY_TIMERS_MAX];
	struct lateness values[TIMER_EVENTS_MAX];
	uint8_t slots[TIMER_EVENTS_MAX];
	int64_t residuals[TIMER_EVENTS_MAX]; /* of a window's ticks, by slot: see lateness.h */
	struct survey_away gaps[SURVEY_AWAY_MAX];
};

/*
 * A row of report.intervals for each source, mode and period, on the boot core. Every wait ends, by the TSC and by a
 * count.
 */
void survey_timers(struct survey *survey, struct survey_timers *timers);

/* The same of every other core that lives, for what each core has itself; of more than 64 of one in each package. */
void survey_core_timers(struct survey *survey, struct survey_timers *timers);

#endif
