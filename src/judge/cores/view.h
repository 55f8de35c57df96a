/* What the judge sees in the cores' offsets and drifts: which core is off, from which others, and how far. */
#ifndef BARETICK_VIEW_H
#define BARETICK_VIEW_H

#include "base/scale.h"
#include "report/report.h"

struct view { /* of the report's tournament; a core is meant by its rank among those that took part */
	const struct report *report;
	const struct report_skew *skew;
	struct scale scale;
	uint64_t offset_limit_ns, drift_limit_ppb;
	size_t drifting;

	/* The tournament whose offsets are judged: the first, or by view_latest() the last. */
	const struct offsets *offsets;
	const bool *outlier;
	bool no_majority;
	bool star_open; /* it is a star, and no other tournament shows all of its offsets: the boot core may have stepped */
};

/* Two of which something is proven that no core's own finding explains: B against A. */
struct odd_pair {
	bool found;
	size_t a, b;
};

/* How far something is proven to be off, and how far it may be at most. */
struct distance {
	uint64_t near, far;
	bool ahead;
};

/* Judges which cores drift and which are off the majority, and whether all are synchronised: sets it in REPORT. */
struct view view_of(struct report *report);

struct view view_latest(const struct view *view); /* of the last tournament; of no core where there was none */

void view_find_drifts(struct report *report, struct view *view); /* of it: marks the cores, sets view->drifting */

struct distance view_distance(struct offset offset); /* 0 to 0: not known */

const struct report_core *view_core(const struct view *view, size_t rank);

struct distance view_drift_ppb(const struct view *view, size_t other, size_t rank); /* from OTHER; 0 to 0: not known */

/* From whichever core that is in order RANK is proven to be furthest: OTHER. */
struct distance view_offset_ns(const struct view *view, size_t rank, size_t *other);

struct distance view_pair_ns(const struct view *view, size_t other, size_t rank);   /* RANK from OTHER */

/* The pair that is proven to differ the most while neither is named by itself; and which so moved the most. */
struct odd_pair view_odd_pair(const struct view *view);
struct odd_pair view_odd_drift(const struct view *view);

/* How fast RANK ran against most, as far as that holds whenever it moved from the first of MOMENT to its end. */
struct distance view_drift_from_most(const struct view *view, size_t rank, struct moment *moment);

/* How RANK so moved, by its pairs with more than half of all; where that is by one step, from when to when at most. */
enum motion view_motion(const struct view *view, size_t rank, bool ahead, struct moment *moment);

/* When the offset of the two was measured, and from when to when their drift was. */
struct moment view_moment(const struct view *view, size_t other, size_t rank);
struct moment view_last_moment(const struct view *view, size_t other, size_t rank); /* in the last tournament */

/* Whether its offset is a fault of its own, or of the half that it is in: that of a core that drifts is none. */
bool view_is_off(const struct view *view, size_t rank);

/* The least that TICKS are in ns, at most 2^60 of them. */
uint64_t view_ns_down(const struct view *view, uint64_t ticks);
uint64_t view_ns_up(const struct view *view, uint64_t ticks); /* the most */

#endif
