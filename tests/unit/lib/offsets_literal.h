/* Sets the results of pairs of cores directly, without ping-pongs. */
#ifndef BARETICK_OFFSETS_LITERAL_H
#define BARETICK_OFFSETS_LITERAL_H

#include "sync/offsets.h"

/* Returns the index of the pair A, B in any order, or SIZE_MAX if the schedule does not have this pair. */
static inline size_t
literal_find_pair(const struct offsets *offsets, size_t a, size_t b)
{
	if (a == b || (offsets->kind == PAIR_SCHEDULE_STAR && a && b))
		return SIZE_MAX;
	return pair_schedule_index_of_pair(offsets->kind, offsets->cores, a < b ? a : b, a < b ? b : a);
}

/* Sets the offset of B against A. */
static inline void
literal_set_offset(struct offsets *offsets, size_t a, size_t b, struct offset offset)
{
	size_t pair = literal_find_pair(offsets, a, b);

	if (pair != SIZE_MAX)
		offsets->pairs[pair] = a < b ? offset : offset_negate(offset);
}

/* Sets the time interval of the ping-pong of A and B. */
static inline void
literal_set_pingpong_time(struct offsets *offsets, size_t a, size_t b, struct moment moment)
{
	size_t pair = literal_find_pair(offsets, a, b);

	if (pair != SIZE_MAX && offsets->moments)
		offsets->moments[pair] = moment;
}

#endif
