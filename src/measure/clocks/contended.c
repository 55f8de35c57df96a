/* Measures the read latency of each clock while all cores read it. See survey_clocks.h. */
#include "measure/clocks/clocks_internal.h"

/* maximum number of tries until at least two cores read at the same time, which a busy host may prevent */
#define TRIES 4

struct contention { /* measurement of one clock that all cores read at the same time */
	/* The boot core sets these fields before the other cores start. */
	const struct clock *clock;
	struct sample *samples; /* samples of all cores; each core has SURVEY_CONTENDED_SAMPLES of them */
	/*
	 * For each core, the number of other cores that read the clock at the same time. Each core writes its own
	 * entry.
	 */
	uint32_t *others;
	size_t expected;
	void (*pause)(void);
	struct barrier barrier;
	/* Each core adds 1 to BEGUN before it samples, and to ENDED afterwards. */
	uint64_t begun __attribute__((aligned(BARRIER_LINE)));
	uint64_t ended;
};

/*
 * Reads the clock on one core, and counts the other cores that read the clock at the same time. The count is BEGUN,
 * read after this core's samples, minus ENDED, read before them, minus 1 for this core. No TSC is used, so the count is
 * right even if the cores' TSCs differ.
 */
static void
sample_clock_in_parallel(void *argument, size_t core)
{
	struct contention *contention = argument;
	const struct clock *clock = contention->clock;
	struct sample *samples = &contention->samples[core * SURVEY_CONTENDED_SAMPLES];
	uint64_t ended, begun;

	clock->sample(clock->device, samples, SURVEY_WARM_UP);
	barrier_wait(&contention->barrier, contention->expected, contention->pause);
	__atomic_add_fetch(&contention->begun, 1, __ATOMIC_ACQ_REL);
	ended = __atomic_load_n(&contention->ended, __ATOMIC_ACQUIRE);
	clock->sample(clock->device, samples, SURVEY_CONTENDED_SAMPLES);
	begun = __atomic_load_n(&contention->begun, __ATOMIC_ACQUIRE);
	__atomic_add_fetch(&contention->ended, 1, __ATOMIC_ACQ_REL);
	contention->others[core] = (uint32_t)(begun - ended - 1);
}

/* Returns the number of cores that read the clock at the same time as another core. */
static size_t
measure_clock_on_all_cores_at_once(struct survey *survey, size_t index)
{
	const struct smp *smp = survey->smp;
	struct survey_memory *memory = &survey->memory;
	struct contention contention = {
		.clock = &survey->report->clocks[index].clock,
		.samples = memory->samples,
		.others = memory->others,
		.expected = survey_count_living_cores(survey),
		.pause = survey->hooks.pause,
	};
	size_t measured = 0;

	__builtin_memset(memory->others, 0, memory->cores * sizeof(*memory->others));
	survey_run_on_all_cores(survey, sample_clock_in_parallel, &contention, 0);
	barrier_stop(&contention.barrier);
	if (survey_end_if_untimed(survey))
		return 0;
	for (size_t core = 0; core < smp->count; core++) {
		const struct sample *samples = &memory->samples[core * SURVEY_CONTENDED_SAMPLES];
		struct tsc_steps steps = { .reads = 0 };

		if (!memory->others[core] || !smp->alive(smp->context, core))
			continue; /* if no other core read at the same time, the samples show no contention */
		tsc_steps_take_samples(&steps, samples, SURVEY_CONTENDED_SAMPLES);
		survey_add_tsc_steps(survey, core, &steps);
		latency_clear(survey->buffer.latency);
		latency_add_samples(survey->buffer.latency, &survey->scale, samples, SURVEY_CONTENDED_SAMPLES);
		survey->report->cores[core].contended[index] = survey_summarize_latency(survey, survey->buffer.latency);
		measured++;
	}
	return measured;
}

void
survey_measure_contended_latencies(struct survey *survey)
{
	struct report *report = survey->report;
	uint64_t end_tsc = survey_core_pass_end_tsc(survey);

	if (!survey->memory.cores || survey_count_living_cores(survey) < 2)
		return;
	survey_begin_part(survey, SURVEY_CONTENDED);
	for (size_t i = 0; i < report->clock_count && !survey_end_run_if_due(survey); i++) {
		const struct report_clock *entry = &report->clocks[i];

		if (!survey_usable(entry) || !report_clock_is_main_of_device(entry) || entry->clock.one_core_only)
			continue;
		if (!survey_is_time_for_joint_job(survey, end_tsc, 0)) {
			report_add_note(report, "%s and the clocks after it were not read by all cores at once: "
					"that would have taken too much of the time left.", entry->clock.id);
			return;
		}
		survey_show_progress(survey, "contention", 0);
		for (unsigned tries = 0; tries < TRIES && !survey->tsc.is_stopped &&
		     survey_is_time_for_joint_job(survey, end_tsc, 0) && !measure_clock_on_all_cores_at_once(survey, i); tries++)
			;
	}
}
