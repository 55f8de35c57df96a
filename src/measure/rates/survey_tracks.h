/* What the files of this folder share: clocks followed through one window, and on to the run's end. */
#ifndef BARETICK_SURVEY_TRACKS_H
#define BARETICK_SURVEY_TRACKS_H

#include "consensus/rate.h"
#include "measure/rates/survey_rates.h"
#include "measure/survey_internal.h"

#define SURVEY_END_SAMPLES     RATE_SAMPLES_MAX /* brackets at each end of the window */
#define SURVEY_FOLLOW_SAMPLES  4   /* readings that only keep count of a counter's wraps */

struct survey_window { /* a window, while it lasts */
	uint64_t next_tsc;   /* when the clocks that are not looked at all the time are to be looked at again */
	uint64_t start_tsc;
	uint64_t middle_tsc; /* between its halves */
	bool middle_taken;
	bool cut; /* it ended where time went otherwise for some clocks than for others */
};

static inline uint64_t
survey_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Follows CLOCK from SAMPLE on. */
void survey_track_begin(struct survey_track *track, struct report_clock *entry, const struct sample *sample);

/* Moves TRACK on to a newer reading, since the one before which about EXPECTED_TICKS should have passed. */
void survey_track_to(struct survey_track *track, const struct sample *sample, uint64_t expected_ticks);

/* Likewise, a short time after the one before: by the claimed rate, or by the multiple of it in survey->paces. */
void survey_track_on(const struct survey *survey, struct survey_track *track, const struct sample *sample);

/* Whether TRACK can be followed on from the window: to where it should have come by NOW_TSC, at its rate in that. */
bool survey_track_goes_on(const struct survey_track *track);
uint64_t survey_track_expected(const struct survey_track *track, uint64_t now_tsc);

/*
 * Takes the samples for one end of a window for a clock that moves faster than it is read, and returns the one with
 * the tightest bracket. A clock that does not move in them is stuck.
 */
struct sample survey_track_tightest(struct survey *survey, struct survey_track *track);

/*
 * Looks for edges in COUNT samples of an edge clock in the survey's buffer; the one that is nearest to WINDOW's
 * middle becomes the track's. WINDOW may be NULL.
 */
bool survey_track_edges(const struct survey *survey, struct survey_track *track, size_t count,
			const struct survey_window *window);

/*
 * Waits for the next edge of an edge clock, at most 2.4 s; a clock without one is stuck. The others are followed
 * meanwhile, unless WINDOW is NULL.
 */
bool survey_wait_for_edge(struct survey *survey, struct survey_track *track, struct survey_window *window);

/*
 * Looks at the clocks that are not edge clocks, often enough to keep count of their wraps, and at whether all fit; sets
 * window->cut. False: it was not yet time to.
 */
bool survey_follow_others(struct survey *survey, struct survey_window *window, uint64_t now_tsc);

/*
 * Compares what each track counted since this was last asked with what clocks that wrap later did. Where a core was
 * away for several wraps, and the TSC's rate, a guess up to here, had them counted wrong, the track is uncounted: it
 * has no rate. CUT: the window ends before that; then it is not to be followed on from there.
 */
void survey_check_counts(struct survey *survey, bool cut);

/* Whether something cut the window off, by the latest readings of all tracks. */
bool survey_compare_tracks(struct survey *survey);

/* The ends in FROM..TO of a clock that moves faster than it is read, with all that is known of them. */
struct rate_ends survey_ends(const struct survey *survey, const struct survey_track *track, const struct sample *from,
			     const struct sample *to);

/* How fast TRACK's clock ran in FROM..TO, with all that is not known of its ends; *FIT: how it was found. */
struct rate_slope survey_slope(const struct survey *survey, const struct survey_track *track, const struct sample *from,
			       const struct sample *to, enum rate_fit *fit);

/* What the TSC's rate would be in FROM..TO if the claim of TRACK's clock were true. */
struct rate_interval survey_implied(const struct survey *survey, const struct survey_track *track,
				    const struct sample *from, const struct sample *to);

/* Likewise by the two readings alone, and by the claim as it is written. Not for an edge clock. */
struct rate_interval survey_implied_plainly(const struct survey *survey, const struct survey_track *track,
					    const struct sample *from, const struct sample *to);

/* How much faster TRACK's clock runs against the TSC in MIDDLE..TO than in FROM..MIDDLE. */
struct interval_ppb survey_change(const struct survey *survey, const struct survey_track *track,
				  const struct sample *from, const struct sample *middle,
				  const struct sample *to);

/* What is claimed of the TSC's rate, within what it is rounded by. */
struct rate_interval survey_claim(const struct clock *tsc);

/* What the readings add to the error of SLOPE, which is of TRACK's whole stretch: parts in 10^12, each. */
struct rate_budget survey_budget(const struct survey *survey, const struct survey_track *track,
				 const struct rate_slope *slope);

/* What else is in ENTRY's rate, into its budget: all parts together are half of its interval at least. */
void survey_complete_budget(const struct survey *survey, struct report_clock *entry);

/* Whether all that is judged by a window of the rates is determined, by half of it. */
bool survey_is_settled(const struct survey *survey);

/* Begins the series where the window ended. */
void survey_series_begin(struct survey *survey);

/* The rates in each row of the series, against the clock by which the TSC's rate is taken now. */
void survey_series_rates(const struct survey *survey);

/* All rates of the report, from the tracks' first readings to their ends. */
void survey_conclude(struct survey *survey);

/* Notes where too few clocks vouch for the TSC's rate to say which is right. */
void survey_note_doubt(const struct survey *survey);

#endif
