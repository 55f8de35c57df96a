/* Declarations that all measurements share: batches, faults, planning and discontinuities. Used only in src/measure. */
#ifndef BARETICK_SURVEY_INTERNAL_H
#define BARETICK_SURVEY_INTERNAL_H

#include "clock/timer.h"
#include "measure/survey.h"
#include "measure/survey_plan.h"

/* Number of samples that are discarded before a clock is measured, because the first execution is slow. */
#define SURVEY_WARM_UP   64

static inline uint64_t
survey_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
survey_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the value between LOW and HIGH that is nearest to VALUE. */
static inline uint64_t
survey_clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return survey_larger(low, survey_smaller(value, high));
}

/* Takes COUNT samples of CLOCK into the survey's buffer on this core, with interrupts masked. */
void survey_sample_batch(struct survey *survey, const struct clock *clock, size_t count);

/* Reads the ticks left of TIMER several times. Returns the reading with the shortest bracket. */
struct sample survey_read_ticks_left(const struct survey *survey, const struct timer *timer);

/*
 * Runs COUNT ping-pongs at the same time, between the pairs of cores in memory.batch_cores. TRIPS and BOUND_NS are the
 * limits of each of them. Stores their start and end in EXCHANGE.
 */
void survey_run_pingpongs(struct survey *survey, size_t count, uint64_t trips, uint64_t bound_ns,
			  struct record_exchange *exchange);

/* Adds STEPS, the TSC's steps back in one measurement on CORE, to the totals of this core in the report. */
void survey_add_tsc_steps(struct survey *survey, size_t core, const struct tsc_steps *steps);

/*
 * Sets the TSC's rate for the following measurements, and records it. IS_DOUBTFUL: no majority of the clocks confirms
 * it, so that it is recorded without bounds.
 */
void survey_set_scale(struct survey *survey, struct scale scale, bool is_doubtful);

size_t survey_count_living_cores(const struct survey *survey); /* number of living cores */

/*
 * Returns the time in one round of a soak for a measurement that takes NS in all rounds. Returns NS if there are no
 * rounds.
 */
uint64_t survey_share_of_round_ns(const struct survey *survey, uint64_t ns);

/* Calls survey_end_run_if_due(). Returns true if the TSC stopped, so that the latest measurement has no valid times. */
static inline bool
survey_end_if_untimed(struct survey *survey)
{
	return survey_end_run_if_due(survey) && survey->tsc.is_stopped;
}

/*
 * Returns the TSC at which a pass must end. A pass measures one core after another, or all cores repeatedly. With
 * hundreds of cores on a few processors of a host, a pass may take much longer than planned. Therefore the pass gets a
 * third of the time until ten seconds before the deadline, and later phases end in time. If less than twenty seconds
 * are left until the deadline, the pass gets a sixth of this time.
 */
uint64_t survey_core_pass_end_tsc(const struct survey *survey);

/* Returns true if the pass, which ends at END_TSC, is over. */
bool survey_is_core_pass_over(const struct survey *survey, uint64_t end_tsc);

/*
 * Runs JOB on all cores at once. Measures how long this takes, subtracts WORK_TICKS (the longest time for which the
 * cores work), and stores the difference in survey->joint_job_ticks.
 */
void survey_run_on_all_cores(struct survey *survey, smp_job *job, void *argument, uint64_t work_ticks);

/* Returns true if a job on all cores that works for EXTRA_TICKS would end before END_TSC. */
bool survey_is_time_for_joint_job(const struct survey *survey, uint64_t end_tsc, uint64_t extra_ticks);

/* Returns true if the clock can be read now. */
static inline bool
survey_usable(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT;
}

/*
 * Returns true if the clock can be used to measure the TSC now. It must be the main clock of its device, have a nominal
 * frequency, and not be the TSC. The firmware's tick must not stop it.
 */
bool survey_can_clock_measure_tsc(const struct survey *survey, const struct report_clock *entry);

/* Records that ENTRY's clock worked before, and failed at NOW_TSC. Does nothing if the clock has failed earlier. */
void survey_record_clock_failure(struct report_clock *entry, uint64_t now_tsc);

/* Marks the clock as stuck. Its counter did not move for STOPPED_NS until NOW_TSC, although it should have moved. */
void survey_mark_clock_stuck(struct report_clock *entry, uint64_t stopped_ns, uint64_t now_tsc);

#define SURVEY_STUCK_PERIODS 16 /* number of periods without a movement after which a clock is stuck */

static inline bool
survey_any_differs(const struct sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (samples[i].ticks != samples[0].ticks)
			return true;
	return false;
}

/* Returns the TSC ticks in COUNT (at most 2^32) periods of the clock, or 0 without a nominal frequency. */
uint64_t survey_tsc_ticks_in_clock_periods(const struct survey *survey, const struct clock *clock, uint64_t count);

/*
 * Returns the argument TRUST_TICKS of clock_comparable(): the number of TSC ticks in which the clock counts through a
 * quarter of its range. Returns 0 if the clock does not wrap during a measurement. If it wraps and has no nominal
 * frequency, returns 1, so that no two samples are comparable.
 */
uint64_t survey_max_ticks_between_compared_reads(const struct survey *survey, const struct clock *clock);

#define SURVEY_MICROHZ_PER_HZ UINT64_C(1000000)

/* Returns RATE in the form in which the record contains the rates of a step's clocks. */
static inline struct record_rate
survey_to_record_rate(const struct rate_interval *rate)
{
	return (struct record_rate){ rate->known ? rate->value : 0, rate->low, rate->high };
}

/* Stores the latest reading of clock I of the report. AT_EDGE is true for a reading at an RTC's tick (see clock.h). */
void survey_store_reading(struct survey *survey, size_t i, const struct sample *now, bool at_edge);

/*
 * Returns true if an edge clock (an RTC) ticked from BEFORE to NOW, two readings one after the other. In a guest, an
 * RTC that advances by seconds at once shows a stop, and no edge.
 */
bool survey_is_edge(const struct survey *survey, const struct clock *clock, uint64_t before, uint64_t now);

/*
 * If clock I is an edge clock with an edge since its last compared reading, stores this edge for the comparison of all
 * clocks. An edge is more exact than a later reading. Returns false if there is no such edge, or no compared reading.
 */
bool survey_store_newer_edge(struct survey *survey, size_t i);

/*
 * Compares the latest readings of all clocks, and starts a new step (the interval between two readings of all
 * clocks). If the clocks disagree on the time since the step began, measures the disagreement again, which may take two
 * seconds. Returns true if the clocks still disagree; the report then gets an entry.
 *
 * If CHECK_LATE_EDGES, also returns true, without an entry, if an RTC's tick came so late that no rate should end at
 * it.
 */
bool survey_end_step_and_find_disagreement(struct survey *survey, bool check_late_edges);

/*
 * To be called after a clock jumped by JUMP_NS compared with the TSC. Reads all clocks. Returns true if they disagree
 * on the time; the report then gets an entry. Only the first jumps of a run are checked.
 */
bool survey_check_jump_of_clock(struct survey *survey, uint64_t jump_ns);

#endif
