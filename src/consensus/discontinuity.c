/* Divides the clocks into groups that agree on how long a step (a part of the run) lasted. See discontinuity.h. */
#include "consensus/discontinuity.h"

#include "base/set.h"

/* 10 s. The wraps of a clock that wraps sooner cannot be counted. Such a clock measures a step only modulo its wrap. */
#define WRAP_NS_MIN UINT64_C(10000000000)

struct panel { /* the clocks to be compared */
	/* where a clock's wraps can be counted, they are already in its ELAPSED, and its wrap_ns is 0 */
	struct discontinuity_clock clocks[DISCONTINUITY_CLOCKS_MAX];
	size_t count;
	int64_t half_ns; /* half of the caller's FLOOR_NS; each interval is widened by this on both sides */
};

static uint32_t
find_known_clocks(const struct panel *panel)
{
	uint32_t known = 0;

	for (size_t i = 0; i < panel->count; i++)
		known |= (uint32_t)panel->clocks[i].known << i;
	return known;
}

static int64_t
min_clock_elapsed_ns(const struct panel *panel, size_t clock)
{
	return panel->clocks[clock].elapsed.low - panel->half_ns;
}

static int64_t
max_clock_elapsed_ns(const struct panel *panel, size_t clock)
{
	return panel->clocks[clock].elapsed.high + panel->half_ns;
}

/*
 * Returns the smallest multiple of the clock's wrap, in ns, that must be added to FROM so that the sum is at least TO.
 * Returns 0 if the clock does not wrap.
 */
static int64_t
wrap_time_to_reach_ns(const struct discontinuity_clock *clock, int64_t from, int64_t to)
{
	int64_t wrap = (int64_t)clock->wrap_ns, wraps;

	if (!wrap)
		return 0;
	wraps = (to - from) / wrap;
	wraps += wraps * wrap < to - from;
	return wraps * wrap;
}

static bool
does_clock_allow_duration(const struct panel *panel, size_t clock, int64_t ns)
{
	int64_t by = wrap_time_to_reach_ns(&panel->clocks[clock], max_clock_elapsed_ns(panel, clock), ns);

	return min_clock_elapsed_ns(panel, clock) + by <= ns && ns <= max_clock_elapsed_ns(panel, clock) + by;
}

/*
 * Returns the clocks of SET whose interval contains NS. Intervals of clocks that wrap are first shifted by whole wraps.
 */
static uint32_t
find_clocks_that_allow_duration(const struct panel *panel, uint32_t set, int64_t ns)
{
	uint32_t holding = 0;

	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && does_clock_allow_duration(panel, i, ns))
			holding |= set_of(i);
	return holding;
}

/*
 * Returns the largest subset of SET whose intervals share a value. The lowest shared value is always the lower end of
 * one interval, so only lower ends are tried. The intervals of clocks that wrap are shifted by whole wraps.
 */
static uint32_t
find_largest_agreeing_set(const struct panel *panel, uint32_t set)
{
	uint32_t best = 0;

	for (size_t i = 0; i < panel->count; i++) {
		for (size_t j = 0; j < panel->count && set_has(set, i); j++) {
			int64_t begin = min_clock_elapsed_ns(panel, j);

			if (!set_has(set, j))
				continue;
			begin += wrap_time_to_reach_ns(&panel->clocks[j], begin, min_clock_elapsed_ns(panel, i));
			if (begin > max_clock_elapsed_ns(panel, i))
				continue;
			uint32_t holding = find_clocks_that_allow_duration(panel, set, begin);
			if (set_size(holding) > set_size(best))
				best = holding;
		}
	}
	return best;
}

static uint64_t
elapsed_interval_width_ns(const struct panel *panel, size_t clock)
{
	return (uint64_t)(panel->clocks[clock].elapsed.high - panel->clocks[clock].elapsed.low);
}

/*
 * Returns true if the step's duration is known better by CLOCK than by BEST. A clock without uncounted wraps is better,
 * and among such clocks the one with the narrower interval.
 */
static bool
is_better_elapsed_interval(const struct panel *panel, size_t clock, size_t best)
{
	if (best == panel->count || panel->clocks[clock].uncounted != panel->clocks[best].uncounted)
		return best == panel->count || panel->clocks[best].uncounted;
	return elapsed_interval_width_ns(panel, clock) < elapsed_interval_width_ns(panel, best);
}

/*
 * Returns the narrowest interval of the step's duration, among the clocks of SET that do not wrap. If all clocks of SET
 * wrap, returns the interval of an uncounted clock, without its whole wraps.
 */
static struct offset
find_narrowest_elapsed_interval(const struct panel *panel, uint32_t set)
{
	size_t best = panel->count;

	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && (!panel->clocks[i].wrap_ns || panel->clocks[i].uncounted) &&
		    is_better_elapsed_interval(panel, i, best))
			best = i;
	return best == panel->count ? OFFSET_UNKNOWN : panel->clocks[best].elapsed;
}

/* Removes mute clocks (clocks that agree with several groups) from their groups, and then removes empty groups. */
static void
remove_clocks_of_several_groups(const struct panel *panel, struct discontinuity *found)
{
	size_t count = found->count;

	found->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t clocks = found->groups[i].clocks & ~found->mute;

		if (clocks)
			found->groups[found->count++] = (struct discontinuity_group){
				clocks, find_narrowest_elapsed_interval(panel, clocks),
			};
	}
}

/*
 * Returns true if the intervals of A and B overlap. The interval of a clock that wraps is first shifted by whole wraps.
 * If both clocks wrap, only the interval of the clock that wraps sooner is shifted.
 */
static bool
durations_overlap(const struct panel *panel, size_t a, size_t b)
{
	uint64_t wrap_a = panel->clocks[a].wrap_ns, wrap_b = panel->clocks[b].wrap_ns;
	int64_t by;

	if (wrap_a && (!wrap_b || wrap_a < wrap_b))
		return durations_overlap(panel, b, a);
	by = wrap_time_to_reach_ns(&panel->clocks[b], max_clock_elapsed_ns(panel, b), min_clock_elapsed_ns(panel, a));
	return min_clock_elapsed_ns(panel, b) + by <= max_clock_elapsed_ns(panel, a) &&
	       max_clock_elapsed_ns(panel, b) + by >= min_clock_elapsed_ns(panel, a);
}

/* Returns true if the interval of CLOCK overlaps the interval of each clock in SET. */
static bool
does_duration_overlap_all_of_set(const struct panel *panel, size_t clock, uint32_t set)
{
	for (size_t i = 0; i < panel->count; i++)
		if (set_has(set, i) && !durations_overlap(panel, clock, i))
			return false;
	return true;
}

/* Returns the clocks that agree with more than one group. */
static uint32_t
find_clocks_that_agree_with_several_groups(const struct panel *panel, const struct discontinuity *found)
{
	uint32_t mute = 0;

	for (size_t i = 0; i < panel->count; i++) {
		size_t groups = 0;

		for (size_t g = 0; g < found->count && panel->clocks[i].known; g++)
			groups += does_duration_overlap_all_of_set(panel, i, found->groups[g].clocks & ~set_of(i));
		if (groups > 1)
			mute |= set_of(i);
	}
	return mute;
}

/*
 * Returns an estimate of the step's duration: the middle of the narrowest interval among the clocks that do not wrap.
 * Returns 0 if all clocks wrap.
 */
static int64_t
typical_duration_ns(const struct panel *panel)
{
	struct offset narrowest = find_narrowest_elapsed_interval(panel, find_known_clocks(panel));

	return offset_is_known(narrowest) ? offset_middle(narrowest) : 0;
}

static struct panel
make_panel_of_clocks(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns)
{
	struct panel panel = { .count = count, .half_ns = (int64_t)(floor_ns / 2) };

	for (size_t i = 0; i < count; i++)
		panel.clocks[i] = clocks[i];
	int64_t near_ns = typical_duration_ns(&panel);
	for (size_t i = 0; i < count; i++) {
		struct discontinuity_clock *clock = &panel.clocks[i];
		int64_t by = wrap_time_to_reach_ns(clock, offset_middle(clock->elapsed),
						   near_ns - (int64_t)(clock->wrap_ns / 2));

		if (clock->wrap_ns < WRAP_NS_MIN || clock->uncounted)
			continue;
		/* if the interval is wider than the wrap, every duration is possible, so this clock proves nothing */
		clock->known &= elapsed_interval_width_ns(&panel, i) < clock->wrap_ns;
		clock->elapsed = (struct offset){ clock->elapsed.low + by, clock->elapsed.high + by };
		clock->wrap_ns = 0;
	}
	return panel;
}

struct discontinuity
discontinuity_find_groups(const struct discontinuity_clock *clocks, size_t count, uint64_t floor_ns)
{
	const struct panel panel = make_panel_of_clocks(clocks, count, floor_ns);
	struct discontinuity found = { .count = 0 };
	uint32_t left = find_known_clocks(&panel);

	for (; left && found.count < DISCONTINUITY_GROUPS_MAX; found.count++)
		left &= ~(found.groups[found.count].clocks = find_largest_agreeing_set(&panel, left));
	if (left)
		found.groups[found.count - 1].clocks |= left;
	found.mute = find_clocks_that_agree_with_several_groups(&panel, &found);
	remove_clocks_of_several_groups(&panel, &found);
	return found;
}
