/* Shared by all measurements: batches, faults, planning and steps. For src/measure only. */
#ifndef BARETICK_SURVEY_INTERNAL_H
#define BARETICK_SURVEY_INTERNAL_H

#include "measure/survey.h"
#include "measure/survey_plan.h"

/* Samples discarded before a clock is measured, because the first execution is slow. */
#define SURVEY_WARM_UP   64

/* Takes COUNT samples of CLOCK into the survey's buffer on this core, with interrupts masked. */
void survey_batch(struct survey *survey, const struct clock *clock, size_t count);

/* Samples that take about BATCH_NS, if COUNT samples took TICKS. At most the buffer's size. */
size_t survey_batch_size(const struct survey *survey, uint64_t ticks, size_t count);

/* Adds the STEPS of one measurement on CORE to the steps of this core in the report. */
void survey_add_steps(struct survey *survey, size_t core, const struct tsc_steps *steps);

/* Sets and records the rate of the TSC for all that follows. */
void survey_set_scale(struct survey *survey, struct scale scale);

size_t survey_living(const struct survey *survey); /* number of live cores */

/*
 * Shortens the run because the user asked for the end. The report says when, and the run goes on as a quick
 * one.
 */
void survey_hurry(struct survey *survey);

/*
 * The part of NS up to the end of this round, and the part of this round alone. All of NS if there are no
 * rounds.
 */
uint64_t survey_share_ns(const struct survey *survey, uint64_t ns);
uint64_t survey_slice_ns(const struct survey *survey, uint64_t ns);

/*
 * Calls survey_end_if_due(). Returns true if the TSC stopped, so that the measurement just made has no valid
 * times.
 */
static inline bool
survey_end_if_untimed(struct survey *survey)
{
	return survey_end_if_due(survey) && survey->tsc_stopped;
}

/*
 * A pass is a part of the run that measures one core after another, or all of them repeatedly. With hundreds of
 * cores on a few processors of a host it may take far longer than planned. Returns the TSC at which the pass
 * ends: after a third of the time up to ten seconds before the deadline, so that later phases end in time. If
 * less than twenty seconds are left, the pass gets a third of one half of them.
 */
uint64_t survey_pass_end(const struct survey *survey);

/* Returns true if the pass that ends at END_TSC is over. */
bool survey_pass_is_over(const struct survey *survey, uint64_t end_tsc);

/*
 * Runs JOB on all cores at once and keeps its duration for survey_together_ticks(). The cores work for at most
 * WORK_TICKS, which do not count.
 */
void survey_run_together(struct survey *survey, smp_job *job, void *argument, uint64_t work_ticks);

/*
 * Returns how long a job on all cores at once takes until every core has started and ended: the duration of the latest
 * one. The estimate before the first one is that the cores run one after another, each for the mean time of a job on
 * one core. A job cannot be stopped without losing its cores, so it is started only if it fits.
 */
uint64_t survey_together_ticks(const struct survey *survey);

/* Returns true if such a job that works for EXTRA_TICKS more ends in the pass that ends at END_TSC. */
bool survey_together_fits(const struct survey *survey, uint64_t end_tsc, uint64_t extra_ticks);

/* Returns true if the clock can be read now. */
static inline bool
survey_usable(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT;
}

/* Returns true if the TSC can be measured by this clock now: a main clock with a nominal frequency. */
bool survey_can_vouch(const struct survey *survey, const struct report_clock *entry);

/* Records that ENTRY's clock, which worked before, has failed at NOW_TSC. Only the first time counts. */
void survey_turned_sick(const struct survey *survey, struct report_clock *entry, uint64_t now_tsc);

/* Marks the clock as stuck: its counter should have moved, but did not for STOPPED_NS up to NOW_TSC. */
void survey_mark_stuck(const struct survey *survey, struct report_clock *entry, uint64_t stopped_ns,
		       uint64_t now_tsc);

#define SURVEY_STUCK_PERIODS 16 /* a clock that does not move for this many periods is stuck, not slow */

static inline bool
survey_any_differs(const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (samples[i].ticks != samples[0].ticks)
			return true;
	return false;
}

/* Returns true if all COUNT samples show one value, for longer than is possible for a clock that moves. */
bool survey_is_stopped(const struct survey *survey, const struct clock *clock, const struct sample *samples,
		       size_t count);

/*
 * Adds time to the plan for a busy host, by the share of time that it took from the boot core in the rate
 * window. Work that waits for several cores takes longer by that.
 */
void survey_plan_late(struct survey *survey);
/* The part of it for one pass over the pairs of cores. */
uint64_t survey_late_tournament_ns(const struct survey *survey);

/* TSC ticks in COUNT periods of the clock, at most 2^32; 0 if it has no nominal frequency. */
uint64_t survey_periods(const struct survey *survey, const struct clock *clock, uint64_t count);

/*
 * TSC ticks in a quarter of the clock's range, for clock_comparable(). Returns 0 if the clock does not wrap
 * during a measurement. Returns 1, which no two samples are within, if it wraps and has no nominal frequency.
 */
uint64_t survey_trust_ticks(const struct survey *survey, const struct clock *clock);

#define SURVEY_MICROHZ_PER_HZ UINT64_C(1000000)

/* Returns true if TSC is a plausible rate of the TSC. Otherwise the TSC jumped, or was set back repeatedly. */
bool survey_is_rate(const struct survey *survey, const struct rate_interval *tsc);

/* Records the latest raw reading of the report's clock I. AT_EDGE: it is an edge of an edge clock. */
void survey_step_take(struct survey *survey, size_t i, const struct sample *now, bool at_edge);

/*
 * Compares the latest readings of all clocks, and starts a new step. Returns true if the clocks disagree on the
 * time since the step began. The report then says so. A disagreement is measured again, which may take two
 * seconds.
 *
 * STRICTLY: an edge that comes too late to end a rate also returns true, but is not reported.
 */
bool survey_steps_compare(struct survey *survey, bool strictly);

/*
 * Called when a clock was just seen to jump against the TSC by LEAP_NS. Reads all clocks, and returns true if
 * they disagree on the time, which the report then says. Only for the first jumps of a run.
 */
bool survey_leapt(struct survey *survey, uint64_t leap_ns);

#endif
