/* Restores what drivers changed on other cores. For src/run only. */
#ifndef BARETICK_RUN_RESTORE_H
#define BARETICK_RUN_RESTORE_H

#include "run/run.h"

/*
 * Restores on each other core what drivers changed there, if the core answers within 5 s. Does nothing if the
 * TSC stopped, because it times the wait. A note gives the number of cores that were not restored, or not known
 * to be.
 */
void run_leave_cores(struct run *run);

#endif
