/* Which of a report's clocks have one source, and so one vote. See falseticker.h. */
#ifndef BARETICK_WITNESSES_H
#define BARETICK_WITNESSES_H

#include "consensus/falseticker.h"
#include "report/report.h"

/*
 * Of rates. In a guest all devices are emulated by one clock of the host's, the RTC by its time of day, and one
 * oscillator of the host's paces both: against the TSC they are one source. What a hypervisor works out from the TSC
 * is one with that. On bare metal two counters may have
 * one crystal unless they are shown not to, by RATES, as implied by each clock: those of one crystal agree
 * exactly, two that happen to agree so well have one vote. An RTC has a crystal of its own.
 */
struct falseticker_sources witnesses_of(const struct report *report, const struct rate_interval *rates);

/*
 * Of leaps and stops in a guest: its host stops and sets the devices' clock without the time of day, and that
 * without it. A hypervisor's clock is set with the devices'.
 */
struct falseticker_sources witnesses_of_leaps(const struct report *report);

#endif
