/*
 * Measures the read latency of each clock on the boot core, for a shorter time on every other core, and while all cores
 * read the clock. See survey_clocks.h.
 */
#include "base/units.h"
#include "measure/clocks/survey_clocks.h"
#include "measure/survey_internal.h"

#define STALL_PERIODS    4  /* a clock that shows one value for more than this number of its periods has stalled */
#define STALL_NS_MIN     UINT64_C(2000)
/* A clock that has moved before counts as stopped if it shows one value for this time. */
#define STOPPED_NS       (100 * SURVEY_NS_PER_MS)
/*
 * A guest's edge clock (an RTC, which is read at its ticks) counts as stopped only after this time. An emulator updates
 * it in a thread, which was more than 10 ms late on a busy host.
 */
#define EMULATED_STOPPED_NS SURVEY_NS_PER_S
/*
 * A forward step between two readings is a jump only if it is larger than the clock's rate predicts by more than this
 * many times the resolution. An emulator may update its clocks in bursts.
 */
#define LEAP_RESOLUTIONS 8
/*
 * A forward step of an edge clock (an RTC) is a jump only if it is larger than the clock's rate predicts by more than
 * this many ticks. After a late tick, a tick on time is a large step, but no jump.
 */
#define LEAP_EDGES       2
/* a forward step may be 1/8 (1 / LEAP_SHARE) larger than the clock's rate predicts before it counts as a jump */
#define LEAP_SHARE       8
#define BATCH_NS         (2 * SURVEY_NS_PER_MS) /* duration of a batch of samples, in which interrupts are masked */
#define BATCH_SAMPLES_MIN 16
/* interval between comparisons of all clocks; it is short because a 24-bit PM timer wraps in 4.7 s */
#define STEP_NS          (250 * SURVEY_NS_PER_MS)
#define BATCHES_PER_MS   100 /* maximum number of batches in a millisecond; a batch takes at least 10 us */
#define CORE_BATCHES_MIN 2
/* maximum number of pauses while a core spins before a batch, in case its TSC has stopped */
#define SPIN_PAUSES_MAX  (1u << 20)
/* Maximum wait for one batch on another core. A batch takes about a millisecond. */
#define CORE_BOUND_NS    (2 * SURVEY_NS_PER_S)
/* maximum number of tries until at least two cores read at the same time, which a busy host may prevent */
#define JOINT_TRIES      4

/*
 * Returns the number of samples that take about 2 ms, if the COUNT samples in the survey's buffer were taken without a
 * pause. The size of the buffer limits the number.
 */
static size_t
reads_per_batch(const struct survey *survey, size_t count)
{
	uint64_t ns = scale_ns(&survey->scale, survey->buffer.samples[count - 1].end - survey->buffer.samples[0].begin);

	return survey_clamp(ns ? BATCH_NS * count / ns : UINT64_MAX, BATCH_SAMPLES_MIN, survey->buffer.sample_max);
}

/*
 * Returns the bounds for the clock's steps. The bounds beyond which a step counts as a jump are based on the clock's
 * measured rate. With bounds by its nominal frequency, a clock that is always too fast would seem to jump at each
 * reading.
 */
static struct monotonic_bounds
get_step_bounds(const struct survey *survey, const struct report_clock *entry)
{
	const struct resolution *resolution = &entry->resolution;
	unsigned __int128 millihz = report_clock_rate_millihz(survey->report, entry);
	uint64_t stall_ticks = survey_tsc_ticks_in_clock_periods(survey, &entry->clock, STALL_PERIODS);
	struct monotonic_bounds bounds = {
		stall_ticks ? survey_larger(stall_ticks, scale_ns_to_ticks(&survey->scale, STALL_NS_MIN)) : 0,
		survey_max_ticks_between_compared_reads(survey, &entry->clock), 0, 0,
	};

	if (!survey->report->figures.tsc.den)
		return bounds; /* without the TSC's rate, no bound for jumps is known */
	bounds.leap_rate = scale_mul_div_wide(millihz * (LEAP_SHARE + 1) * survey->scale.hz.den,
					       UINT64_C(1) << MONOTONIC_RATE_SHIFT,
					       (unsigned __int128)survey->scale.hz.num * LEAP_SHARE * MILLIHZ_PER_HZ,
					       SCALE_UP);
	bounds.leap_ticks = entry->clock.edges_only ? LEAP_EDGES :
			    resolution->steps ? LEAP_RESOLUTIONS * resolution->smallest_ticks : LEAP_RESOLUTIONS;
	return bounds;
}

static void
add_tsc_steps_of_samples(struct survey *survey, size_t core, const struct sample *samples, size_t count)
{
	struct tsc_steps steps = { .reads = 0 };

	tsc_steps_take_samples(&steps, samples, count);
	survey_add_tsc_steps(survey, core, &steps);
}

/*
 * Checks a batch for steps back and jumps. If a clock steps back for the first time, and not in its first batch, its
 * failure during the run is recorded. After a jump the clock may still be healthy, because the TSC may have stopped
 * instead. Therefore survey_check_jump_of_clock() compares all clocks, which overwrites the batch's samples.
 */
static void
check_batch_for_steps(struct survey *survey, struct report_clock *entry, const struct monotonic_bounds *bounds,
		      size_t count)
{
	struct monotonic *monotonic = &entry->monotonic;
	bool was_healthy = monotonic->reads && !monotonic->backward;
	uint64_t leaps = monotonic->leaps, leap_ns;

	add_tsc_steps_of_samples(survey, 0, survey->buffer.samples, count);
	monotonic_add_samples(monotonic, &entry->clock, bounds, survey->buffer.samples, count);
	if (was_healthy && monotonic->backward)
		survey_record_clock_failure(entry, survey->buffer.samples[count - 1].end);
	if (monotonic->leaps == leaps)
		return;
	leap_ns = report_clock_ticks_to_ps(survey->report, entry, monotonic->last_leap_ticks) / PS_PER_NS;
	if (!survey_check_jump_of_clock(survey, leap_ns))
		entry->unexplained_leaps += monotonic->leaps - leaps;
}

/* Marks the clock as stuck if it stopped. It was read from START to NOW, and last moved at MOVED. */
static void
mark_stuck_if_stopped(struct survey *survey, struct report_clock *entry, uint64_t start, uint64_t moved,
		      uint64_t now)
{
	uint64_t enough = survey_tsc_ticks_in_clock_periods(survey, &entry->clock, SURVEY_STUCK_PERIODS);
	uint64_t stopped_ns = scale_ns(&survey->scale, now - moved);
	bool is_emulated = entry->clock.edges_only && report_is_guest(survey->report);

	if (is_emulated && stopped_ns <= EMULATED_STOPPED_NS)
		return;
	if (enough && now - moved > enough && (moved == start || stopped_ns > STOPPED_NS))
		survey_mark_clock_stuck(entry, stopped_ns, now);
}

struct boot_core_job {
	struct survey *survey;
	struct report_clock *entry;
};

static void
measure_clock_on_boot_core(void *argument)
{
	const struct boot_core_job *job = argument;
	struct survey *survey = job->survey;
	struct report_clock *entry = job->entry;
	const struct clock *clock = &entry->clock;
	struct monotonic_bounds bounds = get_step_bounds(survey, entry);
	uint64_t slice_ns = survey_share_of_round_ns(survey, survey_measurement_budget_ns(survey->report));
	uint64_t batches = (slice_ns / SURVEY_NS_PER_MS + 1) * BATCHES_PER_MS;
	uint64_t start, now, moved;
	unsigned cuts = survey->steps.cuts;
	size_t next_size;

	survey_sample_batch(survey, clock, SURVEY_WARM_UP);
	start = now = moved = survey->buffer.samples[0].begin;
	next_size = reads_per_batch(survey, SURVEY_WARM_UP);
	if (survey->soak.round == 0)
		latency_clear(entry->latency);
	while (batches-- > 0 && now - start < scale_ns_to_ticks(&survey->scale, slice_ns)) {
		size_t size = next_size;

		survey_sample_batch(survey, clock, size);
		if (survey_end_run_if_due(survey))
			break; /* the run ends here, for example because the TSC stopped during this batch */
		latency_add_samples(entry->latency, &survey->scale, survey->buffer.samples, size);
		series_add_reads(&survey->report->facts.series, (size_t)(entry - survey->report->facts.clocks),
				 &survey->scale,
				 survey->buffer.samples, size);
		resolution_add_samples(&entry->resolution, clock, bounds.trust_ticks, survey->buffer.samples, size);
		now = survey->buffer.samples[size - 1].end;
		if (survey_any_differs(survey->buffer.samples, size))
			moved = now;
		next_size = reads_per_batch(survey, size);
		check_batch_for_steps(survey, entry, &bounds, size);
		survey_show_progress(survey, clock->id, scale_ns(&survey->scale, now - start));
		if (now > survey->steps.now.begin_tsc && scale_ns(&survey->scale, now - survey->steps.now.begin_tsc) > STEP_NS)
			survey_read_and_compare_clocks(survey);
		/* calculated again, because the duration becomes shorter when the user asks for the end of the run */
		slice_ns = survey_share_of_round_ns(survey, survey_measurement_budget_ns(survey->report));
	}
	survey_read_and_compare_clocks(survey);
	entry->latency_discontinuities += survey->steps.cuts - cuts;
	/* After a discontinuity, the TSC cannot show how long the clock did not move. */
	if (!survey->tsc.is_stopped && survey->steps.cuts == cuts)
		mark_stuck_if_stopped(survey, entry, start, moved, now);
	survey->plan.done_ns += survey_share_of_round_ns(survey, survey_measurement_budget_ns(survey->report));
}

void
survey_measure_latencies_on_boot_core(struct survey *survey)
{
	struct report *report = survey->report;

	for (size_t i = 0; i < report->facts.clock_count && !survey_end_run_if_due(survey); i++) {
		struct report_clock *entry = &report->facts.clocks[i];
		struct boot_core_job job = { survey, entry };

		if (!survey_usable(entry))
			continue;
		survey_run_catching_exceptions(survey, "latency", NULL, measure_clock_on_boot_core, &job);
		if (survey->soak.round == 0)
			survey->hooks.measured(survey->hooks.context, report, entry);
	}
}

struct core_batch { /* a batch of samples, as a job of a core */
	const struct survey_hooks *hooks;
	const struct clock *clock;
	struct sample *samples;
	size_t count;
	/*
	 * Duration of the core's spinning before the batch, by its own TSC. After a halt, a core runs slowly until its
	 * frequency has risen.
	 */
	uint64_t spin_ticks;
};

static void
spin_for_ticks(const struct survey_hooks *hooks, uint64_t ticks)
{
	uint64_t begin = hooks->tsc_ordered();

	for (unsigned i = 0; i < SPIN_PAUSES_MAX && hooks->tsc_ordered() - begin < ticks; i++)
		hooks->pause();
}

static void
sample_batch_on_core(void *argument, size_t core)
{
	const struct core_batch *batch = argument;

	(void)core;
	if (batch->spin_ticks)
		spin_for_ticks(batch->hooks, batch->spin_ticks);
	batch->clock->sample(batch->clock->device, batch->samples, batch->count);
}

/* Returns the summary of a clock's latency on one core. Its count is 0 if nothing was recorded. */
static struct core_latency
summarize_latency(const struct latency *latency)
{
	struct latency_typical typical;

	if (!latency->count)
		return (struct core_latency){ 0 };
	typical = latency_get_typical(latency);
	return (struct core_latency){
		latency->count, latency->min_ns, latency_percentile_ns(latency, 50000), latency_percentile_ns(latency, 99000),
		typical.ps, typical.low_ps, typical.high_ps,
	};
}

/*
 * Takes a batch on CORE. The core spins only before its first batch, because all later batches follow before it halts.
 * Returns false if the core does not answer.
 */
static bool
take_batch_on_core(struct survey *survey, size_t core, struct core_batch *batch)
{
	bool is_complete = survey->smp->run(survey->smp->context, core, sample_batch_on_core, batch, CORE_BOUND_NS);

	batch->spin_ticks = 0;
	return is_complete;
}

/* Reads BATCH's clock on one core for SHARE_NS. Returns false if the core does not answer. */
static bool
measure_clock_on_core(struct survey *survey, size_t core, struct core_batch *batch, uint64_t share_ns)
{
	uint64_t share_ticks = scale_ns_to_ticks(&survey->scale, share_ns);
	uint64_t batches = CORE_BATCHES_MIN + share_ns / SURVEY_NS_PER_MS * BATCHES_PER_MS;
	uint64_t taken_ticks = 0;

	latency_clear(survey->buffer.latency);
	batch->count = SURVEY_WARM_UP;
	if (!take_batch_on_core(survey, core, batch))
		return false;
	for (uint64_t turn = 0; turn < batches; turn++) {
		batch->count = reads_per_batch(survey, batch->count);
		if (turn >= CORE_BATCHES_MIN && (taken_ticks >= share_ticks || survey_end_run_if_due(survey)))
			break;
		if (!take_batch_on_core(survey, core, batch))
			return false;
		if (survey_end_if_untimed(survey))
			break;
		add_tsc_steps_of_samples(survey, core, survey->buffer.samples, batch->count);
		latency_add_samples(survey->buffer.latency, &survey->scale, survey->buffer.samples, batch->count);
		taken_ticks += survey->buffer.samples[batch->count - 1].end - survey->buffer.samples[0].begin;
	}
	return true;
}

/*
 * Reads all clocks on one core. Returns false if END_TSC, the end of this pass over the cores, came before all clocks
 * were read.
 */
static bool
measure_all_clocks_on_core(struct survey *survey, size_t core, uint64_t share_ns, uint64_t end_tsc)
{
	struct report *report = survey->report;
	struct core_batch batch = { .hooks = &survey->hooks, .samples = survey->buffer.samples,
				    .spin_ticks = scale_ns_to_ticks(&survey->scale, survey->hooks.spin_ns) };

	for (size_t i = 0; i < report->facts.clock_count && !survey_end_run_if_due(survey); i++) {
		if (!survey_usable(&report->facts.clocks[i]))
			continue;
		if (survey_is_core_pass_over(survey, end_tsc))
			return false;
		batch.clock = &report->facts.clocks[i].clock;
		bool answered = measure_clock_on_core(survey, core, &batch, share_ns);

		report->facts.cores[core].latency[i] = summarize_latency(survey->buffer.latency);
		if (!answered)
			break; /* the core does not answer, which the code behind smp->run() reports */
	}
	return true;
}

void
survey_measure_latencies_on_cores(struct survey *survey)
{
	struct report *report = survey->report;
	const struct smp *smp = survey->smp;
	size_t living = survey_count_living_cores(survey), read = 1;
	uint64_t clocks = 0, end_tsc = survey_core_pass_end_tsc(survey);
	bool is_over = false;

	if (!survey->memory.cores)
		return;
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		clocks += survey_usable(&report->facts.clocks[i]);
		report->facts.cores[0].latency[i] = summarize_latency(report->facts.clocks[i].latency);
	}
	for (size_t core = 1; core < smp->count && !is_over && !survey_end_run_if_due(survey); core++) {
		uint64_t share_ns = survey_clock_read_budget_per_core_ns(report, living) / (clocks ? clocks : 1);

		if (!smp->alive(smp->context, core))
			continue;
		survey_show_progress(survey, "cores", 0);
		is_over = !measure_all_clocks_on_core(survey, core, share_ns, end_tsc);
		read += !is_over;
		survey->plan.done_ns += survey_planned_time_per_core_ns(report, living);
	}
	if (is_over)
		notes_add(&report->notes, "The clocks were read on %zu of %zu cores: reading on more would have taken too much of "
			  "the time left.", read, living);
}

struct contention { /* measurement of one clock that all cores read at the same time */
	/* The boot core sets these fields before the other cores start. */
	const struct survey *survey;
	const struct clock *clock;
	size_t expected;
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
	struct sample *samples = &contention->survey->memory.samples[core * SURVEY_CONTENDED_SAMPLES];
	uint64_t ended, begun;

	clock->sample(clock->device, samples, SURVEY_WARM_UP);
	barrier_wait(&contention->barrier, contention->expected, contention->survey->hooks.pause);
	__atomic_add_fetch(&contention->begun, 1, __ATOMIC_ACQ_REL);
	ended = __atomic_load_n(&contention->ended, __ATOMIC_ACQUIRE);
	clock->sample(clock->device, samples, SURVEY_CONTENDED_SAMPLES);
	begun = __atomic_load_n(&contention->begun, __ATOMIC_ACQUIRE);
	__atomic_add_fetch(&contention->ended, 1, __ATOMIC_ACQ_REL);
	contention->survey->memory.others[core] = (uint32_t)(begun - ended - 1);
}

/* Returns the number of cores that read the clock at the same time as another core. */
static size_t
measure_clock_on_all_cores_at_once(struct survey *survey, size_t index)
{
	const struct smp *smp = survey->smp;
	struct survey_memory *memory = &survey->memory;
	struct contention contention = {
		.survey = survey, .clock = &survey->report->facts.clocks[index].clock,
		.expected = survey_count_living_cores(survey),
	};
	size_t measured = 0;

	__builtin_memset(memory->others, 0, memory->cores * sizeof(*memory->others));
	survey_run_on_all_cores(survey, sample_clock_in_parallel, &contention, 0);
	barrier_stop(&contention.barrier);
	if (survey_end_if_untimed(survey))
		return 0;
	for (size_t core = 0; core < smp->count; core++) {
		const struct sample *samples = &memory->samples[core * SURVEY_CONTENDED_SAMPLES];

		if (!memory->others[core] || !smp->alive(smp->context, core))
			continue; /* if no other core read at the same time, the samples show no contention */
		add_tsc_steps_of_samples(survey, core, samples, SURVEY_CONTENDED_SAMPLES);
		latency_clear(survey->buffer.latency);
		latency_add_samples(survey->buffer.latency, &survey->scale, samples, SURVEY_CONTENDED_SAMPLES);
		survey->report->facts.cores[core].contended[index] = summarize_latency(survey->buffer.latency);
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
	for (size_t i = 0; i < report->facts.clock_count && !survey_end_run_if_due(survey); i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (!survey_usable(entry) || !report_clock_is_main_of_device(entry) || entry->clock.one_core_only)
			continue;
		if (!survey_is_time_for_joint_job(survey, end_tsc, 0)) {
			notes_add(&report->notes, "%s and the clocks after it were not read by all cores at once: "
				  "that would have taken too much of the time left.", entry->clock.id);
			return;
		}
		survey_show_progress(survey, "contention", 0);
		for (unsigned tries = 0; tries < JOINT_TRIES && !survey->tsc.is_stopped &&
		     survey_is_time_for_joint_job(survey, end_tsc, 0) && !measure_clock_on_all_cores_at_once(survey, i); tries++)
			;
	}
}
