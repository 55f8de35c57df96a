/*
 * Analyses the offsets and drifts of the cores' TSCs: which cores differ from the majority, which drift, and by how
 * much. A pass is one measurement of all pairs of cores, or in a star schedule only of the pairs with the boot core. A
 * core's rank is its index in a pass. An offset is in ns, and a drift in ppb. Both are OFFSET_UNKNOWN if the pair was
 * not measured.
 */
#ifndef BARETICK_OFFSET_ANALYSIS_H
#define BARETICK_OFFSET_ANALYSIS_H

#include "report/report.h"

/* Two cores as ranks (see sync/offsets.h), with A < B. Both are 0 if there is no pair. */
struct pair {
	size_t a, b;
};

/*
 * Finds the cores that drift or whose TSC differs from the majority's in the first or the last pass, and whether all
 * are synchronised. Sets the results in SYNC, which is report->outcomes.sync.
 */
void analyse_offsets(const struct report *report, struct sync_outcome *sync);

/* Returns the offset of RANK against OTHER in PASS. */
struct offset pair_offset_ns(const struct report *report, const struct report_pass *pass, size_t other, size_t rank);

/* Returns true if the offset of the pair is proven to be above the limit. */
bool pair_has_proven_offset(const struct report *report, const struct report_pass *pass, size_t other, size_t rank);

/* Returns the proven drift of the pair if it is above the limit, otherwise 0. */
uint64_t pair_proven_drift_ppb(const struct report *report, size_t a, size_t b);

/*
 * Returns the core that is proven to be furthest from RANK in PASS, among the cores that are in the majority and do not
 * drift. If PASS is NULL, returns the core from which RANK is proven to drift fastest, among the cores that do not
 * drift. Returns RANK if there is none.
 */
size_t find_core_furthest_from(const struct report *report, const struct report_pass *pass, size_t rank);

/*
 * Returns the pair with the largest proven offset or, if BY_DRIFT is true, with the largest proven drift, if that is
 * above the limit. Cores that a finding names are left out. An offset that contradicts other measurements is left out,
 * too, because add_contradiction_finding() reports it.
 */
struct pair pass_find_worst_pair(const struct report *report, const struct report_pass *pass, bool by_drift);

/*
 * Returns how the offset of the pair changed: steadily or by a step. For a step, sets MOMENT to the time interval in
 * which it happened.
 */
enum motion pair_find_motion(const struct report *report, struct pair pair, struct moment *moment);

/*
 * Returns by how much the TSC of PAIR.b stepped against the TSC of PAIR.a, in ns. MOTION is MOTION_STEP_EARLY or
 * MOTION_STEP_LATE.
 */
struct offset pair_step_ns(const struct report *report, struct pair pair, enum motion motion);

#define MOMENT_NEVER ((struct moment){ UINT64_MAX, 0 }) /* an empty time interval */
/* Returns the time interval from the earlier start to the later end of A and B. */
struct moment moment_union(struct moment a, struct moment b);

#endif
