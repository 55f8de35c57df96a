/*
 * Calculates the offsets of all cores from the offsets of all pairs, which ping-pongs measured. See offsets.h.
 *
 * A core's offset against the boot core is known in several ways. One is its own ping-pong with the boot core. The
 * others are indirect paths: the offset of a third core, plus the core's offset against that third core. A path may be
 * wrong, because the third core's TSC may have stepped between its two ping-pongs.
 *
 * Each of these offsets is one vote. The result of the vote is the range in which more than half of the votes agree. A
 * pair with a wrong offset causes only one wrong vote for each of its two cores. If the boot core is in the wrong pair,
 * the other core's offset is wrong, and causes one wrong vote for each further core.
 *
 * The result of the vote has two uses: it gives the offset of pairs without a ping-pong, and it shows which ping-pongs
 * contradict the rest. If two cores had a ping-pong, its result is used for their offset.
 *
 * If no more than half of the votes agree, it is unknown which votes are wrong. The core's own ping-pong with the boot
 * core is then used. If the offset of a pair A, B contradicts it, three offsets contradict each other: A against the
 * boot core, B against the boot core, and B against A. The TSC of any of these three cores may have stepped, so all
 * three are reported.
 */
#include "sync/offsets.h"

#include "consensus/marzullo.h"
#include "sync/outliers.h"

/*
 * number of rounds of voting on the cores' offsets; the second round uses the results of the first round, which are
 * more accurate than single ping-pongs
 */
#define VOTE_ROUNDS     2
/*
 * Maximum number of wrong votes on a core's offset for which the right range is still found. The number is limited
 * because finding each wrong vote takes another loop over all votes.
 */
#define WRONG_VOTES_MAX 16

struct vote_input { /* Input for the votes on one core's offset: all known offsets, and the core. */
	const struct offsets *offsets;
	const struct offset *voted;
	size_t rank;
};

static struct offset
offset_through_core(const void *context, size_t through)
{
	const struct vote_input *input = context;

	if (through == input->rank)
		return OFFSET_UNKNOWN;
	return offset_add(input->voted[through],
			  offsets_get_offset(input->offsets, through, input->rank));
}

/*
 * Returns the range of the core's offset that remains possible even if any one of the indirect paths (offsets over a
 * third core) is wrong, because the TSC of its third core stepped between two ping-pongs. Uses only paths that overlap
 * SHARED, the range on which the majority of votes agrees. Returns SHARED if there is at most one such path.
 */
static struct offset
range_if_any_path_is_wrong(const struct vote_input *input, struct offset shared)
{
	struct offset tightest = { INT64_MIN, INT64_MAX }, next = tightest;
	size_t paths = 0;

	for (size_t i = 0; i < input->offsets->cores; i++) {
		struct offset path = offset_through_core(input, i);

		if (!offset_is_known(path) || offset_gap_between(path, shared))
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
vote_on_core_offset(const struct vote_input *input, uint8_t *decided)
{
	struct offset own = offsets_get_offset(input->offsets, 0, input->rank);
	struct marzullo majority = marzullo_find_majority(offset_through_core, input, input->offsets->cores,
							  WRONG_VOTES_MAX);

	*decided = majority.decided * 2 > majority.voters;
	if (!*decided)
		return own;
	if (offset_is_known(own))
		return majority.shared;
	/* More than one wrong path means that TSCs drift. Then the majority of the paths may be wrong, too. */
	return majority.votes + 1 < majority.voters ? OFFSET_UNKNOWN : range_if_any_path_is_wrong(input, majority.shared);
}

static void
vote_on_offsets(const struct offsets *offsets, struct offset *voted, uint8_t *decided)
{
	size_t rounds = offsets->kind == PAIR_SCHEDULE_ALL ? VOTE_ROUNDS : 0;

	for (size_t i = 0; i < offsets->cores; i++)
		voted[i] = offsets_get_offset(offsets, 0, i);
	for (size_t i = 0; i < offsets->cores; i++)
		decided[i] = i == 0;
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 1; i < offsets->cores; i++)
			voted[i] = vote_on_core_offset(&(struct vote_input){ offsets, voted, i }, &decided[i]);
}

/* Returns the offset of core B against core A, calculated from their offsets against the boot core. */
static struct offset
get_voted_offset(const struct offset *voted, size_t a, size_t b)
{
	return offset_add(voted[b], offset_negate(voted[a]));
}

/*
 * Returns the best estimate of B's offset against A. This is the result of their own ping-pong, except in two cases, in
 * which it follows from VOTED. In the first case the pair had no ping-pong. In the second case the ping-pong proves a
 * difference, but the votes contradict it and allow an offset of 0; the pair is then reported as a contradiction.
 */
static struct offset
find_best_offset_of_pair(const struct offsets *offsets, const struct offset *voted, size_t a, size_t b)
{
	struct offset own = offsets_get_offset(offsets, a, b), from_votes = get_voted_offset(voted, a, b);

	if (!offset_is_known(own) || (offset_excludes_zero(own) && !offset_excludes_zero(from_votes) &&
				      offset_gap_between(own, from_votes)))
		return from_votes;
	return own;
}

/*
 * Counts the pair A, B in the summary if its offset contradicts the offset that the votes gave, or changed during the
 * pass. Stores the pair in the summary if this contradiction is the largest so far.
 */
static void
record_contradiction(struct offsets_summary *summary, struct offsets *offsets, const struct offset *voted, size_t a,
		     size_t b)
{
	offsets_record_movement(offsets, a, b,
				offset_gap_between(offsets_get_offset(offsets, a, b), get_voted_offset(voted, a, b)));
	uint64_t ticks = offsets_get_movement_ticks(offsets, a, b);
	summary->contradictions += ticks > 0;
	if (ticks <= summary->contradiction_ticks)
		return;
	summary->contradiction_ticks = ticks;
	summary->contradiction_a = a;
	summary->contradiction_b = b;
}

/*
 * Returns true if at least half of the votes on core RANK agree with the path through core OTHER. The ping-pong of
 * RANK and OTHER may then be right.
 */
static bool
do_half_of_votes_agree(const struct offsets *offsets, const struct offset *voted, size_t rank, size_t other)
{
	const struct vote_input input = { offsets, voted, rank };
	struct offset path = offset_through_core(&input, other);
	size_t known = 0, agree = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset vote = offset_through_core(&input, i);

		known += offset_is_known(vote);
		agree += offset_is_known(vote) && !offset_gap_between(vote, path);
	}
	return 2 * agree >= known;
}

/* Returns the third core whose indirect path contradicts the ping-pong of A and B most. Returns B if no path does. */
static size_t
find_core_that_contradicts_pair(const struct offsets *offsets, size_t a, size_t b)
{
	struct offset own = offsets_get_offset(offsets, a, b);
	uint64_t worst = 0;
	size_t third = b;

	for (size_t i = 0; i < offsets->cores; i++) {
		struct offset path = offset_add(offsets_get_offset(offsets, a, i), offsets_get_offset(offsets, i, b));

		if (i == a || i == b || offset_gap_between(own, path) <= worst)
			continue;
		worst = offset_gap_between(own, path);
		third = i;
	}
	return third;
}

/*
 * Decides which cores are reported with the largest contradiction. If the pair contradicts itself, or the votes on both
 * cores prove its offset wrong, only the pair is reported. Otherwise the TSC of any of three cores may have stepped.
 * The third core is the core whose indirect path contradicts the pair most. If no path contradicts the pair, the third
 * core is the boot core, because the votes gave both cores' offsets against the boot core.
 */
static void
choose_core_that_explains_contradiction(struct offsets_summary *summary, const struct offsets *offsets,
					const struct offset *voted, const uint8_t *decided)
{
	size_t a = summary->contradiction_a, b = summary->contradiction_b;
	bool by_itself = summary->contradiction_ticks >
			 offset_gap_between(offsets_get_offset(offsets, a, b), get_voted_offset(voted, a, b));
	bool outvoted = decided[a] && decided[b] && !do_half_of_votes_agree(offsets, voted, b, a) &&
			(!a || !do_half_of_votes_agree(offsets, voted, a, b));

	summary->contradiction_c = b;
	if (!summary->contradictions || by_itself || outvoted)
		return;
	summary->contradiction_c = find_core_that_contradicts_pair(offsets, a, b);
	if (a && summary->contradiction_c == b)
		summary->contradiction_c = 0;
}

static void
record_bound_of_offset(struct offsets_summary *summary, struct offset offset)
{
	uint64_t farthest = offset_is_known(offset) ? offset_max_abs(offset) : UINT64_MAX;

	if (farthest > summary->bound_ticks)
		summary->bound_ticks = farthest;
}

/*
 * Updates the summary with the pair A, B. The upper bound of the distance covers the pair's own ping-pong and the
 * offset from the votes, because either may be right.
 */
static void
record_pair_in_summary(struct offsets_summary *summary, struct offsets *offsets, const struct offset *voted, size_t a,
		       size_t b)
{
	struct offset own = offsets_get_offset(offsets, a, b), settled = find_best_offset_of_pair(offsets, voted, a, b);

	record_contradiction(summary, offsets, voted, a, b);
	summary->pairs += offset_is_known(own);
	record_bound_of_offset(summary, settled);
	if (offset_is_known(own))
		record_bound_of_offset(summary, own);
	if (!offset_is_known(settled) || !offset_is_worse(settled, summary->worst))
		return;
	summary->worst_a = a;
	summary->worst_b = b;
	summary->worst = settled;
}

struct solution {
	const struct offsets *offsets;
	const struct offset *voted;
};

/*
 * Returns the offset of B against A for outliers_find(). It comes from ping-pongs and not from VOTED, so that the
 * boot core is treated like any other core. If the votes prove a ping-pong wrong, the pair's offset is unknown.
 */
static struct offset
get_offset_of_pair(const void *context, size_t a, size_t b)
{
	const struct solution *solution = context;
	struct offset proven = offsets_get_proven_offset(solution->offsets, a, b);
	struct offset from_votes = get_voted_offset(solution->voted, a, b);

	if (offset_excludes_zero(proven) && !offset_excludes_zero(from_votes) && offset_gap_between(proven, from_votes))
		return OFFSET_UNKNOWN;
	return proven;
}

/*
 * Returns true if the cores form two halves: the outliers, and all other cores. All TSCs of one half must be proven
 * to be ahead of all TSCs of the other half. No two TSCs within a half may be proven to differ.
 */
static bool
do_cores_form_two_halves(const struct offsets *offsets, const struct offset *voted, const uint8_t *outlier)
{
	size_t count = 0, ahead = 0;

	for (size_t i = 0; i < offsets->cores; i++) {
		count += outlier[i];
		for (size_t other = 0; other < offsets->cores; other++) {
			struct offset offset = find_best_offset_of_pair(offsets, voted, other, i);

			if (offset_excludes_zero(offset) != (outlier[i] != outlier[other]))
				return false;
			ahead += outlier[i] && offset.low > 0;
		}
	}
	return count * 2 == offsets->cores && (ahead == 0 || ahead == count * count);
}

/*
 * Marks outliers if there is no majority. If the cores form two halves (also if there are only two cores), the half
 * without the boot core is marked, because all results are given relative to the boot core. Otherwise no core is
 * marked, because either core of a pair may be wrong.
 */
static void
mark_half_as_outliers(struct offsets_summary *summary, const struct offsets *offsets, const struct offset *voted,
		      uint8_t *outlier)
{
	summary->no_majority = true;
	for (size_t i = 0; i < offsets->cores; i++)
		outlier[i] = offset_excludes_zero(find_best_offset_of_pair(offsets, voted, 0, i));
	bool halves = do_cores_form_two_halves(offsets, voted, outlier);
	for (size_t i = 0; i < offsets->cores && !halves; i++)
		outlier[i] = false;
	summary->outliers = halves ? offsets->cores / 2 : 0;
}

/*
 * Finds the outliers. If no majority decided a core's offset, the offset is only the result of this core's own
 * ping-pong with the boot core. Such an offset must not prove other ping-pongs wrong. Therefore the offset is set to
 * unknown during the search.
 */
static struct outliers
find_outliers(const struct offsets *offsets, struct offset *voted, uint8_t *outlier)
{
	struct solution solution = { offsets, voted };
	/* until outliers_find() overwrites OUTLIER, it marks the cores whose offset was decided by a majority of votes */
	const uint8_t *decided = outlier;

	for (size_t i = 0; i < offsets->cores; i++)
		if (!decided[i])
			voted[i] = OFFSET_UNKNOWN;
	struct outliers found = outliers_find(get_offset_of_pair, &solution, 0, offsets->cores, outlier);
	for (size_t i = 0; i < offsets->cores; i++)
		if (!offset_is_known(voted[i]))
			voted[i] = offsets_get_offset(offsets, 0, i);
	return found;
}

static void
set_core_offsets(const struct offsets *offsets, struct offset *core_offsets)
{
	for (size_t i = 1; i < offsets->cores; i++) {
		struct offset own = offsets_get_offset(offsets, 0, i);

		if (offset_is_known(own))
			core_offsets[i] = own;
	}
}

struct offsets_summary
offsets_calculate_core_offsets(struct offsets *offsets, struct offset *core_offsets, uint8_t *outlier)
{
	struct offsets_summary summary = { .worst = OFFSET_UNKNOWN };
	uint8_t *decided = outlier; /* this array has another use in find_outliers() */
	struct outliers found;

	vote_on_offsets(offsets, core_offsets, decided);
	for (size_t a = 0; a < offsets->cores; a++)
		for (size_t b = a + 1; b < offsets->cores; b++)
			record_pair_in_summary(&summary, offsets, core_offsets, a, b);
	if (offsets->cores)
		choose_core_that_explains_contradiction(&summary, offsets, core_offsets, decided);
	found = find_outliers(offsets, core_offsets, outlier);
	summary.outliers = found.outliers;
	if (found.any_differs && !found.outliers)
		mark_half_as_outliers(&summary, offsets, core_offsets, outlier);
	set_core_offsets(offsets, core_offsets);
	return summary;
}
