/*
 * Lists the observed durations of reads with their counts, as pg_test_timing does. The list starts at the shortest
 * duration, and ends when the listed durations reach a share of all samples, the cut-off. The longest duration is
 * always the last row.
 */
#ifndef BARETICK_OBSERVED_H
#define BARETICK_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/latency.h"

struct observed { /* one row of the list; COUNT is the number of samples with the duration NS */
	uint64_t ns, count;
	uint64_t running; /* number of samples with this duration or a shorter one */
	bool after_gap;   /* true if there are durations between this row and the previous row that are not listed */
};

struct observed_list {
	const struct latency *latency;
	uint32_t cutoff_millionths; /* cut-off in percent, multiplied by 1,000,000 */
	uint64_t next_ns;
	uint64_t running;
};

/* Starts a list. LATENCY must remain valid as long as the list is used. */
struct observed_list observed_make_duration_list(const struct latency *latency, uint32_t cutoff_millionths);

/* Sets ROW to the next row. If there is no next row, returns false and does not change ROW. */
bool observed_get_next_row(struct observed_list *list, struct observed *row);

#endif
