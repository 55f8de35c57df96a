/* Runs the checks of all devices one after another, within the time that the profile allows. */
#ifndef BARETICK_RUN_CHECKS_H
#define BARETICK_RUN_CHECKS_H

#include "run/run.h"

/* Checks each device whose main clock is in the report. Ends early after the deadline. */
void run_checks(struct run *run);

#endif
