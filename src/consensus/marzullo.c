/* Finds the range that most intervals contain. See marzullo.h. */
#include "consensus/marzullo.h"

struct voters {
	marzullo_vote *vote;
	const void *context;
	size_t count;
};

struct tally { /* The result of counting the intervals at one value. */
	size_t votes;     /* number of intervals that contain the tested value */
	size_t below;     /* number of intervals that start below the tested value */
	int64_t high;     /* lowest upper end of the intervals that contain the tested value */
	int64_t next_low; /* highest lower end below the tested value; INT64_MIN if there is none */
};

static struct tally
count_votes_for_value(const struct voters *all, int64_t value)
{
	struct tally tally = { .high = INT64_MAX, .next_low = INT64_MIN };

	for (size_t i = 0; i < all->count; i++) {
		struct offset vote = all->vote(all->context, i);

		if (!offset_is_known(vote) || vote.low > value)
			continue;
		if (vote.low < value) {
			tally.below++;
			tally.next_low = vote.low > tally.next_low ? vote.low : tally.next_low;
		}
		if (vote.high >= value) {
			tally.votes++;
			tally.high = vote.high < tally.high ? vote.high : tally.high;
		}
	}
	return tally;
}

/*
 * Finds the range that all intervals contain. If there is no such range, the result has low > high, and low is the
 * highest lower end of any interval.
 */
static struct marzullo
intersect_all_votes(const struct voters *all)
{
	struct marzullo majority = { .shared = OFFSET_UNKNOWN };

	for (size_t i = 0; i < all->count; i++) {
		struct offset vote = all->vote(all->context, i);

		if (!offset_is_known(vote))
			continue;
		majority.voters++;
		majority.shared = offset_intersect(majority.shared, vote);
	}
	majority.votes = majority.decided = majority.voters;
	majority.lowest = majority.shared;
	return majority;
}

static bool
intervals_overlap(struct offset a, struct offset b)
{
	return a.low <= b.high && b.low <= a.high;
}

/*
 * Returns the number of voters whose interval overlaps SHARED, but no interval that lies completely outside of SHARED.
 * A voter whose interval overlaps such an outer interval may belong to another group.
 */
static size_t
count_unambiguous_voters(const struct voters *all, struct offset shared)
{
	struct offset ours = OFFSET_UNKNOWN;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct offset vote = all->vote(all->context, i);

		if (!offset_is_known(vote) || intervals_overlap(vote, shared))
			continue;
		if (vote.low > shared.high && vote.low - 1 < ours.high)
			ours.high = vote.low - 1;
		if (vote.high < shared.low && vote.high + 1 > ours.low)
			ours.low = vote.high + 1;
	}
	for (size_t i = 0; i < all->count; i++) {
		struct offset vote = all->vote(all->context, i);

		count += offset_is_known(vote) && intervals_overlap(vote, shared) && vote.low >= ours.low &&
			 vote.high <= ours.high;
	}
	return count;
}

/* The range with the most votes always starts at the lower end of an interval, so only lower ends are tried. */
struct marzullo
marzullo_find_majority(marzullo_vote *vote, const void *context, size_t count, size_t steps_max)
{
	struct voters all = { vote, context, count };
	struct marzullo majority = intersect_all_votes(&all);
	int64_t value = majority.shared.low;
	struct tally tally;

	if (majority.shared.low <= majority.shared.high)
		return majority;
	majority.votes = 0;
	for (size_t step = 0; step < steps_max; step++, value = tally.next_low) {
		tally = count_votes_for_value(&all, value);
		majority.tied = tally.votes == majority.votes ||
				(majority.tied && tally.votes < majority.votes);
		if (tally.votes >= majority.votes)
			majority.lowest = (struct offset){ value, tally.high };
		if (tally.votes > majority.votes) {
			majority.shared = majority.lowest;
			majority.votes = tally.votes;
		}
		if (tally.next_low == INT64_MIN || tally.below < majority.votes)
			break;
	}
	majority.decided = count_unambiguous_voters(&all, majority.shared);
	return majority;
}
