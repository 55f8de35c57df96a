/* Lateness of interrupts against their deadlines. Pure functions. */
#ifndef BARETICK_LATENESS_H
#define BARETICK_LATENESS_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct lateness { /* time from an interrupt's deadline to its arrival, in ps; both bounds included */
	int64_t low, high;
};

/* Sorts the COUNT VALUES, and sets the row's percentiles and its number of certainly early interrupts. */
void lateness_record(struct report_interval *row, struct lateness *values, size_t count);

/*
 * Returns true if the ticks of a periodic row are spread over their periods, so that none can be matched to its
 * deadline. This is so if some ticks are certainly early while others are late by more than half a period. It
 * is also so if one tick in eight comes more than half a period after the earliest. VALUES must be sorted by
 * lateness_record().
 */
bool lateness_is_scattered(const struct report_interval *row, const struct lateness *values, size_t count);

/*
 * How much faster a periodic source ticks than its nominal period, from the ticks of one window. RESIDUALS_PS
 * has each period's lateness by the TSC, or INT64_MAX if it has none.
 *
 * A handler never starts before its tick, so the least lateness of each third of the window is compared. Its
 * error is the distance above it that holds half of the other ticks. If the three thirds are not on a line, the
 * result spans the slopes of both pairs. Unknown if a third has fewer than LATENESS_THIRD_MIN ticks.
 */
struct interval_ppb lateness_tick_rate(const int64_t *residuals_ps, size_t count, uint64_t period_ps);
#define LATENESS_THIRD_MIN 8

/*
 * Combines the rates of two windows: the narrower interval, widened until it touches the other. A chance error
 * of one window does not occur in the other.
 */
struct interval_ppb lateness_combine_rates(struct interval_ppb a, struct interval_ppb b);

#endif
