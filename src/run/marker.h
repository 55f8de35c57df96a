/*
 * The marker is a small file on the boot volume. A run writes it at the start of each phase, and removes it when the
 * run is complete. If the machine hangs, is reset or loses power, the file remains. The next run then knows in which
 * phase this happened, and uses a safer method.
 */
#ifndef BARETICK_MARKER_H
#define BARETICK_MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

/* Size of the file in bytes. It is fixed, so that writing the file changes one sector and nothing else. */
#define MARKER_SIZE       160
#define MARKER_PHASE_SIZE 24
/* the phase that tests timer interrupts, in which baretick has control of interrupts instead of the firmware */
#define MARKER_TIMERS     "timers"
/* the phase that tests sleep states; in a state the marker has MARKER_SLEEP_STATE and its name, "sleep=mwait-20h" */
#define MARKER_SLEEP       "sleep"
#define MARKER_SLEEP_STATE "sleep="

/* the phase that calls the firmware's time services; its Stall() may never return */
#define MARKER_FIRMWARE   "firmware"

struct marker {
	/* the phase that was started last, from run_phases[]; "" if the run was completed */
	char phase[MARKER_PHASE_SIZE];
	/* method that started the other cores before this phase; CORES_OFF if only the boot core was running */
	enum options_cores cores;
	/*
	 * The lowest value of enum options_cores that is not known to be dangerous. If it is not CORES_SIPI, a run with
	 * the next lower value hung, was reset or lost power on this machine.
	 */
	enum options_cores least;
	unsigned report;          /* number of the folder that contains the latest saved report; 0 if there is none */
	/* true if the name of that folder still ends with .new; this is not written to the file */
	bool unrenamed;
};

/* Writes exactly MARKER_SIZE bytes of ASCII to BYTES, without a final 0. */
void marker_print(char bytes[MARKER_SIZE], const struct marker *marker);

/* Reads a marker from LENGTH bytes. Returns false if they are no complete marker. */
bool marker_parse(const char *bytes, size_t length, struct marker *marker);

/*
 * Applies FOUND, the marker that an earlier run on this machine left. If that run ended while other cores were
 * running, facts.options.cores.method is set to a safer method, unless the user gave the option cores=. Adds notes on
 * that run to the report. Returns the value of LEAST for the marker of this run.
 */
enum options_cores marker_make_options_safer(const struct marker *found, struct report *report);

#endif
