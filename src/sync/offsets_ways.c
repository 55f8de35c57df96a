/* A core's place by ways over other cores. See offsets_ways.h. */
#include "sync/offsets_ways.h"

#include "consensus/marzullo.h"

#define AGREE_STEPS 2 /* the one way that is wrong may begin the highest */

struct aim {
	const struct offsets *offsets;
	size_t rank;
};

/* By the boot core's pair with THROUGH and that one's with RANK. */
static struct offset
way_of_pairs(const struct offsets *offsets, size_t through, size_t rank)
{
	return offset_add(offsets_pair(offsets, 0, through), offsets_pair(offsets, through, rank));
}

/* How many ways to RANK begin below LOW or at it (and end above HIGH or at it). */
static size_t
count_ways(const struct offsets *offsets, size_t rank, int64_t low, int64_t high)
{
	size_t count = 0;

	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset way = way_of_pairs(offsets, i, rank);

		count += offset_is_known(way) && way.low <= low && way.high >= high;
	}
	return count;
}

static struct offset
way_by_pairs(const void *context, size_t through)
{
	const struct aim *aim = context;

	return way_of_pairs(aim->offsets, through, aim->rank);
}

/* All ways but one agree: that one is by way of a core that moved. Of cores that drift more are wrong. */
static bool
agree_but_for_one(const struct offsets *offsets, size_t rank)
{
	const struct aim aim = { offsets, rank };
	struct marzullo ways = marzullo_find(way_by_pairs, &aim, offsets->cores, AGREE_STEPS);

	return ways.votes + 1 >= ways.voters;
}

/* Anywhere that a way has it. */
static struct offset
hull_of_ways(const struct offsets *offsets, size_t rank)
{
	struct offset hull = { INT64_MAX, INT64_MIN };

	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset way = way_of_pairs(offsets, i, rank);

		if (!offset_is_known(way))
			continue;
		hull.low = way.low < hull.low ? way.low : hull.low;
		hull.high = way.high > hull.high ? way.high : hull.high;
	}
	return hull;
}

/*
 * A way through a core that moved meanwhile is wrong; of those that are right, half of all at least, none begins above
 * the truth or ends below it. So the truth is not below the least value that half of them begin at or below, and
 * likewise above.
 */
struct offset
offsets_place_by_ways(const struct offsets *offsets, size_t rank, struct offset shared)
{
	size_t ways = count_ways(offsets, rank, INT64_MAX, INT64_MIN), right = ways - ways / 2;
	struct offset place = { INT64_MAX, INT64_MIN };

	if (!ways)
		return shared;
	if (!agree_but_for_one(offsets, rank))
		return hull_of_ways(offsets, rank);
	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset way = way_of_pairs(offsets, i, rank);

		if (!offset_is_known(way))
			continue;
		if (way.low < place.low && count_ways(offsets, rank, way.low, INT64_MIN) >= right)
			place.low = way.low;
		if (way.high > place.high && count_ways(offsets, rank, INT64_MAX, way.high) >= right)
			place.high = way.high;
	}
	return place;
}
