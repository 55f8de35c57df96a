/* Measures how often and for how long time is stolen from each core. See gaps.h. */
#include "measure/clocks/survey_clocks.h"
#include "measure/survey_internal.h"

/* duration of a chunk: a core is observed in chunks, with masked interrupts */
#define CHUNK_NS      (10 * SURVEY_NS_PER_MS)
/* Maximum number of reads in a chunk, so that it ends even if the TSC stops. An ordered TSC read takes over 2.5 ns. */
#define CHUNK_TURNS   UINT64_C(4000000)
#define WARM_UP_TURNS 256
/*
 * a core's observed time may be this much shorter than planned, because the duration of each chunk is rounded to ticks
 */
#define SHORT_NS      UINT64_C(1000)
/*
 * Interval between readings of all clocks. This interval plus a chunk of 10 ms must be shorter than 1.17 s, in which a
 * 24-bit PM timer counts through a quarter of its range.
 */
#define SWEEP_NS      (500 * SURVEY_NS_PER_MS)
/* shortest gap that counts as long; a host's counter of stolen time may leave out shorter gaps */
#define LONG_NS       UINT64_C(500000)
/* maximum wait for a chunk; it is long because the core may be preempted */
#define BOUND_NS      (20 * SURVEY_NS_PER_S)

struct observe_job {
	struct gaps *gaps;
	struct gaps_plan plan;
	const struct stolen_counter *counter;
	bool reported; /* true if the hypervisor's counter was read, so that STOLEN is set */
	struct stolen stolen;
};

static void
run_gap_observation_job(void *argument)
{
	const struct observe_job *job = argument;

	gaps_observe_tsc(job->gaps, &job->plan);
}

static void
observe_gaps_on_core(void *argument, size_t)
{
	struct observe_job *job = argument;

	if (job->counter->count)
		job->reported = job->counter->count(job->counter, run_gap_observation_job, job, &job->stolen);
	else
		run_gap_observation_job(job);
}

static void
add_reported_stolen_time(struct survey_watch *watch, const struct observe_job *job)
{
	watch->unreported |= !job->reported;
	watch->sum.reported_ns = watch->unreported ? 0 : watch->sum.reported_ns + job->stolen.ns;
	watch->sum.reported_ticks = watch->unreported ? 0 : watch->sum.reported_ticks + job->stolen.ticks;
}

static void
add_gaps_to_sum_of_core(struct survey_watch *watch, const struct gaps *gaps)
{
	watch->sum.long_ticks += gaps->long_ticks;
	watch->sum.ran_ticks += gaps->turns * gaps->least_ticks;
	watch->sum.observed_ticks += gaps->observed_ticks;
	watch->sum.gaps += gaps->count;
	watch->sum.total_ticks += gaps->total_ticks;
	if (gaps->worst_ticks > watch->sum.worst_ticks)
		watch->sum.worst_ticks = gaps->worst_ticks;
	for (size_t i = 0; i < OCTAVES; i++)
		watch->octaves[i].gaps += gaps->octave[i];
}

/* Records up to LEFT gaps of a chunk that started at BEGIN_TSC. Returns LEFT minus the number of recorded gaps. */
static size_t
record_single_gaps(struct survey *survey, size_t core, uint64_t begin_tsc, size_t left)
{
	const struct gaps *gaps = survey->memory.gaps;

	for (size_t i = 0; i < gaps->event_count && left && survey->record.entries_of[RECORD_GAP] < REPORT_EVENTS_MAX; i++) {
		const struct record_gap gap = { (uint32_t)core, begin_tsc + gaps->events[i].after_ticks,
						gaps->events[i].ticks };

		record_put(&survey->record, RECORD_GAP, &gap, NULL, 0);
		left--;
	}
	return left;
}

/*
 * Runs the loop that finds gaps once on the core, and discards the results. With a threshold of 0 every reading counts
 * as a gap, so that all code is executed once. In an emulator that translates code, the first execution takes tens of
 * microseconds.
 */
static bool
warm_up_gap_loop(struct survey *survey, size_t core, struct observe_job job)
{
	job.plan.threshold_ticks = 0;
	job.plan.turns_max = WARM_UP_TURNS;
	return survey->smp->run(survey->smp->context, core, observe_gaps_on_core, &job, BOUND_NS);
}

/*
 * Reads all clocks if their last reading is more than SWEEP_NS ago, because an unnoticed wrap of a clock would hide a
 * jump of this clock. Returns false if the run is over.
 */
static bool
read_clocks_if_due(struct survey *survey)
{
	if (survey->hooks.tsc_ordered() - survey->steps.now.begin_tsc > scale_ns_to_ticks(&survey->scale, SWEEP_NS))
		survey_read_and_compare_clocks(survey);
	return !survey_end_run_if_due(survey);
}

/*
 * Observes the core until it has been observed for survey_time_budget_per_core_ns(), or in a soak for this round's
 * part of that time. Stops early at END_TSC, but not before the first chunk. Also stops if the core does not answer,
 * or if its TSC stops. Records at most EVENTS_LEFT gaps one by one.
 */
static void
observe_core_for_its_share(struct survey *survey, size_t core, size_t living, size_t events_left, uint64_t end_tsc)
{
	const struct report *report = survey->report;
	struct survey_watch *watch = &survey->memory.watches[core];
	uint64_t share_ns = survey_share_of_round_ns(survey, survey_time_budget_per_core_ns(report, living));
	uint64_t observed_ticks = 0, observed_ns = 0;
	struct gaps *gaps = survey->memory.gaps;
	struct observe_job job = {
		.gaps = gaps,
		.plan = {
			.scale = &survey->scale,
			.threshold_ticks = scale_ns_to_ticks(&survey->scale, report->facts.options.gap_ns),
			.duration_ticks = scale_ns_to_ticks(&survey->scale, survey_smaller(share_ns, CHUNK_NS)),
			.long_ticks = scale_ns_to_ticks(&survey->scale, LONG_NS),
			.turns_max = CHUNK_TURNS,
			.tsc = survey->hooks.tsc_ordered,
		},
		.counter = survey->hooks.stolen_counter,
	};

	if (!warm_up_gap_loop(survey, core, job))
		return;
	watch->sum.core = (uint32_t)core;
	watch->sum.threshold_ticks = job.plan.threshold_ticks;
	while (observed_ns + SHORT_NS < share_ns && (!observed_ns || !survey_is_core_pass_over(survey, end_tsc)) &&
	       read_clocks_if_due(survey)) {
		uint64_t begin_tsc = survey->hooks.tsc_ordered();

		survey_show_progress(survey, "gaps", observed_ns);
		if (!survey->smp->run(survey->smp->context, core, observe_gaps_on_core, &job, BOUND_NS))
			return;
		if (!watch->sum.observed_ticks)
			watch->sum.begin_tsc = begin_tsc;
		add_gaps_to_sum_of_core(watch, gaps);
		observed_ticks += gaps->observed_ticks;
		observed_ns = scale_ns(&survey->scale, observed_ticks);
		add_reported_stolen_time(watch, &job);
		record_put_or_replace(&survey->record, &watch->at, RECORD_WATCH, &watch->sum, watch->octaves, OCTAVES);
		events_left = record_single_gaps(survey, core, begin_tsc, events_left);
		series_add_gaps(&survey->report->facts.series, scale_ns(&survey->scale, gaps->observed_ticks),
				gaps->count,
				scale_ns(&survey->scale, gaps->worst_ticks));
		survey_add_tsc_steps(survey, core, &gaps->steps);
		if (gaps->observed_ticks < job.plan.duration_ticks)
			return;
		/* calculated again, because the share becomes shorter when the user asks for the end of the run */
		share_ns = survey_share_of_round_ns(survey, survey_time_budget_per_core_ns(report, living));
	}
}

void
survey_observe_gaps(struct survey *survey)
{
	struct report *report = survey->report;
	const struct smp *smp = survey->smp;
	size_t living = survey->memory.cores ? survey_count_living_cores(survey) : 0, watched = 0;
	uint64_t end_tsc = survey_core_pass_end_tsc(survey);

	if (!living)
		return;
	size_t share_events = survey_larger(REPORT_EVENTS_MAX / (living * survey_larger(survey->soak.rounds, 1)), 1);
	for (size_t core = 0; core < smp->count && !survey_end_run_if_due(survey); core++) {
		if (!smp->alive(smp->context, core))
			continue;
		if (survey_is_core_pass_over(survey, end_tsc)) {
			notes_add(&report->notes, "%zu of %zu cores were observed for gaps: observing more would have taken too "
				  "much of the time left.", watched, living);
			return;
		}
		watched++;
		observe_core_for_its_share(survey, core, living, share_events, end_tsc);
		survey->plan.done_ns += survey_share_of_round_ns(survey, survey_time_budget_per_core_ns(report, living));
	}
}
