/*
 * The timers of a machine that send interrupts: the tested sources, the fault of one source, and the time of each
 * interrupt.
 */
#ifndef BARETICK_TIMERS_TRUTH_H
#define BARETICK_TIMERS_TRUTH_H

#include "machine.h"
#include "timers/timers.h"

#define TIMERS_TESTED  4
#define TIMES_MAX     4096

enum timer_fault {
	FAULT_NONE, FAULT_DROPS, FAULT_DROPS_SHOTS, FAULT_NEVER, FAULT_DOUBLES, FAULT_EARLY, FAULT_RATE, FAULT_LATE,
	FAULT_STORMS, FAULT_STANDS, FAULT_WRONG_PIN, FAULT_STICKS, FAULT_STALE, TIMER_FAULTS
};

struct timer_source {
	const struct timer_driver *driver;
	enum sim_source at;
	unsigned faults;      /* mask of possible faults */
	/* the clock with the same oscillator; CLOCKS if it has its own oscillator and no nominal rate */
	int clock;
	bool lateness;        /* true if the times are known at which the source's interrupts are due */
};

struct times { /* lateness of each interrupt of one row of the report, in ps */
	size_t count;
	uint64_t entries; /* number of entries in the record at the first interrupt */
	int64_t late_ps[TIMES_MAX];
};

struct timers_truth {
	const struct timer_source *tested[TIMERS_TESTED + 1]; /* the tested sources, ended by NULL */
	const struct timer_driver *drivers[TIMERS_TESTED + 1];
	const struct timer_source *faulty; /* the faulty source, or NULL */
	enum timer_fault fault;
	struct report *report;
	const struct record *record;
	struct times times[REPORT_INTERVALS_MAX];
};

extern struct timers_truth timers_truth;

void draw_timers(void);
void draw_sick_timer(void);
void draw_emulated_timers(void);

/* Called before the machine's run. Only the drawn sources are tested. */
void timers_use(struct bench *bench);

const struct timer_source *timers_source(const char *id); /* returns NULL if this source is not tested */

/* Returns the source's rate error in ppb, measured in seconds of the report. */
long double timers_rate_ppb(const struct report *report, const struct timer_source *source);

#endif
