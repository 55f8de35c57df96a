/* A measurement pass over pairs of cores while it runs. Shared by the files of this folder. */
#ifndef BARETICK_PAIR_PASS_H
#define BARETICK_PAIR_PASS_H

#include "measure/skew/survey_skew.h"
#include "measure/survey_internal.h"
#include "sync/concurrency.h"

#define SURVEY_OVERRUN_FACTOR 2 /* a pass ends early after twice its budget, with the pairs measured so far */

#define SURVEY_STEADY_MAX 9 /* batches of one concurrency, whose median is used */

/* A measurement pass while it runs. */
struct survey_tournament {
	struct survey *survey;
	struct offsets *offsets; /* destination of its results */
	size_t round, rank;      /* where the search for the next pair continues */
	size_t rounds_begun;
	struct concurrency concurrency;
	uint64_t trips_max, bound_ns; /* limits for each ping-pong */
	uint64_t end_tsc;        /* end of the pass, from survey_pass_end() */
	uint64_t plan_ns;        /* planned time, for progress */
	uint64_t late_ns;        /* time that a busy host is expected to add */
	uint64_t pingpongs;      /* pairs that exchanged stamps for the first time */
	uint64_t again;          /* pairs that exchanged stamps again */
	uint64_t best_trip_ticks;
	struct moment batch;     /* the latest batch */
	struct { /* the first batches since the last change of the concurrency */
		size_t batches;
		uint64_t pair_ns[SURVEY_STEADY_MAX]; /* time per pair of each batch, in ascending order */
	} steady;
};

/*
 * Starts a measurement pass of the cores in survey->memory. OFFSETS, whose cores must be set, is cleared.
 * Medians of the round trips go to the survey's scratch histogram, in ticks.
 */
void survey_tournament_begin(struct survey_tournament *tournament, struct survey *survey, struct offsets *offsets,
			     enum tournament kind);

/* Runs the next batch of ping-pongs. Returns false if all pairs are done or the time is over. */
bool survey_tournament_batch(struct survey_tournament *tournament);

/* Returns true if no pair of live cores is left. */
bool survey_tournament_is_over(struct survey_tournament *tournament);

/*
 * After the last batch: gives another ping-pong to pairs that had none, or whose interval is much wider than
 * most. One pair at a time, the worst first, within the pass's budget and a bounded number of times.
 */
void survey_tournament_again(struct survey_tournament *tournament);

bool survey_tournament_both_live(const struct survey_tournament *tournament, size_t a, size_t b);

/* Puts the pair of ranks A < B at PLACE of the next batch. */
void survey_tournament_pair(struct survey_tournament *tournament, size_t a, size_t b, size_t place);

/*
 * Runs the COUNT ping-pongs of the batch. Returns the number of pairs that had round trips. Their medians are
 * in memory.medians in ascending order. Returns 0 and discards the results if the TSC stopped.
 */
size_t survey_tournament_play(struct survey_tournament *tournament, size_t count);

/*
 * Inserts VALUE into COUNT sorted values, the least first. There must be space for one more. Linear, for a few
 * hundred values at most.
 */
void survey_insert(uint64_t *sorted, size_t count, uint64_t value);

void survey_tournament_end(struct survey_tournament *tournament);

uint64_t survey_tournament_elapsed_ns(const struct survey_tournament *tournament);

/* Shows that PLANNED_NS of the plan are done, plus the elapsed time up to the extra time of a busy host. */
void survey_tournament_show(const struct survey_tournament *tournament, uint64_t planned_ns);

#endif
