/* Groups of rates that agree. See falseticker.h. */
#include "falseticker.h"

struct panel {
	const struct rate_interval *rates;
	size_t count;
	uint64_t limit_ppb;
};

static uint32_t
bit(size_t rate)
{
	return UINT32_C(1) << rate;
}

static bool
disagree(const struct panel *panel, size_t a, size_t b)
{
	struct interval_ppb by = rate_compare(&panel->rates[a], &panel->rates[b]);

	return rate_beyond(&by, panel->limit_ppb);
}

/* Those that disagree with any other. */
static uint32_t
voters(const struct panel *panel)
{
	uint32_t set = 0;

	for (size_t a = 0; a < panel->count; a++)
		for (size_t b = 0; b < panel->count; b++)
			if (disagree(panel, a, b))
				set |= bit(a);
	return set;
}

/*
 * The largest group in which LATEST is the one that begins highest: all that begin no higher and agree with it
 * reach up to it, less the limit, and so agree with each other too. Each largest group has such a latest one.
 */
static uint32_t
group_below(const struct panel *panel, uint32_t among, size_t latest)
{
	uint32_t set = 0;

	for (size_t i = 0; i < panel->count; i++)
		if (falseticker_has(among, i) && panel->rates[i].low <= panel->rates[latest].low &&
		    !disagree(panel, i, latest))
			set |= bit(i);
	return set;
}

static unsigned
size(uint32_t set)
{
	unsigned count = 0;

	for (; set; set &= set - 1)
		count++;
	return count;
}

/* The largest groups of VOTING rates, all in one set, and whether there are several. */
static void
find_groups(const struct panel *panel, uint32_t voting, struct falseticker *found)
{
	uint32_t first = 0;

	for (size_t i = 0; i < panel->count; i++) {
		uint32_t group = falseticker_has(voting, i) ? group_below(panel, voting, i) : 0;

		if (size(group) > size(first)) {
			first = found->truechimers = group;
			found->undecided = false;
		} else if (group && size(group) == size(first) && group != first) {
			found->truechimers |= group;
			found->undecided = true;
		}
	}
}

/* The consensus of those in SET alone. */
static size_t
reference_of(const struct panel *panel, uint32_t set)
{
	struct rate_interval rates[FALSETICKER_RATES_MAX] = { { .known = false } };

	for (size_t i = 0; i < panel->count; i++)
		if (falseticker_has(set, i))
			rates[i] = panel->rates[i];
	return rate_consensus(rates, panel->count);
}

static uint64_t
width(const struct panel *panel, size_t a, size_t b)
{
	return panel->rates[a].high - panel->rates[a].low + panel->rates[b].high - panel->rates[b].low;
}

static void
name_two(const struct panel *panel, struct falseticker *found)
{
	uint64_t narrowest = UINT64_MAX;

	for (size_t a = 0; a < panel->count; a++) {
		for (size_t b = a + 1; b < panel->count; b++) {
			if (!falseticker_has(found->truechimers, a) || !falseticker_has(found->truechimers, b) ||
			    !disagree(panel, a, b) || width(panel, a, b) >= narrowest)
				continue;
			narrowest = width(panel, a, b);
			found->a = a;
			found->b = b;
		}
	}
}

struct falseticker
falseticker_find(const struct rate_interval *rates, size_t count, uint64_t limit_ppb)
{
	const struct panel panel = { rates, count, limit_ppb };
	uint32_t voting = voters(&panel);
	struct falseticker found = { .truechimers = 0 };

	find_groups(&panel, voting, &found);
	found.truechimers |= ~voting; /* one that disagrees with none belongs to each group */
	found.reference = reference_of(&panel, found.truechimers);
	for (size_t i = 0; i < count; i++)
		if (!falseticker_has(found.truechimers, i) && disagree(&panel, i, found.reference))
			found.falsetickers |= bit(i);
	if (found.undecided)
		name_two(&panel, &found);
	return found;
}
