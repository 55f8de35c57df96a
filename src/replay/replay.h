/*
 * Calculates the report of a run from its record. A run calls replay_calculate_results() at its end. A replay on
 * another machine calls replay_restore_report() first. Both give the same report if the version of baretick is the
 * same.
 */
#ifndef BARETICK_REPLAY_H
#define BARETICK_REPLAY_H

#include <stddef.h>

#include "record/record.h"
#include "report/report.h"

/*
 * Calculates the values of REPORT from the record of LENGTH bytes, and then its verdicts and recommendations. ENTRIES
 * is the number of entries in the record, and DROPPED the number of entries that were omitted. REPORT must already
 * contain the facts (see analysis/facts.h).
 */
void replay_calculate_results(struct report *report, void *record, size_t length, uint64_t entries, uint64_t dropped);

struct replay_memory {
	/*
	 * Returns BYTES of zeroed memory, which must stay valid as long as the report is used. Returns NULL if there
	 * is none.
	 */
	void *(*allocate)(void *context, size_t bytes);
	void *context;
};

struct replay_found { /* Arguments for replay_calculate_results() that replay_restore_report() found in the record. */
	uint64_t entries, dropped; /* arguments of replay_calculate_results() */
};

/*
 * Restores the facts of REPORT from the SIZE bytes of RECORD, which may be any bytes. All other fields of REPORT are
 * cleared. Returns NULL on success. Otherwise returns a sentence in static storage that states why there is no
 * report.
 */
const char *replay_restore_report(const void *record, size_t size, const struct replay_memory *memory,
				  struct report *report, struct replay_found *found);

#endif
