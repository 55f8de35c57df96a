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

/*
 * The following functions set the arrays of facts, figures and outcomes to addresses from BEGIN on. Each returns the
 * address after its last array.
 */
static uintptr_t
set_addresses_of_facts(struct report_core **rows, uintptr_t begin, size_t cores)
{
	uintptr_t next = begin;

	*rows = reserve_bytes(&next, cores * sizeof(**rows));
	return next;
}

static uintptr_t
set_addresses_of_figures(struct core_figures **rows, struct report_skew *skew, uintptr_t begin, size_t cores,
			 size_t pairs)
{
	uintptr_t next = begin;

	*rows = reserve_bytes(&next, cores * sizeof(**rows));
	skew->core_of = reserve_bytes(&next, cores * sizeof(*skew->core_of));
	for (size_t i = 0; i < REPORT_PASSES; i++) {
		set_pair_array_addresses(&skew->passes[i].offsets, &next, pairs);
		skew->passes[i].core_offsets = reserve_bytes(&next, cores * sizeof(*skew->passes[i].core_offsets));
		skew->passes[i].outlier = reserve_bytes(&next, cores * sizeof(*skew->passes[i].outlier));
	}
	skew->drifts.pairs = reserve_bytes(&next, pairs * sizeof(*skew->drifts.pairs));
	skew->trips = reserve_bytes(&next, sizeof(*skew->trips));
	return next;
}

static uintptr_t
set_addresses_of_outcomes(struct sync_outcome *sync, uintptr_t begin, size_t cores)
{
	uintptr_t next = begin;

	for (size_t i = 0; i < REPORT_PASSES; i++)
		sync->passes[i].off = reserve_bytes(&next, cores * sizeof(*sync->passes[i].off));
	sync->cores = reserve_bytes(&next, cores * sizeof(*sync->cores));
	sync->moved = reserve_bytes(&next, cores * sizeof(*sync->moved));
	return next;
}

size_t
report_memory_bytes(size_t cores, size_t pairs)
{
	struct sync_outcome sync;
	struct core_figures *figures;
	struct report_skew skew;
	struct report_core *rows;
	uintptr_t next = set_addresses_of_facts(&rows, 0, cores);

	next = set_addresses_of_figures(&figures, &skew, next, cores, pairs);
	return set_addresses_of_outcomes(&sync, next, cores);
}

void
report_clear_passes(struct figures *figures)
{
	struct report_skew *skew = &figures->skew;

	__builtin_memset(&skew->kind_reason, 0, sizeof(*skew) - offsetof(struct report_skew, kind_reason));
	skew->kind_reason = "";
	if (skew->memory)
		(void)set_addresses_of_figures(&figures->cores, skew, (uintptr_t)skew->memory, skew->cores_max, skew->pairs_max);
	for (size_t i = 0; i < skew->cores_max; i++) {
		figures->cores[i].pingpongs = 0;
		figures->cores[i].rank = REPORT_NO_RANK;
	}
}

void
report_divide_memory(struct report *report, void *memory, size_t cores, size_t pairs)
{
	uintptr_t next = set_addresses_of_facts(&report->facts.cores, (uintptr_t)memory, cores);

	report->figures.skew.memory = (void *)next;
	report->figures.skew.cores_max = cores;
	report->figures.skew.pairs_max = pairs;
	report_clear_passes(&report->figures);
	next = set_addresses_of_figures(&report->figures.cores, &report->figures.skew, next, cores, pairs);
	(void)set_addresses_of_outcomes(&report->outcomes.sync, next, cores);
}
