/* Compares a report on a random machine with the machine's true values, and counts false statements in the report. */
#ifndef BARETICK_VERDICT_H
#define BARETICK_VERDICT_H

#include "machine.h"

void verdict_rates(const struct bench *bench);
void verdict_clocks(const struct report *report); /* checks that the report names the faulty clocks, and no others */
/* must be called before the other checks; does nothing if no leaves were drawn */
void verdict_claims(const struct bench *bench);
void verdict_cores(const struct bench *bench);
void verdict_timers(const struct report *report);
void verdict_host(const struct report *report); /* checks announced stops and stolen time */

/*
 * Returns the TSC's rate in Hz that the report should have. The report measures it with the clock that sets the scale,
 * as if that clock were right.
 */
long double verdict_tsc_hz(const struct report *report);

/* returns true if the finding leaves open which clock is faulty */
bool verdict_leaves_open(const struct finding *finding);

#endif
