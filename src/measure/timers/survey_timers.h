/* Tests timers: programs intervals, and records whether, how often and when their interrupts come. */
#ifndef BARETICK_SURVEY_TIMERS_H
#define BARETICK_SURVEY_TIMERS_H

#include "clock/timer.h"
#include "measure/survey.h"

struct survey_timers {
	const struct timer_window *window;
	const struct timer_driver *const *drivers; /* sources to test, ended by NULL */
	const struct platform *platform;
	/* for the latest arming: the gaps in which the core was preempted, and then the interrupts */
	struct record_event items[RECORD_AWAY_MAX + TIMER_EVENTS_MAX];
};

/*
 * Adds a row to facts.intervals for each source, mode and period, on the boot core. Every wait is bounded by
 * the TSC and by a count.
 */
void survey_test_timers_on_boot_core(struct survey *survey, struct survey_timers *timers);

/*
 * Does the same as survey_test_timers_on_boot_core() on every other live core, for the sources that each core has.
 * With more than 64 cores only the first core of each package is tested.
 */
void survey_test_timers_of_cores(struct survey *survey, struct survey_timers *timers);

#endif
