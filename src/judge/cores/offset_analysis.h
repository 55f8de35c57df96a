/*
 * Analyses the offsets and drifts of the cores' TSCs: which cores differ from the majority, which drift, and by how
 * much. A pass is one measurement of all pairs of cores, or in a star schedule only of the pairs with the boot core. A
 * core's rank is its index in a pass. An offset is in ns, and a drift in ppb. Both are OFFSET_UNKNOWN if the pair was
 * not measured.
 */
#ifndef BARETICK_OFFSET_ANALYSIS_H
#define BARETICK_OFFSET_ANALYSIS_H

#include "base/scale.h"
#include "report/report.h"

struct pass_analysis { /* the analysis of one pass */
	struct report *report;
	struct report_skew *skew; /* report->skew */
	struct scale scale;
	uint64_t offset_limit_ns, drift_limit_ppb;
	size_t drifting; /* number of cores that drift */

	const struct report_pass *result; /* the pass that is judged: the first or the last */
	/* true if no group of more than half of the cores agrees, so that it is unknown which cores are right */
	bool no_majority;
	/*
	 * True if no other pass confirms the offsets of this star schedule. All cores are compared with the boot core,
	 * and the boot core's TSC may have stepped during the pass.
	 */
	bool star_open;
};

/* Two cores as ranks (see sync/offsets.h), with A < B. Both are 0 if there is no pair. */
struct pair {
	size_t a, b;
};

/*
 * Finds the cores that drift or whose TSC differs from the majority's, and whether all are synchronised. Sets the
 * results in REPORT. Sets FIRST and LAST to the analyses of the first and the last pass. LAST has no cores if there was
 * only one pass.
 */
void analyse_offsets(struct report *report, struct pass_analysis *first, struct pass_analysis *last);

const struct report_core *pass_get_measured_core(const struct pass_analysis *pass, size_t rank);

/* Return the drift and the offset of RANK against OTHER. */
struct offset pass_drift_ppb(const struct pass_analysis *pass, size_t other, size_t rank);
struct offset pass_offset_ns(const struct pass_analysis *pass, size_t other, size_t rank);

/*
 * Returns the core that is proven to be furthest from RANK, among the cores that are in the majority and do not drift.
 * Returns RANK if there is none.
 */
size_t pass_find_core_furthest_from(const struct pass_analysis *pass, size_t rank);

/*
 * Return the proven offset or drift of a pair if it is above the limit, otherwise 0. The offset is also 0 if it
 * contradicts other measurements: add_contradiction_finding() reports that.
 */
typedef uint64_t pass_size_of_pair(const struct pass_analysis *pass, size_t a, size_t b);
uint64_t pass_proven_offset_ticks(const struct pass_analysis *pass, size_t a, size_t b);
uint64_t pass_proven_drift_ppb(const struct pass_analysis *pass, size_t a, size_t b);

/* Returns the pair with the largest SIZE_OF, if that is above 0. Cores that a finding names are left out. */
struct pair pass_find_worst_pair(const struct pass_analysis *pass, pass_size_of_pair *size_of);

/*
 * Returns the drift of core RANK's TSC relative to the majority of the cores. The bound nearer to 0 may be rounded to
 * 0, so the direction is the sign of the other bound. Sets MOMENT to the time interval over which this drift was
 * measured.
 */
struct offset pass_drift_from_majority_ppb(const struct pass_analysis *pass, size_t rank, struct moment *moment);

/*
 * Returns how the offset of core RANK changed against more than half of all cores: steadily or by a step. For a step,
 * sets MOMENT to the time interval in which it happened.
 */
enum motion pass_find_motion_of_core(const struct pass_analysis *pass, size_t rank, bool ahead, struct moment *moment);

/* Returns the time interval in which the offset of two cores was measured. */
struct moment pass_measuring_time_of_pair(const struct pass_analysis *pass, size_t other, size_t rank);

#define MOMENT_NEVER ((struct moment){ UINT64_MAX, 0 }) /* an empty time interval */
/* Returns the time interval from the earlier start to the later end of A and B. */
struct moment moment_union(struct moment a, struct moment b);

/*
 * Returns true if the core's TSC differs from the majority's, or if the cores are in two halves that differ from each
 * other. Returns false for a core that drifts.
 */
bool pass_is_core_off_majority(const struct pass_analysis *pass, size_t rank);

/* Returns TICKS in ns, as an interval because the TSC's rate is not exact. More than 2^60 ticks count as 2^60. */
struct offset pass_ticks_to_ns(const struct pass_analysis *pass, uint64_t ticks);

#endif
