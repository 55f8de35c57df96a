/* Functions that run.c calls to run parts of a run. Only for files of src/run. */
#ifndef BARETICK_RUN_INTERNAL_H
#define BARETICK_RUN_INTERNAL_H

#include "measure/survey.h"
#include "run/run.h"

/*
 * Opens each driver with at least one clock that the options include, and adds these clocks to the report (at most
 * REPORT_CLOCKS_MAX). If a driver causes an exception, its clocks get the state broken, with the exception as reason.
 */
void run_open_clocks(struct run *run);

/*
 * Closes all drivers. If a driver causes an exception, a note is added to the report, and the remaining drivers are
 * closed.
 */
void run_close_clocks(struct run *run);

/*
 * Restores the settings that drivers changed on other cores. Each core has 5 s to answer. If the TSC stopped, nothing
 * is restored, because this wait uses the TSC. Notes in the report state on how many cores settings were not
 * restored, or may not have been restored.
 */
void run_restore_cores(struct run *run);

/*
 * Finds out whether a clock of the run is the source of the firmware's timer tick. Such a clock stops for a short
 * time at each tick. Must be called after the clocks were opened.
 */
void run_find_firmware_tick(struct run *run);

/* Returns true if the firmware's timer tick must not be stopped in PHASE, because the phase uses the firmware. */
bool run_does_phase_need_firmware_tick(const struct run *run, const struct run_phase *phase);

/*
 * Runs all rounds of a soak except the first, which consists of the earlier phases. Ends early if the user or the
 * deadline ends the run.
 */
void run_soak_rounds(struct survey *survey);

/* Checks each device whose main clock is in the report. Ends early if the deadline passes. */
void run_device_checks(struct run *run);

/* Returns the index of DRIVER in machine->drivers, or RUN_DRIVERS_MAX if it is not there. */
size_t run_find_driver_index(const struct run *run, const struct driver *driver);

/*
 * Runs the delay calibration loops of operating systems. Adds a row for each loop to facts.calibrations, and its
 * results to the record. Ends early if the deadline passes.
 */
void run_calibration_loops(struct run *run);

#endif
