/*
 * The readings of the rates' window and of the run's end, as they were taken: what the best could have made of them.
 * And the pace of what is read all the time, which is no part of any figure, is made slow.
 */
#ifndef BARETICK_SAMPLES_H
#define BARETICK_SAMPLES_H

#include "machine.h"

void samples_record(struct bench *bench); /* of a bench that was opened, from now on */
void samples_phase(const char *phase);

/*
 * How narrow the clock's rate against the TSC can be made of all of them, or of the window's, in ppb, where it is
 * known how the two count; negative where too few are there.
 */
long double samples_best_ppb(int clock, bool whole_run);

#endif
