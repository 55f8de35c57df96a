/* Counts of checks and errors by kind of machine. */
#ifndef BARETICK_TALLY_H
#define BARETICK_TALLY_H

#include <stdbool.h>

#include "machine.h"

enum check {
	/* Checks of intervals that must contain the true value. */
	CHECK_PAIR_RATE, CHECK_SAME_SOURCE, CHECK_HZ, CHECK_HZ_ABSOLUTE, CHECK_BUDGET, CHECK_CHANGE, CHECK_SINCE,
	CHECK_PERIODIC,
	CHECK_PAIR_OFFSET, CHECK_PLACE, CHECK_PLACE_NS, CHECK_DRIFT, CHECK_WITHIN,
	CHECK_TIMER_LATE, CHECK_TIMER_RATE, CHECK_TIMER_COUNT,
	/* Checks of statements in the report. */
	CHECK_END, CHECK_SCALE, CHECK_CLOCK_NAMED, CHECK_CORE_NAMED, CHECK_SENTENCE, CHECK_MOTION,
	CHECK_HOST_NAMED, CHECK_DISCONTINUITY, CHECK_ELAPSED, CHECK_TIMER_NAMED, CHECK_TIMER_POLICY,
	CHECK_SLEEP_FIGURE, CHECK_SLEEP_NAMED, CHECK_SLEEP_SILENT,
	/* Checks for statements that must not be missing. */
	CHECK_CLOCK_SILENT, CHECK_STOP_SILENT, CHECK_EVENT_SILENT, CHECK_CHANGE_SILENT,
	CHECK_HOST_SILENT, CHECK_CORE_SILENT, CHECK_TIMER_SILENT, CHECK_PASSED_OFF,
	CHECK_PASSED_WIDE, CHECK_PROMISE_WIDE, CHECK_WITHIN_LOOSE,
	CHECKS
};

enum width {
	WIDTH_HPET, WIDTH_PM, WIDTH_PIT, WIDTH_OFFSET, WIDTH_HPET_BEST, WIDTH_PM_BEST, WIDTH_PIT_BEST, WIDTH_OFFSET_BEST,
	WIDTHS
};

void tally_begin_kind(const struct kind *kind, bool all_errors);
void tally_begin_trial(uint64_t seed, bool simulated);

/* Counts one check. If RIGHT is false, the formatted sentence describes the error. Returns RIGHT. */
bool tally_check(enum check check, bool right, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Counts a fault that has no finding, and need not have one. WHY gives the reason. SIZE is the fault as a multiple of
 * the limit or of the resolution.
 */
void tally_count_unreported_fault(const char *why, long double size);

void tally_record_width(enum width width, long double value);

/* Prints the table of the kind. Returns the number of errors. */
uint64_t tally_end(void);

#endif
