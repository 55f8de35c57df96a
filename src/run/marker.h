/*
 * A marker is a small file on the boot volume. A run writes it at the start of each phase, and removes it when the run
 * is complete. If the machine hangs, is reset or loses power, the marker remains. The next run then finds the phase in
 * which that happened, and uses a safer method.
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
	enum options_cores cores; /* method that started the other cores of that phase; CORES_OFF if there were none */
	/*
	 * The first value of enum options_cores that has not yet ended a run on this machine (by a hang, reset or loss of
	 * power).
	 */
	enum options_cores least;
	unsigned report;          /* number of the folder with the latest saved report; 0 if there is none */
	bool unrenamed;           /* true if the name of that folder still ends with .new; not written into the file */
};

/* Prints exactly MARKER_SIZE bytes of ASCII, without a final 0. */
void marker_print(char bytes[MARKER_SIZE], const struct marker *marker);

/* Reads LENGTH bytes. Returns false if they are no complete marker. */
bool marker_parse(const char *bytes, size_t length, struct marker *marker);

/*
 * Uses FOUND, the marker of an earlier run on this machine. Sets report.options.cores to a method that has not yet
 * ended a run, unless the user gave cores=. Adds notes on the marker and its consequences. Returns the value of LEAST
 * for the marker of this run.
 */
enum options_cores marker_evaluate(const struct marker *found, struct report *report);

#endif
