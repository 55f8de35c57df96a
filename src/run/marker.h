/*
 * A marker file that a run writes on its boot volume at the start of each phase, and removes when it is complete. If
 * the machine hangs, is reset or loses power, the next run finds the phase in which that happened, and uses a safer
 * method.
 */
#ifndef BARETICK_MARKER_H
#define BARETICK_MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

/* Size of the file in bytes. It is fixed, so that writing it changes one sector and nothing else. */
#define MARKER_SIZE       160
#define MARKER_PHASE_SIZE 24
#define MARKER_TIMERS     "timers" /* the phase that takes interrupts from the firmware */

struct marker {
	/* The phase that started, from run_phases[]; "" if the run was completed. */
	char phase[MARKER_PHASE_SIZE];
	enum options_cores cores; /* how other cores were started in that phase; CORES_OFF if they were not */
	/* The first value of enum options_cores that has not ended a run on this machine. */
	enum options_cores least;
	unsigned report;          /* number of the folder with the latest saved report; 0 if there is none */
	bool unrenamed;           /* true if that folder is still called .new; not written into the marker */
};

/* Prints exactly MARKER_SIZE bytes of ASCII, without a final 0. */
void marker_print(char bytes[MARKER_SIZE], const struct marker *marker);

/* Returns false if the LENGTH BYTES are no marker: cut off, or another file. */
bool marker_parse(const char *bytes, size_t length, struct marker *marker);

/*
 * Applies FOUND, the marker of an earlier run on this machine. Sets report.options.cores to a value that has not ended
 * a run yet, unless the user gave cores=. Adds notes on the marker and its consequences. Returns LEAST for the marker
 * of this run.
 */
enum options_cores marker_evaluate(const struct marker *found, struct report *report);

#endif
