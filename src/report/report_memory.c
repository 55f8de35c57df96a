/* Divides the memory for a report's results of cores. See report_memory.h. */
#include "report/report_memory.h"

#define ALIGNMENT 8u

static void *
reserve_bytes(uintptr_t *next, size_t bytes)
{
	return report_reserve(next, bytes, ALIGNMENT);
}

static void
set_pair_array_addresses(struct offsets *offsets, uintptr_t *next, size_t pairs)
{
	offsets->pairs = reserve_bytes(next, pairs * sizeof(*offsets->pairs));
	offsets->moved_ticks = reserve_bytes(next, pairs * sizeof(*offsets->moved_ticks));
	offsets->moments = reserve_bytes(next, pairs * sizeof(*offsets->moments));
}

/* Sets ROWS and the arrays of SKEW to addresses from BEGIN on. Returns the address after the last array. */
static uintptr_t
set_array_addresses(struct report_core **rows, struct report_skew *skew, uintptr_t begin, size_t cores, size_t pairs)
{
	uintptr_t next = begin;

	*rows = reserve_bytes(&next, cores * sizeof(**rows));
	skew->core_of = reserve_bytes(&next, cores * sizeof(*skew->core_of));
	for (size_t i = 0; i < REPORT_PASSES; i++) {
		set_pair_array_addresses(&skew->passes[i].offsets, &next, pairs);
		skew->passes[i].core_offsets = reserve_bytes(&next, cores * sizeof(*skew->passes[i].core_offsets));
		skew->passes[i].outlier = reserve_bytes(&next, cores * sizeof(*skew->passes[i].outlier));
		skew->passes[i].off = reserve_bytes(&next, cores * sizeof(*skew->passes[i].off));
	}
	skew->drifts.pairs = reserve_bytes(&next, pairs * sizeof(*skew->drifts.pairs));
	skew->moved = reserve_bytes(&next, cores * sizeof(*skew->moved));
	skew->trips = reserve_bytes(&next, sizeof(*skew->trips));
	return next;
}

size_t
report_memory_bytes(size_t cores, size_t pairs)
{
	struct report_skew skew;
	struct report_core *rows;

	return set_array_addresses(&rows, &skew, 0, cores, pairs);
}

void
report_divide_memory(struct report *report, void *memory, size_t cores, size_t pairs)
{
	report->figures.skew.memory = memory;
	report->figures.skew.cores_max = cores;
	report->figures.skew.pairs_max = pairs;
	set_array_addresses(&report->facts.cores, &report->figures.skew, (uintptr_t)memory, cores, pairs);
	for (size_t i = 0; i < cores; i++)
		report->facts.cores[i].rank = REPORT_NO_RANK;
}
