/* What drivers changed on other cores is put back. For src/run only. */
#ifndef BARETICK_RUN_LEAVE_H
#define BARETICK_RUN_LEAVE_H

#include "run/run.h"

/*
 * Puts back on each other core what drivers changed there, while it answers: 5 s a core at most, and none where the TSC
 * stopped, by which the wait would end. A note says on how many cores it was not, or is not known to be.
 */
void run_leave_cores(struct run *run);

#endif
