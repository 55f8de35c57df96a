/*
 * One picture from all pairs. See offsets.h.
 *
 * Where two cores had ping-pongs, these alone say what is known of the two: an interval by way of a third core is
 * made of two that were taken at other moments, between which a core may have moved. Ways over others serve for two
 * things: for pairs that had no ping-pong, and to see which pairs contradict the rest.
 *
 * For both, where a core may be is put to the vote: its own pair with the boot core is one vote, each way through
 * another core (what is known of that one, and its pair with this one) is one more, and what more than half of them
 * share is the answer. A wrong pair is outvoted: it is one vote of each of its two cores, and where it is a pair with
 * the boot core, one vote of each other core, through the one that it misplaces. Where no more than half of the votes
 * agree, nothing says which are wrong: then the core's own pair with the boot core counts, and a pair that
 * contradicts that is one of three that contradict each other: whichever of the three cores moved, it is these that
 * are named.
 */
#include "sync/offsets.h"

#include "consensus/marzullo.h"
#include "sync/minority.h"
#include "sync/offsets_ways.h"

#define PASSES         2  /* the second goes through cores that the first has narrowed */
#define VOTE_STEPS_MAX 16 /* wrong votes that are outvoted: a pass over all pairs for each would be too long */

struct picture { /* and the core that the vote is about */
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
 * What all ways that meet SHARED say but one, whichever that is: it may be by way of a core that moved between its two
 * ping-pongs, and fit all the same into what the others leave open. SHARED itself where it is of one way.
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

/* What the places of A and B say of B against A. */
static struct offset
implied(const struct offset *places, size_t a, size_t b)
{
	return offset_add(places[b], offset_negate(places[a]));
}

/*
 * The pair's own interval, wherever it has one. Only where it alone says that the two differ, and is outvoted, it is
 * the picture's: one of the two moved, and which moment is the odd one is for the contradictions to say.
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

/* By how much the pair contradicts the places that all pairs voted for, or itself. */
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

/* Whether half of all that know say of RANK what its pair with OTHER says: then that pair may as well be right. */
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

/* The core by way of which the two are the most apart from what their own ping-pongs say; B: there is none. */
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
 * The worst pair is named alone where it contradicts itself, or is outvoted; else one of three may have moved: where no
 * one core's two pairs show it, then the boot core, by which the places of both are.
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

/* The bound holds whichever is right. */
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
 * By pairs and not by the places against the boot core, which is asked like any other. One that is outvoted tells
 * nothing.
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
 * Whether each outlier is proven to differ from each core that is none, all in one direction, while none does from
 * any of its own side, and there are as many of both.
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
 * There is no majority. Where the cores fall into two halves, as two cores do, the one without the boot core is
 * marked, to which all figures refer. Else a mark would name one of a pair of which nothing says which it is.
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
 * Who is in a minority. A place that no majority stands behind, its core's own pair with the boot core, outvotes no
 * pair: so it is unknown meanwhile.
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
	bool *decided = disputed; /* until it is known who is disputed */
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
