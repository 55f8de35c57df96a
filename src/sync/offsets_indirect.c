/* Calculates a core's offset from indirect paths. See offsets_indirect.h. */
#include "sync/offsets_indirect.h"

#include "consensus/marzullo.h"

/*
 * Maximum number of lower interval ends that marzullo_find_majority() tries. Two are enough, because at most one path
 * may be wrong, and the highest lower end may be the end of this wrong path.
 */
#define AGREE_STEPS 2

struct target {
	const struct offsets *offsets;
	size_t rank;
};

/* Returns the sum of two offsets: core THROUGH against the boot core, and core RANK against core THROUGH. */
static struct offset
offset_through_core(const struct offsets *offsets, size_t through, size_t rank)
{
	return offset_add(offsets_get_offset(offsets, 0, through), offsets_get_offset(offsets, through, rank));
}

/* Returns the number of paths whose interval starts at LOW or below and ends at HIGH or above. */
static size_t
count_paths_containing_interval(const struct offsets *offsets, size_t rank, int64_t low, int64_t high)
{
	size_t count = 0;

	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset path = offset_through_core(offsets, i, rank);

		count += offset_is_known(path) && path.low <= low && path.high >= high;
	}
	return count;
}

static struct offset
get_vote_of_path(const void *context, size_t through)
{
	const struct target *target = context;

	return offset_through_core(target->offsets, through, target->rank);
}

/*
 * Returns true if at most one path contradicts the others. A single wrong path leads through a core whose TSC stepped
 * during the pass. If TSCs drift, more than one path is wrong.
 */
static bool
do_all_paths_but_one_agree(const struct offsets *offsets, size_t rank)
{
	const struct target target = { offsets, rank };
	struct marzullo paths = marzullo_find_majority(get_vote_of_path, &target, offsets->cores, AGREE_STEPS);

	return paths.votes + 1 >= paths.voters;
}

/* Returns the smallest interval that contains the intervals of all paths. */
static struct offset
union_of_path_offsets(const struct offsets *offsets, size_t rank)
{
	struct offset hull = { INT64_MAX, INT64_MIN };

	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset path = offset_through_core(offsets, i, rank);

		if (!offset_is_known(path))
			continue;
		hull.low = path.low < hull.low ? path.low : hull.low;
		hull.high = path.high > hull.high ? path.high : hull.high;
	}
	return hull;
}

/*
 * A path is wrong only if the TSC of its middle core stepped between the two ping-pongs. If at most one path
 * contradicts the others, at least half of the intervals contain the true offset. Each of these intervals starts at or
 * below the true offset. Therefore the lowest value at which half of the intervals have started is a lower bound. The
 * upper bound is found in the same way from the upper ends.
 */
struct offset
offsets_bound_by_indirect_paths(const struct offsets *offsets, size_t rank, struct offset shared)
{
	size_t paths = count_paths_containing_interval(offsets, rank, INT64_MAX, INT64_MIN), right = paths - paths / 2;
	struct offset place = { INT64_MAX, INT64_MIN };

	if (!paths)
		return shared;
	if (!do_all_paths_but_one_agree(offsets, rank))
		return union_of_path_offsets(offsets, rank);
	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset path = offset_through_core(offsets, i, rank);

		if (!offset_is_known(path))
			continue;
		if (path.low < place.low && count_paths_containing_interval(offsets, rank, path.low, INT64_MIN) >= right)
			place.low = path.low;
		if (path.high > place.high && count_paths_containing_interval(offsets, rank, INT64_MAX, path.high) >= right)
			place.high = path.high;
	}
	return place;
}
