/*
 * Cores that run at the same time. Each has its own time, and its access takes effect when no other core is earlier.
 * Therefore writes reach the other cores in the order of world time, and two runs are identical. Each core has a stack,
 * and longjmp() changes between them, which takes almost no time.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include "draw.h"
#include "machine.h"

#define STACK_BYTES (128u << 10)

static struct {
	bool working;
	size_t count, self, left;
	/* time of the core that is the earliest one besides the running core; only the running core advances */
	uint64_t others_ps;
	jmp_buf caller;
	smp_job *job;
	void *argument;
	struct worker {
		bool at_work, begun;
		uint64_t now_ps;
		jmp_buf where;
		void *stack;
	} workers[CORES_MAX];
} all;

static void enter(size_t core) __attribute__((noreturn));

/* Returns the earliest core except OTHER, or CORES_MAX if there is none. */
static size_t
earliest_but(size_t other)
{
	size_t first = CORES_MAX;

	for (size_t i = 0; i < all.count; i++)
		if (i != other && all.workers[i].at_work && (first == CORES_MAX || all.workers[i].now_ps < all.workers[first].now_ps))
			first = i;
	return first;
}

static size_t
earliest(void)
{
	return earliest_but(CORES_MAX);
}

/* The function that runs on each core's own stack. */
static void
work(void)
{
	all.job(all.argument, all.self);
	all.workers[all.self].at_work = false;
	all.workers[all.self].now_ps = sim.now_ps;
	if (--all.left == 0)
		_longjmp(all.caller, 1);
	enter(earliest());
}

static void
enter(size_t core)
{
	struct worker *worker = &all.workers[core];
	ucontext_t context;
	size_t other = earliest_but(core);

	all.self = sim.core = core;
	all.others_ps = other < CORES_MAX ? all.workers[other].now_ps : UINT64_MAX;
	sim.now_ps = worker->now_ps;
	if (worker->begun)
		_longjmp(worker->where, 1);
	worker->begun = true;
	getcontext(&context);
	context.uc_stack.ss_sp = worker->stack;
	context.uc_stack.ss_size = STACK_BYTES;
	context.uc_link = NULL;
	makecontext(&context, work, 0);
	setcontext(&context);
	abort();
}

/*
 * Returns when another core jumps back to WHERE. The function is not inlined, so that the caller's variables stay
 * defined.
 */
static void __attribute__((noinline))
leave_for(size_t core, jmp_buf *where)
{
	if (!_setjmp(*where))
		enter(core);
}

void
cores_turn(void)
{
	if (!all.working || all.others_ps >= sim.now_ps)
		return;
	all.workers[all.self].now_ps = sim.now_ps;
	leave_for(earliest(), &all.workers[all.self].where);
}

bool
cores_work(void)
{
	return all.working;
}

void
cores_shift(uint64_t by_ps)
{
	sim.now_ps += by_ps;
	if (all.others_ps != UINT64_MAX)
		all.others_ps += by_ps;
	for (size_t i = 0; all.working && i < all.count; i++)
		all.workers[i].now_ps += by_ps;
}

/* Starts the cores in the order of their numbers. */
static size_t
run_some(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument, uint64_t bound_ns)
{
	(void)context;
	(void)bound_ns;
	all.job = job;
	all.argument = argument;
	all.left = count;
	for (size_t i = 0; i < count; i++) {
		struct worker *worker = &all.workers[cores[i]];

		worker->at_work = true;
		worker->begun = false;
		worker->now_ps = sim.now_ps + draw_below(machine.wake_ps + 1);
	}
	all.working = true;
	leave_for(earliest(), &all.caller);
	all.working = false;
	for (size_t i = 0; i < count; i++)
		if (all.workers[cores[i]].now_ps > sim.now_ps)
			sim.now_ps = all.workers[cores[i]].now_ps;
	all.self = sim.core = 0;
	return count;
}

/*
 * Returns the time span of the current measurement pass, or NULL outside of the first and the last pass. The survey's
 * own marks decide, because only they distinguish a rehearsal from the first pass.
 */
static struct span *
tournament(const struct bench *bench, enum when *when)
{
	static const enum when whens[] = {
		[0] = WHEN_NEVER, [RECORD_PASS_FIRST] = WHEN_FIRST, [RECORD_PASS_MIDDLE] = WHEN_BETWEEN,
		[RECORD_PASS_LAST] = WHEN_LAST,
	};

	*when = whens[bench->run.survey.passes.stage];
	return *when == WHEN_FIRST ? &machine.first : *when == WHEN_LAST ? &machine.last : NULL;
}

/* Runs a batch of a measurement pass. Cores that step in this batch do so at a random time within it. */
static size_t
run_batch(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument, uint64_t bound_ns)
{
	static uint64_t batches[WHEN_LAST + 1];
	enum when when;
	struct span *span = tournament(context, &when);
	size_t finished;

	if (span && !span->from_ps) {
		span->from_ps = sim.now_ps;
		batches[when] = 0;
	}
	batches[when]++;
	for (size_t i = 0; span && i < machine.cores; i++)
		if (machine.core[i].when == when && machine.core[i].batch == batches[when])
			machine.core[i].steps_at_ps = sim.now_ps + draw_below(machine.wake_ps + 50 * SIM_PS_PER_US);
	for (size_t i = 0; span && i < count; i++)
		machine.core[cores[i]].last_seen_ps = sim.now_ps;
	finished = run_some(context, cores, count, job, argument, bound_ns);
	if (span)
		span->to_ps = sim.now_ps;
	return finished;
}

static size_t
run_all(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t numbers[CORES_MAX];

	for (size_t i = 0; i < machine.cores; i++)
		numbers[i] = (uint32_t)i;
	return run_some(context, numbers, machine.cores, job, argument, bound_ns);
}

/* Runs a job on one core. CPUID then returns the core's APIC id, which includes its package. */
static bool
run(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t id = machine.core[core].apic_id;

	(void)context;
	(void)bound_ns;
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 0, 1, 0x100, id });
	sim_cpuid_set(0xb, 1, (struct hw_cpuid){ machine.package_bits, 1u << machine.package_bits, 0x201, id });
	sim.core = core;
	job(argument, core);
	sim.core = 0;
	return true;
}

static uint64_t
read_tsc(void)
{
	uint64_t ticks = hw_tsc_lfence();

	if (all.working && machine.message_ps) {
		sim_advance_ps(access_jitter(machine.message_ps * (1 + all.self % 3)));
		cores_turn();
	}
	return ticks;
}

void
cores_use(struct bench *bench)
{
	all.count = machine.cores;
	for (size_t i = 0; i < all.count; i++)
		all.workers[i] = (struct worker){ .stack = malloc(STACK_BYTES) };
	bench->run.smp.run = run;
	bench->run.smp.run_all = run_all;
	bench->run.smp.run_some = run_batch;
	bench->machine.hooks.tsc_ordered = bench->run.survey.hooks.tsc_ordered = read_tsc;
}

void
cores_free(void)
{
	for (size_t i = 0; i < all.count; i++)
		free(all.workers[i].stack);
	all.count = 0;
}
