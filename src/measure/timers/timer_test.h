/*
 * A timer test measures one row of facts.intervals: one source on one core. It runs in windows (see struct
 * timer_window), the times in which the source is programmed and its interrupts are recorded. The files of this folder
 * share this header.
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
/* number of periods with masked interrupts, and number of the following periods with enabled interrupts */
#define PERIODS_HELD        20u
/*
 * number of polls in 1 ns of a wait, which limits the wait if the TSC has stopped; a read of the TSC takes at least 1
 * ns
 */
#define TEST_POLLS_PER_NS   1u
/* number of consecutive shots or windows without an interrupt after which the source is given up */
#define TEST_MISSES_MAX     3u

struct timer_test {
	struct survey *survey;
	struct survey_timers *all;
	struct timer *timer;
	struct interval_facts *row;
	/* description of the timer for the record; its span (the measured length of a tick) is set later */
	struct record_timer facts;
	/* true after FACTS were written to the record, which is before the row's first interrupts */
	bool recorded;
	struct timer_tick tick;          /* duration of a tick; the value 0 means that it is not known yet */
	struct record_interrupts arming; /* the latest programming of the source; its gaps are in all->items */
	size_t left;                     /* number of remaining one-shots, or of windows of periods */
	size_t periods;                  /* number of periods in each window of a periodic row */
	unsigned misses;
	size_t core;                     /* index of the core on which the source is tested */
	uint64_t due_tsc;                /* TSC at the next deadline of a free-running source */
};

static inline uint64_t
timer_test_read_tsc(const struct timer_test *test)
{
	return test->survey->hooks.tsc_ordered();
}

static inline uint64_t
timer_test_ns_to_tsc_ticks(const struct timer_test *test, uint64_t ns)
{
	return scale_ns_to_ticks(&test->survey->scale, ns);
}

/* functions in irq_wait.c */

/*
 * Returns the largest lag, in ticks, of a reading of the source's counter behind its exact value. The clock that uses
 * this counter shows the lag. Returns 1 if no clock uses the counter.
 */
uint64_t timer_test_max_counter_lag_ticks(const struct timer_test *test);

/* Lets pending interrupts occur, and discards them, so that they do not count for the next deadline. */
void timer_test_discard_pending_interrupts(const struct timer_test *test);

/* Discards recorded interrupts, and programs the source with TICKS. */
void timer_test_arm_source(struct timer_test *test, enum record_interrupts_what what, uint64_t ticks);

/*
 * Enables interrupts until TAKEN interrupts have come or the TSC has reached UNTIL. Records gaps from FROM on, in which
 * the core did not run. The interrupt handler's reads of the TSC count as well, so that the time in the handler is no
 * gap.
 */
void timer_test_watch_for_interrupts(struct timer_test *test, uint64_t from, uint64_t until, uint64_t taken);

/*
 * Appends the latest arming to the record, with its interrupts. Returns false, and marks the source as broken, if more
 * interrupts came than the recorder has space for.
 */
bool timer_test_record_interrupts(struct timer_test *test);

/* Appends the latest arming with its INTERRUPTS interrupts, which follow the gaps in all->items. */
void timer_test_append_arming_to_record(struct timer_test *test, size_t interrupts);

/* functions in timer_resolution.c */

uint64_t timer_test_ns_to_ticks(const struct timer_test *test, uint64_t ns);

/*
 * Sets the duration of a tick from the source's nominal frequency. If it has none, measures the duration with the TSC.
 * Returns false if the counter does not count down.
 */
bool timer_test_set_tick_length(struct timer_test *test);

/* functions in survey_timers.c */

/*
 * Ends the tests of the row. Stores WHY as the reason for its missing figures, and STATE as the state of the source.
 * The state is CLOCK_PRESENT if the reason is no fault of the source.
 */
void timer_test_end_row(struct timer_test *test, enum clock_state state, const char *why);

/* Sets up the source for the test. Returns false if it cannot be programmed with this row's interval. */
bool timer_test_set_up_source(struct timer_test *test);

/* Returns the supported interval nearest to NS. A free-running source has only one interval. */
uint64_t timer_test_round_interval_ns(struct timer_test *test, uint64_t ns);

/*
 * Do the work of one window, with one-shots or with periods. ARGUMENT is a struct timer_test. If programming the source
 * takes more than a quarter of a period, the row's period is doubled before its first window, up to 8 ms.
 */
void run_oneshots_window(void *argument);
void run_periods_window(void *argument);

/* Masks interrupts for PERIODS_HELD periods, and then enables them for the same number of periods. */
void run_masked_periods_window(void *argument);

/* Function in expired_deadline.c: arms the source repeatedly with a deadline that has passed. */
void run_expired_deadline_window(void *argument);

/* functions in free_running.c */

/* time before the deadline at which a window opens, and time after the deadline at which it closes */
#define FREE_RUNNING_NEAR_NS (40 * SURVEY_NS_PER_MS)

/*
 * Waits until NEAR_NS before the source's next deadline. The firmware's tick still runs. Returns false if the wait
 * takes too long, or if the source does not count.
 */
bool free_running_wait_until_deadline(struct timer_test *test, uint64_t near_ns);
void run_free_running_window(void *argument);

/* Polls the status bit of a source without an interrupt until the bit is set. */
void free_running_poll_status(struct timer_test *test);

#endif
