/*
 * The list of observed durations as in pg_test_timing. Durations are listed from the shortest on, until their share
 * reaches the cut-off. The longest duration is always the last row.
 */
#ifndef BARETICK_OBSERVED_H
#define BARETICK_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/latency.h"

struct observed {
	uint64_t ns, count;
	uint64_t running; /* number of samples with at most this duration */
	bool after_gap;   /* true if durations between this row and the row before are not listed */
};

struct observed_list {
	const struct latency *latency;
	uint32_t cutoff_millionths; /* percent times 1,000,000 */
	uint64_t next_ns;
	uint64_t running;
};

/* Starts the list. LATENCY must exist as long as the list is used. */
struct observed_list observed_list(const struct latency *latency, uint32_t cutoff_millionths);

/* Sets ROW to the next row. Returns false, and leaves ROW unchanged, if there is none. */
bool observed_next(struct observed_list *list, struct observed *row);

#endif
