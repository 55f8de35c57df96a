/* What is seen while a run goes on, and the deadline that ends it: the hooks of src/measure/survey.h. */
#ifndef BARETICK_PROGRESS_H
#define BARETICK_PROGRESS_H

#include "console/console.h"
#include "firmware/alarm.h"
#include "measure/survey.h"

#define PROGRESS_MARKS 16 /* of a soak's latest rows */

struct progress {
	struct console *console;
	struct scale scale;
	uint64_t start_tsc;
	unsigned percent;      /* that was shown last */
	uint64_t shown_tsc;    /* when the line was last drawn; 0: not yet, so the first one is drawn at once */
	uint64_t deadline_ticks; /* from start_tsc; 0 before progress_timed */
	struct alarm deadline; /* the same by the firmware's own timer, should the TSC stop */
	size_t rows;           /* of a soak that were shown */
	char marks[PROGRESS_MARKS + 1];
	bool passed;
	bool asked;            /* a key asked for the end */
	void (*meanwhile)(void *context); /* called where the line is drawn; NULL: there is nothing to call */
	void *meanwhile_context;
};

struct survey_hooks progress_hooks(struct progress *progress, struct console *console,
				   bool lfence_serialises);

/*
 * HZ is the TSC's rate as far as it is known. The first call starts the deadline, DEADLINE_NS from the moment of
 * progress_hooks().
 */
void progress_timed(struct progress *progress, struct rate hz, uint64_t deadline_ns);

/* What was done since BEGIN_TSC was not the run's: its deadline is so much later. */
void progress_excuse(struct progress *progress, uint64_t begin_tsc);

/* Says on the serial lines that a phase begins, for programs that act at that moment: `phase: ID`. */
void progress_begins(struct progress *progress, const char *phase);

/* Gives the firmware its timer back. */
void progress_end(struct progress *progress);

#endif
