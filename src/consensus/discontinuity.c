/* Clocks in groups by what they say of one step. See discontinuity.h. */
#include "consensus/discontinuity.h"

#include "base/set.h"

#define WRAP_NS_MIN UINT64_C(10000000000) /* one that wraps sooner does not say how long something took */

struct panel {
	struct discontinuity_clock clocks[DISCONTINUITY_CLOCKS_MAX]; /* those that wrap late with the wraps counted */
	size_t count;
	int64_t half_ns; /* of the floor: by so much is each interval widened */
};

static int64_t
low(const struct panel *panel, size_t clock)
{
	return panel->clocks[clock].elapsed.low - panel->half_ns;
}

static int64_t
high(const struct panel *panel, size_t clock)
{
	return panel->clocks[clock].elapsed.high + panel->half_ns;
}

/* What is added to FROM, some of the clock's wraps, so that it is the first at TO or later. */
static int64_t
wraps_up_to(const struct discontinuity_clock *clock, int64_t from, int64_t to)
{
	int64_t wrap = (int64_t)clock->wrap_ns, wraps;

	if (!wrap)
		return 0;
	wraps = (to - from) / wrap;
	wraps += wraps * wrap < to - from;
	return wraps * wrap;
}

static bool
holds(const struct panel *panel, size_t clock, int64_t ns)
{
	int64_t by = wraps_up_to(&panel->clocks[clock], high(panel, clock), ns);

	return low(panel, clock) + by <= ns && ns <= high(panel, clock) + by;
}

/* Those of SET that hold NS. */
static uint32_t
holders(const struct panel *panel, uint32_t set, int64_t ns)
{
	uint32_t holding = 0;

	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && holds(panel, i, ns))
			holding |= set_of(i);
	return holding;
}

/*
 * What most of SET hold begins where one of them does: in one of them that is taken as it is, another with its wraps.
 * Returns those who hold it.
 */
static uint32_t
largest(const struct panel *panel, uint32_t set)
{
	uint32_t best = 0;

	for (size_t i = 0; i < panel->count; i++) {
		for (size_t j = 0; j < panel->count && set_has(set, i); j++) {
			int64_t begin = low(panel, j);
			uint32_t holding;

			if (!set_has(set, j))
				continue;
			begin += wraps_up_to(&panel->clocks[j], begin, low(panel, i));
			if (begin > high(panel, i))
				continue;
			holding = holders(panel, set, begin);
			if (set_size(holding) > set_size(best))
				best = holding;
		}
	}
	return best;
}

static uint64_t
width(const struct panel *panel, size_t clock)
{
	return (uint64_t)(panel->clocks[clock].elapsed.high - panel->clocks[clock].elapsed.low);
}

/* How long it took by the one of SET that knows best. */
static struct offset
elapsed(const struct panel *panel, uint32_t set)
{
	size_t best = panel->count;

	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && !panel->clocks[i].wrap_ns &&
		    (best == panel->count || width(panel, i) < width(panel, best)))
			best = i;
	return best == panel->count ? OFFSET_UNKNOWN : panel->clocks[best].elapsed;
}

/* Takes the mute out of their groups, and the groups of which none is left away. */
static void
drop_mute(const struct panel *panel, struct discontinuity *found)
{
	size_t count = found->count;

	found->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t clocks = found->groups[i].clocks & ~found->mute;

		if (clocks)
			found->groups[found->count++] = (struct discontinuity_group){
				clocks, elapsed(panel, clocks),
			};
	}
}

/* Whether A and B fit; of two that wrap A is taken as it is. */
static bool
fit(const struct panel *panel, size_t a, size_t b)
{
	int64_t by;

	if (panel->clocks[a].wrap_ns && !panel->clocks[b].wrap_ns)
		return fit(panel, b, a);
	by = wraps_up_to(&panel->clocks[b], high(panel, b), low(panel, a));
	return low(panel, b) + by <= high(panel, a) && high(panel, b) + by >= low(panel, a);
}

/* Whether CLOCK fits each of SET. */
static bool
fits_all(const struct panel *panel, size_t clock, uint32_t set)
{
	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && !fit(panel, clock, i))
			return false;
	return true;
}

/* Those that fit several of the groups. */
static uint32_t
find_mute(const struct panel *panel, const struct discontinuity *found)
{
	uint32_t mute = 0;

	for (size_t i = 0; i < panel->count; i++) {
		size_t groups = 0;

		for (size_t g = 0; g < found->count && panel->clocks[i].known; g++)
			groups += fits_all(panel, i, found->groups[g].clocks & ~set_of(i));
		if (groups > 1)
			mute |= set_of(i);
	}
	return mute;
}

static int64_t
middle(const struct offset *offset)
{
	return offset->low + (offset->high - offset->low) / 2;
}

/* Of those that do not wrap the one that knows best: those that wrap late are taken to be near it. */
static int64_t
anchor(const struct panel *panel)
{
	size_t best = panel->count;

	for (size_t i = 0; i < panel->count; i++)
		if (panel->clocks[i].known && !panel->clocks[i].wrap_ns &&
		    (best == panel->count || width(panel, i) < width(panel, best)))
			best = i;
	return best == panel->count ? 0 : middle(&panel->clocks[best].elapsed);
}

static struct panel
panel_of(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns)
{
	struct panel panel = { .count = count, .half_ns = (int64_t)(floor_ns / 2) };
	int64_t near_ns;

	for (size_t i = 0; i < count; i++)
		panel.clocks[i] = clocks[i];
	near_ns = anchor(&panel);
	for (size_t i = 0; i < count; i++) {
		struct discontinuity_clock *clock = &panel.clocks[i];
		int64_t by = wraps_up_to(clock, middle(&clock->elapsed), near_ns - (int64_t)(clock->wrap_ns / 2));

		if (clock->wrap_ns < WRAP_NS_MIN)
			continue;
		clock->known &= width(&panel, i) < clock->wrap_ns; /* else it holds any time */
		clock->elapsed = (struct offset){ clock->elapsed.low + by, clock->elapsed.high + by };
		clock->wrap_ns = 0;
	}
	return panel;
}

struct discontinuity
discontinuity_find(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns)
{
	const struct panel panel = panel_of(clocks, count, floor_ns);
	struct discontinuity found = { .count = 0 };
	uint32_t left = 0;

	for (size_t i = 0; i < count; i++)
		left |= (uint32_t)panel.clocks[i].known << i;
	for (; left && found.count < DISCONTINUITY_GROUPS_MAX; found.count++)
		left &= ~(found.groups[found.count].clocks = largest(&panel, left));
	if (left)
		found.groups[found.count - 1].clocks |= left;
	found.mute = find_mute(&panel, &found);
	drop_mute(&panel, &found);
	return found;
}
