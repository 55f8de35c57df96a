/* Restores what drivers changed on other cores. For src/run only. */
#ifndef BARETICK_RUN_RESTORE_H
#define BARETICK_RUN_RESTORE_H

#include "run/run.h"

/*
 * Restores what drivers changed on each other core, if the core answers within 5 s. If the TSC, which times the wait,
 * stopped, no core is restored. Adds notes with the number of cores that were not restored, or may not have been.
 */
void run_leave_cores(struct run *run);

#endif
