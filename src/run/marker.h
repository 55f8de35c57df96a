/*
 * What a run writes on its boot volume as each of its phases begins. A run that comes to its end takes it away; so the
 * next boot sees in which phase a machine hung, was reset or lost its power, and takes a safer way.
 */
#ifndef BARETICK_MARKER_H
#define BARETICK_MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

#define MARKER_SIZE       160 /* bytes on the volume, always as many: a sector is written, and nothing else changes */
#define MARKER_PHASE_SIZE 24
#define MARKER_TIMERS     "timers" /* the phase in which interrupts are taken from the firmware */

struct marker {
	char phase[MARKER_PHASE_SIZE]; /* that began, by run_phases[]; "" where the run came to its end */
	enum options_cores cores; /* by what other cores ran then; CORES_OFF: none did */
	enum options_cores least; /* what comes before this in enum options_cores has ended a run on this machine */
	unsigned report;          /* the folder of the latest checkpoint; 0: there is none */
	bool unrenamed;           /* that folder is still called .new; not written into the marker */
};

/* Exactly MARKER_SIZE bytes of ASCII, without a final 0. */
void marker_print(char bytes[MARKER_SIZE], const struct marker *marker);

/* False where BYTES, LENGTH of them, are no marker: cut off, or of something else. */
bool marker_parse(const char *bytes, size_t length, struct marker *marker);

/*
 * What FOUND, which an earlier run on this machine has left, means for this one: sets report.options.cores to a way
 * that has not ended a run yet, unless the reader gave one, and notes what was found and what is done about it.
 * Returns the LEAST for this run's own marker.
 */
enum options_cores marker_heed(const struct marker *found, struct report *report);

#endif
