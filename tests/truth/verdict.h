/* Compares a report on a machine with the true values. */
#ifndef BARETICK_VERDICT_H
#define BARETICK_VERDICT_H

#include "machine.h"

void verdict_rates(const struct bench *bench);
void verdict_clocks(const struct report *report); /* which are named, and which not */
void verdict_claims(const struct bench *bench); /* before the others; does nothing if no leaves were drawn */
void verdict_cores(const struct bench *bench);
void verdict_timers(const struct report *report);
void verdict_host(const struct report *report); /* announcements and stolen time */

/* The TSC's rate in Hz, were the clock that sets the report's scale right: what the report's ns count. */
long double verdict_tsc_hz(const struct report *report);

bool verdict_names_nobody(const struct finding *finding); /* it says that nothing tells who it is */

#endif
