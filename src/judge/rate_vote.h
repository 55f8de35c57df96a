/* The clocks' vote on rates or on changes of rates, and the words in which its outcome is said. */
#ifndef BARETICK_RATE_VOTE_H
#define BARETICK_RATE_VOTE_H

#include "judge/judge_internal.h"

#include "consensus/falseticker.h"

struct vote {
	struct report *report;
	struct rate_interval rates[REPORT_CLOCKS_MAX]; /* by clock */
	struct falseticker found;
	uint32_t changed; /* bit I: clock I has a finding of a change, alone or in one of two groups */
	bool by_doubtful_tsc; /* what it was all read by may have stood: no clock is named */
};

struct phrase {
	char bytes[REPORT_SENTENCE];
};

/* The rule's limit in parts in 10^9. */
uint64_t vote_limit_ppb(const struct report *report, const char *rule);

/* Clocks that are well. */
bool vote_may_vote(const struct report *report, const struct report_clock *entry);

/*
 * A hypervisor that stops its guest as a whole stops all its clocks but the RTC, which follows the host's time of day
 * and so leaps, through no fault of its own: in one stretch of the run, or differently in each.
 */
bool vote_may_leap(const struct report *report, const struct report_clock *entry);

/* On vote->rates. Which clocks have a source of their own is told by IMPLIED, one for each clock. */
struct falseticker_sources vote_hold(struct vote *vote, const struct rate_interval *implied, uint64_t limit_ppb);

/* By which a falseticker is named, and the one that represents them. */
uint32_t vote_accusers(const struct falseticker *found);
size_t vote_reference(const struct falseticker *found);

/* Two groups of which no clock has a finding of a change yet. */
bool vote_has_new_groups(const struct vote *vote);

void vote_set_figure(struct finding *finding, const struct interval_ppb *ppb, uint64_t limit_ppb);

const char *vote_clock_id(const struct vote *vote, size_t clock);
struct phrase vote_ppm(const struct interval_ppb *ppb);                /* "+1.0 ppm (+0.5 to +1.5)" */
struct phrase vote_group(const struct vote *vote, uint32_t set);       /* "hpet, pit and rtc": those with a rate */
struct phrase vote_others(const struct vote *vote); /* a sentence on voters in neither group, or "" */
const char *vote_them(uint32_t a, uint32_t b);                         /* "which of the two groups" */

/* Whether the TSC and others parted, or changed against each other, and it may have been the TSC. */
bool rate_changes_doubt_tsc(struct vote *vote);

/* A change as the ratio that is voted on, where the TSC's own is 1: vote_unchanged. */
extern const struct rate_interval vote_unchanged;
struct rate_interval vote_ratio(const struct interval_ppb *change);

/* On vote->rates, which are changes: as vote_hold(), by what the rates' window showed. */
struct falseticker_sources vote_hold_on_changes(struct vote *vote, uint64_t limit_ppb);

/* rate-trend: between the rows of a soak's series. */
void rate_trend_judge(struct vote *vote);

/* rate-changed: between the HALVES of the rates' window, or else from the window to the end. */
void rate_changes_judge(struct vote *vote, bool halves);

#endif
