/*
 * The list of observed durations as pg_test_timing gives it: the short ones one by one, from the shortest,
 * until they make up the cut-off's share of all; then the longest, whatever its share.
 */
#ifndef BARETICK_OBSERVED_H
#define BARETICK_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/latency.h"

struct observed {
	uint64_t ns, count;
	uint64_t running; /* samples at or below ns */
	bool after_gap;   /* the list stopped before it, or its durations have no count of their own */
};

struct observed_list {
	const struct latency *latency;
	uint32_t cutoff_millionths; /* percent times 1,000,000 */
	uint64_t next_ns;
	uint64_t running;
};

/* LATENCY must outlive the list. */
struct observed_list observed_list(const struct latency *latency, uint32_t cutoff_millionths);

/* False: there is no further row, and ROW is left alone. */
bool observed_next(struct observed_list *list, struct observed *row);

#endif
