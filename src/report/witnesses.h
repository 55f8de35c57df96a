/* Decides which of a report's clocks have one source, and therefore one vote. See falseticker.h. */
#ifndef BARETICK_WITNESSES_H
#define BARETICK_WITNESSES_H

#include "consensus/falseticker.h"
#include "report/report.h"

/*
 * Sources of rates. In a guest, all devices are emulated by one clock of the host, and the RTC by its time of
 * day. One oscillator of the host paces both, so against the TSC they are one source. A clock that a hypervisor
 * derives from the TSC has the TSC's source.
 *
 * On bare metal two counters may share a crystal unless RATES, as implied by each clock, prove otherwise.
 * Counters of one crystal agree exactly, and two that happen to agree as well have one vote. An RTC has its own
 * crystal.
 */
struct falseticker_sources witnesses_of(const struct report *report, const struct rate_interval *rates);

/*
 * Sources of jumps and stops in a guest. The host can stop and set the devices' clock without the time of day,
 * and the other way round. A hypervisor's clock is set together with the devices' clock.
 */
struct falseticker_sources witnesses_of_leaps(const struct report *report);

#endif
