/* What the files of this folder share while one row is asked: a source, in windows, by shots or by periods. */
#ifndef BARETICK_ASKING_H
#define BARETICK_ASKING_H

#include "measure/survey_internal.h"
#include "measure/timers/survey_timers.h"

#define PERIODS_A_WINDOW    80u /* of those of 1 ms; of longer ones fewer: all windows are about as long */
#define PERIODS_HELD        20u /* so many are masked, and as many follow */
#define ASKING_PS_PER_NS    1000
#define ASKING_POLLS_PER_NS 1u /* no poll is shorter: bounds a wait where the TSC stands */
#define ASKING_MISSES_MAX   3u /* in a row, and the source is given up */

struct tick { /* of the source's counter, in attoseconds */
	uint64_t value, low, high;
};

struct asking {
	struct survey *survey;
	struct survey_timers *all;
	struct timer *timer;
	struct report_interval *row;
	struct tick tick;                /* value 0: not known yet */
	uint64_t gap_ticks, entry_ticks; /* of the TSC; the way into a handler may take longer than what is a gap else */
	size_t gap_count;                /* of all->gaps, since it was armed; SURVEY_AWAY_MAX: too many to be told apart */
	size_t left;                     /* shots, or windows, */
	size_t periods;                  /* of so many periods each */
	size_t count;                    /* of all->values */
	size_t valued, valued_slot;      /* how many those were when the latest was of that slot; 0: none was */
	unsigned misses;
	unsigned owed;                   /* shots that never came: an interrupt that is early for a later one may be theirs */
	size_t core;                     /* that is asked */
	uint64_t due_tsc;                /* of one that is awaited */
};

struct arming { /* the TSC before and after the source was armed, and when it is due by its own counter */
	uint64_t before, after, due;
};

/* watch.c */

/* Empties the slot, and programs the source. */
struct arming asking_arm(struct asking *asking, uint64_t ticks, bool periodic);

/*
 * Interrupts are open until TAKEN have come, or UNTIL. The handler's own reading of the TSC is one of the polls: what
 * it takes is no gap. The last reading.
 */
uint64_t asking_watch(struct asking *asking, uint64_t from, uint64_t until, uint64_t taken);

/* Whether the core was away for longer than MOST at some time from FROM to TO. */
bool asking_was_away(const struct asking *asking, uint64_t from, uint64_t to, uint64_t most);

/* Whether the EVENT'th interrupt of a periodic source came so soon behind the one before that it had been kept back. */
bool asking_is_kept(const struct asking *asking, size_t event);

/* More than anything that was asked for: the recorder has ended it. */
bool asking_is_storm(struct asking *asking);

/* tick.c */

int64_t asking_tsc_ps(const struct asking *asking, uint64_t ticks);
int64_t asking_ticks_ps(uint64_t ticks, uint64_t tick_as);
uint64_t asking_ticks(const struct asking *asking, uint64_t ns);

/* By its claim, or by the TSC. False: it does not count down. */
bool asking_know_tick(struct asking *asking);

/* How long after it was due for the first time, TICKS after it was armed, EVENT came. */
struct lateness asking_lateness(const struct asking *asking, const struct arming *arming, uint64_t ticks,
				const struct timer_event *event);

/* timers.c */

void asking_refuse(struct asking *asking, enum clock_state state, const char *why);

/* Takes the source; false: it can't be asked for this row's interval. */
bool asking_begin(struct asking *asking);

/* What the source can be asked for, next to NS; where it comes when it will, what it has. */
uint64_t asking_fit_ns(struct asking *asking, uint64_t ns);

/*
 * What a window plays: see struct timer_window. ARGUMENT is a struct asking. Of periods that can't be programmed in a
 * quarter of one the first windows double the row's, up to 8 ms.
 */
void shots_window(void *argument);
void periods_window(void *argument);

/* Interrupts stay masked for PERIODS_HELD periods, and are open for as many: what comes beyond those was kept. */
void periods_hold(void *argument);

/* stale.c: arms it again and again with a deadline that is over. */
void stale_window(void *argument);

/* slots.c */

/* What came in one window, in which interrupts were open until CLOSED, goes into its slots. */
void slots_fold(struct asking *asking, const struct arming *arming, uint64_t ticks, uint64_t closed);

/* What came behind interrupts that were masked, of periods of TICKS, from OPENED to CLOSED. */
enum report_policy slots_policy(const struct asking *asking, const struct arming *arming, uint64_t ticks,
				uint64_t opened, uint64_t closed);

/* excused.c */

/* What the row says of SLOTS: expected, lost, doubled, excused. */
void excused_count(struct asking *asking, const struct arming *arming, const struct slots *slots);

/* phase.c */

/*
 * The periods went on before they were asked for: the first deadline is then such that no interrupt is early, and one
 * is not late. What is late in all of them alike is not seen.
 */
void asking_find_phase(const struct asking *asking, struct arming *arming, uint64_t ticks);

/* Likewise, such that the last is not late. */
void asking_end_phase(const struct asking *asking, struct arming *arming);

/* awaited.c */

/*
 * Until it is due within what a window lasts, with the firmware alive; false: it is not due for long, or does not
 * count.
 */
bool awaited_approach(struct asking *asking);
void awaited_window(void *argument);

/* One that brings no interrupt: until its own status says that it is due. */
void awaited_poll(struct asking *asking);

#endif
