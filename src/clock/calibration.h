/*
 * A calibration loop is code with which an operating system, a firmware or a program measures the rate of a clock at
 * start-up, in a few milliseconds. Each loop of baretick imitates such original code: it measures for the same time,
 * and refuses a result for the same reasons. Each loop is run many times, as if the machine had been started many
 * times. A loop only measures; src/analysis evaluates the results.
 */
#ifndef BARETICK_CALIBRATION_H
#define BARETICK_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/driver.h"

#define CALIBRATION_DEVICES  3
#define CALIBRATION_REFUSALS 4    /* maximum number of reasons for refusing a result */
#define CALIBRATION_RUNS_MAX 500  /* maximum number of runs of each loop */
#define CALIBRATION_LOOPS    8
#define CALIBRATION_READINGS 24   /* maximum number of readings that are recorded for each run */
#define CALIBRATION_NONE     UINT32_MAX /* value of `refusal` if the result was not refused */

struct calibrating {
	const struct platform *platform;
	const struct scale *scale; /* contains the measured rate of the TSC */
	/*
	 * The devices that the loop uses, in the order of calibration_loop.uses. An entry is NULL if the
	 * device is not in the machine or not in the run.
	 */
	struct device *devices[CALIBRATION_DEVICES];
	bool left_out[CALIBRATION_DEVICES]; /* true if the option clocks= leaves out the device */
};

struct calibration_result {
	uint64_t hz;      /* the rate that the original code would use; 0 if it refuses the result */
	uint32_t refusal; /* reason for refusing the result: an index in calibration_loop.refusals, or CALIBRATION_NONE */
	/*
	 * Ticks of the measured clock, and TSC ticks in the same time. Used only if the measured clock is not the TSC.
	 */
	uint64_t ticks, tsc_ticks;
	uint64_t slack_ticks; /* upper bound of the error of `ticks` */
	size_t reading_count;
	/* raw readings; their order is given in drivers/calibrations/README.md */
	uint64_t readings[CALIBRATION_READINGS];
};

struct calibration_loop {
	/* id of the loop; NULL ends a table of loops. All texts in this struct are in static storage */
	const char *id;
	const char *user;  /* name and version of the program that contains the original code */
	const char *clock; /* the clock whose rate is measured, "tsc" or "lapic" */
	const struct driver *uses[CALIBRATION_DEVICES];
	/* reasons for refusing a result, as parts of sentences: "the PIT's reads are too slow" */
	const char *refusals[CALIBRATION_REFUSALS];
	uint64_t longest_ns; /* approximate maximum duration of one run on a core that is not preempted */
	/* maximum duration if the first device of `uses` is missing; 0 if this makes no difference */
	uint64_t without_first_ns;
	/* Returns NULL if the loop can be run on this machine, otherwise a sentence that states the reason. */
	const char *(*missing)(const struct calibrating *calibrating);
	/*
	 * Runs the loop once with interrupts masked. Afterwards each device has the state in which its driver's
	 * open() left it.
	 */
	void (*run)(const struct calibrating *calibrating, struct calibration_result *result);
};

#endif
