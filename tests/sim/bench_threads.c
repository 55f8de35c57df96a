/*
 * A bench whose cores run at the same time in jobs for several cores. They run in turns: each core runs until its next
 * pause or its next access to the machine. See bench.h.
 */
#include "bench.h"

#include "sim.h"
#include "threads.h"

#define PS_PER_TICK 1000 /* one tick of threads.h is one nanosecond of the simulated machine */

static bool together; /* true while several cores run in turns */
static bool in_step;  /* true if both times are kept equal while several cores run in turns */

/* Sets the times of threads.h and of the simulated machine to the later one, whatever the TSCs' offsets are. */
static void
keep_in_step(void)
{
	uint64_t sim_ticks = THREADS_WORLD_0 + sim.now_ps / PS_PER_TICK, ticks = threads_get_time_ticks();

	if (!in_step)
		return;
	if (ticks > sim_ticks)
		sim_advance_ps((ticks - sim_ticks) * PS_PER_TICK);
	else
		threads_advance_ticks(sim_ticks - ticks);
}

static uint64_t
read_tsc(void)
{
	if (together)
		keep_in_step();
	return together ? sim_apply_tsc_fault(threads_get_core(), threads_read_tsc()) : hw_tsc_lfence();
}

static void
pause_core(void)
{
	if (together)
		threads_pause();
	else
		hw_pause();
}

/* Called before each access to the machine: lets the other cores run first. */
static void
let_other_cores_run(void)
{
	threads_yield();
	keep_in_step();
	sim.core = threads_get_core();
}

/* threads.h and the simulated machine each have a time. Sets both to the later one. */
static void
synchronise_time_with_threads(void)
{
	uint64_t sim_ticks = sim_get_tsc_ticks(), threads_ticks = threads_get_time_ticks();

	if (threads_ticks > sim_ticks)
		sim_advance_ps((threads_ticks - sim_ticks) * PS_PER_TICK);
	else
		threads_advance_ticks(sim_ticks - threads_ticks);
}

static size_t
run_on_cores(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
	     uint64_t bound_ns)
{
	struct bench *bench = context;
	uint32_t living[SIM_CORES_MAX];
	size_t living_count = 0, finished;

	for (size_t i = 0; i < count; i++)
		if (bench->run.smp.alive(context, cores[i]))
			living[living_count++] = cores[i];
	for (size_t i = 0; i < bench->run.smp.count; i++)
		threads_cores[i].offset_ticks = sim.tsc.offset_ticks[i];
	sim_advance_ps(living_count * bench->job_ps);
	synchronise_time_with_threads();
	together = true;
	sim.before_access = let_other_cores_run;
	finished = threads_smp.run_some(threads_smp.context, living, living_count, job, argument, bound_ns);
	sim.before_access = NULL;
	sim.core = 0;
	together = false;
	synchronise_time_with_threads();
	return finished;
}

static size_t
run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	struct bench *bench = context;
	uint32_t all[SIM_CORES_MAX];

	for (size_t i = 0; i < bench->run.smp.count; i++)
		all[i] = (uint32_t)i;
	return bench->run.smp.run_some(context, all, bench->run.smp.count, job, argument, bound_ns);
}

void
bench_use_threads(struct bench *bench)
{
	if (bench->run.smp.count > SIM_CORES_MAX || sim.tsc.counter.hz.num != SIM_PS_PER_S / PS_PER_TICK)
		sim_fail("threads are for at most %d cores with TSCs of 1 GHz", SIM_CORES_MAX);
	bench->has_threads = true;
	in_step = bench->sleeps;
	threads_start_in_turns(bench->run.smp.count);
	sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	bench->run.smp.run_some = run_on_cores;
	bench->run.smp.run_all = run_on_all_cores;
	bench->run.survey.hooks.tsc_ordered = read_tsc;
	bench->run.survey.hooks.pause = pause_core;
}
