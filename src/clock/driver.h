/*
 * The contract of a clock's driver: one file with one export of this type. It turns registers into ticks, knows
 * no UEFI, and judges nothing. Its open() leaves a row for each read method of its clock, whatever it finds.
 * Its close() restores every register that was changed.
 */
#ifndef BARETICK_DRIVER_H
#define BARETICK_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/behaviour.h"
#include "clock/clock.h"

#define DRIVER_CLOCKS_MAX 4 /* read methods of one device */
#define DRIVER_SAVED_MAX  8

struct platform; /* the drivers' description of the machine, only passed on here */

/* A driver's memory between open and close. Owned by the caller, who zeroes it before open. */
struct device {
	bool opened;              /* registers were changed or may have been, so close has to restore them */
	bool bracket_with_mfence; /* LFENCE alone does not serialise here */
	uint64_t address;         /* address of the register that is read: I/O port or MMIO */
	uint64_t saved[DRIVER_SAVED_MAX]; /* registers as found; each driver says which is which */
	uint64_t edges;           /* rtc: periodic flags seen since open */
};

struct driver {
	size_t clock_count; /* number of rows, at most DRIVER_CLOCKS_MAX */
	const struct clock *rows; /* rows before open; the first is the device's main clock */
	/* Fills CLOCKS[0..clock_count) in every case. Masks interrupts itself if it has to. */
	void (*open)(const struct platform *platform, struct device *device, struct clock *clocks);
	/* May be called after an open that found nothing. A second call does nothing. */
	void (*close)(struct device *device);
	/*
	 * Called on a core other than the boot core before it is stopped. Restores registers of that core that
	 * taking samples changed. Returns false if they do not read as before. NULL if taking samples changes
	 * nothing.
	 */
	bool (*leave)(struct device *device);
};

/* Parameters of a device's check, between open and close. */
struct checking {
	const struct platform *platform;
	struct device *device;
	const struct clock *rows; /* as left by open, with their current state */
	const struct scale *scale;
	uint64_t begin_tsc, budget_ns; /* start and longest duration, approximately */
	/*
	 * NULL: all rules are checked. Otherwise the device's earlier rows, and only disturbed ones are checked
	 * again.
	 */
	const struct behaviours *before;
	/* Returns the limit of RULE in this run. Called with LIMITS. */
	uint64_t (*limit)(const void *limits, const char *rule);
	const void *limits;
	bool scale_by_tsc; /* only clocks derived from the TSC confirm SCALE */
};

/* Checks after the measurements whether a driver's device behaves as its data sheet specifies. */
struct device_check {
	const struct driver *driver; /* the driver that opened it; NULL ends a table of checks */
	/* It sets the counter or disturbs its count, so that later readings do not follow from earlier ones. */
	bool sets_counter;
	/* It needs an event that comes once a second, so most of the time is reserved for it. */
	bool needs_seconds;
	/* Adds a row for each rule, whether it could be checked or not. Leaves the device as open left it. */
	void (*look)(const struct checking *checking, struct behaviours *behaviours);
};

#endif
