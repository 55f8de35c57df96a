/* The clocks of a run, opened and closed. For src/run only. */
#ifndef BARETICK_RUN_CLOCKS_H
#define BARETICK_RUN_CLOCKS_H

#include "run/run.h"

/*
 * Opens every driver of which the options want a row, and puts those rows into the report, which has room for
 * REPORT_CLOCKS_MAX. One that takes an exception leaves rows that say so.
 */
void run_open_clocks(struct run *run);

/* Closes every driver. One that takes an exception keeps none of the others from it, and has a note. */
void run_close_clocks(struct run *run);

#endif
