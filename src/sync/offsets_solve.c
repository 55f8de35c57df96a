/*
 * Calculates the offsets of all cores from all pairs. See offsets.h.
 *
 * If two cores had a ping-pong, only its result counts for them. An indirect path over a third core combines two
 * measurements from different times, and a core may have moved in between. Indirect paths have two uses: they give the
 * offsets of pairs without a ping-pong, and they show which pairs contradict the rest.
 *
 * For both uses, a vote decides a core's offset. One vote is the core's own pair with the boot core. Each path through
 * another core (that core's offset plus its pair with this core) is one more vote. The result is the range that more
 * than half of the votes share. A wrong pair gives only one wrong vote on each of its two cores. A wrong pair with the
 * boot core misplaces its core, and so gives one wrong vote on each other core.
 *
 * If no more than half of the votes agree, it is unknown which are wrong. The core's own pair with the boot core is
 * then used. If a pair A-B contradicts this, then boot-A, boot-B and A-B contradict each other. Any of the three cores
 * may have moved, so all three are named.
 */
#include "sync/offsets.h"

#include "consensus/marzullo.h"
#include "sync/outliers.h"
#include "sync/offsets_indirect.h"

#define SOLVE_ROUNDS   2  /* the second round uses the offsets that the first has narrowed */
/*
 * Largest number of wrong votes that can be outvoted. The number is limited because each wrong vote takes a further
 * pass over all pairs.
 */
#define VOTE_STEPS_MAX 16

struct vote_input { /* the present offsets, and the core whose offset is voted on */
	const struct offsets *offsets;
	const struct offset *places;
	size_t rank;
};

static struct offset
path_through(const void *context, size_t through)
{
	const struct vote_input *input = context;

	if (through == input->rank)
		return OFFSET_UNKNOWN;
	return offset_add(input->places[through],
			  offsets_pair(input->offsets, through, input->rank));
}

/*
 * Returns the range that remains possible if any single path is left out, among the paths that overlap SHARED. A path
 * may be wrong, because its core moved between its two ping-pongs, and still overlap the others. Returns SHARED if
 * there is only one path.
 */
static struct offset
range_without_any_one(const struct vote_input *input, struct offset shared)
{
	struct offset tightest = { INT64_MIN, INT64_MAX }, next = tightest;
	size_t paths = 0;

	for (size_t i = 0; i < input->offsets->cores; i++) {
		struct offset path = path_through(input, i);

		if (!offset_is_known(path) || offset_gap(path, shared))
			continue;
		paths++;
		next.low = path.low > tightest.low ? tightest.low : path.low > next.low ? path.low : next.low;
		tightest.low = path.low > tightest.low ? path.low : tightest.low;
		next.high = path.high < tightest.high ? tightest.high : path.high < next.high ? path.high : next.high;
		tightest.high = path.high < tightest.high ? path.high : tightest.high;
	}
	return paths > 1 ? next : shared;
}

static struct offset
vote(const struct vote_input *input, bool *decided)
{
	struct offset own = offsets_pair(input->offsets, 0, input->rank);
	struct marzullo majority = marzullo_find(path_through, input, input->offsets->cores,
						 VOTE_STEPS_MAX);

	*decided = majority.decided * 2 > majority.voters;
	if (!*decided)
		return own;
	return offset_is_known(own) ? majority.shared : range_without_any_one(input, majority.shared);
}

static void
vote_on_places(const struct offsets *offsets, struct offset *places, bool *decided)
{
	size_t rounds = offsets->kind == PAIR_SCHEDULE_ALL ? SOLVE_ROUNDS : 0;

	for (size_t i = 0; i < offsets->cores; i++)
		places[i] = offsets_pair(offsets, 0, i);
	for (size_t i = 0; i < offsets->cores; i++)
		decided[i] = i == 0;
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 1; i < offsets->cores; i++)
			places[i] = vote(&(struct vote_input){ offsets, places, i }, &decided[i]);
}

/* Returns the offset of B against A that follows from PLACES. */
static struct offset
placed_offset(const struct offset *places, size_t a, size_t b)
{
	return offset_add(places[b], offset_negate(places[a]));
}

/*
 * Returns the offset of B against A. This is the pair's own interval if it has one. If its own interval proves a
 * difference but is outvoted, the result follows from PLACES. One of the two cores then moved, and is reported as a
 * contradiction.
 */
static struct offset
settled_offset(const struct offsets *offsets, const struct offset *places, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b), placed = placed_offset(places, a, b);

	if (!offset_is_known(own) || (offset_excludes_zero(own) && !offset_excludes_zero(placed) &&
				      offset_gap(own, placed)))
		return placed;
	return own;
}

/* Records the size of the pair's contradiction with PLACES, which come from the votes of all pairs, or with itself. */
static void
record_contradiction(struct offsets_summary *summary, struct offsets *offsets, const struct offset *places, size_t a,
		     size_t b)
{
	uint64_t ticks;

	offsets_record_moved(offsets, a, b, offset_gap(offsets_pair(offsets, a, b), placed_offset(places, a, b)));
	ticks = offsets_moved(offsets, a, b);
	summary->contradictions += ticks > 0;
	if (ticks <= summary->contradiction_ticks)
		return;
	summary->contradiction_ticks = ticks;
	summary->contradiction_a = a;
	summary->contradiction_b = b;
}

/*
 * Returns true if at least half of the votes on RANK agree with the pair of RANK and OTHER. This pair may then be
 * right.
 */
static bool
half_of_votes_agree(const struct offsets *offsets, const struct offset *places, size_t rank, size_t other)
{
	const struct vote_input input = { offsets, places, rank };
	struct offset path = path_through(&input, other);
	size_t known = 0, agree = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset vote = path_through(&input, i);

		known += offset_is_known(vote);
		agree += offset_is_known(vote) && !offset_gap(vote, path);
	}
	return 2 * agree >= known;
}

/*
 * Returns the third core whose indirect path is furthest from the interval of the pair A, B. Returns B if there is
 * none.
 */
static size_t
find_third(const struct offsets *offsets, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b);
	uint64_t worst = 0;
	size_t third = b;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset path = offset_add(offsets_pair(offsets, a, i), offsets_pair(offsets, i, b));

		if (i == a || i == b || offset_gap(own, path) <= worst)
			continue;
		worst = offset_gap(own, path);
		third = i;
	}
	return third;
}

/*
 * Decides which cores are named in the largest contradiction. If the pair contradicts itself or is outvoted, only the
 * pair is named. Otherwise any of three cores may have moved. The third core is the one whose path contradicts the pair
 * most. If there is none, it is the boot core, because PLACES of both cores are offsets against the boot core.
 */
static void
name_contradicting_cores(struct offsets_summary *summary, const struct offsets *offsets, const struct offset *places,
			 const bool *decided)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b;
	bool by_itself = summary->contradiction_ticks >
			 offset_gap(offsets_pair(offsets, a, b), placed_offset(places, a, b));
	bool outvoted = decided[a] && decided[b] && !half_of_votes_agree(offsets, places, b, a) &&
			(!a || !half_of_votes_agree(offsets, places, a, b));

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
	uint64_t nearest = offset_min_size(offset), than_nearest = offset_min_size(than);

	if (!offset_is_known(than))
		return true;
	if (nearest != than_nearest)
		return nearest > than_nearest;
	return offset_max_size(offset) > offset_max_size(than);
}

static void
record_bound(struct offsets_summary *summary, struct offset offset)
{
	uint64_t farthest = offset_is_known(offset) ? offset_max_size(offset) : UINT64_MAX;

	if (farthest > summary->bound_ticks)
		summary->bound_ticks = farthest;
}

/*
 * Updates the summary with a pair. The upper bound includes the pair's own interval and the interval that follows from
 * the votes, because either of them may be the right one.
 */
static void
record_pair(struct offsets_summary *summary, struct offsets *offsets, const struct offset *places, size_t a, size_t b)
{
	struct offset own = offsets_pair(offsets, a, b), settled = settled_offset(offsets, places, a, b);

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
 * Returns the offset of B against A for minority_find(). It comes from the ping-pongs of pairs and not from PLACES, so
 * that the boot core is treated like any other core. An outvoted pair counts as unknown.
 */
static struct offset
pair_offset(const void *context, size_t a, size_t b)
{
	const struct solution *solution = context;
	struct offset proven = offsets_proven(solution->offsets, a, b), placed = placed_offset(solution->places, a, b);

	if (offset_excludes_zero(proven) && !offset_excludes_zero(placed) && offset_gap(proven, placed))
		return OFFSET_UNKNOWN;
	return proven;
}

/*
 * Returns true if the outliers are half of all cores, and are all ahead of or all behind the other half. Each outlier
 * must be proven to differ from each core of the other half. No two cores of the same half may differ.
 */
static bool
are_halves(const struct offsets *offsets, const struct offset *places, const bool *outlier)
{
	size_t count = 0, ahead = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		count += outlier[i];
		for (size_t other = 0; other < offsets->cores; other++) {
			struct offset offset = settled_offset(offsets, places, other, i);

			if (offset_excludes_zero(offset) != (outlier[i] != outlier[other]))
				return false;
			ahead += outlier[i] && offset.low > 0;
		}
	}
	return count * 2 == offsets->cores && (ahead == 0 || ahead == count * count);
}

/*
 * Marks outliers if there is no majority. If the cores form two halves, as two cores do, the half without the boot core
 * is marked, because all figures refer to the boot core. Otherwise no core is marked, because either core of a pair may
 * be wrong.
 */
static void
mark_half(struct offsets_summary *summary, const struct offsets *offsets, const struct offset *places,
	  bool *outlier)
{
	bool halves;

	summary->no_majority = true;
	for (size_t i = 0; i < offsets->cores; i++)
		outlier[i] = offset_excludes_zero(settled_offset(offsets, places, 0, i));
	halves = are_halves(offsets, places, outlier);
	for (size_t i = 0; i < offsets->cores && !halves; i++)
		outlier[i] = false;
	summary->outliers = halves ? offsets->cores / 2 : 0;
}

/*
 * Finds the outliers. If a core's place was not decided by a vote, it is only the core's own pair with the boot core,
 * and must not outvote other pairs. Therefore it is unknown during the search.
 */
static struct minority
find_minority(const struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed)
{
	struct solution solution = { offsets, places };
	/* until minority_find() uses this array, it marks cores whose place was decided by a vote */
	const bool *decided = disputed;
	struct minority minority;

	for (size_t i = 0; i < offsets->cores; i++)
		if (!decided[i])
			places[i] = OFFSET_UNKNOWN;
	minority = minority_find(pair_offset, &solution, 0, offsets->cores, outlier, disputed);
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

		places[i] = offset_is_known(own) ? own : offsets_place_by_paths(offsets, i, places[i]);
	}
}

struct offsets_summary
offsets_solve(struct offsets *offsets, struct offset *places, bool *outlier, bool *disputed)
{
	struct offsets_summary summary = { .worst = OFFSET_UNKNOWN };
	/* until minority_find() uses this array, it marks cores whose place was decided by a vote */
	bool *decided = disputed;
	struct minority minority;

	vote_on_places(offsets, places, decided);
	for (size_t a = 0; a < offsets->cores; a++)
		for (size_t b = a + 1; b < offsets->cores; b++)
			record_pair(&summary, offsets, places, a, b);
	if (offsets->cores)
		name_contradicting_cores(&summary, offsets, places, decided);
	minority = find_minority(offsets, places, outlier, disputed);
	summary.outliers = minority.outliers;
	if (minority.any_differs && !minority.outliers)
		mark_half(&summary, offsets, places, outlier);
	settle_places(offsets, places);
	return summary;
}
