/* The progress line of a run, and the deadline that ends it: the hooks of src/measure/survey.h. */
#ifndef BARETICK_PROGRESS_H
#define BARETICK_PROGRESS_H

#include "console/console.h"
#include "firmware/alarm.h"
#include "measure/survey.h"

#define PROGRESS_MARKS 16 /* number of a soak's latest rows that are shown */

struct progress {
	struct console *console;
	struct scale scale;
	uint64_t start_tsc;
	unsigned percent;      /* the percentage that was shown last */
	uint64_t shown_tsc;    /* when the line was last drawn, or 0 before the first time, which comes at once */
	uint64_t deadline_ticks; /* from start_tsc; 0 before progress_timed */
	struct alarm deadline; /* the same by the firmware's own timer, should the TSC stop */
	size_t rows;           /* number of a soak's rows that were shown */
	char marks[PROGRESS_MARKS + 1];
	bool passed;
	bool asked;            /* a key asked for the end */
	void (*meanwhile)(void *context); /* called when the line is drawn; may be NULL */
	void *meanwhile_context;
};

struct survey_hooks progress_hooks(struct progress *progress, struct console *console,
				   bool lfence_serialises);

/*
 * HZ is the TSC's rate as far as it is known. The first call starts the deadline, DEADLINE_NS from the moment of
 * progress_hooks().
 */
void progress_timed(struct progress *progress, struct rate hz, uint64_t deadline_ns);

/* Extends the deadline by the time since BEGIN_TSC, which was not used by the run. */
void progress_excuse(struct progress *progress, uint64_t begin_tsc);

/* Writes `phase: ID` to the serial lines, for programs that act at the start of a phase. */
void progress_begins(struct progress *progress, const char *phase);

/* Gives the firmware its timer back. */
void progress_end(struct progress *progress);

#endif
