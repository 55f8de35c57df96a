/*
 * A timer test: one row of report.intervals, measured in windows of one-shots or periods on one source and
 * core. Shared by the files of this folder.
 */
#ifndef BARETICK_TIMER_TEST_H
#define BARETICK_TIMER_TEST_H

#include "measure/survey_internal.h"
#include "measure/timers/survey_timers.h"

/*
 * In a window of 1 ms periods. A window of longer periods has fewer of them, so that every window lasts about
 * as long.
 */
#define PERIODS_A_WINDOW    80u
#define PERIODS_HELD        20u /* deadlines that pass while interrupts are masked, and as many after that */
#define ASKING_PS_PER_NS    1000
/* A poll of the TSC takes at least 1 ns: bounds a wait if the TSC stands still. */
#define ASKING_POLLS_PER_NS 1u
#define ASKING_MISSES_MAX   3u /* windows without an interrupt in a row, after which the source is given up */

struct tick { /* length of one tick of the source's counter, in as */
	uint64_t value, low, high;
};

struct asking {
	struct survey *survey;
	struct survey_timers *all;
	struct timer *timer;
	struct report_interval *row;
	struct tick tick;                /* value 0: not known yet */
	/*
	 * Shortest gap of the core, in TSC ticks. ENTRY_TICKS applies up to the handler's reading, because
	 * entering a handler takes longer than the usual gap.
	 */
	uint64_t gap_ticks, entry_ticks;
	/* Entries of all->gaps since the source was armed. At SURVEY_AWAY_MAX some gaps may not be recorded. */
	size_t gap_count;
	size_t left;                     /* one-shots, or windows of periods, that remain */
	size_t periods;                  /* in each window of a periodic row */
	size_t count;                    /* entries of all->values */
	/* COUNT after the latest tick recorded a value, and that tick's slot. VALUED is 0 if it recorded none. */
	size_t valued, valued_slot;
	unsigned misses;
	/* one-shots that never came; an interrupt that is early for a later shot may belong to one of them. */
	unsigned owed;
	size_t core;                     /* index of the core on which the source is tested */
	uint64_t due_tsc;                /* when a free-running source is due next, by the TSC */
};

struct arming { /* TSC before and after the source was armed, and the deadline by the source's own counter */
	uint64_t before, after, due;
};

/* irq_wait.c */

/* Empties the recorder and programs the source with TICKS. */
struct arming asking_arm(struct asking *asking, uint64_t ticks, bool periodic);

/*
 * Opens interrupts until TAKEN have come or the TSC has reached UNTIL, and records gaps from FROM on. The
 * handler's own reading of the TSC counts as a poll, so time spent in the handler is no gap. Returns the last
 * TSC reading.
 */
uint64_t asking_watch(struct asking *asking, uint64_t from, uint64_t until, uint64_t taken);

/*
 * Returns true if the core was preempted for more than MOST TSC ticks between FROM and TO, or if gaps were
 * lost.
 */
bool asking_was_away(const struct asking *asking, uint64_t from, uint64_t to, uint64_t most);

/*
 * Returns true if interrupt EVENT of a periodic source came less than a quarter period after the one before, so
 * it was held back.
 */
bool asking_is_kept(const struct asking *asking, size_t event);

/* Returns true, and marks the source as broken, if more interrupts came than the recorder has space for. */
bool asking_is_storm(struct asking *asking);

/* timer_resolution.c */

int64_t asking_tsc_ps(const struct asking *asking, uint64_t ticks);
int64_t asking_ticks_ps(uint64_t ticks, uint64_t tick_as);
uint64_t asking_ticks(const struct asking *asking, uint64_t ns);

/*
 * Sets the length of a tick, by the source's nominal frequency or else by the TSC. Returns false if the counter
 * does not count down.
 */
bool asking_know_tick(struct asking *asking);

/* Lateness of EVENT against its first deadline, which is TICKS after the source was armed. */
struct lateness asking_lateness(const struct asking *asking, const struct arming *arming, uint64_t ticks,
				const struct timer_event *event);

/* survey_timers.c */

void asking_refuse(struct asking *asking, enum clock_state state, const char *why);

/* Takes the source from its owner. Returns false if it cannot be programmed with this row's interval. */
bool asking_begin(struct asking *asking);

/*
 * The interval nearest to NS that the source can be programmed with. For a free-running source, the interval
 * that it has.
 */
uint64_t asking_fit_ns(struct asking *asking, uint64_t ns);

/*
 * The work of one window: see struct timer_window. ARGUMENT is a struct asking. If programming takes more than
 * a quarter of a period, the row's period is doubled before its first window, up to 8 ms.
 */
void shots_window(void *argument);
void periods_window(void *argument);

/*
 * Masks interrupts for PERIODS_HELD periods, then opens them for as many. Interrupts beyond the second half
 * were held back by the source.
 */
void periods_hold(void *argument);

/* expired_deadline.c: arms the source repeatedly with a deadline that has passed. */
void stale_window(void *argument);

/* tick_slots.c */

/* Sorts the events of one window into slots, and adds up the row. Interrupts were open until CLOSED. */
void slots_fold(struct asking *asking, const struct arming *arming, uint64_t ticks, uint64_t closed);

/*
 * The source's policy for missed deadlines, from the events after a masked stretch. Periods are TICKS long, and
 * interrupts were open from OPENED to CLOSED.
 */
enum report_policy slots_policy(const struct asking *asking, const struct arming *arming, uint64_t ticks,
				uint64_t opened, uint64_t closed);

/* tick_counts.c */

/* Adds SLOTS to the row's counts of expected, empty, doubled and excused periods. */
void excused_count(struct asking *asking, const struct arming *arming, const struct slots *slots);

/* phase.c */

/*
 * For a source whose periods run before it is programmed: moves ARMING so that no interrupt is early and at
 * least one is not late. A delay common to all interrupts therefore cannot be seen.
 */
void asking_find_phase(const struct asking *asking, struct arming *arming, uint64_t ticks);

/* Like asking_find_phase(), but so that the last interrupt is not late. */
void asking_end_phase(const struct asking *asking, struct arming *arming);

/* free_running.c */

/*
 * Waits, with the firmware alive, until the source is due soon enough for a window. Returns false if that takes
 * too long or if the source does not count.
 */
bool awaited_approach(struct asking *asking);
void awaited_window(void *argument);

/* For a source without an interrupt: polls its status until that says that it is due. */
void awaited_poll(struct asking *asking);

#endif
