/* Lateness of interrupts: percentiles, and the rate of a periodic source. See lateness.h. */
#include "analysis/lateness.h"

#include "base/scale.h"
#include "base/units.h"

#define SCATTERED_ONE_IN 8
/*
 * A few ticks do not show the full range of a timer's lateness. This share of the range, 1/8, is assumed to be missing.
 */
#define SPREAD_SHARE     8

/* Insertion sort: a row has at most about a thousand values. */
static void
sort_lateness(struct lateness *values, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct lateness value = values[i];
		size_t at = i;

		for (; at > 0 && lateness_middle_ps(values[at - 1]) > lateness_middle_ps(value); at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/*
 * Returns the percentile MILLI / 1000 (50000 is the median): the smallest of the values for which at least this share
 * of all values is less or equal.
 */
static int64_t
percentile_ns(const struct lateness *values, size_t count, uint64_t milli)
{
	uint64_t rank = (count * milli + 99999) / 100000;

	return lateness_middle_ps(values[rank ? rank - 1 : 0]) / PS_PER_NS;
}

static struct interval_ns
earliness_ns(const struct lateness *value)
{
	return (struct interval_ns){
		true, -lateness_middle_ps(*value) / PS_PER_NS, -value->high / PS_PER_NS, (-value->low + PS_PER_NS - 1) / PS_PER_NS,
	};
}

void
lateness_store_percentiles(struct interval_figures *row, struct lateness *values, size_t count)
{
	struct interval_ns earliest = { .known = false };
	int64_t widest_ps = 0;

	if (!count)
		return;
	sort_lateness(values, count);
	for (size_t i = 0; i < count; i++) {
		int64_t width_ps = values[i].high - values[i].low;

		row->early += values[i].high < 0;
		if (values[i].high < 0 && (!earliest.known || -values[i].high / PS_PER_NS > earliest.low))
			earliest = earliness_ns(&values[i]);
		widest_ps = width_ps > widest_ps ? width_ps : widest_ps;
	}
	row->lateness = (struct report_lateness){
		.count = count,
		.min_ns = percentile_ns(values, count, 0),
		.p50_ns = percentile_ns(values, count, 50000),
		.p99_ns = percentile_ns(values, count, 99000),
		.p999_ns = percentile_ns(values, count, 99900),
		.max_ns = percentile_ns(values, count, 100000),
		.error_ns = (uint64_t)(widest_ps / 2 + PS_PER_NS - 1) / PS_PER_NS,
		.earliest = earliest,
		.p1_ns = percentile_ns(values, count, 1000),
	};
}

bool
lateness_are_ticks_scattered(const struct interval_figures *row, const struct lateness *values, size_t count)
{
	int64_t half_ns = (int64_t)(row->test.asked_ns / 2), spread_ns = row->lateness.max_ns - row->lateness.min_ns;
	size_t many = count < SCATTERED_ONE_IN ? 1 : count / SCATTERED_ONE_IN;

	if (!count)
		return false;
	return (row->early && spread_ns > half_ns - half_ns / SPREAD_SHARE) ||
	       values[count - many].low / PS_PER_NS > row->lateness.min_ns + half_ns;
}

struct line { /* lateness of each tick, minus a line that rises by MOVED_PS in PERIODS periods */
	const int64_t *residuals_ps;
	int64_t moved_ps, periods;
};

struct floor { /* the least lateness among some ticks */
	int64_t least_ps, spread_ps; /* half of the ticks are less than SPREAD_PS above the least */
	size_t at;                   /* number of the tick that had the least lateness */
	size_t count;                /* number of ticks whose lateness is known */
};

/* Returns the lateness of tick K minus the value of LINE at K. */
static int64_t
lateness_above_line_ps(const struct line *line, size_t k)
{
	int64_t residual_ps = line->residuals_ps[k];

	return residual_ps == INT64_MAX ? residual_ps : residual_ps - line->moved_ps * (int64_t)k / line->periods;
}

static size_t
count_ticks_below_bound(const struct line *line, size_t from, size_t to, int64_t bound_ps)
{
	size_t count = 0;

	for (size_t k = from; k < to; k++)
		count += lateness_above_line_ps(line, k) < bound_ps;
	return count;
}

static struct floor
find_least_lateness(const struct line *line, size_t from, size_t to)
{
	struct floor floor = { .least_ps = INT64_MAX, .spread_ps = 1 };

	for (size_t k = from; k < to; k++) {
		int64_t late_ps = lateness_above_line_ps(line, k);

		floor.count += late_ps != INT64_MAX;
		if (late_ps >= floor.least_ps)
			continue;
		floor.least_ps = late_ps;
		floor.at = k;
	}
	while (floor.count >= LATENESS_THIRD_MIN &&
	       2 * count_ticks_below_bound(line, from, to, floor.least_ps + floor.spread_ps) < floor.count)
		floor.spread_ps *= 2;
	return floor;
}

/* Returns PART_PS divided by the time of PERIODS periods, in ppb, rounded away from 0. */
static int64_t
ratio_to_periods_ppb(int64_t part_ps, int64_t periods, uint64_t period_ps)
{
	uint64_t share = scale_mul_div_up((uint64_t)(part_ps < 0 ? -part_ps : part_ps), PPB, (uint64_t)periods * period_ps);

	return part_ps < 0 ? -(int64_t)share : (int64_t)share;
}

/*
 * Returns the change of the least lateness from FIRST to LAST, divided by the time between them, in ppb. Its error
 * includes SPREAD_PS and the spread of FIRST and of LAST.
 */
static struct interval_ppb
slope_between_floors_ppb(const struct floor *first, const struct floor *last, int64_t spread_ps, uint64_t period_ps)
{
	int64_t periods = (int64_t)(last->at - first->at), moved_ps = last->least_ps - first->least_ps;
	int64_t error = ratio_to_periods_ppb(first->spread_ps + last->spread_ps + spread_ps, periods, period_ps);
	int64_t value = ratio_to_periods_ppb(moved_ps, periods, period_ps);

	return (struct interval_ppb){ true, value, value - error, value + error };
}

/*
 * Converts a change of the period to the change of the frequency. If the period is longer by 2 %, the frequency is
 * lower by 1.96 %.
 */
static int64_t
frequency_change_of_longer_period_ppb(int64_t longer_ppb)
{
	uint64_t size = (uint64_t)(longer_ppb < 0 ? -longer_ppb : longer_ppb);
	uint64_t whole = longer_ppb > -(int64_t)PPB ? (uint64_t)((int64_t)PPB + longer_ppb) : 1;
	int64_t share = (int64_t)scale_mul_div(size, PPB, whole);

	return longer_ppb < 0 ? share : -share;
}

struct interval_ppb
lateness_fit_tick_rate(const int64_t *residuals_ps, size_t count, uint64_t period_ps, int64_t step_ps)
{
	size_t third = count / 3;
	struct line line = { residuals_ps, 0, 1 };
	struct floor first = find_least_lateness(&line, 0, third), last = find_least_lateness(&line, count - third, count);

	if (first.count < LATENESS_THIRD_MIN || last.count < LATENESS_THIRD_MIN)
		return (struct interval_ppb){ .known = false };
	line.moved_ps = last.least_ps - first.least_ps;
	line.periods = (int64_t)(last.at - first.at);
	first = find_least_lateness(&line, 0, third);
	last = find_least_lateness(&line, count - third, count);
	struct floor between = find_least_lateness(&line, third, count - third), all = find_least_lateness(&line, 0, count);

	if (between.count < LATENESS_THIRD_MIN)
		return (struct interval_ppb){ .known = false };
	struct interval_ppb a = slope_between_floors_ppb(&first, &between, all.spread_ps + step_ps, period_ps);
	struct interval_ppb b = slope_between_floors_ppb(&between, &last, all.spread_ps + step_ps, period_ps);
	int64_t later = ratio_to_periods_ppb(line.moved_ps, line.periods, period_ps);
	int64_t low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;

	return (struct interval_ppb){
		true, frequency_change_of_longer_period_ppb(later + (a.value + b.value) / 2),
		frequency_change_of_longer_period_ppb(later + high) - 1,
		frequency_change_of_longer_period_ppb(later + low) + 1,
	};
}

struct interval_ppb
lateness_combine_tick_rates(struct interval_ppb a, struct interval_ppb b)
{
	struct interval_ppb narrow = a, wide = b;

	if (!a.known || !b.known)
		return a.known ? a : b;
	if (b.high - b.low < a.high - a.low) {
		narrow = b;
		wide = a;
	}
	if (wide.high < narrow.low)
		narrow.low = wide.high;
	if (wide.low > narrow.high)
		narrow.high = wide.low;
	return narrow;
}
