/*
 * Common functions of the devices' checks. A check tests one behaviour that a data sheet specifies, and fills one row
 * of the report. An SMI or a hypervisor may preempt the core between any two accesses, for tens of milliseconds. A
 * check therefore reads the TSC around its accesses, and ignores a try in which the core was preempted.
 */
#ifndef BARETICK_CHECK_H
#define BARETICK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/driver.h"
#include "clocks/platform.h"

/*
 * The function of a check. Fills ROW, which is marked as not checked before the call. Leaves the device in the state
 * that the driver's open() left it in.
 */
typedef void check_function(const struct checking *checking, struct behaviour *row);

/* The end of a sentence on a test that had too little time. src/measure/budgets.c sets the times. */
#define CHECK_TIME_BY_PROFILE "Checks have the least time with profile=quick, the most with profile=soak."

struct check {
	const char *rule;
	uint64_t needs_ns; /* time that the check needs; with less time left in the budget, the check is skipped */
	check_function *run;
};

/* Runs CHECKS, a list that ends with a NULL rule. Adds one row for each check to BEHAVIOURS, in the same order. */
void check_run_all(const struct checking *checking, const struct check *checks, struct behaviours *behaviours);

/* If the TSC has stopped, marks the rows from index FIRST on as not checked, because the TSC timed their checks. */
void check_discard_rows_if_tsc_stopped(const struct checking *checking, struct behaviours *behaviours, size_t first);

/* Returns the time that is left of the budget, in ns. */
uint64_t check_get_time_left_ns(const struct checking *checking);

/*
 * Returns true if at least NEEDS_NS of the time budget are left. Otherwise marks ROW as not checked for lack of time,
 * and names the time that the test takes.
 */
bool check_has_time(const struct checking *checking, uint64_t needs_ns, struct behaviour *row);

/* Converts NS to ms, rounded up. A time that a test lacked is then never printed as equal to the time that was left. */
uint64_t check_round_up_to_ms(uint64_t ns);

/* Reads the TSC after all earlier instructions have completed. Uses the fence that DEVICE's samples also use. */
uint64_t check_read_tsc(const struct device *device);

/* Returns the number of ticks that a clock makes in TSC_TICKS, rounded up. RATE is the rate of the clock. */
uint64_t check_convert_to_clock_ticks(const struct scale *scale, struct rate rate, uint64_t tsc_ticks);

/* Returns true if baretick runs in a guest, where emulated devices may react late. */
bool check_is_guest(const struct checking *checking);

/* Sets the outcome of ROW: failed if FAILED is true, otherwise passed. The caller adds the sentence. */
void check_set_outcome(struct behaviour *row, bool failed);

/* Marks ROW as not checked, because the core was preempted in each try. The check may be repeated later. */
void check_mark_disturbed(struct behaviour *row);

/*
 * Returns true if one of the next COUNT rows of BEHAVIOURS must be checked now. In the first run of the checks all rows
 * must. In a repetition only rows whose check was disturbed by preemption must.
 */
bool check_must_run_next_rows(const struct checking *checking, const struct behaviours *behaviours, size_t count);

/* Stores the measured interval from LOW to HIGH in ROW, in the rule's unit. */
void check_set_figure(struct behaviour *row, int64_t low, int64_t high);

/*
 * A bounded wait for a device. It counts only time in which the core ran, so that the device gets the full time even if
 * the core is preempted. The wait also ends after a maximum number of polls, in case the TSC has stopped.
 */
struct check_wait {
	const struct device *device;
	/* the duration of the wait, and the longest time that it counts for one poll, in TSC ticks */
	uint64_t bound_ticks, poll_ticks_max;
	uint64_t last_tsc, seen_ticks, polls_left;
	unsigned still; /* number of successive polls with the same TSC reading */
};

struct check_wait check_wait_begin(const struct checking *checking, uint64_t bound_ns);
/* Called for each poll. Returns false when the wait is over. */
bool check_wait_has_time_left(struct check_wait *wait);

#endif
