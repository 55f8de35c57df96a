/*
 * Decides which of a report's clocks have the same source. Clocks with the same source have one vote together. See
 * falseticker.h.
 */
#ifndef BARETICK_CLOCK_SOURCES_H
#define BARETICK_CLOCK_SOURCES_H

#include "consensus/falseticker.h"
#include "report/report.h"

/*
 * Returns the clocks' sources for a comparison of rates.
 *
 * In a guest, one clock of the host drives all emulated devices, and the host's time of day drives the RTC. Both come
 * from one oscillator of the host, so together they are one source. The TSC is another source. A clock that a
 * hypervisor derives from the TSC has the TSC's source.
 *
 * On bare metal, two counters count as one source unless their RATES prove that they have two crystals. Counters of one
 * crystal agree exactly. If two different crystals happen to agree that exactly, they have one vote, too. An RTC has
 * its own crystal.
 */
struct falseticker_sources sources_for_rates(const struct report *report, const struct rate_interval *rates);

/*
 * Returns the clocks' sources for jumps and stops. In a guest the host can stop or set the clock behind the devices
 * without changing its time of day, and the other way round. A hypervisor's clock is set together with the devices'
 * clock.
 */
struct falseticker_sources sources_for_jumps(const struct report *report);

#endif
