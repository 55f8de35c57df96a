/*
 * Defines a clock's driver: one file that exports one struct driver. A driver turns registers into ticks. It does not
 * use UEFI, and does not judge results. The function open() always fills a row for each read method, also if the device
 * is missing. The function close() restores every register that was changed.
 */
#ifndef BARETICK_DRIVER_H
#define BARETICK_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/behaviour.h"
#include "clock/clock.h"

#define DRIVER_CLOCKS_MAX 4 /* maximum number of read methods of a device */
#define DRIVER_SAVED_MAX  8

struct platform; /* facts about the machine for drivers; the members are not visible here */

/* A driver's memory between open() and close(). The caller owns it, and sets it to zero before open(). */
struct device {
	bool opened;              /* true if registers may have been changed, so that close() must restore them */
	bool bracket_with_mfence; /* true if LFENCE alone does not serialise, so that TSC reads need MFENCE too */
	uint64_t address;         /* I/O port or memory address of the register that is read */
	/* values of registers before open(), and other state; each driver defines the indices */
	uint64_t saved[DRIVER_SAVED_MAX];
	uint64_t edges;           /* only for the RTC: number of periodic flags seen since open() */
};

struct driver {
	size_t clock_count; /* number of rows (read methods), at most DRIVER_CLOCKS_MAX */
	const struct clock *rows; /* initial rows; the first is the device's main clock */
	/*
	 * Always fills all clock_count entries of CLOCKS, also if the device is missing. Masks interrupts itself if
	 * necessary.
	 */
	void (*open)(const struct platform *platform, struct device *device, struct clock *clocks);
	/* May be called after an open() that found nothing. A second call does nothing. */
	void (*close)(struct device *device);
	/*
	 * Called on a core before it is stopped, but not on the boot core. Restores registers of that core that
	 * sampling changed. Returns false if they do not have their old values again. NULL if sampling changes no
	 * register.
	 */
	bool (*restore_core)(struct device *device);
};

/* Parameters of a device's check. Checks run between open() and close(). */
struct checking {
	const struct platform *platform;
	struct device *device;
	const struct clock *rows; /* rows as filled by open(), with their current state */
	const struct scale *scale;
	uint64_t begin_tsc, budget_ns; /* TSC at the start, and the approximate time that the check may take */
	/*
	 * NULL in the first pass, which checks all rules. In a repetition, BEFORE has the earlier rows of the device, and
	 * only disturbed rows are checked again.
	 */
	const struct behaviours *before;
	/* Returns the limit of RULE in this run. The first argument is LIMITS. */
	uint64_t (*limit)(const void *limits, const char *rule);
	const void *limits;
	bool scale_by_tsc; /* true if SCALE was confirmed only by clocks that are derived from the TSC */
};

/* A test of a device against its data sheet, which runs after the measurements. */
struct device_check {
	const struct driver *driver; /* driver of the device; NULL ends a table of checks */
	/*
	 * True if the check sets or disturbs the counter, so that its later readings do not continue the earlier ones.
	 */
	bool sets_counter;
	/* True if the check needs an event that comes once a second. Such checks get most of the time. */
	bool needs_seconds;
	/*
	 * Adds a row for each rule, also for rules that cannot be checked. The device is afterwards in the state in which
	 * open() left it.
	 */
	void (*run)(const struct checking *checking, struct behaviours *behaviours);
};

#endif
