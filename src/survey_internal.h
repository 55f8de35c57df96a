/* What the files of the survey share, and nobody else needs. */
#ifndef BARETICK_SURVEY_INTERNAL_H
#define BARETICK_SURVEY_INTERNAL_H

#include "survey.h"
#include "width.h"

#define SURVEY_NS_PER_MS UINT64_C(1000000)
#define SURVEY_NS_PER_S  UINT64_C(1000000000)
#define SURVEY_WARM_UP   64 /* samples thrown away before a clock is measured: first execution is slow */

/* Takes COUNT samples of CLOCK into the survey's buffer on this core, with interrupts masked. */
void survey_batch(struct survey *survey, const struct clock *clock, size_t count);

/* How many samples of a clock fill about BATCH_NS, when COUNT of them took TICKS; within the buffer's room. */
size_t survey_batch_size(const struct survey *survey, uint64_t ticks, size_t count);

uint64_t survey_rates_ns(const struct report *report); /* the window and the waits for its edges */
uint64_t survey_core_ns(const struct report *report, size_t cores); /* of one core, with its overhead */
uint64_t survey_core_share_ns(const struct report *report, size_t cores); /* of measuring, for one core */
uint64_t survey_window_ns(const struct report *report);                   /* between the ends of a rate window */

/* What the report keeps of a latency on a core; count 0 where nothing was recorded. */
struct core_latency survey_summary(const struct latency *latency);

size_t survey_living(const struct survey *survey); /* cores of the crew */

/* How long a tournament of PLAYERS should take, and how long it may take before it is a star or is cut short. */
uint64_t survey_tournament_ns(const struct report *report, size_t players);
uint64_t survey_tournament_budget_ns(const struct report *report);

#define SURVEY_OVERRUN_FACTOR 2 /* of its budget: a tournament that takes longer ends with what was met */

#define SURVEY_STEADY_MAX 9 /* batches of one width, of which the median counts */

/* A tournament while it is played. */
struct survey_tour {
	struct survey *survey;
	struct offsets *offsets; /* where its pairs go */
	size_t round, player;    /* who takes a seat next */
	size_t rounds_begun;
	struct width width;
	uint64_t trips_max, bound_ns; /* of each meeting */
	uint64_t plan_ns;        /* for progress */
	uint64_t meetings;       /* in which a pair exchanged stamps for the first time */
	uint64_t again;          /* and once more */
	uint64_t best_trip_ticks;
	struct { /* the first batches since the width changed for the last time */
		size_t batches;
		uint64_t pair_ns[SURVEY_STEADY_MAX]; /* of each, its time by the number of its pairs; in order */
	} steady;
};

/*
 * Begins a tournament of the players of survey->room; its OFFSETS, of which players is set, are cleared. The round
 * trips' medians go into the survey's scratch histogram, in ticks.
 */
void survey_tour_begin(struct survey_tour *tour, struct survey *survey, struct offsets *offsets,
		       enum tournament kind);

/* Plays the next batch of meetings. False: all are played, or time is up. */
bool survey_tour_batch(struct survey_tour *tour);

/* Whether nobody is left who could meet and hasn't been called. */
bool survey_tour_is_over(struct survey_tour *tour);

/*
 * After the last batch: pairs that didn't meet, or of which much less is known than of most, meet once more, one at
 * a time, the worst first, as often as the tournament's budget and a bound on their number allow.
 */
void survey_tour_again(struct survey_tour *tour);

bool survey_tour_can_meet(const struct survey_tour *tour, size_t a, size_t b); /* both live */
void survey_tour_seat(struct survey_tour *tour, size_t a, size_t b, size_t place); /* A < B, in the next batch */
/*
 * Plays the COUNT meetings that are seated; how many had round trips, their medians in order in room.medians. 0, and
 * nothing comes of them, where the TSC stopped meanwhile.
 */
size_t survey_tour_play(struct survey_tour *tour, size_t count);

/* Puts VALUE into COUNT values in order, from the least; there is room for one more. For a few hundred at most. */
void survey_insert(uint64_t *sorted, size_t count, uint64_t value);

void survey_tour_end(struct survey_tour *tour);

uint64_t survey_tour_elapsed_ns(const struct survey_tour *tour);

/* Whether the TSC stopped before what was just done by it had ended: then that was not timed, and doesn't count. */
static inline bool
survey_untimed(struct survey *survey)
{
	return survey_expired(survey) && survey->tsc_stands;
}

/* A clock whose readings can be taken now. */
static inline bool
survey_usable(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT;
}

/* ENTRY's clock was well at first, and was seen to be sick at NOW_TSC; the first time counts. */
void survey_turned_sick(const struct survey *survey, struct report_clock *entry, uint64_t now_tsc);

/*
 * The clock's counter did not move for STOOD_NS up to NOW_TSC although it should have: it is stuck from now on.
 */
void survey_mark_stuck(const struct survey *survey, struct report_clock *entry, uint64_t stood_ns,
		       uint64_t now_tsc);

#define SURVEY_STUCK_PERIODS 16 /* without a single step in so many periods the clock is stuck, not slow */

static inline bool
survey_any_differs(const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (samples[i].ticks != samples[0].ticks)
			return true;
	return false;
}

/* Whether the clock showed one value in all of COUNT samples, for longer than a clock that moves can. */
bool survey_stands(const struct survey *survey, const struct clock *clock, const struct sample *samples,
		   size_t count);

/* The TSC ticks in COUNT periods of the clock, at most 2^32; 0 where it claims no rate. */
uint64_t survey_periods(const struct survey *survey, const struct clock *clock, uint64_t count);

/* For clock_comparable(): the TSC ticks in a quarter of the clock's range; 0 where it has no wrap to fear. */
uint64_t survey_trust_ticks(const struct survey *survey, const struct clock *clock);

#endif
