/*
 * The progress line of a run, and the deadline that ends the run. Implements the hooks that src/measure/survey.h
 * declares.
 */
#ifndef BARETICK_PROGRESS_H
#define BARETICK_PROGRESS_H

#include "console/console.h"
#include "firmware/alarm.h"
#include "measure/survey.h"

struct progress {
	struct console *console;
	struct scale scale;
	uint64_t start_tsc;    /* TSC at the start of the run, plus the ticks that progress_extend_deadline() added */
	unsigned percent;      /* the latest percentage that was shown */
	uint64_t shown_tsc;    /* TSC at the last drawing; 0 means that the next call draws the line */
	uint64_t deadline_ticks; /* deadline in TSC ticks after start_tsc; 0 before progress_set_tsc_rate() */
	/* the same deadline, as an alarm that works even if the TSC stops */
	struct alarm deadline;
	size_t rows;           /* number of a soak's rows that were printed so far */
	bool passed;
	bool end_requested;            /* true after the key Q requested the end of the run */
	void (*on_draw)(void *context); /* called when the line is drawn; may be NULL */
	void *on_draw_context;
};

struct survey_hooks progress_make_hooks(struct progress *progress, struct console *console,
					bool lfence_serialises);

/*
 * Sets HZ, the TSC's rate as known at this time. The first call also sets the deadline, which is DEADLINE_NS after the
 * call of progress_make_hooks().
 */
void progress_set_tsc_rate(struct progress *progress, struct rate hz, uint64_t deadline_ns);

/* Moves the deadline by the time since BEGIN_TSC, in which the run could not measure. */
void progress_extend_deadline(struct progress *progress, uint64_t begin_tsc);

/* Writes `phase: ID` to the serial lines, so that programs can act at the start of a phase. */
void progress_print_phase(struct progress *progress, const char *phase);

/*
 * Prints a progress line for WHAT, a step after the measurements, unless a line was printed in the last second. Only
 * the serial lines get it, because the screen may already show the report.
 */
void progress_show_step(struct progress *progress, const char *what);

/* Cancels the deadline's alarm and frees its timer. */
void progress_cancel_deadline(struct progress *progress);

#endif
