/*
 * One row of report.intervals and one arming of its timer, while the entries of a record are read. Shared by the files
 * of this folder. Times in ps are bounded, so that sums of them do not overflow, whatever a record says.
 */
#ifndef BARETICK_TIMER_ANALYSIS_H
#define BARETICK_TIMER_ANALYSIS_H

#include "analysis/analysis.h"
#include "analysis/lateness.h"

#define TIMER_VALUES_MAX  1024u
#define TIMER_PERIODS_MAX 256u /* periods in one arming */

struct timer_analysis {
	struct report *report;
	struct scale scale;
	uint64_t tsc_low_microhz, tsc_high_microhz; /* as in the latest entry `scale` */
	struct record_timer timer;
	struct report_interval *row; /* the row of this timer, or NULL if the report has none */
	struct timer_tick tick;
	uint64_t entry_ticks;        /* upper bound of the time to enter a handler, in TSC ticks */
	/* Number of one-shots whose interrupt never came. An interrupt that is early for a later one may belong to
	 * one of them.
	 */
	unsigned missing;
	size_t value_count;
	struct lateness values[TIMER_VALUES_MAX];
	/* One arming, with COUNT interrupts after its gaps. */
	const struct record_entry *entry;
	struct record_interrupts arming;
	size_t count;
};

struct record_event timer_interrupt(const struct timer_analysis *analysis, size_t i);

/*
 * Returns true if the core was preempted for more than MOST TSC ticks between FROM and TO, or if gaps may have been
 * lost.
 */
bool timer_was_away(const struct timer_analysis *analysis, uint64_t from, uint64_t to, uint64_t most);

int64_t timer_tsc_ps(const struct timer_analysis *analysis, uint64_t ticks);
int64_t timer_ticks_ps(uint64_t ticks, uint64_t tick_as);

/* Lateness of EVENT against the first deadline of its arming. */
struct lateness timer_lateness(const struct timer_analysis *analysis, const struct record_event *event);

/* Adds a value to the row's lateness. */
void timer_add_value(struct timer_analysis *analysis, struct lateness late);

/* Adds an arming with periods to the row: each tick is matched to its deadline. */
void timer_add_periods(struct timer_analysis *analysis);

/* Returns the source's policy for missed deadlines, from an arming whose first periods had interrupts masked.
 */
enum report_policy timer_policy(struct timer_analysis *analysis);

/* How a window is divided into expected periods. Period k starts 1/4 period before deadline k. */
#define PERIOD_EARLY_SHARE 4

struct periods {
	uint64_t period_ps;
	size_t count;                       /* whole periods in which interrupts were open */
	uint16_t ticks[TIMER_PERIODS_MAX];  /* ticks of each period */
	uint16_t valued[TIMER_PERIODS_MAX]; /* 1 + the interrupt that gives LATE, or 0 */
	struct lateness late[TIMER_PERIODS_MAX];
	int64_t residuals_ps[TIMER_PERIODS_MAX]; /* see lateness_tick_rate() */
};

/*
 * Final period of a tick that fell into period K. BURST is its place in its burst, counted from the end. If the tick is
 * before its deadline or not alone, it is late for the nearest empty period before, at most BURST periods back.
 * SIZE_MAX for the last period, which only takes ticks that are late for earlier periods.
 */
size_t periods_place(const struct periods *periods, size_t k, bool before_due, size_t burst);

#endif
