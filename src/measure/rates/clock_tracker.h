/*
 * Clock trackers: each follows one clock through the rate window and on to the run's end, and unwraps its
 * counter. Shared by the files of this folder.
 */
#ifndef BARETICK_CLOCK_TRACKER_H
#define BARETICK_CLOCK_TRACKER_H

#include "consensus/rate.h"
#include "measure/rates/survey_rates.h"
#include "measure/survey_internal.h"

/* samples taken at each end of the window */
#define SURVEY_END_SAMPLES     RATE_SAMPLES_MAX
#define SURVEY_FOLLOW_SAMPLES  4   /* readings that only keep count of a counter's wraps */

struct survey_window { /* the current rate window */
	uint64_t next_tsc;   /* when to read the clocks other than the pacer (see rate_window.c) again */
	uint64_t start_tsc;
	uint64_t middle_tsc; /* where the window's second half starts */
	bool middle_taken;
	unsigned cuts; /* number of discontinuities before the window; another one ends it */
};

static inline bool
survey_is_cut(const struct survey *survey, const struct survey_window *window)
{
	return survey->steps.cuts != window->cuts;
}

static inline uint64_t
survey_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Starts to follow ENTRY's clock at SAMPLE. */
void survey_track_begin(struct survey_track *track, struct report_clock *entry, const struct sample *sample);

/* Returns true if TRACK can be followed after the window. */
bool survey_track_goes_on(const struct survey_track *track);

/*
 * Returns the expected ticks in PASSED_TSC: after the window by the clock's rate in it, before by its nominal frequency
 * times survey->paces.
 */
uint64_t survey_track_expected(const struct survey *survey, const struct survey_track *track, uint64_t passed_tsc);

/* Moves TRACK to a newer reading. The expected ticks decide the number of wraps. */
void survey_track_to(const struct survey *survey, struct survey_track *track, const struct sample *sample);

/*
 * Adds COUNT samples as a look, whose shortest sample has TICKS. NUMBER is 0 for an end, otherwise looks are numbered
 * from 0. They are spread evenly over the window so far: if there are too many, every other one is dropped.
 */
void survey_track_add(const struct survey *survey, struct survey_track *track, const struct sample *samples,
		      size_t count, size_t number, uint64_t ticks);

/*
 * Takes the samples for one end of a window of a clock that moves faster than it is read, and adds them as a look.
 * Returns the shortest sample. Marks the clock as stuck if it does not move in them.
 */
struct sample survey_track_tightest(struct survey *survey, struct survey_track *track);

/*
 * Looks for edges in COUNT samples of an edge clock (an RTC, see clock.h). The samples are in the survey's buffer. The
 * edge nearest to WINDOW's middle becomes the track's middle. WINDOW may be NULL. Returns true if there was an edge.
 */
bool survey_track_edges(const struct survey *survey, struct survey_track *track, size_t count,
			const struct survey_window *window);

/*
 * Waits for the next edge of an edge clock, at most 2.4 s. Marks a clock without an edge as stuck. Follows the
 * other clocks during the wait, unless WINDOW is NULL.
 */
bool survey_wait_for_edge(struct survey *survey, struct survey_track *track, struct survey_window *window);

/*
 * Reads all clocks except edge clocks, often enough to count their wraps, and compares them. Returns false if it was
 * not time yet.
 */
bool survey_follow_others(struct survey *survey, struct survey_window *window, uint64_t now_tsc);

/*
 * Compares each track's count since the last call with clocks that wrap later. If a core was preempted for
 * several wraps, the provisional TSC rate may have miscounted them. The track then has no rate (uncounted).
 * CUT says that a discontinuity ended the window earlier: the track keeps its rate up to there, but is no
 * longer followed (stood).
 */
void survey_check_counts(struct survey *survey, bool cut);

/* Finds out whether there was a discontinuity up to the latest readings of all tracks. */
void survey_compare_tracks(struct survey *survey);

/* Returns all samples in FROM..TO that may be an end of a rate, for a clock that is not read at its edges. */
struct rate_ends survey_ends(const struct survey *survey, const struct survey_track *track, const struct sample *from,
			     const struct sample *to);

/* Returns the rate of TRACK's clock in FROM..TO with the uncertainty of both readings. *FIT describes the
 * method.
 */
struct rate_slope survey_slope(const struct survey *survey, const struct survey_track *track, const struct sample *from,
			       const struct sample *to, enum rate_fit *fit);

/* Returns the TSC's rate in FROM..TO under the assumption that TRACK's clock has its nominal frequency. */
struct rate_interval survey_implied(const struct survey *survey, const struct survey_track *track,
				    const struct sample *from, const struct sample *to);

/* Like survey_implied(), but uses only the two readings, and assumes that the nominal frequency is exact. Not
 * for edge clocks.
 */
struct rate_interval survey_implied_plainly(const struct survey *survey, const struct survey_track *track,
					    const struct sample *from, const struct sample *to);

/* Returns the change of the rate of TRACK's clock against the TSC, from FROM..MIDDLE to MIDDLE..TO. */
struct interval_ppb survey_change(const struct survey *survey, const struct survey_track *track,
				  const struct sample *from, const struct sample *middle,
				  const struct sample *to);

/* Returns the TSC's nominal frequency, as an interval that includes its rounding. */
struct rate_interval survey_claim(const struct clock *tsc);

/*
 * Parts of SLOPE's error that come from the readings, each in parts per 10^12. SLOPE spans TRACK's whole
 * stretch.
 */
struct rate_budget survey_budget(const struct survey *survey, const struct survey_track *track,
				 const struct rate_slope *slope);

/* Adds the other parts to the budget of ENTRY's rate. All parts together are at least half of its interval. */
void survey_complete_budget(const struct report *report, struct report_clock *entry);

/* Returns true if half of the window was enough to determine everything that is judged by it. */
bool survey_is_settled(const struct survey *survey);

/* Starts the series at the end of the window. */
void survey_series_begin(struct survey *survey);

/* Computes the rates in each row of the series, against the clock that sets the TSC's rate now. */
void survey_series_rates(const struct survey *survey);

/* Computes all rates of the report, from the tracks' first readings to their ends. */
void survey_conclude(struct survey *survey);

/* Adds a note if too few clocks confirm the TSC's rate. */
void survey_note_doubt(const struct survey *survey);

#endif
