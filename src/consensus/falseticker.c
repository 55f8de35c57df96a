/* Finds clocks with wrong rates. See falseticker.h. */
#include "consensus/falseticker.h"

struct panel {
	const struct rate_interval *rates;
	size_t count;
	const struct falseticker_sources *sources;
	uint64_t limit_ppb;
	uint32_t disagree[FALSETICKER_RATES_MAX]; /* bit B of disagree[A] is set if A and B disagree */
};

struct group {
	uint32_t members;
	unsigned clocks, sources;
	uint64_t narrowest;
};

static void
find_disagreeing_pairs(struct panel *panel)
{
	for (size_t a = 0; a < panel->count; a++) {
		for (size_t b = 0; b < panel->count; b++) {
			struct interval_ppb by = rate_relative_difference(&panel->rates[a], &panel->rates[b]);

			if (rate_is_beyond(&by, panel->limit_ppb))
				panel->disagree[a] |= set_of(b), panel->disagree[b] |= set_of(a);
		}
	}
}

static uint32_t
find_clocks_with_known_rate(const struct panel *panel)
{
	uint32_t set = 0;

	for (size_t i = 0; i < panel->count; i++)
		if (panel->rates[i].known)
			set |= set_of(i);
	return set;
}

/* Returns true if any two clocks of SET disagree. */
static bool
does_any_pair_disagree(const struct panel *panel, uint32_t set)
{
	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && panel->disagree[i] & set)
			return true;
	return false;
}

/*
 * Returns the clocks of SET that have a vote. Such a clock disagrees with at least one other clock, and all clocks
 * with which it agrees also agree with each other. Therefore a clock with a vote cannot belong to two groups.
 */
static uint32_t
find_voting_clocks(const struct panel *panel, uint32_t set)
{
	uint32_t voting = 0;

	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && panel->disagree[i] & set &&
		    !does_any_pair_disagree(panel, set & ~panel->disagree[i]))
			voting |= set_of(i);
	return voting;
}

/*
 * Returns the number of independent sources in SET. It is the size of the largest subset in which all clocks have
 * different sources.
 */
static unsigned
count_independent_sources(const struct panel *panel, uint32_t set)
{
	size_t first = 0;
	unsigned with, without;

	if (!panel->sources || !set)
		return set_size(set);
	while (!set_has(set, first))
		first++;
	set &= ~set_of(first);
	with = 1 + count_independent_sources(panel, set & panel->sources->separate[first]);
	without = (set & panel->sources->separate[first]) == set ? 0 : count_independent_sources(panel, set);
	return with > without ? with : without;
}

/* Returns the group of the clocks in VOTING that agree with the clock FIRST. */
static struct group
make_agreeing_group(const struct panel *panel, uint32_t voting, size_t first)
{
	struct group group = { .members = voting & ~panel->disagree[first], .narrowest = UINT64_MAX };

	group.clocks = set_size(group.members);
	group.sources = count_independent_sources(panel, group.members);
	for (size_t i = 0; i < panel->count; i++)
		if (set_has(group.members, i) && rate_width(&panel->rates[i]) < group.narrowest)
			group.narrowest = rate_width(&panel->rates[i]);
	return group;
}

static bool
is_larger_group(const struct group *a, const struct group *b)
{
	if (a->clocks != b->clocks)
		return a->clocks > b->clocks;
	return a->sources != b->sources ? a->sources > b->sources : a->narrowest < b->narrowest;
}

static struct group
find_largest_group(const struct panel *panel, uint32_t voting)
{
	struct group largest = { .members = 0 };

	for (size_t i = 0; i < panel->count; i++) {
		if (!set_has(voting, i))
			continue;
		struct group group = make_agreeing_group(panel, voting, i);
		if (is_larger_group(&group, &largest))
			largest = group;
	}
	return largest;
}

/* Returns the clocks of SET that disagree with the clock REFERENCE. */
static uint32_t
find_clocks_that_disagree(const struct panel *panel, uint32_t set, size_t reference)
{
	return reference < panel->count ? set & panel->disagree[reference] : 0;
}

/*
 * Finds falsetickers among the clocks that certainly have the same source. Only these clocks vote. A group that agrees
 * decides if it has at least two clocks and more than half of the voters. Voters that disagree with this group are
 * falsetickers.
 */
static void
find_falsetickers_of_same_source(const struct panel *panel, struct falseticker *found)
{
	uint32_t same_source = panel->sources ? panel->sources->same_source & find_clocks_with_known_rate(panel) : 0;
	uint32_t voting = find_voting_clocks(panel, same_source);
	struct group largest = find_largest_group(panel, voting);

	found->same_source_reference = panel->count;
	if (largest.clocks < 2 || 2 * largest.clocks <= set_size(voting))
		return;
	found->same_source = largest.members;
	found->same_source_reference = rate_find_consensus_index(panel->rates, panel->count, largest.members);
	found->falsetickers = find_clocks_that_disagree(panel, voting & ~largest.members, found->same_source_reference);
}

static void
choose_disagreeing_pair(const struct panel *panel, uint32_t voting, struct falseticker *found)
{
	uint64_t narrowest = UINT64_MAX;

	for (size_t a = 0; a < panel->count; a++) {
		for (size_t b = a + 1; b < panel->count; b++) {
			uint64_t both = rate_width(&panel->rates[a]) + rate_width(&panel->rates[b]);

			if (!set_has(voting, a) || !set_has(voting & panel->disagree[a], b) ||
			    (!set_has(found->truechimers, a) && !set_has(found->truechimers, b)) ||
			    both >= narrowest)
				continue;
			narrowest = both;
			found->a = a;
			found->b = b;
		}
	}
	found->group_a = voting & ~panel->disagree[found->a];
	found->group_b = voting & ~panel->disagree[found->b];
	found->others = voting & ~found->group_a & ~found->group_b;
}

struct falseticker
falseticker_find(const struct rate_interval *rates, size_t count, const struct falseticker_sources *all_sources,
		 uint64_t limit_ppb)
{
	struct panel panel = { .rates = rates, .count = count, .sources = all_sources, .limit_ppb = limit_ppb };
	struct falseticker found = { .truechimers = 0 };
	uint32_t among, voting, rest;

	find_disagreeing_pairs(&panel);
	find_falsetickers_of_same_source(&panel, &found);
	among = find_clocks_with_known_rate(&panel) & ~found.falsetickers;
	voting = find_voting_clocks(&panel, among);
	found.voters = voting | found.same_source;
	struct group largest = find_largest_group(&panel, voting);
	rest = voting & ~largest.members;
	found.undecided = rest && (2 * largest.clocks <= set_size(voting) ||
				   largest.sources <= count_independent_sources(&panel, rest));
	found.truechimers = found.undecided ? largest.members : among & ~rest;
	found.reference = rate_find_consensus_index(rates, count, found.truechimers);
	if (found.undecided)
		choose_disagreeing_pair(&panel, voting, &found);
	else
		found.falsetickers |= find_clocks_that_disagree(&panel, rest, found.reference);
	return found;
}
