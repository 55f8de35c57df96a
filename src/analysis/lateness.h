/* Lateness of interrupts against their deadlines. Pure functions. */
#ifndef BARETICK_LATENESS_H
#define BARETICK_LATENESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "report/report.h"

struct lateness { /* lower and upper bound of the time from an interrupt's deadline to its arrival, in ps */
	int64_t low, high;
};

static inline int64_t
lateness_middle_ps(struct lateness late)
{
	return offset_middle((struct offset){ late.low, late.high });
}

/* Sorts the COUNT VALUES, and sets the row's percentiles and its number of interrupts that are proven to be early. */
void lateness_store_percentiles(struct interval_figures *row, struct lateness *values, size_t count);

/*
 * Returns true if the ticks of a periodic row are spread over their periods, so that no tick can be matched to its
 * deadline. This is so if some ticks are proven to be early while others come 7/16 of a period after them. It is also
 * so if one tick in eight comes more than half a period after the earliest. VALUES must be sorted by
 * lateness_store_percentiles().
 */
bool lateness_are_ticks_scattered(const struct interval_figures *row, const struct lateness *values, size_t count);

/*
 * Returns by how many ppb a periodic timer is faster than its nominal rate, from one arming (one start of the timer).
 * RESIDUALS_PS has the lateness of each period's tick by the TSC, or INT64_MAX if there is none.
 *
 * A delay only makes a tick later, so the smallest lateness in each third of the periods is nearest to the true
 * deadline. The error of this smallest lateness is taken as the range above it that contains half of the third's ticks.
 * The rate from the first third to the second may differ from the rate from the second to the last. The returned
 * interval includes both. The result is unknown if a third has fewer than LATENESS_THIRD_MIN ticks. STEP_PS is by how
 * much a counter that is calculated from a slower one delays a tick, from none to all of it within the arming.
 */
struct interval_ppb lateness_fit_tick_rate(const int64_t *residuals_ps, size_t count, uint64_t period_ps,
					   int64_t step_ps);
#define LATENESS_THIRD_MIN 8

/*
 * Combines the rates of two armings: returns the narrower interval, widened until it touches the wider interval. The
 * result then contradicts neither arming.
 */
struct interval_ppb lateness_combine_tick_rates(struct interval_ppb a, struct interval_ppb b);

#endif
