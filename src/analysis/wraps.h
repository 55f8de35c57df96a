/*
 * Counts the wraps of counters, in the analysis and while measuring. The pace of a clock is its rate as a multiple of
 * its nominal frequency, at least 1: a clock that is faster than its nominal frequency wraps more often.
 */
#ifndef BARETICK_WRAPS_H
#define BARETICK_WRAPS_H

#include "consensus/rate.h"
#include "record/record.h"
#include "report/report.h"

struct rate_windows;

struct wraps_count { /* a counter whose wraps are counted from reading to reading */
	const struct clock *clock;
	uint64_t pace;
	struct sample latest; /* latest reading; its ticks have the counter's range added for each wrap before it */
};

/* Returns the number of values of CLOCK's counter, or 0 if it is 2^63 or more. */
static inline int64_t
wraps_range(const struct clock *clock)
{
	return clock->wrap_ticks >= INT64_MAX ? 0 : (int64_t)(clock->wrap_ticks + 1);
}

/* Returns the reading of CLOCK's counter that belongs to TICKS, a count that includes all wraps. */
static inline uint64_t
wraps_reading(const struct clock *clock, uint64_t ticks)
{
	int64_t range = wraps_range(clock), rest = range ? (int64_t)ticks % range : (int64_t)ticks;

	return (uint64_t)(range && rest < 0 ? rest + range : rest);
}

/* Returns the TSC ticks from COUNT's latest reading to NOW_TSC, or 0 if the TSC stepped back. */
static inline uint64_t
wraps_passed(const struct wraps_count *count, uint64_t now_tsc)
{
	return (int64_t)(now_tsc - count->latest.end) < 0 ? 0 : now_tsc - count->latest.end;
}

/*
 * Updates COUNT with READING. About EXPECTED ticks passed since the previous reading, which gives the number of wraps.
 */
static inline void
wraps_count_until_reading(struct wraps_count *count, const struct sample *reading, uint64_t expected)
{
	uint64_t before = count->latest.ticks;

	count->latest = *reading;
	count->latest.ticks = before + rate_unwrap_ticks(count->clock, wraps_reading(count->clock, before), reading->ticks,
							 expected);
}

/*
 * Returns the pace of a clock whose nominal frequency implies the TSC's rate IMPLIED. The pace of a counter that seems
 * slow is 1, because it may have wrapped unseen while the core was preempted. No such error makes a counter seem too
 * fast.
 */
uint64_t wraps_clock_speed_factor(const struct scale *scale, const struct rate_interval *implied);

/*
 * Returns the expected ticks of COUNT's clock in PASSED_TSC ticks of the TSC, by its nominal frequency times its pace.
 */
uint64_t wraps_expected_ticks(const struct wraps_count *count, const struct scale *scale, uint64_t passed_tsc);

/*
 * Updates COUNT with the next batch of its clock in a rate window. The first batch starts the count, and its field
 * `number` is the clock's pace. The TSC's rate is SCALE.
 */
void wraps_add_batch(struct wraps_count *count, const struct clock *clock, const struct scale *scale,
		const struct record_batch *batch);

/*
 * Returns the set of clocks whose wraps in the rate window cannot be counted. A count may be wrong if the core was
 * preempted for several wraps and the TSC's rate is not known well enough. Clocks that take longer to wrap then
 * contradict this count. Clocks without enough readings in the record are also in the set.
 */
uint32_t wraps_find_miscounted_clocks(const struct rate_windows *windows, const struct report *report);

#endif
