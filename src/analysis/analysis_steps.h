/*
 * The clocks in one step, which is the interval between two successive readings of all clocks. The TSC times all
 * readings, so each clock shows how much it gained on the TSC in the step. Used by the analysis of a record, and during
 * a run to decide whether a step is recorded.
 */
#ifndef BARETICK_ANALYSIS_STEPS_H
#define BARETICK_ANALYSIS_STEPS_H

#include "record/record.h"
#include "report/report.h"

/* index of the TSC, the time base of all readings, even if the report does not list it */
#define ANALYSIS_TSC            REPORT_CLOCKS_MAX
/*
 * An RTC's edge is the end of its update cycle, which a chip derives from its crystal. An emulator signals the edge in
 * its main loop, which a busy host delays. The delay was 47 us to 1.3 ms with QEMU, and several ms on an overloaded
 * host. An edge of a guest's RTC that is later than ANALYSIS_EDGE_LATE_NS ends a rate window. An edge that is later
 * than ANALYSIS_EDGE_LATEST_NS, the worst delay seen on busy hosts, is reported as a discontinuity.
 */
#define ANALYSIS_EDGE_LATE_NS   INT64_C(10000000)
#define ANALYSIS_EDGE_LATEST_NS INT64_C(50000000)

struct analysis_step {
	const struct report *report; /* the clocks' ranges and nominal rates, and the kind of machine */
	struct scale scale;          /* the TSC's rate as it was known at the time of the step */
	struct record_step is;       /* the step's entry in the record */
	size_t count;                /* number of CLOCKS that are compared */
	struct record_compared clocks[REPORT_CLOCKS_MAX];
};

/*
 * Groups the clocks by how much they gained on the TSC. Clocks in different groups differ by more than FLOOR_NS. If all
 * clocks agree, there is one group. An edge of a guest's edge clock (an RTC, see clock.h) may be up to EDGE_LATE_NS
 * late.
 */
struct discontinuity analysis_group_clocks_by_gain(const struct analysis_step *step, int64_t edge_late_ns,
						   uint64_t floor_ns);

/*
 * Returns how far, in ns, a guest's edge clock may get ahead of the TSC in a step before this is reported as a
 * discontinuity. Returns 0 for other clocks.
 */
uint64_t analysis_max_unreported_gain_ns(const struct analysis_step *step, const struct record_compared *clock);

/* Returns the set of clocks that are in groups without the TSC. */
uint32_t analysis_find_clocks_outside_tsc_group(const struct discontinuity *found);

/* Returns true if all clocks in the set CLOCKS are edge clocks. */
bool analysis_are_edge_clocks(const struct report *report, uint32_t clocks);

#endif
