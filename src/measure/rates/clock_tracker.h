/*
 * A clock tracker (struct survey_track) follows one clock through the rate window and until the end of the run, and
 * counts the wraps of its counter. The files of this folder share this header.
 */
#ifndef BARETICK_CLOCK_TRACKER_H
#define BARETICK_CLOCK_TRACKER_H

#include "analysis/analysis.h"
#include "analysis/rate_readings.h"
#include "measure/rates/survey_rates.h"
#include "measure/survey_internal.h"

#define SURVEY_END_SAMPLES     RATE_SAMPLES_MAX /* number of samples in a batch at an end of the rate window */
#define SURVEY_FOLLOW_SAMPLES  4   /* number of samples in a batch that only counts wraps */

struct survey_window { /* the current rate window */
	uint64_t next_tsc;   /* TSC at which all clocks are read next, except the pacer, which is read all the time */
	uint64_t start_tsc;
	uint64_t middle_tsc; /* start of the window's second half */
	bool middle_taken;
};

/* Returns true if there was a discontinuity since the start of the latest rate window. It ends the window. */
static inline bool
survey_is_cut(const struct survey *survey)
{
	return survey->steps.cuts != survey->rates.cuts;
}

static inline uint64_t
survey_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Returns true if TRACK's clock can still be followed after the rate window. */
bool survey_can_clock_be_followed(const struct survey *survey, const struct survey_track *track);

/*
 * Returns the expected ticks of TRACK's clock in PASSED_TSC ticks of the TSC. After the rate window they are calculated
 * from the clock's rate in the window. Before, they are calculated from its nominal frequency times its pace (its rate
 * as a multiple of the nominal frequency, see wraps.h).
 */
uint64_t survey_track_expected_ticks(const struct survey *survey, const struct survey_track *track,
				     uint64_t passed_tsc);

/*
 * Updates TRACK with a newer reading. The expected ticks since the previous reading give the number of wraps. After the
 * rate window, records the previous reading if the wraps cannot be counted without that reading.
 */
void survey_track_update(struct survey *survey, struct survey_track *track, const struct sample *sample);

/* Reads TRACK's clock, and updates TRACK with this reading. */
void survey_track_read(struct survey *survey, struct survey_track *track);

struct survey_batch_end { /* a batch of samples of a clock */
	struct sample tightest; /* the sample with the shortest bracket; its ticks include all wraps */
	uint64_t unread_ticks;  /* TSC ticks since the previous reading */
	struct rate_corners corners;
};

/*
 * Takes a batch of COUNT samples of a clock other than an edge clock, and updates TRACK with the shortest of them. The
 * samples are in the survey's buffer.
 */
struct survey_batch_end survey_track_take_batch(struct survey *survey, struct survey_track *track, size_t count);

/*
 * Takes a batch of samples of a clock other than an edge clock, at an end of the rate window or of the run. Marks the
 * clock as stuck if its value does not change during the batch.
 */
struct survey_batch_end survey_take_batch_at_window_or_run_end(struct survey *survey, struct survey_track *track);

/*
 * Records END as a batch. FLAGS are explained at struct record_batch. If the batch is an end of the rate window, TRACK
 * keeps its shortest sample.
 */
void survey_record_batch_end(struct survey *survey, struct survey_track *track, enum record_stage stage, uint16_t flags,
			     const struct survey_batch_end *end);

/* Records an edge, or another single reading. */
void survey_record_edge(struct survey *survey, struct survey_track *track, enum record_stage stage, uint16_t flags,
			const struct sample *sample);

/*
 * Finds edges in COUNT samples of an edge clock (an RTC, see clock.h), which are in the survey's buffer. If WINDOW is
 * not NULL, records the edges, and marks the edge nearest to the window's middle. Returns true if there was an edge.
 */
bool survey_track_find_edges_in_batch(struct survey *survey, struct survey_track *track, size_t count,
				      const struct survey_window *window);

/*
 * Waits for the next edge of an edge clock, at most 2.4 s. Marks a clock without an edge as stuck. Also reads the other
 * clocks during the wait, to count their wraps, unless WINDOW is NULL.
 */
bool survey_wait_for_edge(struct survey *survey, struct survey_track *track, struct survey_window *window);

/*
 * If the next reading is due, reads all clocks except edge clocks, so that their wraps can be counted, and compares
 * them. Returns false if the reading is not due yet.
 */
bool survey_follow_clocks_if_due(struct survey *survey, struct survey_window *window, uint64_t now_tsc);

/*
 * Reads each clock that was followed through the rate window once more: first the edge clocks if WITH_EDGE_CLOCKS is
 * true, then the other clocks right after each other. These others are thus compared with the TSC over the same time,
 * so a change of the TSC appears equally in all of them. ENDS must be zeroed, and stays zero for a clock that was not
 * read.
 */
void survey_take_end_readings(struct survey *survey, bool with_edge_clocks,
			      struct survey_batch_end ends[REPORT_CLOCKS_MAX]);

/* Calculates all rates of the report from the record. */
struct rate_outcome survey_analyse_rates(const struct survey *survey);

/* Starts the series of a soak, at the end of the rate window. */
void survey_soak_rows_begin(struct survey *survey);

#endif
