/* Runs the checks of all devices one after another, within the time that the profile allows. */
#ifndef BARETICK_RUN_CHECKS_H
#define BARETICK_RUN_CHECKS_H

#include "run/run.h"

/* Checks each device whose main clock is in the report. Ends early after the deadline. */
void run_checks(struct run *run);

/* Index of the driver in the run; RUN_DRIVERS_MAX if it is not in it. */
size_t run_find_driver(const struct run *run, const struct driver *driver);

#endif
