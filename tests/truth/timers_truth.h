/* The timers of a machine that interrupt: which are asked, what is wrong with one of them, and when each came. */
#ifndef BARETICK_TIMERS_TRUTH_H
#define BARETICK_TIMERS_TRUTH_H

#include "machine.h"
#include "timers/timers.h"

#define TIMERS_ASKED  4
#define TIMES_MAX     4096

enum timer_fault {
	FAULT_NONE, FAULT_DROPS, FAULT_DROPS_SHOTS, FAULT_NEVER, FAULT_DOUBLES, FAULT_EARLY, FAULT_RATE, FAULT_LATE,
	FAULT_STORMS, FAULT_STANDS, FAULT_WRONG_PIN, FAULT_STICKS, FAULT_STALE, TIMER_FAULTS
};

struct timer_source {
	const struct timer_driver *driver;
	enum sim_source at;
	unsigned faults;      /* bits: those that make sense */
	int clock;            /* whose oscillator it has; CLOCKS: its own, which claims nothing */
	bool lateness;        /* its interrupts are due at moments of which it says when */
};

struct times { /* of one row of the report, in ps: how late each was */
	size_t count;
	int64_t late_ps[TIMES_MAX];
};

struct timers_truth {
	const struct timer_source *asked[TIMERS_ASKED + 1]; /* NULL ends them */
	const struct timer_driver *drivers[TIMERS_ASKED + 1];
	const struct timer_source *sick; /* one of those; NULL */
	enum timer_fault fault;
	struct report *report;
	struct times times[REPORT_INTERVALS_MAX];
};

extern struct timers_truth timers_truth;

void draw_timers(void);
void draw_sick_timer(void);
void draw_emulated_timers(void);

/* The machine's run is about to begin: only those that were drawn are asked. */
void timers_use(struct bench *bench);

const struct timer_source *timers_source(const char *id); /* NULL: none that is asked */

/* By the report's seconds. */
long double timers_rate_ppb(const struct report *report, const struct timer_source *source);

#endif
