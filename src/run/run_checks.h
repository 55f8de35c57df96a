/* The devices' checks, one after another within the time that the profile gives. */
#ifndef BARETICK_RUN_CHECKS_H
#define BARETICK_RUN_CHECKS_H

#include "run/run.h"

/* Checks each device of which the main clock is in the report. Ends early once the deadline is over. */
void run_checks(struct run *run);

#endif
