/* A bench whose cores work at the same time where they have to. See bench.h. */
#include "bench.h"

#include "sim.h"
#include "threads.h"

#define PS_PER_TICK 1000 /* both worlds count nanoseconds */

static bool together; /* set while no thread works */

static uint64_t
read_tsc(void)
{
	return together ? threads_tsc() : hw_tsc_lfence();
}

static void
take_pause(void)
{
	if (together)
		threads_pause();
	else
		hw_pause();
}

static size_t
run_some(void *context, const uint32_t *cores, size_t count, crew_job *job, void *argument,
	 uint64_t bound_ns)
{
	struct bench *bench = context;
	uint32_t living[SIM_CORES_MAX];
	size_t living_count = 0, finished;

	for (size_t i = 0; i < count; i++)
		if (bench->crew.alive(context, cores[i]))
			living[living_count++] = cores[i];
	for (size_t i = 0; i < bench->crew.count; i++)
		threads_cores[i].offset_ticks = sim.tsc.offset_ticks[i];
	threads_pass(sim_tsc_ticks() - threads_world());
	together = true;
	finished = threads_crew.run_some(threads_crew.context, living, living_count, job, argument, bound_ns);
	together = false;
	sim_advance_ps((threads_world() - sim_tsc_ticks()) * PS_PER_TICK);
	return finished;
}

static size_t
run_all(void *context, crew_job *job, void *argument, uint64_t bound_ns)
{
	struct bench *bench = context;
	uint32_t all[SIM_CORES_MAX];

	for (size_t i = 0; i < bench->crew.count; i++)
		all[i] = (uint32_t)i;
	return bench->crew.run_some(context, all, bench->crew.count, job, argument, bound_ns);
}

void
bench_use_threads(struct bench *bench)
{
	if (bench->crew.count > SIM_CORES_MAX || sim.tsc.counter.hz.num != SIM_PS_PER_S / PS_PER_TICK)
		sim_fail("threads are for at most %d cores with TSCs of 1 GHz", SIM_CORES_MAX);
	bench->has_threads = true;
	threads_start(bench->crew.count);
	sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	bench->crew.run_some = run_some;
	bench->crew.run_all = run_all;
	bench->survey.hooks.tsc_ordered = read_tsc;
	bench->survey.hooks.pause = take_pause;
}
