/* The parts of a run, which run.c calls. For src/run only. */
#ifndef BARETICK_RUN_INTERNAL_H
#define BARETICK_RUN_INTERNAL_H

#include "measure/survey.h"
#include "run/run.h"

/*
 * Opens every driver that has a clock in the options, and adds these clocks to the report, up to REPORT_CLOCKS_MAX. If
 * a driver takes an exception, its clocks become broken with that reason.
 */
void run_open_clocks(struct run *run);

/*
 * Closes every driver. If a driver takes an exception, the others are closed all the same, and a note is added.
 */
void run_close_clocks(struct run *run);

/*
 * Restores what drivers changed on each other core, if the core answers within 5 s. If the TSC, which times the wait,
 * stopped, no core is restored. Adds notes with the number of cores that were not restored, or may not have been.
 */
void run_leave_cores(struct run *run);

/*
 * Finds out whether one of the run's clocks, which must be open, produces the firmware's timer tick. Such a tick stops
 * that clock for short times.
 */
void run_find_tick(struct run *run);

/* Returns true if the firmware works in PHASE, because it may need its tick then. */
bool run_needs_tick(const struct run *run, const struct run_phase *phase);

/*
 * Runs all rounds but the first, which consists of the earlier phases. Ends early if the user or the deadline ends the
 * run.
 */
void run_soak(struct survey *survey);

/* Checks each device whose main clock is in the report. Ends early after the deadline. */
void run_checks(struct run *run);

/* Index of the driver in the run; RUN_DRIVERS_MAX if it is not in it. */
size_t run_find_driver(const struct run *run, const struct driver *driver);

/* Adds a row to report.calibrations for each loop, and its results to the record. Ends early after the deadline. */
void run_calibrations(struct run *run);

#endif
