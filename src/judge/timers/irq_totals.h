/* Totals of all tests of one source of timer interrupts, and the functions that judge them. For this folder only. */
#ifndef BARETICK_IRQ_TOTALS_H
#define BARETICK_IRQ_TOTALS_H

#include "report/report.h"

#define IRQ_LATE_SHOT_NS   UINT64_C(100000) /* length of the one-shots that irq-late judges */
#define IRQ_LATE_SHOTS_MIN 20u /* fewer one-shots give no median to judge */

struct irq_totals {
	const char *source, *kind; /* id of the source, and kind of its route to the core */
	uint32_t pin;
	bool storms;               /* true if its interrupts did not stop after a deadline */
	bool came;                 /* true if any interrupt came */

	uint64_t shots;            /* number of one-shots */
	uint64_t shots_excused;    /* one-shots that do not count, because the core was preempted at their deadline */
	uint64_t shots_empty;      /* one-shots without an interrupt */
	uint64_t missing;          /* one-shots without an interrupt, although the timer's status showed them as due */
	uint64_t shots_unknown;    /* one-shots without an interrupt that preemption of the core excuses */
	uint64_t early;            /* one-shots that came too early */
	struct interval_ns earliest; /* how early the earliest one-shot came */
	bool early_always;         /* true if EARLY and EARLIEST are only of cores with early one-shots of every length */

	uint64_t periods;          /* number of periods */
	uint64_t periods_excused;  /* periods that do not count, because the core was preempted at their deadline */
	uint64_t lost;             /* periods without a tick */
	uint64_t losses;           /* how often ticks were lost, one or several in a row */
	uint64_t doubled_periods;  /* periods with two ticks or more */
	bool uneven;               /* true if p99 of the lateness of ticks is above 1/8 period */
	bool scattered;            /* true if ticks are spread over their periods, so that none has a known deadline */

	uint64_t doubled;          /* one-shots and periods with two interrupts or more */
	uint64_t over, stale;      /* how often it was armed with a deadline that had passed, and interrupted even so */
	struct interval_ppb rate;  /* how much faster it ticks than requested, in the test that is furthest off */
	const struct report_interval *late; /* the test with one-shots of 100 us that irq-late judges; may be NULL */
};

/* Returns the totals of all rows of SOURCE in the report. */
struct irq_totals irq_sum_up(const struct report *report, const char *source);

/* Adds a row for RULE with CHECKED set. Returns NULL if there is no space. */
struct behaviour *irq_add_row(struct report *report, const char *rule, const struct irq_totals *totals);

/* Returns true if the source sends no interrupt, so that its status is polled. */
bool irq_is_polled(const struct irq_totals *totals);

/*
 * Sets in the rows of judge_timer_tests() how many cores were tested, how many broke the rule, and which broke it most.
 */
void irq_judge_cores(struct report *report);

#endif
