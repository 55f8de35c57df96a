/* Runs the calibration loops, each as often as the profile wants and its time allows. */
#ifndef BARETICK_RUN_CALIBRATIONS_H
#define BARETICK_RUN_CALIBRATIONS_H

#include "run/run.h"

/* Adds a row to report.calibrations for each loop, and its results to the record. Ends early after the deadline. */
void run_calibrations(struct run *run);

#endif
