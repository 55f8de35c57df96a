/*
 * Clock trackers: each follows one clock through the rate window and on to the run's end, and unwraps its
 * counter. Shared by the files of this folder.
 */
#ifndef BARETICK_CLOCK_TRACKER_H
#define BARETICK_CLOCK_TRACKER_H

#include "analysis/analysis.h"
#include "analysis/rate_readings.h"
#include "measure/rates/survey_rates.h"
#include "measure/survey_internal.h"

#define SURVEY_END_SAMPLES     RATE_SAMPLES_MAX /* samples taken at each end of the window */
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

/* Starts to follow ENTRY's clock at SAMPLE in the current window. */
void survey_track_begin(const struct survey *survey, struct survey_track *track, struct report_clock *entry,
			const struct sample *sample);

/* Returns true if TRACK can be followed after the window. */
bool survey_track_goes_on(const struct survey_track *track);

/*
 * Returns the expected ticks in PASSED_TSC: after the window by the clock's rate in it, before by its nominal frequency
 * times its pace (see wraps.h).
 */
uint64_t survey_track_expected(const struct survey *survey, const struct survey_track *track, uint64_t passed_tsc);

/* Moves TRACK to a newer reading. The expected ticks decide the number of wraps. */
void survey_track_to(const struct survey *survey, struct survey_track *track, const struct sample *sample);

struct survey_batch_end { /* many samples of a clock at one time */
	struct sample tightest; /* the shortest one, with wraps undone */
	uint64_t unread_ticks;  /* TSC ticks since the reading before */
	struct rate_corners corners;
};

/*
 * Takes the samples for one end of a window of a clock that moves faster than it is read. Marks the clock as stuck if
 * it does not move in them.
 */
struct survey_batch_end survey_take_end(struct survey *survey, struct survey_track *track);

/* Records an end as a batch. Its flags are explained at struct record_batch. */
void survey_record_end(struct survey *survey, const struct survey_track *track, enum record_stage stage, uint16_t flags,
		       const struct survey_batch_end *end);

/* Records an edge, or another single reading. */
void survey_record_edge(struct survey *survey, const struct survey_track *track, enum record_stage stage,
			uint16_t flags, const struct sample *sample);

/*
 * Looks for edges in COUNT samples of an edge clock (an RTC, see clock.h). The samples are in the survey's buffer. The
 * edges that come nearest to WINDOW's middle are recorded. WINDOW may be NULL. Returns true if there was an edge.
 */
bool survey_track_edges(struct survey *survey, struct survey_track *track, size_t count,
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

/* Finds out whether there was a discontinuity up to the latest readings of all tracks. */
void survey_compare_tracks(struct survey *survey);

/*
 * Returns what is known of TRACK's clock for a rate between two readings. There are no looks, so it is for edge
 * clocks, and for rate_readings_implied_by_two().
 */
struct rate_readings survey_readings(const struct survey *survey, const struct survey_track *track);

/* Calculates all rates of the report, as far as the record shows them. */
struct rate_outcome survey_analyse_rates(struct survey *survey);

/* Returns true if half of the window was enough to determine everything that is judged by it. */
bool survey_is_settled(const struct survey *survey);

/* Starts the series at the end of the window. */
void survey_series_begin(struct survey *survey);

/* Computes the rates in each row of the series, against the clock that sets the TSC's rate now. */
void survey_series_rates(const struct survey *survey);

#endif
