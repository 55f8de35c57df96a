/* Opens and closes the clocks of a run. For src/run only. */
#ifndef BARETICK_RUN_CLOCKS_H
#define BARETICK_RUN_CLOCKS_H

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

#endif
