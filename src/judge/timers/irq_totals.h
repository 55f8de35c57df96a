/* Totals of the tests of one source of timer interrupts. For this folder only. */
#ifndef BARETICK_IRQ_TOTALS_H
#define BARETICK_IRQ_TOTALS_H

#include "report/report.h"

#define IRQ_LATE_SHOT_NS   UINT64_C(100000) /* length of the one-shots that irq-late judges */
#define IRQ_LATE_SHOTS_MIN 20u /* smallest number of one-shots whose median is judged */

struct irq_mode_totals { /* one-shots or periods, see struct interval_figures */
	unsigned tests;    /* number of planned tests; an exception may have prevented some */
	bool many;         /* true if a test was to have many deadlines, because they are short */
	uint64_t count, delivered, empty, doubled, excused;
	/* true if a test with empty or doubled deadlines had late interrupts, which also show that the host was busy */
	bool delayed;
};

struct irq_gaps { /* one-shots over gaps of the core, see struct interval_figures */
	uint64_t over, delayed;
	struct interval_ns delay;
	uint64_t lost_tsc; /* TSC at which the latest one-shot without an interrupt was armed */
};

struct irq_expired {
	uint64_t over;  /* armings with a deadline that had already passed */
	uint64_t stale; /* interrupts that came for a deadline that had already passed */
};

struct irq_totals {
	const char *source, *kind; /* id of the source, and kind of its route to the core */
	uint32_t pin;
	bool polled;               /* true if the source sends no interrupt, so that its status is polled */
	bool storms;               /* true if the source kept interrupting after one deadline */
	bool came;                 /* true if any interrupt came */
	struct irq_mode_totals shots, periods;

	uint64_t missing;  /* one-shots without an interrupt, although the timer's status showed them as due */
	uint64_t early;    /* one-shots that came too early */
	unsigned timely_tests; /* number of tests in which one-shots came, but none of them too early */
	/* length of the one-shots in the tests in which some came; UINT64_MAX if there are several lengths */
	uint64_t shot_ns;
	struct irq_gaps gaps;
	struct interval_ns earliest; /* how early the earliest one-shot came */

	uint64_t losses;   /* number of losses: consecutive empty periods are one loss */
	bool uneven;       /* true if p99 of the lateness of ticks is above 1/8 period */
	/* true if ticks came at all phases of their periods, so that none can be matched to a deadline */
	bool scattered;

	struct irq_expired expired;
	/* how much faster the source ticks than requested, in the test with the largest error */
	struct interval_ppb rate;
	const struct interval_figures *late; /* the test with one-shots of 100 us that irq-late judges; may be NULL */
};

/* Returns the totals of the tests of SOURCE on the core with the APIC id CORE, or on all cores for REPORT_NO_CORE. */
struct irq_totals irq_sum_up_source(const struct report *report, const char *source, uint32_t core);

#endif
