/*
 * Analyses the offsets and drifts of the cores' TSCs: which cores are off the majority, which drift, and how far. A
 * pass is one measurement of all pairs, or in a star schedule of the pairs with the boot core. RANK numbers the cores
 * in it.
 */
#ifndef BARETICK_OFFSET_ANALYSIS_H
#define BARETICK_OFFSET_ANALYSIS_H

#include "base/scale.h"
#include "report/report.h"

struct view { /* the analysis of one pass */
	const struct report *report;
	const struct report_skew *skew;
	struct scale scale;
	uint64_t offset_limit_ns, drift_limit_ppb;
	size_t drifting; /* number of cores that drift */

	const struct offsets *offsets; /* the pass that is judged: the first, or after view_last_pass() the last */
	const bool *outlier; /* true if the core with this rank is off the majority */
	bool no_majority;    /* true if no group of more than half of the cores shows which are right */
	/* True if this is a star schedule whose offsets no other pass confirms: the boot core may have stepped. */
	bool star_open;
};

/* Two cores that are proven to differ, although no finding on either of them explains it. */
struct odd_pair {
	bool found;
	size_t a, b;
};

struct distance {
	uint64_t near, far; /* proven minimum and possible maximum */
	bool ahead;         /* true if the core is ahead of the other core, or runs faster */
};

/*
 * Finds the cores that drift or are off the majority, and whether all are synchronised. Sets the results in
 * REPORT.
 */
struct view view_analyse(struct report *report);

struct view view_last_pass(const struct view *view); /* analyses the last pass; without cores if there was only one */

/* Marks the drifting cores in REPORT, and counts them. */
void view_find_drifts(struct report *report, struct view *view);

struct distance view_distance(struct offset offset); /* 0 to 0 if OFFSET is not known */

const struct report_core *view_core(const struct view *view, size_t rank);

/* Returns the drift of RANK against OTHER; 0 to 0 if it is not known. */
struct distance view_drift_ppb(const struct view *view, size_t other, size_t rank);

/*
 * Returns the distance of RANK from OTHER. Sets OTHER to the core that RANK is proven to be furthest from, of those
 * that neither are off the majority nor drift.
 */
struct distance view_offset_ns(const struct view *view, size_t rank, size_t *other);

struct distance view_pair_ns(const struct view *view, size_t other, size_t rank);   /* distance of RANK from OTHER */

/* Return the pair with the largest proven difference of offsets, or of rates, without a finding on either core. */
struct odd_pair view_pair_with_odd_offset(const struct view *view);
struct odd_pair view_pair_with_odd_drift(const struct view *view);

/*
 * Returns the drift of core RANK's TSC relative to the majority of the cores, in ppb. Sets MOMENT to the time interval
 * over which this drift was measured.
 */
struct distance view_drift_from_most(const struct view *view, size_t rank, struct moment *moment);

/*
 * Returns how RANK moved against more than half of all cores: steadily or by a step. For a step, sets MOMENT to the
 * time interval in which it happened.
 */
enum motion view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment);

/* Return the time interval in which the offset of two cores was measured, in the pass of VIEW or in the last pass. */
struct moment view_pass_time(const struct view *view, size_t other, size_t rank);
struct moment view_last_pass_time(const struct view *view, size_t other, size_t rank);

/* Returns true if the core, or the half of the cores that it is in, is off. Returns false for a core that drifts. */
bool view_is_off_majority(const struct view *view, size_t rank);

/* Convert TICKS to ns, rounded down or rounded up. More than 2^60 ticks count as 2^60. */
uint64_t view_ns_floor(const struct view *view, uint64_t ticks);
uint64_t view_ns_ceiling(const struct view *view, uint64_t ticks);

#endif
