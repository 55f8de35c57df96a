/*
 * Decides which clocks of a report have the same source, for example a crystal. Clocks with the same source agree
 * even if the source is wrong, so they count only once in a vote. See consensus/falseticker.h.
 */
#ifndef BARETICK_CLOCK_SOURCES_H
#define BARETICK_CLOCK_SOURCES_H

#include "consensus/falseticker.h"
#include "report/report.h"

/*
 * Two clocks count as one source if the uncertainty of their ratio is at most this, and the ratio may equal its nominal
 * value. Separate crystals differ by 10 ppm or more.
 */
#define SAME_SOURCE_PPB 5000

/*
 * In a guest, the host usually calculates all clocks from one. So there a ratio that may equal its nominal value counts
 * as one source even if its uncertainty is this large. Then a clock that is wrong with the others is not confirmed by
 * them, and if the sources are separate after all, a difference is reported without a culprit.
 */
#define SAME_SOURCE_OF_GUEST_PPB 50000

/*
 * Returns the sources of the clocks for a comparison of their rates.
 *
 * In a guest, the host calculates all emulated devices from one clock, and the RTC from its time of day. This clock
 * and the time of day depend on the same crystal of the host, so the devices and the RTC are one source. The TSC is
 * another source. A clock that a hypervisor calculates from the TSC has the TSC's source. If all of these clocks may
 * have exactly their nominal ratios, the host may calculate all of them from one clock, and they count as one
 * source. An RTC whose rate is proven to differ from theirs then has another source.
 *
 * On bare metal, two counters count as one source unless their RATES prove that they have different crystals.
 * Counters with the same crystal have exactly the same rate error. An RTC has a crystal of its own.
 */
struct falseticker_sources find_clock_sources_for_rates(const struct report *report, const struct rate_interval *rates);

/*
 * Returns the sources of the clocks for finding jumps and stops. They differ from the sources for rates, because in a
 * guest the host can stop or set the clock of the devices without changing its time of day, and vice versa. The
 * host sets a paravirtual clock together with the clock of the devices, so these two clocks are one source here.
 */
struct falseticker_sources find_clock_sources_for_jumps(const struct report *report);

#endif
