/*
 * Solves the offsets of all cores from all pairs. See offsets.h.
 *
 * For two cores that had ping-pongs, only these count. An indirect path over a third core combines two
 * measurements from different times, and a core may have moved in between. Indirect paths serve two purposes:
 * for pairs without a ping-pong, and to find pairs that contradict the rest.
 *
 * For both, a core's offset is decided by a vote. The core's own pair with the boot core is one vote. Each path
 * through another core (that core's offset plus its pair with this one) is one more. The result is the range
 * that more than half of the votes share. A wrong pair is outvoted: it is one vote for each of its two cores. A
 * wrong pair with the boot core is one vote for each other core, through the core that it misplaces.
 *
 * If no more than half of the votes agree, it is unknown which are wrong. Then the core's own pair with the
 * boot core counts. A pair that contradicts this belongs to three pairs that contradict each other. Whichever
 * of the three cores moved, these three are named.
 */
#include "sync/offsets.h"

#include "consensus/marzullo.h"
#include "sync/outliers.h"
#include "sync/offsets_indirect.h"

#define PASSES         2  /* the second pass uses offsets that the first has narrowed */
/* Limit on wrong votes that can be outvoted, because each takes a pass over all pairs. */
#define VOTE_STEPS_MAX 16

struct picture { /* the analysis so far, and the core that is voted on */
	const struct offsets *offsets;
	const struct offset *places;
	size_t rank;
};

static struct offset
way_through(const void *context, size_t through)
{
	const struct picture *picture = context;

	if (through == picture->rank)
		return OFFSET_UNKNOWN;
	return offset_add(picture->places[through],
			  offsets_pair(picture->offsets, through, picture->rank));
}

/*
 * The range that all paths overlapping SHARED allow if any one of them is left out. One path may lead through a
 * core that moved between its two ping-pongs and still overlap the others. Returns SHARED if there is only one
 * path.
 */
static struct offset
without_any_one(const struct picture *picture, struct offset shared)
{
	struct offset tightest = { INT64_MIN, INT64_MAX }, next = tightest;
	size_t ways = 0;

	for (size_t i = 0; i < picture->offsets->cores; i++) {
		struct offset way = way_through(picture, i);

		if (!offset_is_known(way) || offset_gap(way, shared))
			continue;
		ways++;
		next.low = way.low > tightest.low ? tightest.low : way.low > next.low ? way.low : next.low;
		tightest.low = way.low > tightest.low ? way.low : tightest.low;
		next.high = way.high < tightest.high ? tightest.high : way.high < next.high ? way.high : next.high;
		tightest.high = way.high < tightest.high ? way.high : tightest.high;
	}
	return ways > 1 ? next : shared;
}

static struct offset
vote(const struct picture *picture, bool *decided)
{
	struct offset own = offsets_pair(picture->offsets, 0, picture->rank);
	struct marzullo majority = marzullo_find(way_through, picture, picture->offsets->cores,
						 VOTE_STEPS_MAX);

	*decided = majority.decided * 2 > majority.voters;
	if (!*decided)
		return own;
	return offset_is_known(own) ? majority.shared : without_any_one(picture, majority.shared);
}

static void
vote_on_places(const struct offsets *offsets, struct offset *places, bool *decided)
{
	size_t passes = offsets->kind == TOURNAMENT_ALL ? PASSES : 0;

	for (size_t i = 0; i < offsets->cores; i++)
		places[i] = offsets_pair(offsets, 0, i);
	for (size_t i = 0; i < offsets->cores; i++)
		decided[i] = i == 0;
	for (size_t pass = 0; pass < passes; pass++)
		for (size_t i = 1; i < offsets->cores; i++)
			places[i] = vote(&(struct picture){ offsets, places, i }, &decided[i]);
}

/* B against A by their places. */
static struct offset
implied(const struct offset *places, size_t a, size_t b)
{
	return offset_add(places[b], offset_negate(places[a]));
}

/*
 * The pair's own interval if it has one. If it alone proves a difference and is outvoted, the interval by the
 * places instead. Then one of the two cores moved, and the contradictions show at what time.
 */
static struct offset
between(const struct offsets *offsets, const struct offset *places, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b), picture = implied(places, a, b);

	if (!offset_is_known(own) || (offset_excludes_zero(own) && !offset_excludes_zero(picture) &&
				      offset_gap(own, picture)))
		return picture;
	return own;
}

/* Records how far the pair contradicts the places that all pairs voted for, or itself. */
static void
record_contradiction(struct offsets_summary *summary, struct offsets *offsets, const struct offset *places, size_t a,
		     size_t b)
{
	uint64_t ticks;

	offsets_record_moved(offsets, a, b, offset_gap(offsets_pair(offsets, a, b), implied(places, a, b)));
	ticks = offsets_moved(offsets, a, b);
	summary->contradictions += ticks > 0;
	if (ticks <= summary->contradiction_ticks)
		return;
	summary->contradiction_ticks = ticks;
	summary->contradiction_a = a;
	summary->contradiction_b = b;
}

/*
 * Returns true if at least half of the votes on RANK agree with its pair with OTHER. Then that pair may be
 * right.
 */
static bool
is_backed(const struct offsets *offsets, const struct offset *places, size_t rank, size_t other)
{
	const struct picture picture = { offsets, places, rank };
	struct offset way = way_through(&picture, other);
	size_t known = 0, agree = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset vote = way_through(&picture, i);

		known += offset_is_known(vote);
		agree += offset_is_known(vote) && !offset_gap(vote, way);
	}
	return 2 * agree >= known;
}

/*
 * The third core whose indirect path is furthest from the interval of the pair A, B. Returns B if there is
 * none.
 */
static size_t
find_third(const struct offsets *offsets, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b);
	uint64_t worst = 0;
	size_t third = b;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset way = offset_add(offsets_pair(offsets, a, i), offsets_pair(offsets, i, b));

		if (i == a || i == b || offset_gap(own, way) <= worst)
			continue;
		worst = offset_gap(own, way);
		third = i;
	}
	return third;
}

/*
 * Names the worst pair alone if it contradicts itself or is outvoted. Otherwise one of three cores may have
 * moved. If no single core's two pairs show it, the third is the boot core, because the places of both cores
 * refer to it.
 */
static void
settle_contradiction(struct offsets_summary *summary, const struct offsets *offsets, const struct offset *places,
		     const bool *decided)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b;
	bool by_itself = summary->contradiction_ticks > offset_gap(offsets_pair(offsets, a, b), implied(places, a, b));
	bool outvoted = decided[a] && decided[b] && !is_backed(offsets, places, b, a) &&
			(!a || !is_backed(offsets, places, a, b));

	summary->contradiction_c = b;
	if (!summary->contradictions || by_itself || outvoted)
		return;
	summary->contradiction_c = find_third(offsets, a, b);
	if (a && summary->contradiction_c == b)
		summary->contradiction_c = 0;
}

static bool
is_worse(struct offset offset, struct offset than)
{
	uint64_t nearest = offset_nearest(offset), than_nearest = offset_nearest(than);

	if (!offset_is_known(than))
		return true;
	if (nearest != than_nearest)
		return nearest > than_nearest;
	return offset_farthest(offset) > offset_farthest(than);
}

static void
record_bound(struct offsets_summary *summary, struct offset offset)
{
	uint64_t farthest = offset_is_known(offset) ? offset_farthest(offset) : UINT64_MAX;

	if (farthest > summary->bound_ticks)
		summary->bound_ticks = farthest;
}

/* The bound includes both intervals, because either may be right. */
static void
record_pair(struct offsets_summary *summary, struct offsets *offsets, const struct offset *places, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b), settled = between(offsets, places, a, b);

	record_contradiction(summary, offsets, places, a, b);
	summary->pairs += offset_is_known(own);
	record_bound(summary, settled);
	if (offset_is_known(own))
		record_bound(summary, own);
	if (!offset_is_known(settled) || !is_worse(settled, summary->worst))
		return;
	summary->worst_a = a;
	summary->worst_b = b;
	summary->worst = settled;
}

struct solution {
	const struct offsets *offsets;
	const struct offset *places;
};

/*
 * Answers by pairs, not by places, so that the boot core is treated like any other core. An outvoted pair
 * counts as unknown.
 */
static struct offset
ask(const void *context, size_t a, size_t b)
{
	const struct solution *solution = context;
	struct offset proven = offsets_proven(solution->offsets, a, b), picture = implied(solution->places, a, b);

	if (offset_excludes_zero(proven) && !offset_excludes_zero(picture) && offset_gap(proven, picture))
		return OFFSET_UNKNOWN;
	return proven;
}

/*
 * Returns true if each outlier is proven to differ from each other core, always in the same direction. No core
 * may differ from one on its own side, and both sides must have the same size.
 */
static bool
are_halves(const struct offsets *offsets, const struct offset *places, const bool *outlier)
{
	size_t count = 0, ahead = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		count += outlier[i];
		for (size_t other = 0; other < offsets->cores; other++) {
			struct offset offset = between(offsets, places, other, i);

			if (offset_excludes_zero(offset) != (outlier[i] != outlier[other]))
				return false;
			ahead += outlier[i] && offset.low > 0;
		}
	}
	return count * 2 == offsets->cores && (ahead == 0 || ahead == count * count);
}

/*
 * Handles cores without a majority. If they form two halves, as two cores do, the half without the boot core is
 * marked, because all figures refer to the boot core. Otherwise a mark would name one core of a pair although
 * either may be wrong.
 */
static void
mark_half(struct offsets_summary *summary, const struct offsets *offsets, const struct offset *places,
	  bool *outlier)
{
	bool halves;

	summary->no_majority = true;
	for (size_t i = 0; i < offsets->cores; i++)
		outlier[i] = offset_excludes_zero(between(offsets, places, 0, i));
	halves = are_halves(offsets, places, outlier);
	for (size_t i = 0; i < offsets->cores && !halves; i++)
		outlier[i] = false;
	summary->outliers = halves ? offsets->cores / 2 : 0;
}

/*
 * Finds the outliers. A place without a majority is only the core's own pair with the boot core and must not
 * outvote other pairs, so it is set to unknown for the search.
 */
static struct minority
find_minority(const struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed)
{
	struct solution solution = { offsets, places };
	const bool *decided = disputed; /* up to here */
	struct minority minority;

	for (size_t i = 0; i < offsets->cores; i++)
		if (!decided[i])
			places[i] = OFFSET_UNKNOWN;
	minority = minority_find(ask, &solution, 0, offsets->cores, outlier, disputed);
	for (size_t i = 0; i < offsets->cores; i++)
		if (!offset_is_known(places[i]))
			places[i] = offsets_pair(offsets, 0, i);
	return minority;
}

static void
settle_places(const struct offsets *offsets, struct offset *places)
{
	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset own = offsets_pair(offsets, 0, i);

		places[i] = offset_is_known(own) ? own : offsets_place_by_ways(offsets, i, places[i]);
	}
}

struct offsets_summary
offsets_solve(struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed)
{
	struct offsets_summary summary = { .worst = OFFSET_UNKNOWN };
	bool *decided = disputed; /* until minority_find() uses the array */
	struct minority minority;

	vote_on_places(offsets, places, decided);
	for (size_t a = 0; a < offsets->cores; a++)
		for (size_t b = a + 1; b < offsets->cores; b++)
			record_pair(&summary, offsets, places, a, b);
	if (offsets->cores)
		settle_contradiction(&summary, offsets, places, decided);
	minority = find_minority(offsets, places, outlier, disputed);
	summary.outliers = minority.outliers;
	if (minority.any_differs && !minority.outliers)
		mark_half(&summary, offsets, places, outlier);
	settle_places(offsets, places);
	return summary;
}
