/* Counts the wraps of counters, and checks the count. See wraps.h. */
#include "analysis/wraps.h"

#include "analysis/rate_readings.h"
#include "base/set.h"
#include "base/units.h"

#define MICROHZ        UINT64_C(1000000)
/* if two clocks' elapsed times differ by more than 1/4 of the time between two wraps, a wrap was counted wrongly */
#define MISCOUNT_SHARE 4

struct checked { /* a counter, and its reading THEN at which its number of wraps was last checked */
	struct wraps_count count;
	struct sample then;
};

uint64_t
wraps_clock_speed_factor(const struct scale *scale, const struct rate_interval *implied)
{
	uint64_t microhz = scale_mul_div(scale->hz.num, MICROHZ, scale->hz.den);
	uint64_t pace = implied->known ? scale_mul_div_nearest(microhz, 1, implied->high) : 0;

	return pace ? pace : 1;
}

uint64_t
wraps_expected_ticks(const struct wraps_count *count, const struct scale *scale, uint64_t passed_tsc)
{
	const struct rate *claimed = &count->clock->claimed;

	return count->pace * scale_mul_div(scale_ns(scale, passed_tsc), claimed->num, claimed->den * NS_PER_S);
}

void
wraps_add_batch(struct wraps_count *count, const struct clock *clock, const struct scale *scale,
	   const struct record_batch *batch)
{
	const struct sample sample = rate_sample_of_batch(batch);

	if (!count->clock)
		*count = (struct wraps_count){ clock, batch->number ? batch->number : 1, sample };
	wraps_count_until_reading(count, &sample, wraps_expected_ticks(count, scale, wraps_passed(count, batch->end)));
}

/* Returns TICKS of COUNT's clock in ns, by the clock's nominal frequency times its pace (see wraps.h). */
static uint64_t
ticks_to_ns(const struct wraps_count *count, uint64_t ticks)
{
	const struct rate *claimed = &count->clock->claimed;

	return scale_mul_div(ticks, claimed->den * NS_PER_S, claimed->num * count->pace);
}

/* Returns the time from one wrap of COUNT's clock to the next, or 0 for a 64-bit counter. */
static uint64_t
time_between_wraps_ns(const struct wraps_count *count)
{
	uint64_t range = count->clock->wrap_ticks + 1;

	return range ? ticks_to_ns(count, range) : 0;
}

/*
 * Returns true if OTHER, a clock that takes longer to wrap, shows that the wraps of CLOCK were not counted correctly.
 * Compares the elapsed times by both clocks since their last checks. If these checks were at different times, OTHER's
 * elapsed time is scaled to the TSC ticks since CLOCK's last check.
 */
static bool
is_wrap_count_contradicted(const struct checked *clock, const struct checked *other)
{
	uint64_t wrap = time_between_wraps_ns(&clock->count), others_wrap = time_between_wraps_ns(&other->count);
	uint64_t ns, others_ns;
	uint64_t took = clock->count.latest.end - clock->then.end, others_took = other->count.latest.end - other->then.end;

	if (!wrap || (others_wrap && others_wrap <= wrap) || !others_took)
		return false;
	ns = ticks_to_ns(&clock->count, clock->count.latest.ticks - clock->then.ticks);
	others_ns = scale_mul_div(ticks_to_ns(&other->count, other->count.latest.ticks - other->then.ticks), took,
				  others_took);
	return others_ns > wrap && (ns > others_ns ? ns - others_ns : others_ns - ns) > wrap / MISCOUNT_SHARE;
}

/*
 * Returns true if the record lacks readings between COUNT and BATCH, and the counter may have wrapped before the last
 * missing reading. The batch's unread_ticks are the TSC ticks since that reading.
 */
static bool
may_clock_wrap_while_unread(const struct wraps_count *count, const struct scale *scale,
			    const struct record_batch *batch)
{
	uint64_t passed = wraps_passed(count, batch->end);
	uint64_t missing = passed > batch->unread_ticks ? passed - batch->unread_ticks : 0;

	return wraps_range(count->clock) && wraps_expected_ticks(count, scale, missing) > count->clock->wrap_ticks;
}

/*
 * Returns the set of clocks whose count of wraps since the last check is contradicted by another clock. Then starts the
 * next check at the current values.
 */
static uint32_t
find_contradicted_clocks(struct checked clocks[REPORT_CLOCKS_MAX])
{
	uint32_t miscounted = 0;

	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		for (size_t k = 0; k < REPORT_CLOCKS_MAX; k++)
			if (clocks[i].count.clock && clocks[k].count.clock && is_wrap_count_contradicted(&clocks[i], &clocks[k]))
				miscounted |= set_of(i);
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		clocks[i].then = clocks[i].count.latest;
	return miscounted;
}

uint32_t
wraps_find_miscounted_clocks(const struct rate_windows *windows, const struct report *report)
{
	struct checked clocks[REPORT_CLOCKS_MAX] = { { .count.clock = NULL } };
	uint64_t number = 0; /* number of the latest batch */
	/*
	 * true if the latest batch is between the ends of the rate window; the other clocks' batches with the same
	 * number follow it
	 */
	bool is_between = false;
	uint32_t miscounted = 0;
	struct rate_batch_reader reader = rate_open_batches(windows->record, windows->size);
	const struct record_batch *batch = &reader.batch;

	while (rate_read_next_batch(&reader)) {
		if (batch->clock >= report->facts.clock_count || !rate_is_in_window(windows, batch) ||
		    !reader.scale.hz.num)
			continue;
		const struct clock *clock = &report->facts.clocks[batch->clock].clock;
		struct checked *checked = &clocks[batch->clock];

		if (clock->edges_only || clock->by_tsc || !clock->claimed.num)
			continue;
		if (is_between && (batch->stage != RECORD_LOOK || batch->number != number))
			miscounted |= find_contradicted_clocks(clocks);
		is_between = batch->stage == RECORD_LOOK;
		number = batch->number;
		if (!checked->count.clock)
			checked->then = rate_sample_of_batch(batch);
		else if (may_clock_wrap_while_unread(&checked->count, &reader.scale, batch))
			miscounted |= set_of(batch->clock);
		wraps_add_batch(&checked->count, clock, &reader.scale, batch);
	}
	return miscounted | find_contradicted_clocks(clocks);
}
