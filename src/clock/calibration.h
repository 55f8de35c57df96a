/*
 * A calibration loop is the code that an operating system, a firmware or a program runs to find the rate of a clock in
 * a few milliseconds. Each loop here has the same window, limits and reasons for refusal as the original code. It is
 * run many times, as if the machine had booted many times. A loop only measures, and src/analysis calculates the
 * figures.
 */
#ifndef BARETICK_CALIBRATION_H
#define BARETICK_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/driver.h"

#define CALIBRATION_DEVICES  3
#define CALIBRATION_REFUSALS 4    /* largest number of different reasons for refusal of one loop */
#define CALIBRATION_RUNS_MAX 500  /* largest number of runs of one loop */
#define CALIBRATION_LOOPS    8
#define CALIBRATION_READINGS 24   /* maximum number of readings of one run that are recorded */
#define CALIBRATION_NONE     UINT32_MAX /* value of REFUSAL if the loop accepted its rate */

struct calibrating {
	const struct platform *platform;
	const struct scale *scale; /* the measured rate of the TSC */
	/* The loop's devices in the order of USES. NULL if a device is not in the machine or not in the run. */
	struct device *devices[CALIBRATION_DEVICES];
};

struct calibration_result {
	uint64_t hz;      /* the rate that the original would use; 0 if it refuses */
	uint32_t refusal; /* index of the reason for refusal in REFUSALS, or CALIBRATION_NONE */
	/* For a clock other than the TSC: its ticks and the TSC's ticks in the same time. */
	uint64_t ticks, tsc_ticks;
	uint64_t slack_ticks; /* upper bound of the error of TICKS */
	size_t reading_count;
	uint64_t readings[CALIBRATION_READINGS]; /* raw readings, in the order that the README of drivers/calibrations gives */
};

struct calibration_loop {
	const char *id;    /* id of the loop; NULL ends a table of loops. All texts here are in static storage */
	const char *user;  /* program and version of the original code */
	const char *clock; /* the clock that is calibrated: "tsc" or "lapic" */
	const struct driver *uses[CALIBRATION_DEVICES];
	const char *refusals[CALIBRATION_REFUSALS]; /* reasons for refusal as clauses: "the PIT's reads are too slow" */
	uint64_t longest_ns; /* approximate maximum duration of a run on a core that is not preempted */
	/* maximum duration if the first device of USES is missing; 0 if this makes no difference */
	uint64_t without_first_ns;
	/* Returns NULL if the loop can be run on this machine, otherwise a sentence with the reason. */
	const char *(*missing)(const struct calibrating *calibrating);
	/*
	 * Runs the loop once, and masks interrupts during the run. The devices are afterwards in the state in which open()
	 * left them.
	 */
	void (*run)(const struct calibrating *calibrating, struct calibration_result *result);
};

#endif
