/*
 * Records the readings of the rate window and of the run's end, and calculates the narrowest interval of each rate that
 * they allow. Slows continuous readings down: they only wait for an edge, and no figure depends on their number.
 */
#ifndef BARETICK_SAMPLES_H
#define BARETICK_SAMPLES_H

#include "machine.h"

void samples_start_recording(struct bench *bench); /* starts to record the readings of an opened bench */
void samples_start_phase(const char *phase);

/*
 * Returns the width in ppb of the narrowest possible interval for the clock's rate against the TSC. The width follows
 * from the exact steps of both counters and from the readings of the rate window, or of the whole run if WHOLE_RUN is
 * true. Returns a negative number if there are too few readings.
 */
long double samples_get_best_rate_width_ppb(int clock, bool whole_run);

#endif
