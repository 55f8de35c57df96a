/*
 * What the drivers' checks share. A check looks at one promise of a data sheet and fills one row. Time may be
 * stolen from the core between any two of its accesses, by an SMI or a hypervisor, tens of milliseconds of it: so a
 * check brackets what it does with readings of the TSC, and says nothing of a try that a gap has spoiled.
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
	uint64_t needs_ns; /* with less of the budget left it is not begun */
	check_look *look;
};

/* One row for each of CHECKS, in their order; one with a NULL rule ends them. */
void check_each(const struct checking *checking, const struct check *checks, struct behaviours *behaviours);

/* Where the TSC has stopped by now, the rows from FIRST on become not checked: by it they would be timed. */
void check_drop_where_the_tsc_stopped(const struct checking *checking, struct behaviours *behaviours, size_t first);

/* What is left of the budget. */
uint64_t check_left_ns(const struct checking *checking);

/* The TSC after all that came before it, as samples are bracketed. */
uint64_t check_tsc(const struct device *device);

/* Ticks of a clock of RATE in TSC_TICKS by its claim, rounded up. */
uint64_t check_ticks(const struct scale *scale, struct rate rate, uint64_t tsc_ticks);

/* Whether there is a hypervisor, which may be late with what a device does by itself. */
bool check_is_guest(const struct checking *checking);

/* A fact: passed, or FAILED. The sentence is the caller's. */
void check_fact(struct behaviour *row, bool failed);

/* Not checked, for time was stolen from the core in each try: another time it may be. */
void check_disturbed(struct behaviour *row);

/* Whether any of the next COUNT rows of BEHAVIOURS is asked for: all are, or those that were disturbed before. */
bool check_is_asked(const struct checking *checking, const struct behaviours *behaviours, size_t count);

/* A figure with its error, in the rule's unit. */
void check_figure(struct behaviour *row, int64_t low, int64_t high);

/*
 * A wait in which only time counts that the core was seen to have: "it never came" is said of a device that
 * had that much time while it was looked at, however much of it was stolen. Ends by polls too,
 * each of at least one access of a device.
 */
struct check_watch {
	const struct device *device;
	uint64_t bound_ticks, poll_ticks_max; /* no poll counts for more */
	uint64_t last_tsc, seen_ticks, polls_left;
	unsigned still; /* polls in which the TSC read the same */
};

struct check_watch check_watch(const struct checking *checking, uint64_t bound_ns);
bool check_goes_on(struct check_watch *watch); /* to be asked once a poll */

#endif
