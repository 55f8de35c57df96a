/* Groups clocks by the time that they measured for one step. See discontinuity.h. */
#include "consensus/discontinuity.h"

#include "base/set.h"

#define WRAP_NS_MIN UINT64_C(10000000000) /* a clock that wraps sooner gives no usable duration */

struct panel {
	/* Clocks that wrap late have their wraps counted. */
	struct discontinuity_clock clocks[DISCONTINUITY_CLOCKS_MAX];
	size_t count;
	int64_t half_ns; /* half of the floor; each interval is widened by this */
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

/* The multiple of the clock's wrap that brings FROM to TO or just above. */
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

/* The clocks of SET whose interval contains NS. */
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
 * The largest group of SET whose intervals share a value. The shared range starts where one of them starts: one
 * interval is taken as it is, another is shifted by its wraps.
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

/* The narrowest duration of the clocks in SET. */
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

/* Removes mute clocks from their groups, and groups that are then empty. */
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

/* Returns true if A and B overlap. If both wrap, A is taken as it is. */
static bool
fit(const struct panel *panel, size_t a, size_t b)
{
	int64_t by;

	if (panel->clocks[a].wrap_ns && !panel->clocks[b].wrap_ns)
		return fit(panel, b, a);
	by = wraps_up_to(&panel->clocks[b], high(panel, b), low(panel, a));
	return low(panel, b) + by <= high(panel, a) && high(panel, b) + by >= low(panel, a);
}

/* Returns true if CLOCK overlaps each clock of SET. */
static bool
fits_all(const struct panel *panel, size_t clock, uint32_t set)
{
	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && !fit(panel, clock, i))
			return false;
	return true;
}

/* The clocks that fit several groups. */
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

/* Middle of the narrowest clock that does not wrap. Clocks that wrap late are assumed to be near it. */
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
		clock->known &= width(&panel, i) < clock->wrap_ns; /* a wider interval contains any time */
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
