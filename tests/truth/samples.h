/*
 * Records the readings of the rates' window and of the run's end, to find the best possible result. Also slows down
 * continuous readings, which are not part of any figure.
 */
#ifndef BARETICK_SAMPLES_H
#define BARETICK_SAMPLES_H

#include "machine.h"

void samples_record(struct bench *bench); /* starts to record the readings of an opened bench */
void samples_phase(const char *phase);

/*
 * Returns the smallest possible width in ppb of the interval for the clock's rate against the TSC. It uses all
 * readings, or only the window's readings, and the exact steps of both counters. Returns a negative number if there are
 * too few readings.
 */
long double samples_best_ppb(int clock, bool whole_run);

#endif
