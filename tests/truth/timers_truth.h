/*
 * The timers of a drawn machine: the tested sources of interrupts, the fault of one of them, and the lateness of each
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
	FAULT_STORMS, FAULT_STANDS, FAULT_WRONG_PIN, FAULT_STICKS, FAULT_STALE,
	FAULT_ACCESS, /* arming the source causes an exception */
	FAULT_LOSES_SHOT, /* a single one-shot never interrupts; only the faults before this one are drawn by draw_fault() */
	TIMER_FAULTS
};

struct timer_source {
	const struct timer_driver *driver;
	enum sim_source at;
	unsigned faults;      /* bit mask of the faults that this source can have */
	/*
	 * The clock that shares the source's oscillator. CLOCKS if the source has its own oscillator and no nominal
	 * rate.
	 */
	int clock;
	/* true if it is known when the source's interrupts are due, so that their lateness can be checked */
	bool lateness;
};

struct times { /* lateness of each interrupt in one row of `intervals`, in ps */
	size_t count;
	uint64_t entries; /* number of entries in the record when the first interrupt came */
	int64_t late_ps[TIMES_MAX];
};

struct timers_truth {
	const struct timer_source *tested[TIMERS_TESTED + 1]; /* the tested sources, ended by NULL */
	const struct timer_driver *drivers[TIMERS_TESTED + 1];
	const struct timer_source *faulty; /* the faulty source, or NULL */
	enum timer_fault fault;
	bool has_faulted; /* with FAULT_ACCESS: true after the first exception */
	/* With FAULT_LOSES_SHOT: */
	bool is_stopped_while_armed; /* true if the machine is stopped while the one-shot is armed that is lost */
	uint64_t lost_at_ps;         /* time at which this one-shot was armed; 0 before that */
	struct report *report;
	const struct record *record;
	struct times times[REPORT_INTERVALS_MAX];
};

extern struct timers_truth timers_truth;

void draw_timers(void);
void draw_faulty_timer(void);
void draw_emulated_timers(void);
void draw_timer_whose_access_faults(void);
void draw_timer_that_loses_one_shot(void);

/* Installs the drawn sources as the timers to be tested. Must be called before the machine's run. */
void timers_use_in_bench(struct bench *bench);

const struct timer_source *timers_find_source(const char *id); /* returns NULL if this source is not tested */

/*
 * Returns the error of the source's rate in ppb, measured with the report's time scale. The time scale may have an
 * error too.
 */
long double timers_get_rate_ppb(const struct report *report, const struct timer_source *source);

#endif
