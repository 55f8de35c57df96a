/* What the files of this folder share: a tournament of the cores while it is played. */
#ifndef BARETICK_SURVEY_TOURNAMENT_H
#define BARETICK_SURVEY_TOURNAMENT_H

#include "measure/skew/survey_skew.h"
#include "measure/survey_internal.h"
#include "sync/concurrency.h"

#define SURVEY_OVERRUN_FACTOR 2 /* of its budget: a tournament that takes longer ends with the pairs so far */

#define SURVEY_STEADY_MAX 9 /* batches of one concurrency, of which the median counts */

/* A tournament while it is played. */
struct survey_tournament {
	struct survey *survey;
	struct offsets *offsets; /* where its pairs go */
	size_t round, rank;      /* the next pair to be found */
	size_t rounds_begun;
	struct concurrency concurrency;
	uint64_t trips_max, bound_ns; /* of each ping-pong */
	uint64_t end_tsc;        /* result of survey_pass_end() */
	uint64_t plan_ns;        /* for progress, */
	uint64_t late_ns;        /* and what a busy host is expected to add */
	uint64_t pingpongs;      /* in which a pair exchanged stamps for the first time */
	uint64_t again;          /* and once more */
	uint64_t best_trip_ticks;
	struct moment batch;     /* the latest */
	struct { /* the first batches since the concurrency changed for the last time */
		size_t batches;
		uint64_t pair_ns[SURVEY_STEADY_MAX]; /* of each, its time by the number of its pairs; in order */
	} steady;
};

/*
 * Begins a tournament of the cores in survey->memory; its OFFSETS, of which cores is set, are cleared. The round
 * trips' medians go into the survey's scratch histogram, in ticks.
 */
void survey_tournament_begin(struct survey_tournament *tournament, struct survey *survey, struct offsets *offsets,
			     enum tournament kind);

/* Plays the next batch of ping-pongs. False: all are played, or time is up. */
bool survey_tournament_batch(struct survey_tournament *tournament);

/* Whether no pair of living cores is left that has not had its turn. */
bool survey_tournament_is_over(struct survey_tournament *tournament);

/*
 * After the last batch: pairs that had no ping-pong, or of which much less is known than of most, have another, one at
 * a time, the worst first, as often as the tournament's budget and a bound on their number allow.
 */
void survey_tournament_again(struct survey_tournament *tournament);

bool survey_tournament_both_live(const struct survey_tournament *tournament, size_t a, size_t b);

/* Ranks A < B are pair PLACE of the next batch. */
void survey_tournament_pair(struct survey_tournament *tournament, size_t a, size_t b, size_t place);

/*
 * Plays the COUNT ping-pongs of the batch; how many had round trips, their medians in order in memory.medians. 0, and
 * nothing comes of them, where the TSC stopped meanwhile.
 */
size_t survey_tournament_play(struct survey_tournament *tournament, size_t count);

/* Puts VALUE into COUNT values in order, from the least; there is space for one more. For a few hundred at most. */
void survey_insert(uint64_t *sorted, size_t count, uint64_t value);

void survey_tournament_end(struct survey_tournament *tournament);

uint64_t survey_tournament_elapsed_ns(const struct survey_tournament *tournament);

/* Shows that PLANNED_NS of the plan are done, and of what a busy host adds as much as has elapsed. */
void survey_tournament_show(const struct survey_tournament *tournament, uint64_t planned_ns);

#endif
