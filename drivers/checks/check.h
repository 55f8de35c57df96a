/*
 * Helpers of the devices' checks. A check tests one behaviour that a data sheet specifies, and fills one row.
 * An SMI or a hypervisor may preempt the core between any two accesses, for tens of milliseconds. A check therefore
 * reads the TSC around its accesses, and ignores a try that was preempted.
 */
#ifndef BARETICK_CHECK_H
#define BARETICK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/driver.h"
#include "clocks/platform.h"

/* Fills ROW, which is not checked until then. Leaves the device as open left it. */
typedef void check_look(const struct checking *checking, struct behaviour *row);

struct check {
	const char *rule;
	uint64_t needs_ns; /* the check is skipped if less of the budget is left */
	check_look *look;
};

/* One row for each of CHECKS, in their order; one with a NULL rule ends them. */
void check_each(const struct checking *checking, const struct check *checks, struct behaviours *behaviours);

/* If the TSC has stopped, marks the rows from FIRST on as not checked, because it timed them. */
void check_drop_where_the_tsc_stopped(const struct checking *checking, struct behaviours *behaviours, size_t first);

/* Returns the rest of the budget in ns. */
uint64_t check_left_ns(const struct checking *checking);

/* Reads the TSC after all earlier instructions have completed, as for the bracket of a sample. */
uint64_t check_tsc(const struct device *device);

/* Ticks of a clock of RATE in TSC_TICKS by its claim, rounded up. */
uint64_t check_ticks(const struct scale *scale, struct rate rate, uint64_t tsc_ticks);

/* Whether there is a hypervisor, which may be late with what a device does by itself. */
bool check_is_guest(const struct checking *checking);

/* A fact: passed, or FAILED. The sentence is the caller's. */
void check_fact(struct behaviour *row, bool failed);

/* Marks ROW as not checked because the core was preempted in each try. The check may be repeated later. */
void check_disturbed(struct behaviour *row);

/*
 * Returns true if any of the next COUNT rows of BEHAVIOURS is to be checked. A first pass checks all rows, a
 * repetition only the disturbed rows.
 */
bool check_is_asked(const struct checking *checking, const struct behaviours *behaviours, size_t count);

/* Stores an interval in the rule's unit. */
void check_figure(struct behaviour *row, int64_t low, int64_t high);

/*
 * A wait that counts only the time in which the core ran. A device that "never" did something thus had the full
 * time, even if the core was preempted. It also ends after a number of polls; each poll accesses a device.
 */
struct check_watch {
	const struct device *device;
	uint64_t bound_ticks, poll_ticks_max; /* the largest amount that one poll adds */
	uint64_t last_tsc, seen_ticks, polls_left;
	unsigned still; /* polls in which the TSC read the same */
};

struct check_watch check_watch(const struct checking *checking, uint64_t bound_ns);
bool check_goes_on(struct check_watch *watch); /* to be asked once a poll */

#endif
