/* The clocks' vote on rates or on changes of rates, and phrases for its result. */
#ifndef BARETICK_RATE_VOTE_H
#define BARETICK_RATE_VOTE_H

#include "judge/judge_internal.h"

#include "consensus/falseticker.h"
#include "report/phrase.h"

struct vote {
	const struct report *report;
	struct outcomes *outcomes; /* the outcomes of REPORT, for findings; NULL if the vote makes none */
	struct rate_interval rates[REPORT_CLOCKS_MAX]; /* the rates, or changes of rates, that are compared */
	struct falseticker found; /* the result of the vote */
	/* set of clocks (bit I is clock I) with a finding that the rate of the clock or of its group changed */
	uint32_t changed;
	uint32_t maybe_tsc; /* the clocks of CHANGED whose change may be a stop of the TSC */
	/* true if the TSC, which timed all rates, may have stopped; then no finding names a clock */
	bool by_doubtful_tsc;
};

/* Returns the limit of RULE, whose unit is ppm or ppb, in ppb. */
uint64_t vote_limit_ppb(const struct report *report, const char *rule);

/* Returns true if the clock's rate is compared: it is present, has no fault, and is the main clock of its device. */
bool vote_is_rate_compared(const struct report *report, const struct report_clock *entry);

/*
 * Returns true if the clock may jump without being at fault. A hypervisor that stops its guest stops all its clocks
 * except the RTC, which follows the host's time of day. So the RTC seems to jump, perhaps several times in a run.
 */
bool vote_may_clock_jump(const struct report *report, const struct report_clock *entry);

/*
 * Finds the clocks whose vote->rates disagree with the majority, and sets vote->found. IMPLIED, a rate for each clock,
 * shows which clocks have independent sources. Returns the sources.
 */
struct falseticker_sources vote_on_rates(struct vote *vote, const struct rate_interval *implied, uint64_t limit_ppb);

/*
 * Return the clocks that prove a falseticker (a clock outside of the majority) wrong, and the clock that represents
 * them.
 */
uint32_t vote_find_clocks_as_evidence(const struct falseticker *found);
size_t vote_find_reference_clock(const struct falseticker *found);

/* Returns true if two groups disagree, there is no majority, and no clock of either group has a finding of a change. */
bool vote_has_unreported_groups(const struct vote *vote);

/* Sets the figure of FINDING, which may be NULL, in its rule's unit: ppm or ppb. */
void vote_set_finding_figure(struct finding *finding, const struct interval_ppb *ppb);

const char *vote_clock_id(const struct vote *vote, size_t clock);
struct phrase phrase_signed_ppm(int64_t ppb);                            /* "+1000.1" */
/* returns PPB in ppm with its bounds: "+1.0 ppm (+0.5 to +1.5)" */
struct phrase phrase_ppm(const struct interval_ppb *ppb);
/* Returns a list of the clocks of SET that have a rate: "hpet, pit and rtc". */
struct phrase phrase_clocks_of_group(const struct vote *vote, uint32_t set);
/* Returns a sentence on the clocks in neither group, or "". */
struct phrase phrase_clocks_of_neither_group(const struct vote *vote);
/* returns "which of the two groups", or "which of them" for two clocks */
const char *phrase_which_of_clocks_or_groups(uint32_t a, uint32_t b);

/* Returns true if the TSC diverged from other clocks, or if its rate may have changed against theirs. */
bool rate_changes_may_tsc_have_changed(const struct report *report);

/* Judges the rules rate-changed and rate-trend. */
void rate_changes_judge(struct vote *vote);

#endif
