/*
 * The list of observed durations in pg_test_timing's format. Short durations are listed one by one, from the
 * shortest, until their share reaches the cut-off. The longest one is always listed last.
 */
#ifndef BARETICK_OBSERVED_H
#define BARETICK_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/latency.h"

struct observed {
	uint64_t ns, count;
	uint64_t running; /* samples up to ns */
	bool after_gap;   /* the list skipped durations before it, or they have no counts of their own */
};

struct observed_list {
	const struct latency *latency;
	uint32_t cutoff_millionths; /* percent times 1,000,000 */
	uint64_t next_ns;
	uint64_t running;
};

/* LATENCY must outlive the list. */
struct observed_list observed_list(const struct latency *latency, uint32_t cutoff_millionths);

/* Sets ROW to the next row. Returns false, and leaves ROW unchanged, if there is none. */
bool observed_next(struct observed_list *list, struct observed *row);

#endif
