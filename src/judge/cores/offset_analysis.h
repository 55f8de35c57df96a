/*
 * Analyses the offsets and drifts of the cores' TSCs: which cores are off the majority, which drift, and how far. A
 * pass is one measurement of all pairs, or in a star schedule of the pairs with the boot core. RANK numbers the cores
 * in it. An offset is in ns, and a drift in ppb. Both are OFFSET_UNKNOWN if the pair was not measured.
 */
#ifndef BARETICK_OFFSET_ANALYSIS_H
#define BARETICK_OFFSET_ANALYSIS_H

#include "base/scale.h"
#include "report/report.h"

struct view { /* the analysis of one pass */
	struct report *report;
	struct report_skew *skew; /* report->skew */
	struct scale scale;
	uint64_t offset_limit_ns, drift_limit_ppb;
	size_t drifting; /* number of cores that drift */

	const struct offsets *offsets; /* the pass that is judged: the first or the last */
	const struct offsets_summary *summary; /* its summary */
	const bool *outlier; /* true if the core with this rank is off the majority */
	bool no_majority;    /* true if no group of more than half of the cores shows which are right */
	/* True if this is a star schedule whose offsets no other pass confirms: the boot core may have stepped. */
	bool star_open;
};

/* Two cores as ranks (see sync/offsets.h), with A < B. Both are 0 if there is no pair. */
struct pair {
	size_t a, b;
};

/*
 * Finds the cores that drift or are off the majority, and whether all are synchronised. Sets the results in REPORT,
 * and the analyses of the first and the last pass. LAST has no cores if there was only one pass.
 */
void view_analyse(struct report *report, struct view *first, struct view *last);

const struct report_core *view_core(const struct view *view, size_t rank);

/* Return the drift and the offset of RANK against OTHER. */
struct offset view_drift(const struct view *view, size_t other, size_t rank);
struct offset view_offset(const struct view *view, size_t other, size_t rank);

/*
 * Returns the core that RANK is proven to be furthest from, of those that neither are off the majority nor drift.
 * Returns RANK if there is none.
 */
size_t view_furthest(const struct view *view, size_t rank);

/* Return the pair with the largest proven difference of offsets, or of rates, without a finding on either core. */
struct pair view_pair_with_odd_offset(const struct view *view);
struct pair view_pair_with_odd_drift(const struct view *view);

/*
 * Returns the drift of core RANK's TSC relative to the majority of the cores. Its end that is nearer to 0 is rounded
 * towards 0, so only the other end always shows the direction. Sets MOMENT to the time interval over which this drift
 * was measured.
 */
struct offset view_drift_from_most(const struct view *view, size_t rank, struct moment *moment);

/*
 * Returns how RANK moved against more than half of all cores: steadily or by a step. For a step, sets MOMENT to the
 * time interval in which it happened.
 */
enum motion view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment);

/* Returns the time interval in which the offset of two cores was measured. */
struct moment view_pass_time(const struct view *view, size_t other, size_t rank);

/* A time interval without any time, and the time from the start of the earlier to the end of the later interval. */
#define MOMENT_NEVER ((struct moment){ UINT64_MAX, 0 })
struct moment moment_hull(struct moment a, struct moment b);

/* Returns true if the core, or the half of the cores that it is in, is off. Returns false for a core that drifts. */
bool view_is_off_majority(const struct view *view, size_t rank);

/* Returns TICKS in ns with the bounds of the TSC's rate. More than 2^60 ticks count as 2^60. */
struct offset view_size_ns(const struct view *view, uint64_t ticks);

#endif
