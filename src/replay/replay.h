/*
 * Makes the report of a run from its record. A run calls replay_conclude() at its end, and a replay on another machine
 * calls replay_read() before it. With the same version of the program both make the same report.
 */
#ifndef BARETICK_REPLAY_H
#define BARETICK_REPLAY_H

#include <stddef.h>

#include "record/record.h"
#include "report/report.h"

/*
 * Fills the figures of REPORT from the record of LENGTH bytes, judges them, and adds the recommendations. DROPPED is
 * the number of the record's entries that were omitted, of ENTRIES in all. The facts (analysis/facts.h) are in REPORT
 * already.
 */
void replay_conclude(struct report *report, void *record, size_t length, uint64_t entries, uint64_t dropped);

struct replay_memory {
	/* Returns BYTES of zeroed memory, which stay valid as long as the report is used; NULL if there is none. */
	void *(*allocate)(void *context, size_t bytes);
	void *context;
};

struct replay_found { /* numbers that were found in a record */
	uint64_t entries, dropped; /* arguments of replay_conclude() */
};

/*
 * Restores the facts of REPORT from the SIZE bytes of RECORD. Clears REPORT first. The bytes may be of any kind.
 * Returns NULL, or a sentence with the reason why there is no report; it is in static storage.
 */
const char *replay_read(const void *record, size_t size, const struct replay_memory *memory, struct report *report,
			struct replay_found *found);

#endif
