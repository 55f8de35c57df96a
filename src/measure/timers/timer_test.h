/*
 * A timer test measures one row of report.intervals: it tests one source on one core, in windows of one-shots or
 * periods. The files of this folder share this header.
 */
#ifndef BARETICK_TIMER_TEST_H
#define BARETICK_TIMER_TEST_H

#include "analysis/analysis.h"
#include "measure/survey_internal.h"
#include "measure/timers/survey_timers.h"

/*
 * Number of periods in a window of 1 ms periods. A window of longer periods has fewer of them, so that each window
 * takes about the same time.
 */
#define PERIODS_A_WINDOW    80u
/* number of periods with masked interrupts; the same number of periods with enabled interrupts follows */
#define PERIODS_HELD        20u
/* Limit of a wait if the TSC has stopped. A poll of the TSC takes at least 1 ns. */
#define TEST_POLLS_PER_NS   1u
#define TEST_MISSES_MAX     3u /* number of windows in a row without an interrupt after which the source is given up */

struct timer_test {
	struct survey *survey;
	struct survey_timers *all;
	struct timer *timer;
	struct report_interval *row;
	/* description of the timer for the record; its SPAN is set when the tick has been measured */
	struct record_timer facts;
	/* true if FACTS are already in the record, which they are after the first arming */
	bool recorded;
	struct timer_tick tick;          /* duration of a tick; the value 0 means that it is not known yet */
	struct record_interrupts arming; /* the latest arming; its gaps are in all->items */
	size_t left;                     /* number of remaining one-shots, or of windows of periods */
	size_t periods;                  /* number of periods in each window of a periodic row */
	unsigned misses;
	size_t core;                     /* index of the core on which the source is tested */
	uint64_t due_tsc;                /* TSC at the next deadline of a free-running source */
};

/* functions in irq_wait.c */

/* Empties the recorder and programs the source with TICKS. */
void test_arm(struct timer_test *test, enum record_interrupts_what what, uint64_t ticks);

/*
 * Enables interrupts until TAKEN interrupts have come or the TSC has reached UNTIL, and records gaps from FROM on. The
 * handler's own reading of the TSC counts as a poll, so the time in the handler is no gap.
 */
void test_watch(struct timer_test *test, uint64_t from, uint64_t until, uint64_t taken);

/*
 * Appends the latest arming to the record, and before the row's first arming the facts. Returns false, and marks the
 * source as broken, if more interrupts came than the recorder has space for.
 */
bool test_record(struct timer_test *test);

/* Appends the latest arming with COUNT interrupts, which follow the gaps in all->items. */
void test_put(struct timer_test *test, size_t count);

/* functions in timer_resolution.c */

uint64_t test_ticks(const struct timer_test *test, uint64_t ns);

/*
 * Sets the duration of a tick from the source's nominal frequency, or else measures it with the TSC. Returns false if
 * the counter does not count down.
 */
bool test_set_tick_length(struct timer_test *test);

/* functions in survey_timers.c */

/* Stores WHY as the reason for a row without figures. This is no fault of the source. */
void test_explain(struct timer_test *test, const char *why);
void test_refuse(struct timer_test *test, enum clock_state state, const char *why);

/* Takes the source from its owner. Returns false if it cannot be programmed with this row's interval. */
bool test_begin(struct timer_test *test);

/* Returns the supported interval nearest to NS. For a free-running source, returns the interval that it has. */
uint64_t test_fit_ns(struct timer_test *test, uint64_t ns);

/*
 * Does the work of one window: see struct timer_window. ARGUMENT is a struct timer_test. If programming takes more than
 * a quarter of a period, the row's period is doubled before its first window, up to 8 ms.
 */
void shots_window(void *argument);
void periods_window(void *argument);

/* Masks interrupts for PERIODS_HELD periods, and then enables them for the same number of periods. */
void periods_hold(void *argument);

/* Function in expired_deadline.c: arms the source repeatedly with a deadline that has passed. */
void expired_window(void *argument);

/* functions in free_running.c */

/*
 * Waits, while the firmware's tick still runs, until the source is due soon enough for a window. Returns false if this
 * takes too long, or if the source does not count.
 */
bool free_running_wait_until_near(struct timer_test *test);
void free_running_run_window(void *argument);

/* Polls the status bit of a source without an interrupt until the bit is set. */
void free_running_poll_status(struct timer_test *test);

#endif
