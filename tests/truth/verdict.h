/* Compares a report on a random machine with the machine's true values, and counts false statements in the report. */
#ifndef BARETICK_VERDICT_H
#define BARETICK_VERDICT_H

#include "machine.h"

void verdict_check_rates(const struct bench *bench);
/* checks that the report names all faulty clocks and no healthy clock */
void verdict_check_clocks(const struct report *report);
/* must be called before the other checks; does nothing if no leaves were drawn */
void verdict_check_claims(const struct bench *bench);
void verdict_check_cores(const struct bench *bench);
void verdict_check_timers(const struct report *report);
void verdict_check_sleeps(const struct report *report);
/* checks the report's statements about stops and stolen time that the host announces */
void verdict_check_host(const struct report *report);

/*
 * Returns the TSC's rate in Hz that the report must show. The report measures this rate with the clock that sets its
 * time scale, even if this clock has a rate error.
 */
long double verdict_get_tsc_hz(const struct report *report);

/*
 * Returns true if a clock jumped so far between the rate window and the end of the run that the report must notice the
 * jump. A jump of the RTC may remain unnoticed, because between its edges the RTC shows only whole seconds. A jump of
 * the PIT may, too: the PIT wraps every 55 ms, and the jump may be about a whole number of wraps.
 */
bool verdict_must_jump_be_noticed(void);

#endif
