/* Fits straight lines through many readings. See rate_fit.h. */
#include "consensus/rate_fit.h"

#include "base/scale.h"

#define RISE_TICKS (INT64_C(1) << 32)

typedef __int128 wide;

/*
 * The corners that a line can touch, on one side of the lines. Corners are points that bound all lines: see rate_fit.h.
 */
struct hull {
	struct rate_corner corners[RATE_SAMPLES_MAX];
	size_t count;
	int side; /* 1 if the lines must pass above these corners (see rate_fit.h), -1 if they must pass below */
};

/*
 * Returns true if corner B, between A and C, is redundant: each line that passes A and C on the correct side also
 * passes B on that side.
 */
static bool
is_corner_redundant(int side, const struct rate_corner *a, const struct rate_corner *b, const struct rate_corner *c)
{
	wide by_b = (wide)(b->ticks - a->ticks) * (c->tsc - a->tsc);
	wide by_c = (wide)(c->ticks - a->ticks) * (b->tsc - a->tsc);

	return side > 0 ? by_b <= by_c : by_b >= by_c;
}

/* Adds a corner to the hull. Ignores a corner that is earlier than the previous one. */
static void
add_corner_to_hull(struct hull *hull, struct rate_corner corner)
{
	if (hull->count && corner.tsc < hull->corners[hull->count - 1].tsc)
		return;
	while (hull->count > 1 && is_corner_redundant(hull->side, &hull->corners[hull->count - 2],
						      &hull->corners[hull->count - 1], &corner))
		hull->count--;
	hull->corners[hull->count++] = corner;
}

/* Returns the index of the corner that a line with the slope RISE touches. */
static size_t
find_corner_touched_by_tangent(const struct hull *hull, uint64_t rise)
{
	size_t best = 0;
	wide best_height = 0;

	for (size_t i = 0; i < hull->count; i++) {
		const struct rate_corner *corner = &hull->corners[i];
		wide height = ((wide)corner->ticks * RISE_TICKS - (wide)rise * corner->tsc) * hull->side;

		if (i && height <= best_height)
			continue;
		best = i;
		best_height = height;
	}
	return best;
}

/*
 * Copies to KEPT the corner that a line with the slope RISE touches, and its neighbours, at most RATE_CORNERS_MAX
 * corners. Returns their number.
 */
static size_t
copy_corners_near_tangent(const struct hull *hull, uint64_t rise, struct rate_corner *kept)
{
	size_t at = find_corner_touched_by_tangent(hull, rise);
	size_t count = hull->count < RATE_CORNERS_MAX ? hull->count : RATE_CORNERS_MAX;
	size_t from = at > RATE_CORNERS_MAX / 2 ? at - RATE_CORNERS_MAX / 2 : 0;

	if (from + count > hull->count)
		from = hull->count - count;
	for (size_t i = 0; i < count; i++)
		kept[i] = hull->corners[from + i];
	return count;
}

struct rate_corners
rate_find_corners(const struct clock *clock, uint64_t trust_ticks, uint64_t rise, const struct sample *samples,
		  size_t count)
{
	struct sample tightest = rate_shortest_sample(samples, count);
	struct rate_corners corners = { .narrowest = tightest.end - tightest.begin };
	struct hull lower = { .count = 0, .side = 1 }, upper = { .count = 0, .side = -1 };

	for (size_t i = 0; i < count && i < RATE_SAMPLES_MAX; i++) {
		const struct sample *sample = &samples[i];
		bool later = sample->begin > tightest.begin;
		int64_t ticks = (int64_t)rate_unwrap_ticks(clock, tightest.ticks, sample->ticks, 0);

		if (sample->begin != tightest.begin && (sample->end < sample->begin ||
		    !clock_comparable(trust_ticks, later ? &tightest : sample, later ? sample : &tightest)))
			continue;
		add_corner_to_hull(&lower, (struct rate_corner){ (int64_t)(sample->end - tightest.begin), ticks });
		add_corner_to_hull(&upper, (struct rate_corner){ (int64_t)(sample->begin - tightest.begin), ticks });
	}
	corners.lower_count = copy_corners_near_tangent(&lower, rise, corners.lower);
	corners.upper_count = copy_corners_near_tangent(&upper, rise, corners.upper);
	return corners;
}

struct line { /* The bounds of the lines' slope, from the pairs of corners that were added so far. */
	uint64_t slack_ticks, resolution_ticks, trim_ticks;
	uint64_t from_tsc, from_ticks; /* the origin of all coordinates */
	struct rate_slope slope;       /* if high_time is 0, there is no upper bound yet */
	bool possible;
};

/* Returns true if A/B < C/D. */
static bool
is_fraction_less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (unsigned __int128)a * d < (unsigned __int128)c * b;
}

/* Returns A - B modulo 2^64. Only a crafted record has values whose difference does not fit into 64 bits. */
static int64_t
wrapping_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/*
 * Adds the condition that the line passes above LOWER and below UPPER. Together, the two corners give either an upper
 * or a lower bound of the line's slope.
 */
static void
add_slope_constraint(struct line *line, struct rate_corner lower, struct rate_corner upper)
{
	struct rate_slope *slope = &line->slope;
	int64_t time = wrapping_difference(upper.tsc, lower.tsc), ticks = wrapping_difference(upper.ticks, lower.ticks);

	if (time >= 0 && ticks < 0) {
		line->possible = false;
	} else if (time > 0) {
		if (!slope->high_time || is_fraction_less((uint64_t)ticks, (uint64_t)time, slope->high_ticks, slope->high_time)) {
			slope->high_ticks = (uint64_t)ticks;
			slope->high_time = (uint64_t)time;
		}
	} else if (ticks < 0 && is_fraction_less(slope->low_ticks, slope->low_time, 0 - (uint64_t)ticks, 0 - (uint64_t)time)) {
		slope->low_ticks = 0 - (uint64_t)ticks;
		slope->low_time = 0 - (uint64_t)time;
	}
}

/*
 * Returns CORNER, a corner of the batch END, in coordinates relative to the line's origin. TSC_ERROR and TICKS_ERROR
 * are added to these coordinates.
 */
static struct rate_corner
corner_relative_to_line_origin(const struct line *line, const struct rate_end *end, struct rate_corner corner,
			       uint64_t tsc_error, uint64_t ticks_error)
{
	return (struct rate_corner){
		(int64_t)(end->sample.begin - line->from_tsc + (uint64_t)corner.tsc + tsc_error),
		(int64_t)(end->sample.ticks - line->from_ticks + (uint64_t)corner.ticks + ticks_error),
	};
}

static void
add_slope_constraints(struct line *line, const struct rate_end *a, const struct rate_end *b)
{
	for (size_t i = 0; i < a->corners->lower_count; i++)
		for (size_t j = 0; j < b->corners->upper_count; j++)
			add_slope_constraint(
				line,
				corner_relative_to_line_origin(line, a, a->corners->lower[i], line->resolution_ticks, 0),
				corner_relative_to_line_origin(line, b, b->corners->upper[j], line->trim_ticks,
							       line->slack_ticks));
}

/*
 * Calculates the bounds of the slope from all pairs of corners. Each corner gives one inequality for the line's slope
 * and height. Eliminating the height from two inequalities leaves a bound of the slope. Returns false if no line
 * fits.
 */
static bool
bound_slope(const struct rate_ends *ends, uint64_t slack_ticks, uint64_t trim_ticks, struct rate_slope *slope)
{
	struct line line = { slack_ticks, ends->tsc_resolution_ticks, trim_ticks, ends->ends[0].sample.begin,
			     ends->ends[0].sample.ticks, { false, 0, 1, 0, 0 }, true };

	for (size_t a = 0; a < ends->count; a++)
		for (size_t b = 0; b < ends->count; b++)
			add_slope_constraints(&line, &ends->ends[a], &ends->ends[b]);
	*slope = line.slope;
	slope->known = line.possible && slope->high_time &&
		       !is_fraction_less(slope->high_ticks, slope->high_time, slope->low_ticks, slope->low_time);
	return slope->known;
}

/*
 * Returns the greatest common divisor of all differences between readings, also between readings of different batches.
 */
static uint64_t
common_divisor_ticks(const struct rate_ends *ends)
{
	uint64_t divisor = ends->even_ticks;

	for (size_t i = 1; i < ends->count; i++)
		for (uint64_t rest, ticks = ends->ends[i].sample.ticks - ends->ends[0].sample.ticks; ticks; ticks = rest) {
			rest = divisor % ticks;
			divisor = ticks;
		}
	return divisor;
}

static uint64_t
narrowest_sample_ticks(const struct rate_ends *ends)
{
	uint64_t narrowest = UINT64_MAX;

	for (size_t i = 0; i < ends->count; i++)
		if (ends->ends[i].corners->narrowest < narrowest)
			narrowest = ends->ends[i].corners->narrowest;
	return narrowest;
}

/*
 * Calculates the bounds of the slope for a counter that advances in steps of equal size. The size is first taken to be
 * the greatest common divisor of all differences between readings. True steps may be larger, and then the error of each
 * reading may be larger.
 *
 * A test decides whether an error must be added. With larger steps, the counter lags behind the line by a varying
 * amount, so fewer lines fit. The test shortens each sample by half of the shortest sample's duration. If a line still
 * fits, no error is added.
 *
 * Otherwise, an error of 1/8 of (step + width) is added. Width is the shortest sample's duration: within it, the time
 * of the reading is unknown, so a part of a larger step may be hidden. The reading nearest to a step's end, among N
 * readings, misses this end by sqrt(2 * step * width / N). For N = 128 this is at most 1/8 of (step + width).
 *
 * A counter may be calculated from another counter of almost the same rate. Its rounding error may be the same in all
 * readings at one end of the rate window, and different at the other end. Readings in between would show this. Without
 * them, one tick of error is added.
 */
static bool
bound_slope_if_steps_are_even(const struct rate_ends *ends, struct rate_slope *slope)
{
	uint64_t even_ticks = common_divisor_ticks(ends), width = narrowest_sample_ticks(ends), slack_ticks;

	if (!bound_slope(ends, even_ticks, 0, slope))
		return false;
	slack_ticks = even_ticks + 1 + (even_ticks + scale_mul_div_up(width, slope->high_ticks, slope->high_time)) / 8;
	if (bound_slope(ends, even_ticks, width / 2, slope))
		slack_ticks = even_ticks + (ends->count == 2);
	return bound_slope(ends, slack_ticks < ends->uneven_ticks ? slack_ticks : ends->uneven_ticks, 0, slope);
}

static bool
did_time_and_ticks_advance(const struct rate_ends *ends)
{
	const struct sample *first = &ends->ends[0].sample, *last = &ends->ends[ends->count - 1].sample;

	return last->begin - first->end < RATE_TICKS_MAX && last->ticks - first->ticks < RATE_TICKS_MAX &&
	       ends->uneven_ticks < RATE_TICKS_MAX;
}

struct rate_slope
rate_fit_line(const struct rate_ends *ends, enum rate_fit *fit)
{
	struct rate_ends outer = *ends;
	struct rate_slope slope = { .known = false };
	struct rate_window two = { ends->ends[0].sample, ends->ends[ends->count - 1].sample, ends->uneven_ticks,
				   ends->tsc_resolution_ticks };

	outer.ends[1] = ends->ends[ends->count - 1];
	outer.count = 2;
	*fit = RATE_FIT_NONE;
	if (!did_time_and_ticks_advance(ends))
		return slope;
	if (bound_slope_if_steps_are_even(ends, &slope)) {
		*fit = RATE_FIT_ALL;
	} else if (ends->count > 2 && bound_slope_if_steps_are_even(&outer, &slope)) {
		*fit = RATE_FIT_ENDS;
	} else if (bound_slope(&outer, ends->uneven_ticks, 0, &slope)) {
		*fit = RATE_FIT_UNEVEN;
	} else {
		slope = rate_calculate_slope(&two);
		*fit = slope.known ? RATE_FIT_TWO : RATE_FIT_NONE;
	}
	return slope;
}
