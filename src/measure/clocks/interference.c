/* Measures how often and how long time is stolen from each core. See gaps.h. */
#include "measure/clocks/clocks_internal.h"

#include "base/text.h"

#define CHUNK_NS      (10 * SURVEY_NS_PER_MS) /* interrupts are masked for this long */
#define CHUNK_TURNS   UINT64_C(4000000)       /* one turn in 2.5 ns: no ordered TSC read is faster */
#define WARM_UP_TURNS 256
#define BOUND_NS      (20 * SURVEY_NS_PER_S)  /* for one chunk: the core may be preempted for long */

struct observe_job {
	struct gaps *gaps;
	struct gaps_plan plan;
};

static void
observe(void *argument, size_t core)
{
	const struct observe_job *job = argument;

	(void)core;
	gaps_observe(job->gaps, &job->plan);
}

/* Adds events to the report, up to EVENTS_END in all. BEGIN_TICKS is the chunk's start within the run. */
static void
add_events(struct survey *survey, uint32_t apic_id, uint64_t begin_ticks, size_t events_end)
{
	struct report_interference *all = &survey->report->interference;
	const struct gaps *gaps = &survey->gaps;

	if (events_end > REPORT_EVENTS_MAX)
		events_end = REPORT_EVENTS_MAX;
	for (size_t i = 0; i < gaps->event_count && all->event_count < events_end; i++)
		all->events[all->event_count++] = (struct report_gap){
			.at_ms = scale_ns(&survey->scale, begin_ticks + gaps->events[i].after_ticks) / SURVEY_NS_PER_MS,
			.ns = scale_ns(&survey->scale, gaps->events[i].ticks),
			.core = apic_id,
		};
}

static void
add_chunk(struct survey *survey, struct report_core *core)
{
	struct report_interference *all = &survey->report->interference;
	const struct gaps *gaps = &survey->gaps;
	uint64_t observed_ns = scale_ns(&survey->scale, gaps->observed_ticks);
	uint64_t worst_ns = scale_ns(&survey->scale, gaps->worst_ticks);

	all->observed_ns += observed_ns;
	all->measured = all->observed_ns != 0;
	all->total_ns += scale_ns(&survey->scale, gaps->total_ticks);
	all->gaps += gaps->count;
	for (size_t i = 0; i < OCTAVES; i++)
		all->octave[i] += gaps->octave[i];
	if (worst_ns > all->worst_ns) {
		all->worst_ns = worst_ns;
		all->worst_core = core->apic_id;
	}
	series_gaps(&survey->report->series, observed_ns, gaps->count, worst_ns);
	core->observed_ns += observed_ns;
	core->gaps += gaps->count;
	if (worst_ns > core->worst_gap_ns)
		core->worst_gap_ns = worst_ns;
}

/*
 * Runs all code once in a round that is not counted, with every reading recorded as a gap. Under translation
 * the first execution alone takes tens of microseconds.
 */
static bool
warm_up(struct survey *survey, size_t core, struct observe_job job)
{
	job.plan.threshold_ticks = 0;
	job.plan.turns_max = WARM_UP_TURNS;
	return survey->smp->run(survey->smp->context, core, observe, &job, BOUND_NS);
}

/* Observes CORE for SHARE_NS, or until it does not answer or its TSC stops. */
static void
observe_core(struct survey *survey, size_t core, size_t living, size_t events_end)
{
	const struct report *report = survey->report;
	struct report_core *row = &report->cores[core];
	uint64_t share_ns = survey_core_share_ns(report, living), before_ns = row->observed_ns;
	struct observe_job job = {
		.gaps = &survey->gaps,
		.plan = {
			.scale = &survey->scale,
			.threshold_ticks = scale_ticks(&survey->scale, survey->report->options.gap_ns),
			.duration_ticks = scale_ticks(&survey->scale, share_ns < CHUNK_NS ? share_ns : CHUNK_NS),
			.turns_max = CHUNK_TURNS,
			.tsc = survey->hooks.tsc_ordered,
		},
	};

	if (!warm_up(survey, core, job))
		return;
	while (row->observed_ns < survey_share_ns(survey, survey_core_share_ns(report, living)) &&
	       !survey_end_if_due(survey)) {
		uint64_t begin_ticks = survey->hooks.tsc_ordered() - survey->start_tsc;

		survey->hooks.progress(survey->hooks.context, "gaps", survey->done_ns + row->observed_ns - before_ns,
				       survey->total_ns);
		if (!survey->smp->run(survey->smp->context, core, observe, &job, BOUND_NS))
			return;
		add_chunk(survey, row);
		add_events(survey, row->apic_id, begin_ticks, events_end);
		survey_add_steps(survey, core, &survey->gaps.steps);
		if (survey->gaps.observed_ticks < job.plan.duration_ticks)
			return;
	}
}

void
survey_interference(struct survey *survey)
{
	struct report *report = survey->report;
	const struct smp *smp = survey->smp;
	size_t living = survey->memory.cores ? survey_living(survey) : 0, watched = 0;
	uint64_t end_tsc = survey_pass_end(survey);
	size_t share_events;

	if (!living)
		return;
	if (survey->round == 0)
		survey_is_at(survey, SURVEY_AT_INTERFERENCE);
	report->interference.threshold_ns = report->options.gap_ns;
	share_events = REPORT_EVENTS_MAX / (living * (survey->rounds ? survey->rounds : 1));
	share_events = share_events ? share_events : 1;
	for (size_t core = 0; core < smp->count && !survey_end_if_due(survey); core++) {
		if (!smp->alive(smp->context, core))
			continue;
		if (survey_pass_is_over(survey, end_tsc)) {
			report_note(report, "Gaps were looked for on %zu of %zu cores: more would have taken too much of the time "
				    "up to the deadline.", watched, living);
			return;
		}
		watched++;
		observe_core(survey, core, living, report->interference.event_count + share_events);
		survey->done_ns += survey_slice_ns(survey, survey_core_share_ns(report, living));
	}
}
