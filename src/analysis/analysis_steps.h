/* The clocks in one step, which is the time from one reading of all clocks to the next. The TSC times all
 * readings, so each clock shows how far it is ahead of the TSC in the step. Used by the analysis of a record,
 * and during a run to decide whether a step is recorded.
 */
#ifndef BARETICK_ANALYSIS_STEPS_H
#define BARETICK_ANALYSIS_STEPS_H

#include "record/record.h"
#include "report/report.h"

/* index of the TSC, the time base of all readings, even if the report does not list it */
#define ANALYSIS_TSC            REPORT_CLOCKS_MAX
/*
 * A guest's RTC edge is late if the host's main loop was delayed. Edges later than the first limit do not end a
 * rate window. Up to the second limit, the worst seen on busy hosts, they are not reported.
 */
#define ANALYSIS_EDGE_LATE_NS   INT64_C(10000000)
#define ANALYSIS_EDGE_LATEST_NS INT64_C(50000000)

struct analysis_step {
	const struct report *report; /* the clocks' ranges and nominal rates, and the kind of machine */
	struct scale scale;          /* the TSC's rate as known at that time */
	struct record_step is;
	size_t count;
	struct record_compared clocks[REPORT_CLOCKS_MAX];
};

/* Groups the clocks by how far they are ahead of the TSC. Groups differ by more than FLOOR_NS. If all clocks
 * agree, there is one group. A guest's edge clock (an RTC, see clock.h) may show its edge up to EDGE_LATE_NS
 * late.
 */
struct discontinuity analysis_groups(const struct analysis_step *step, int64_t edge_late_ns, uint64_t floor_ns);

/* Returns how far a guest's edge clock may be ahead of the TSC without being reported, in ns; 0 for other
 * clocks.
 */
uint64_t analysis_hidden_ns(const struct analysis_step *step, const struct record_compared *clock);

/* Returns the clocks in groups without the TSC. */
uint32_t analysis_clocks_off_tsc(const struct discontinuity *found);

/* Returns true if CLOCKS of the report has only edge clocks. */
bool analysis_are_edge_clocks(const struct report *report, uint32_t clocks);

#endif
