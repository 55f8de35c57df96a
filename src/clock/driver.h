/*
 * What a clock's driver is: one file, one export of this type. Registers in, ticks out; it knows no UEFI
 * and judges nothing. open() leaves a row for each way of reading its clock, whatever it finds; close()
 * puts every register back that open() changed.
 */
#ifndef BARETICK_DRIVER_H
#define BARETICK_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/behaviour.h"
#include "clock/clock.h"

#define DRIVER_CLOCKS_MAX 4 /* ways of reading one device */
#define DRIVER_SAVED_MAX  8

struct platform; /* what is known of the machine: the drivers' own, handed through to them */

/* A driver's memory between open and close. The caller owns it, zeroed before open. */
struct device {
	bool opened;              /* registers were changed or may have been: close has something to do */
	bool bracket_with_mfence; /* LFENCE alone does not serialise here */
	uint64_t address;         /* of the register that is read: I/O port or MMIO */
	uint64_t saved[DRIVER_SAVED_MAX]; /* registers as found; each driver says which is which */
	uint64_t edges;           /* rtc: periodic flags seen since open */
};

struct driver {
	size_t clock_count; /* rows it leaves, at most DRIVER_CLOCKS_MAX */
	const struct clock *rows; /* what open begins with; the first is the device's main clock */
	/* Fills CLOCKS[0..clock_count) in every case; masks interrupts itself where it must. */
	void (*open)(const struct platform *platform, struct device *device, struct clock *clocks);
	/* May be called after an open that found nothing; a second call does nothing. */
	void (*close)(struct device *device);
	/*
	 * On a core other than the boot core, before it is stopped: puts back what taking samples changed on that core.
	 * False: that does not read as it was found. NULL: taking samples changes nothing.
	 */
	bool (*leave)(struct device *device);
};

/* What a device is checked with, between open and close. */
struct checking {
	const struct platform *platform;
	struct device *device;
	const struct clock *rows; /* as open left them, in the state that they are in by now */
	const struct scale *scale;
	uint64_t begin_tsc, budget_ns; /* it takes about so long at most, from then on */
	/* NULL: all is looked at. Else the device's rows of before, of which those that were disturbed are made again. */
	const struct behaviours *before;
	/* The limit of a figure's rule in this run; LIMITS is handed to it. */
	uint64_t (*limit)(const void *limits, const char *rule);
	const void *limits;
	bool scale_by_tsc; /* SCALE is by no clock but such as are worked out from the TSC */
};

/* What looks, after the measuring, whether a driver's device behaves as its data sheet promises. */
struct device_check {
	const struct driver *driver; /* that opened it; NULL ends a table of them */
	bool sets_counter;   /* or is about how that goes on: what it reads does not follow from before, or not as it should */
	bool needs_seconds;  /* it shows something once a second only: most of the time is kept for it */
	/* Adds a row for each promise, checked or not. Leaves the device as open left it. */
	void (*look)(const struct checking *checking, struct behaviours *behaviours);
};

#endif
