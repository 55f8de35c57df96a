/* All that came of what a source of interrupts was asked for, on all cores. For src/judge only. */
#ifndef BARETICK_INTERVAL_ASKED_H
#define BARETICK_INTERVAL_ASKED_H

#include "report/report.h"

#define ASKED_LATE_SHOTS_MIN 20u /* of fewer no median is judged */

struct asked { /* of one source, all that came of it */
	const char *source, *kind;
	uint32_t pin;
	bool storms, came;
	uint64_t shots, shots_excused, missing, shots_empty;
	uint64_t shots_untold; /* that did not come, and a gap excuses them */
	uint64_t periods, periods_excused, lost, doubled, doubled_periods;
	bool uneven, scattered;
	uint64_t over, stale;
	struct interval_ns earliest; /* of the shots; of a source without, of its periods */
	uint64_t early;
	bool early_always; /* those two are of the cores on which shots of every length came early */
	struct interval_ppb rate;
	const struct report_interval *late; /* the shots that irq-late is about */
};

/* Of SOURCE's rows in the report. */
struct asked asked_all_of(const struct report *report, const char *source);

/* A row that is checked, as long as nothing else is said of it. NULL: there is no space. */
struct behaviour *asked_row(struct report *report, const char *rule, const struct asked *asked);

/* In the rule's unit; both ends included. */
void asked_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high);

/* It brings no interrupt: its own status is looked at. */
bool asked_is_polled(const struct asked *asked);

#endif
