/*
 * The interface of a clock's driver. A driver is one file that exports one struct driver. It reads registers and
 * returns ticks. It does not call the firmware and does not judge results. open() fills a row (a struct clock) for each
 * read method, even if the device is missing. close() restores all registers that the driver has changed.
 */
#ifndef BARETICK_DRIVER_H
#define BARETICK_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/behaviour.h"
#include "clock/clock.h"

#define DRIVER_CLOCKS_MAX 4 /* maximum number of read methods of one device */
#define DRIVER_SAVED_MAX  13

struct platform; /* properties of the machine that drivers need; its members are defined elsewhere */

/* Memory of a driver between open() and close(). The caller owns it, and zeroes it before open(). */
struct device {
	/* true if the driver may have changed registers, so that close() must restore them */
	bool opened;
	/* true if LFENCE alone does not serialise on this CPU, so that TSC reads also need MFENCE */
	bool bracket_with_mfence;
	uint64_t address;         /* I/O port or memory address of the register that is read */
	/* Values of registers before open(), and other state. Each driver defines the meaning of the indices. */
	uint64_t saved[DRIVER_SAVED_MAX];
	uint64_t edges;           /* only for the RTC: number of periodic flags seen since open() */
};

struct driver {
	size_t clock_count; /* number of rows, which is the number of read methods; at most DRIVER_CLOCKS_MAX */
	/* initial values of the rows, which open() completes; the first row is the device's main clock */
	const struct clock *rows;
	/* Fills all clock_count entries of CLOCKS, even if the device is missing. Masks interrupts if necessary. */
	void (*open)(const struct platform *platform, struct device *device, struct clock *clocks);
	/* May also be called if open() found no device. A second call has no effect. */
	void (*close)(struct device *device);
	/*
	 * Called on each core except the boot core, before that core is stopped. Restores the registers of this core
	 * that reading the clock has changed. Returns false if this fails. The pointer is NULL if reading the clock
	 * changes no registers.
	 */
	bool (*restore_core)(struct device *device);
};

/* Arguments of a device's check. Checks run between open() and close(). */
struct checking {
	const struct platform *platform;
	struct device *device;
	const struct clock *rows; /* rows that open() filled, with their current state */
	const struct scale *scale;
	uint64_t begin_tsc, budget_ns; /* TSC at the start of the check, and approximate time that it may take */
	/*
	 * NULL at first, when all rules are checked. When disturbed checks are repeated, BEFORE contains the earlier
	 * results of the device, and only rules whose result was disturbed are checked again.
	 */
	const struct behaviours *before;
	/* Returns the limit of RULE in this run. Callers pass the field LIMITS below as its first argument. */
	uint64_t (*limit)(const void *limits, const char *rule);
	const void *limits;
	/* The clock's measured rate as a multiple of its nominal frequency, at least 1: see analysis/wraps.h. */
	uint64_t pace;
	/* true if the TSC's rate in SCALE was confirmed only by clocks that a hypervisor derives from the TSC */
	bool scale_by_tsc;
};

/* A check compares a device with its data sheet. Checks run after the measurements. */
struct device_check {
	const struct driver *driver; /* driver of the device; NULL ends a table of checks */
	/*
	 * True if the check changes the counter, so that later readings of the clock cannot be compared with earlier
	 * readings.
	 */
	bool sets_counter;
	/*
	 * True if the check waits for events that occur once a second. Such checks get most of the time for all
	 * checks.
	 */
	bool needs_seconds;
	/*
	 * Adds a row for each rule, even if the rule cannot be checked. Afterwards the device has the state in which
	 * open() left it.
	 */
	void (*run)(const struct checking *checking, struct behaviours *behaviours);
};

#endif
