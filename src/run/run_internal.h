/* The parts of a run that run.c calls. This header is only for files of src/run. */
#ifndef BARETICK_RUN_INTERNAL_H
#define BARETICK_RUN_INTERNAL_H

#include "measure/survey.h"
#include "run/run.h"

/*
 * Opens every driver that has a clock in the options. Adds these clocks to the report, up to REPORT_CLOCKS_MAX. If a
 * driver takes an exception, its clocks become broken with that reason.
 */
void run_open_clocks(struct run *run);

/* Closes every driver. If a driver takes an exception, a note is added, and the other drivers are still closed. */
void run_close_clocks(struct run *run);

/*
 * Restores the settings that drivers changed on each other core, if the core answers within 5 s. If the TSC stopped, no
 * core is restored, because the wait is timed with the TSC. Adds notes with the number of cores that were not restored,
 * or may not have been.
 */
void run_leave_cores(struct run *run);

/*
 * Finds out whether one of the run's clocks produces the firmware's timer tick, because such a tick stops that clock
 * for short times. The clocks must be open.
 */
void run_find_tick(struct run *run);

/* Returns true if the firmware may need its tick in PHASE, because it takes part in the phase. */
bool run_needs_tick(const struct run *run, const struct run_phase *phase);

/*
 * Runs all rounds of a soak except the first, which consists of the earlier phases. Ends early if the user or the
 * deadline ends the run.
 */
void run_soak(struct survey *survey);

/* Checks each device whose main clock is in the report. Ends early after the deadline. */
void run_checks(struct run *run);

/* Returns the index of the driver in the run, or RUN_DRIVERS_MAX if the run does not have the driver. */
size_t run_find_driver(const struct run *run, const struct driver *driver);

/*
 * Runs each calibration loop. Adds a row for it to report.calibrations, and its results to the record. Ends early after
 * the deadline.
 */
void run_calibrations(struct run *run);

#endif
