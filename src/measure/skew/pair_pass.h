/*
 * A measurement pass over pairs of cores, which is divided into batches of concurrent ping-pongs. The files of this
 * folder share this header.
 */
#ifndef BARETICK_PAIR_PASS_H
#define BARETICK_PAIR_PASS_H

#include "measure/skew/survey_skew.h"
#include "measure/survey_internal.h"
#include "sync/pair_schedule.h"

/* the time limit of a pass is its budget times this factor; after that, only the pairs measured until then are used */
#define SURVEY_OVERRUN_FACTOR 2

/* maximum number of batch durations that are stored for the current number of concurrent pairs */
#define SURVEY_STEADY_MAX 9

/*
 * State of a measurement pass, in which each pair of cores has a ping-pong. In a star schedule, only pairs with the
 * boot core have one.
 */
struct survey_pair_pass {
	struct survey *survey;
	/* number of the pass in the record; 0 for a rehearsal (a trial of the first pairs) and for a round of a soak */
	uint16_t number;
	bool is_soak;
	/* narrowest interval of each pair's offset; used only to find the pairs that need another ping-pong */
	struct offsets *offsets;
	size_t round, rank;      /* position in the schedule where the search for the next pair continues */
	size_t rounds_begun;
	struct concurrency concurrency;
	uint64_t trips_max, bound_ns; /* limits of each ping-pong: number of round trips, and duration */
	uint64_t end_tsc;        /* TSC at which the pass must end, from survey_core_pass_end_tsc() */
	uint64_t pingpongs;      /* number of ping-pongs that succeeded */
	uint64_t repeats;        /* number of ping-pongs that were repeated, with or without success */
	struct { /* durations of the first batches after the last change of the number of concurrent pairs */
		size_t batches;
		/* duration of each batch divided by its number of pairs, in ascending order */
		uint64_t pair_ns[SURVEY_STEADY_MAX];
	} steady;
};

/*
 * Starts a pass over the cores in survey->memory. Its ping-pongs go to the record. STAGE is a value of enum
 * record_pass_stage, or 0 for a rehearsal and for a round of a soak.
 */
void survey_pair_pass_begin(struct survey_pair_pass *pass, struct survey *survey, enum pair_schedule kind,
			    uint16_t stage);

/* Runs the next batch of ping-pongs. Returns false if all pairs are done or the time is over. */
bool survey_pair_pass_run_next_batch(struct survey_pair_pass *pass);

/* Returns true if no pair of living cores is left. */
bool survey_pair_pass_is_over(struct survey_pair_pass *pass);

/*
 * Repeats the ping-pongs of pairs that have no result, and then of pairs whose interval is much wider than the median
 * width. To be called after the last batch. Runs one pair at a time. The number of repetitions and the time are
 * limited.
 */
void survey_pair_pass_repeat_wide_pairs(struct survey_pair_pass *pass);

/* Ends the pass and records it. REASON is a value of enum record_pass_reason. */
void survey_pair_pass_end(struct survey_pair_pass *pass, uint16_t reason);

uint64_t survey_pair_pass_elapsed_ns(const struct survey_pair_pass *pass);

#endif
