/*
 * Measures the read latency of each clock on the boot core, for a shorter time on every other core, and while all cores
 * read the clock. See survey_clocks.h.
 *
 * A core reads its clocks in turn, a batch of samples each. A slow time of the host that lasts for several rounds then
 * slows each clock equally, as does a change of the core's frequency. The cost of a read is the difference of two
 * latencies (of the clock and of the null clock), so both must be measured under the same conditions. Only RTCs are
 * read one after another, at the end.
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
/*
 * Shortest and longest duration of a batch of samples, in which interrupts are masked. A clock's share of the time is
 * divided into BATCHES_AIM batches, so that a slow time of the host does not cover all of them.
 */
#define BATCH_NS_MIN     (20 * UINT64_C(1000))
#define BATCH_NS_MAX     (2 * SURVEY_NS_PER_MS)
#define BATCHES_AIM      16
#define BATCH_SAMPLES_MIN 16
/* interval between comparisons of all clocks; it is short because a 24-bit PM timer wraps in 4.7 s */
#define STEP_NS          (250 * SURVEY_NS_PER_MS)
#define BATCHES_PER_MS   100 /* maximum number of batches in a millisecond; a batch takes at least 10 us */
#define BATCHES_MIN      2   /* number of batches that a clock gets even if its share of the time is shorter */
/* number of samples that are discarded before a batch, because another clock was read before */
#define COLD_SAMPLES     2
/* maximum number of pauses while a core spins before a batch, in case its TSC has stopped */
#define SPIN_PAUSES_MAX  (1u << 20)
/* Maximum wait for one batch on another core. A batch takes about a millisecond. */
#define CORE_BOUND_NS    (2 * SURVEY_NS_PER_S)
/* maximum number of tries until at least two cores read at the same time, which a busy host may prevent */
#define JOINT_TRIES      4

/* One of the clocks that a core reads in turn, and its progress. */
struct turn {
	struct report_clock *entry;
	struct latency *latency; /* latency on this core */
	size_t size;             /* number of samples in the next batch */
	uint64_t batches;        /* number of batches until now */
	uint64_t taken_ticks;    /* time that the batches took, on the boot core with their evaluation */
	/* The following fields are used on the boot core only. */
	struct monotonic_bounds bounds;
	/*
	 * The clock was read from START to NOW, without a discontinuity between them, and last moved at MOVED. LAST_TICKS
	 * is its latest reading. CUTS is the number of discontinuities before START.
	 */
	uint64_t start, moved, now, last_ticks;
	unsigned cuts;
	uint64_t steps; /* the clock's steps back and jumps until the latest comparison of all clocks */
};

struct turns { /* the clocks of one core, which it reads in turn */
	struct survey *survey;
	struct turn *current; /* the clock that is read now */
	size_t count;
	uint64_t batch_ns;    /* duration of a batch */
	struct turn all[REPORT_CLOCKS_MAX];
};

/*
 * Returns the number of samples that take about BATCH_NS, if the COUNT samples in the survey's buffer were
 * taken without a pause. The size of the buffer limits the number.
 */
static size_t
reads_per_batch(const struct survey *survey, size_t count, uint64_t batch_ns)
{
	uint64_t ns = scale_ns(&survey->scale, survey->buffer.samples[count - 1].end - survey->buffer.samples[0].begin);

	return survey_clamp(ns ? batch_ns * count / ns : UINT64_MAX, BATCH_SAMPLES_MIN, survey->buffer.sample_max);
}

static bool
has_share_left(const struct turns *turns, const struct turn *turn, uint64_t share_ns)
{
	uint64_t batches_max = BATCHES_MIN + (share_ns / SURVEY_NS_PER_MS + 1) * BATCHES_PER_MS;

	return survey_usable(turn->entry) && turn->batches < batches_max &&
	       (turn->batches < BATCHES_MIN || turn->taken_ticks < scale_ns_to_ticks(&turns->survey->scale, share_ns));
}

/*
 * Returns true if TURN comes before OTHER. The clock comes first whose batches took the shortest time until now. Edge
 * clocks (RTCs) come last, and one after another, because their ticks are lost while they are not read.
 */
static bool
is_before(const struct turn *turn, const struct turn *other)
{
	if (turn->entry->clock.edges_only)
		return false;
	return other->entry->clock.edges_only || turn->taken_ticks < other->taken_ticks;
}

/* Selects the clock that is read next. Returns false if the batches of each clock took SHARE_NS. */
static bool
select_next_clock(struct turns *turns, uint64_t share_ns)
{
	turns->current = NULL;
	for (size_t i = 0; i < turns->count; i++) {
		struct turn *turn = &turns->all[i];

		if (has_share_left(turns, turn, share_ns) && (!turns->current || is_before(turn, turns->current)))
			turns->current = turn;
	}
	return turns->current;
}

/* Returns the number of steps back and jumps of the clock. */
static uint64_t
count_steps(const struct report_clock *entry)
{
	return entry->monotonic.backward + entry->monotonic.leaps;
}

/* Adds a turn of SHARE_NS for each clock that can be read, without its latency. */
static void
begin_turns(struct turns *turns, struct survey *survey, uint64_t share_ns)
{
	struct report *report = survey->report;

	turns->survey = survey;
	turns->count = 0;
	turns->batch_ns = survey_clamp(share_ns / BATCHES_AIM, BATCH_NS_MIN, BATCH_NS_MAX);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (survey_usable(&report->facts.clocks[i]))
			turns->all[turns->count++] = (struct turn){
				.entry = &report->facts.clocks[i],
				.steps = count_steps(&report->facts.clocks[i]),
			};
}

/* Adds the time from BEGIN_TSC to END_TSC to TURN. Adds nothing if the TSC stepped back. */
static void
add_taken_time(struct turn *turn, uint64_t begin_tsc, uint64_t end_tsc)
{
	turn->taken_ticks += end_tsc > begin_tsc ? end_tsc - begin_tsc : 0;
}

/* Adds a batch of the current clock, SIZE samples, which is in the survey's buffer. */
static void
add_batch(const struct turns *turns, size_t size)
{
	const struct survey *survey = turns->survey;
	const struct sample *samples = survey->buffer.samples;
	struct turn *turn = turns->current;

	turn->batches++;
	latency_add_samples(turn->latency, &survey->scale, samples, size);
	turn->size = reads_per_batch(survey, size, turns->batch_ns);
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

/*
 * Marks the clock as stuck if it stopped. Does nothing if a discontinuity was found after the clock's latest batch,
 * because the TSC cannot show then how long the clock did not move.
 */
static void
mark_stuck_if_stopped(struct survey *survey, const struct turn *turn)
{
	struct report_clock *entry = turn->entry;
	uint64_t enough = survey_tsc_ticks_in_clock_periods(survey, &entry->clock, SURVEY_STUCK_PERIODS);
	uint64_t stopped_ticks = turn->now - turn->moved, stopped_ns = scale_ns(&survey->scale, stopped_ticks);
	bool is_emulated = entry->clock.edges_only && report_is_guest(survey->report);

	if (!survey_usable(entry) || survey->tsc.is_stopped || survey->steps.cuts != turn->cuts || turn->now <= turn->moved ||
	    (is_emulated && stopped_ns <= EMULATED_STOPPED_NS))
		return;
	if (enough && stopped_ticks > enough && (turn->moved == turn->start || stopped_ns > STOPPED_NS))
		survey_mark_clock_stuck(entry, stopped_ns, turn->now);
}

/* Notes when the clock moved, from a batch of SIZE samples. After a discontinuity, START is the start of this batch. */
static void
note_movement(struct survey *survey, struct turn *turn, size_t size)
{
	const struct sample *samples = survey->buffer.samples;

	turn->now = samples[size - 1].end;
	if (!turn->batches || turn->cuts != survey->steps.cuts) {
		turn->start = turn->moved = samples[0].begin;
		turn->cuts = survey->steps.cuts;
	} else if (samples[0].ticks != turn->last_ticks) {
		turn->moved = samples[0].end;
	}
	if (survey_any_differs(samples, size))
		turn->moved = turn->now;
	turn->last_ticks = samples[size - 1].ticks;
}

/* Takes samples before the first batch of a clock, because the first execution is slow. */
static void
warm_up_on_boot_core(void *argument)
{
	const struct turns *turns = argument;

	survey_sample_batch(turns->survey, &turns->current->entry->clock, SURVEY_WARM_UP);
	note_movement(turns->survey, turns->current, SURVEY_WARM_UP);
	turns->current->size = reads_per_batch(turns->survey, SURVEY_WARM_UP, turns->batch_ns);
}

/*
 * To be called after all clocks were compared. CUTS is the number of discontinuities before. If there is a new one, it
 * explains the steps of all clocks that stepped back or jumped since the previous comparison.
 */
static void
excuse_steps(struct turns *turns, unsigned cuts)
{
	for (size_t i = 0; i < turns->count; i++) {
		struct turn *turn = &turns->all[i];
		uint64_t steps = count_steps(turn->entry);

		if (steps != turn->steps)
			turn->entry->latency_discontinuities += turns->survey->steps.cuts - cuts;
		turn->steps = steps;
	}
}

static void
take_batch_on_boot_core(void *argument)
{
	struct turns *turns = argument;
	struct survey *survey = turns->survey;
	struct turn *turn = turns->current;
	struct report_clock *entry = turn->entry;
	unsigned cuts = survey->steps.cuts;
	size_t size = turn->size;

	if (!entry->clock.edges_only) /* an edge clock was also read before */
		survey_sample_batch(survey, &entry->clock, COLD_SAMPLES);
	survey_sample_batch(survey, &entry->clock, size);
	if (survey_end_run_if_due(survey))
		return; /* the run ends here, for example because the TSC stopped during this batch */
	note_movement(survey, turn, size);
	add_batch(turns, size);
	series_add_reads(&survey->report->facts.series, (size_t)(entry - survey->report->facts.clocks), &survey->scale,
			 survey->buffer.samples, size);
	resolution_add_samples(&entry->resolution, &entry->clock, turn->bounds.trust_ticks, survey->buffer.samples, size);
	check_batch_for_steps(survey, entry, &turn->bounds, size);
	if (survey->steps.cuts != cuts)
		excuse_steps(turns, cuts);
}

static void
compare_clocks_between_batches(void *argument)
{
	struct turns *turns = argument;
	unsigned cuts = turns->survey->steps.cuts;

	survey_read_and_compare_clocks(turns->survey);
	excuse_steps(turns, cuts);
}

static void
run_on_boot_core(struct turns *turns, void (*work)(void *argument))
{
	survey_run_catching_exceptions(turns->survey, "latency", NULL, work, turns);
}

static bool
is_comparison_due(const struct survey *survey)
{
	uint64_t now = survey->hooks.tsc_ordered(), begin = survey->steps.now.begin_tsc;

	return now > begin && scale_ns(&survey->scale, now - begin) > STEP_NS;
}

static uint64_t
get_share_on_boot_core_ns(const struct survey *survey)
{
	return survey_share_of_round_ns(survey, survey_measurement_budget_ns(survey->report));
}

static uint64_t
sum_taken_ticks(const struct turns *turns)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < turns->count; i++)
		ticks += turns->all[i].taken_ticks;
	return ticks;
}

static void
take_turns_on_boot_core(struct turns *turns)
{
	struct survey *survey = turns->survey;
	uint64_t begin_tsc;

	/* survey_check_jump_of_clock() compares a jump with the readings of the two latest sweeps, which this call makes. */
	run_on_boot_core(turns, compare_clocks_between_batches);
	/* The share becomes shorter when the user asks for the end of the run. */
	while (!survey_end_run_if_due(survey) && select_next_clock(turns, get_share_on_boot_core_ns(survey))) {
		begin_tsc = survey->hooks.tsc_ordered();
		run_on_boot_core(turns, take_batch_on_boot_core);
		if (is_comparison_due(survey))
			run_on_boot_core(turns, compare_clocks_between_batches);
		survey_show_progress(survey, "latency", scale_ns(&survey->scale, sum_taken_ticks(turns)));
		add_taken_time(turns->current, begin_tsc, survey->hooks.tsc_ordered());
	}
	run_on_boot_core(turns, compare_clocks_between_batches);
}

static void
begin_turns_on_boot_core(struct turns *turns, struct survey *survey)
{
	begin_turns(turns, survey, get_share_on_boot_core_ns(survey));
	for (size_t i = 0; i < turns->count && !survey_end_run_if_due(survey); i++) {
		turns->current = &turns->all[i];
		turns->current->latency = turns->current->entry->latency;
		turns->current->bounds = get_step_bounds(survey, turns->current->entry);
		if (survey->soak.round == 0)
			latency_clear(turns->current->latency);
		run_on_boot_core(turns, warm_up_on_boot_core);
	}
}

void
survey_measure_latencies_on_boot_core(struct survey *survey)
{
	struct turns turns;

	begin_turns_on_boot_core(&turns, survey);
	take_turns_on_boot_core(&turns);
	for (size_t i = 0; i < turns.count; i++) {
		const struct turn *turn = &turns.all[i];

		mark_stuck_if_stopped(survey, turn);
		if (survey->soak.round == 0 && turn->batches)
			survey->hooks.measured(survey->hooks.context, survey->report, turn->entry);
	}
	survey->plan.done_ns += turns.count * get_share_on_boot_core_ns(survey);
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
sample_batch_on_core(void *argument, size_t)
{
	const struct core_batch *batch = argument;

	if (batch->spin_ticks)
		spin_for_ticks(batch->hooks, batch->spin_ticks);
	if (!batch->clock->edges_only)
		batch->clock->sample(batch->clock->device, batch->samples, COLD_SAMPLES);
	batch->clock->sample(batch->clock->device, batch->samples, batch->count);
}

/* Returns the summary of a clock's latency on one core. Its count is 0 if nothing was recorded. */
static struct core_latency
summarize_latency(const struct latency *latency)
{
	if (!latency->count)
		return (struct core_latency){ 0 };
	struct latency_typical typical = latency_get_typical(latency);
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

/* Takes the first samples of the current clock on CORE, and then a batch. Returns false if the core does not answer. */
static bool
take_turn_on_core(const struct turns *turns, size_t core, struct core_batch *batch)
{
	struct survey *survey = turns->survey;
	struct turn *turn = turns->current;

	batch->clock = &turn->entry->clock;
	if (!turn->batches) {
		batch->count = SURVEY_WARM_UP;
		if (!take_batch_on_core(survey, core, batch))
			return false;
		turn->size = reads_per_batch(survey, SURVEY_WARM_UP, turns->batch_ns);
	}
	batch->count = turn->size;
	if (!take_batch_on_core(survey, core, batch))
		return false;
	if (survey_end_if_untimed(survey))
		return true;
	add_tsc_steps_of_samples(survey, core, survey->buffer.samples, batch->count);
	add_batch(turns, batch->count);
	add_taken_time(turn, survey->buffer.samples[0].begin, survey->buffer.samples[batch->count - 1].end);
	return true;
}

/*
 * Reads all clocks on one core for SHARE_NS each. Returns false if END_TSC, the end of this pass over the cores, came
 * before that. If the core does not answer, returns true; the code behind smp->run() reports this.
 */
static bool
measure_all_clocks_on_core(struct survey *survey, size_t core, uint64_t share_ns, uint64_t end_tsc)
{
	struct report *report = survey->report;
	struct core_batch batch = { .hooks = &survey->hooks, .samples = survey->buffer.samples,
				    .spin_ticks = scale_ns_to_ticks(&survey->scale, survey->hooks.spin_ns) };
	struct turns turns;
	bool is_over = false;

	begin_turns(&turns, survey, share_ns);
	for (size_t i = 0; i < turns.count; i++) {
		turns.all[i].latency = &survey->memory.latencies[i];
		latency_clear(turns.all[i].latency);
	}
	while (!survey_end_run_if_due(survey) && select_next_clock(&turns, share_ns)) {
		is_over = survey_is_core_pass_over(survey, end_tsc);
		if (is_over || !take_turn_on_core(&turns, core, &batch))
			break;
	}
	for (size_t i = 0; i < turns.count; i++)
		report->facts.cores[core].latency[turns.all[i].entry - report->facts.clocks] =
			summarize_latency(turns.all[i].latency);
	return !is_over;
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
		latency_clear(memory->latencies);
		latency_add_samples(memory->latencies, &survey->scale, samples, SURVEY_CONTENDED_SAMPLES);
		survey->report->facts.cores[core].contended[index] = summarize_latency(memory->latencies);
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
