/* The clocks' vote on rates or on changes of rates, and phrases for its result. */
#ifndef BARETICK_RATE_VOTE_H
#define BARETICK_RATE_VOTE_H

#include "judge/judge_internal.h"

#include "consensus/falseticker.h"

struct vote {
	struct report *report;
	struct rate_interval rates[REPORT_CLOCKS_MAX]; /* one for each clock */
	struct falseticker found;
	uint32_t changed; /* bit I: clock I has a finding of a change, alone or in a group */
	bool by_doubtful_tsc; /* the TSC, which all were read by, may have stopped: no clock is named */
};

struct phrase {
	char bytes[REPORT_SENTENCE];
};

/* The rule's limit in ppb. */
uint64_t vote_limit_ppb(const struct report *report, const char *rule);

/* Returns true if the clock is present and without fault. */
bool vote_may_vote(const struct report *report, const struct report_clock *entry);

/*
 * Returns true if the clock may jump without a fault of its own. A hypervisor that stops its guest stops all
 * clocks of it except the RTC, which follows the host's time of day. So the RTC jumps, in one stretch of the
 * run or differently in each.
 */
bool vote_may_leap(const struct report *report, const struct report_clock *entry);

/* Votes on vote->rates. IMPLIED, one rate for each clock, decides which clocks have separate sources. */
struct falseticker_sources vote_hold(struct vote *vote, const struct rate_interval *implied, uint64_t limit_ppb);

/* The clocks that prove a falseticker, and the clock that represents them. */
uint32_t vote_accusers(const struct falseticker *found);
size_t vote_reference(const struct falseticker *found);

/* Returns true if there are two groups without a finding of a change of any of their clocks. */
bool vote_has_new_groups(const struct vote *vote);

void vote_set_figure(struct finding *finding, const struct interval_ppb *ppb, uint64_t limit_ppb);

const char *vote_clock_id(const struct vote *vote, size_t clock);
struct phrase vote_ppm(const struct interval_ppb *ppb);                /* "+1.0 ppm (+0.5 to +1.5)" */
/* "hpet, pit and rtc": the clocks of SET that have a rate. */
struct phrase vote_group(const struct vote *vote, uint32_t set);
struct phrase vote_others(const struct vote *vote); /* a sentence on voters in neither group, or "" */
const char *vote_them(uint32_t a, uint32_t b);                         /* "which of the two groups" */

/* Returns true if the TSC diverged from other clocks, or changed against them, and may be the cause. */
bool rate_changes_doubt_tsc(struct vote *vote);

/* A change as the ratio that is voted on. The TSC's own is 1: vote_unchanged. */
extern const struct rate_interval vote_unchanged;
struct rate_interval vote_ratio(const struct interval_ppb *change);

/* Votes on vote->rates, which are changes. Sources are separate as in vote_hold(), by the rate window. */
struct falseticker_sources vote_hold_on_changes(struct vote *vote, uint64_t limit_ppb);

/* rate-trend: changes between the rows of a soak's series. */
void rate_trend_judge(struct vote *vote);

/* rate-changed: changes between the HALVES of the rate window, or else from the window to the end. */
void rate_changes_judge(struct vote *vote, bool halves);

#endif
