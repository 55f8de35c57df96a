/*
 * State of the analysis of timers while the entries of a record are read: a row of figures.intervals, and one arming
 * (programming) of its timer. Several files of this folder share this state. Times in ps are clamped, so that their
 * sums do not overflow for any record.
 */
#ifndef BARETICK_TIMER_ANALYSIS_H
#define BARETICK_TIMER_ANALYSIS_H

#include "analysis/analysis.h"
#include "analysis/lateness.h"

#define TIMER_VALUES_MAX 1024u

struct timer_analysis {
	const struct report *report;
	struct figures *figures; /* the figures of REPORT */
	struct scale scale;
	uint64_t tsc_low_microhz, tsc_high_microhz; /* bounds of the TSC's rate, from the latest entry `scale` */
	struct record_timer timer;
	struct interval_figures *row; /* the row of this timer, or NULL if the report has none */
	struct timer_tick tick;
	uint64_t entry_ticks;        /* upper bound of the time to enter a handler, in TSC ticks */
	/*
	 * Number of one-shots whose interrupt never came. If an interrupt of a later one-shot is early, it may belong
	 * to one of these one-shots.
	 */
	unsigned missing;
	size_t value_count;
	struct lateness values[TIMER_VALUES_MAX];
	/* One arming (one start of the timer). Its entry contains the gaps of the core, and then COUNT interrupts. */
	const struct record_entry *entry;
	struct record_interrupts arming;
	size_t count;
};

/* Returns interrupt I of the arming. */
struct record_event timer_get_interrupt(const struct timer_analysis *analysis, size_t i);

/*
 * Returns true if the core was preempted for more than MOST TSC ticks at any time in FROM..TO. Also returns true if the
 * record may lack a preemption, because it has the maximum number of them.
 */
bool timer_was_core_preempted(const struct timer_analysis *analysis, uint64_t from, uint64_t to, uint64_t most);

/* Convert TICKS to ps: ticks of the TSC, and ticks of a counter whose tick takes TICK_AS attoseconds. */
int64_t timer_tsc_ticks_to_ps(const struct timer_analysis *analysis, uint64_t ticks);
int64_t timer_counter_ticks_to_ps(uint64_t ticks, uint64_t tick_as);

/* Returns the lateness of EVENT against the first deadline of its arming. */
struct lateness timer_interrupt_lateness(const struct timer_analysis *analysis, const struct record_event *event);

/* Adds a value to the row's lateness. */
void timer_add_lateness(struct timer_analysis *analysis, struct lateness late);

/* Adds an arming with periods to the row: each tick is matched to its deadline. */
void timer_add_periodic_arming(struct timer_analysis *analysis);

/* Returns how the source handles missed deadlines, from an arming whose first periods had interrupts masked. */
enum report_policy timer_find_masking_policy(struct timer_analysis *analysis, const char **reason);

#endif
