/* Totals of all tests of one source of interrupts, on all cores. For src/judge only. */
#ifndef BARETICK_IRQ_PROGRAMMED_H
#define BARETICK_IRQ_PROGRAMMED_H

#include "report/report.h"

#define ASKED_LATE_SHOTS_MIN 20u /* fewer one-shots give no median to judge */

struct asked { /* totals of one source */
	const char *source, *kind;
	uint32_t pin;
	bool storms, came;
	uint64_t shots, shots_excused, missing, shots_empty;
	uint64_t shots_untold; /* one-shots that did not come, but are excused by a gap */
	uint64_t periods, periods_excused, lost, doubled, doubled_periods;
	bool uneven, scattered;
	uint64_t over, stale;
	struct interval_ns earliest; /* earliest one-shot; of a source without one-shots, the earliest period */
	uint64_t early;
	/* EARLIEST and EARLY only include cores whose one-shots came early in every length. */
	bool early_always;
	struct interval_ppb rate;
	const struct report_interval *late; /* the one-shots of 100 us that irq-late judges */
};

/* Totals of SOURCE's rows in the report. */
struct asked asked_all_of(const struct report *report, const char *source);

/* Adds a row that is checked unless changed. Returns NULL if there is no space. */
struct behaviour *asked_row(struct report *report, const char *rule, const struct asked *asked);

/* In the rule's unit; both bounds included. */
void asked_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high);

/* Returns true if it has no interrupt, and its status is polled. */
bool asked_is_polled(const struct asked *asked);

#endif
