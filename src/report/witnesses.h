/* Which of a report's clocks have one source, and so one vote. See falseticker.h. */
#ifndef BARETICK_WITNESSES_H
#define BARETICK_WITNESSES_H

#include "falseticker.h"
#include "report.h"

/*
 * In a guest all devices but the RTC are emulated by one clock of the host's: one source for certain. On bare metal two
 * counters may have one crystal unless they are shown not to, by RATES, as implied by each clock: those of one crystal
 * agree exactly, two that happen to agree so well have one vote. An RTC has a crystal of its own.
 */
struct falseticker_sources witnesses_of(const struct report *report, const struct rate_interval *rates);

#endif
