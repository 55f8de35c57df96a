/* Offset and drift analysis of the cores: finds cores that are off and their distance from the others. */
#ifndef BARETICK_OFFSET_ANALYSIS_H
#define BARETICK_OFFSET_ANALYSIS_H

#include "base/scale.h"
#include "report/report.h"

struct view { /* an analysis of one pass; cores are given by rank */
	const struct report *report;
	const struct report_skew *skew;
	struct scale scale;
	uint64_t offset_limit_ns, drift_limit_ppb;
	size_t drifting;

	/* The pass whose offsets are judged: the first one, or after view_latest() the last one. */
	const struct offsets *offsets;
	const bool *outlier;
	bool no_majority;
	/* It is a star, and no other pass confirms all of its offsets, so the boot core may have stepped. */
	bool star_open;
};

/* Two cores that are proven to differ without a finding of either core that explains it. B against A. */
struct odd_pair {
	bool found;
	size_t a, b;
};

/* A proven minimum and possible maximum of a distance. */
struct distance {
	uint64_t near, far;
	bool ahead;
};

/*
 * Finds the cores that drift or are off the majority, and whether all are synchronised. Sets the results in
 * REPORT.
 */
struct view view_of(struct report *report);

struct view view_latest(const struct view *view); /* for the last pass; without any core if there was none */

/* Marks the drifting cores in REPORT, and counts them. */
void view_find_drifts(struct report *report, struct view *view);

struct distance view_distance(struct offset offset); /* 0 to 0 if it is not known */

const struct report_core *view_core(const struct view *view, size_t rank);

/* From OTHER; 0 to 0 if not known. */
struct distance view_drift_ppb(const struct view *view, size_t other, size_t rank);

/*
 * Distance of RANK from OTHER: the core that RANK is proven to be furthest from. OTHER neither is off nor
 * drifts.
 */
struct distance view_offset_ns(const struct view *view, size_t rank, size_t *other);

struct distance view_pair_ns(const struct view *view, size_t other, size_t rank);   /* RANK from OTHER */

/*
 * The pair with the largest proven difference of offsets or of rates, neither of whose cores is named by
 * itself.
 */
struct odd_pair view_odd_pair(const struct view *view);
struct odd_pair view_odd_drift(const struct view *view);

/* The rate of RANK against most cores. It holds for a movement at any time within MOMENT. */
struct distance view_drift_from_most(const struct view *view, size_t rank, struct moment *moment);

/*
 * How RANK moved, by its pairs with more than half of all cores. For a single step, MOMENT is the time interval
 * in which it happened.
 */
enum motion view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment);

/* Time intervals in which the offset of the two was measured, */
struct moment view_moment(const struct view *view, size_t other, size_t rank);
/* In the pass of the view, and in the last pass. */
struct moment view_last_moment(const struct view *view, size_t other, size_t rank);

/* Returns true if the core's offset is a fault of its own, or of its half. False for a core that drifts. */
bool view_is_off(const struct view *view, size_t rank);

/* TICKS in ns, rounded down, for at most 2^60 ticks. */
uint64_t view_ns_down(const struct view *view, uint64_t ticks);
uint64_t view_ns_up(const struct view *view, uint64_t ticks); /* rounded up */

#endif
