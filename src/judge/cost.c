/* What a read of each clock costs a program that times with it. See struct report_cost. */
#include "judge_internal.h"

#include "scale.h"
#include "text.h"

#define ROWS_READS INT64_C(200000) /* 100,000 rows, the clock read before and after each */

static size_t
find_null(const struct report *report)
{
	size_t i = 0;

	while (i < report->clock_count && !text_equal(report->clocks[i].clock.id, "null"))
		i++;
	return i;
}

static int64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? (int64_t)(a - b) : 0;
}

/* A read on CORE; not known where it did not read both the clock and nothing. */
static struct interval_ns
cost_on(const struct report_core *core, size_t clock, size_t null)
{
	const struct core_latency *read = &core->latency[clock], *bracket = &core->latency[null];

	if (!read->count || !bracket->count)
		return (struct interval_ns){ .known = false };
	return (struct interval_ns){
		true,
		less(read->mean_ps, bracket->mean_ps),
		less(read->mean_low_ps, bracket->mean_high_ps),
		less(read->mean_high_ps, bracket->mean_low_ps),
	};
}

/* Of how many cores the cost is known and below BOUND_PS. */
static size_t
count_below(const struct report *report, int64_t bound_ps, size_t clock, size_t null)
{
	size_t count = 0;

	for (size_t i = 0; i < report->core_count; i++) {
		struct interval_ns one = cost_on(&report->cores[i], clock, null);

		count += one.known && one.value < bound_ps;
	}
	return count;
}

/*
 * The core that has so many before it, by cost and then by number. By halving the range of costs: comparing each with
 * each takes seconds for thousands of cores.
 */
static const struct report_core *
core_of_rank(const struct report *report, size_t rank, size_t clock, size_t null)
{
	int64_t low_ps = 0, high_ps = INT64_MAX / 2; /* the cost: not below the one, and below the other */

	while (high_ps - low_ps > 1) {
		int64_t middle_ps = low_ps + (high_ps - low_ps) / 2;

		if (count_below(report, middle_ps, clock, null) > rank)
			high_ps = middle_ps;
		else
			low_ps = middle_ps;
	}
	rank -= count_below(report, low_ps, clock, null);
	for (size_t i = 0; i < report->core_count; i++) {
		struct interval_ns one = cost_on(&report->cores[i], clock, null);

		if (one.known && one.value == low_ps && !rank--)
			return &report->cores[i];
	}
	return NULL;
}

static void
widen(struct interval_ns *all, struct interval_ns by)
{
	if (!all->known || by.low < all->low)
		all->low = by.low;
	if (!all->known || by.high > all->high)
		all->high = by.high;
	all->known = true;
}

/* Of an even number of cores the mean of the middle two; of an odd one they are the same core. */
static void
take_median(struct report *report, size_t clock, size_t null)
{
	struct report_cost *cost = &report->clocks[clock].cost;

	for (size_t i = 0; i < 2 && cost->cores; i++) {
		const struct report_core *core = core_of_rank(report, (cost->cores - 1 + i) / 2, clock, null);

		cost->read_ps.value += cost_on(core, clock, null).value;
		cost->null_ps += core->latency[null].mean_ps;
	}
	cost->read_ps.value /= 2;
	cost->null_ps /= 2;
}

static void
judge_cost(struct report *report, size_t clock, size_t null)
{
	struct report_clock *entry = &report->clocks[clock];
	struct report_cost *cost = &entry->cost;
	struct scale scale;

	*cost = (struct report_cost){ 0 };
	for (size_t i = 0; i < report->core_count; i++) {
		struct interval_ns one = cost_on(&report->cores[i], clock, null);

		if (one.known)
			widen(&cost->read_ps, one);
		cost->cores += one.known;
	}
	take_median(report, clock, null);
	cost->rows_ps = (struct interval_ns){ cost->read_ps.known, cost->read_ps.value * ROWS_READS,
					      cost->read_ps.low * ROWS_READS, cost->read_ps.high * ROWS_READS };
	scale_init(&scale, report->tsc);
	/* The loop's reads were the boot core's: so is the bracket that comes off. */
	if (cost->read_ps.known && report->cores[0].latency[null].count)
		cost->loop_ps = (uint64_t)less(latency_loop_ps(entry->latency, &scale), report->cores[0].latency[null].mean_ps);
}

void
judge_costs(struct report *report)
{
	size_t null = find_null(report);

	for (size_t i = 0; null < report->clock_count && i < report->clock_count; i++)
		if (i != null)
			judge_cost(report, i, null);
}
