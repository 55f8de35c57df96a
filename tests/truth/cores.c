/*
 * Cores that run at the same time. Each core has its own time, and an access takes effect only when no other core has
 * an earlier time. Therefore writes reach the other cores in the order of world time, and two runs are identical. Each
 * core has a stack, and longjmp() switches between the stacks, which takes almost no time.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include "draw.h"
#include "machine.h"

#define STACK_BYTES (128u << 10)

static struct {
	bool working;
	struct bench *bench;
	size_t count, self, left;
	/*
	 * earliest time of all cores except the running core; constant while a core runs, because only its own time
	 * advances
	 */
	uint64_t others_ps;
	jmp_buf caller;
	smp_job *job;
	void *argument;
	struct worker {
		bool at_work, begun, is_asleep;
		uint64_t now_ps;
		jmp_buf where;
		void *stack;
	} workers[CORES_MAX];
} all;

static void switch_to_core(size_t core) __attribute__((noreturn));

/* Returns the core with the earliest time, except OTHER. Returns CORES_MAX if no other core works. */
static size_t
find_earliest_core_except(size_t other)
{
	size_t first = CORES_MAX;

	for (size_t i = 0; i < all.count; i++)
		if (i != other && all.workers[i].at_work && (first == CORES_MAX || all.workers[i].now_ps < all.workers[first].now_ps))
			first = i;
	return first;
}

static size_t
find_earliest_core(void)
{
	return find_earliest_core_except(CORES_MAX);
}

static void __attribute__((noreturn))
end_job_of_running_core(void)
{
	all.workers[all.self].at_work = false;
	all.workers[all.self].now_ps = sim.now_ps;
	if (--all.left == 0)
		_longjmp(all.caller, 1);
	switch_to_core(find_earliest_core());
}

/* The function that runs on each core's own stack. */
static void
run_core_job(void)
{
	all.job(all.argument, all.self);
	end_job_of_running_core();
}

static void
switch_to_core(size_t core)
{
	struct worker *worker = &all.workers[core];
	ucontext_t context;
	size_t other = find_earliest_core_except(core);

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
	makecontext(&context, run_core_job, 0);
	setcontext(&context);
	abort();
}

/*
 * Switches to another core. Returns when another core switches back to WHERE. Not inlined, because variables of a
 * function that calls setjmp() may be undefined afterwards.
 */
static void __attribute__((noinline))
save_and_switch_to_core(size_t core, jmp_buf *where)
{
	if (!_setjmp(*where))
		switch_to_core(core);
}

void
cores_let_earlier_cores_run(void)
{
	if (!all.working || all.others_ps >= sim.now_ps)
		return;
	all.workers[all.self].now_ps = sim.now_ps;
	save_and_switch_to_core(find_earliest_core(), &all.workers[all.self].where);
}

/*
 * Only a core that is awake can wake a sleeping core. So the sleeping core's time becomes later by 1 ps than the time
 * of the earliest core that is awake, and the other core runs first.
 */
void
cores_sleep_until(uint64_t until_ps, const bool *is_woken)
{
	uint64_t awake_ps = until_ps;

	(void)is_woken; /* the caller looks at it after each of the returns, which are early */
	for (size_t i = 0; i < all.count; i++)
		if (i != all.self && all.workers[i].at_work && !all.workers[i].is_asleep && all.workers[i].now_ps < awake_ps)
			awake_ps = all.workers[i].now_ps + 1;
	sim.now_ps = awake_ps > sim.now_ps ? awake_ps : sim.now_ps;
	all.workers[all.self].is_asleep = true;
	cores_let_earlier_cores_run();
	all.workers[all.self].is_asleep = false;
}

void
cores_stop_running_core(void)
{
	all.bench->mute = all.self;
	all.bench->is_dead = true;
	end_job_of_running_core();
}

bool
cores_are_working(void)
{
	return all.working;
}

void
cores_advance_time(uint64_t by_ps)
{
	sim.now_ps += by_ps;
	if (all.others_ps != UINT64_MAX)
		all.others_ps += by_ps;
	for (size_t i = 0; all.working && i < all.count; i++)
		all.workers[i].now_ps += by_ps;
}

/* Starts the cores in the order of their numbers. */
static size_t
run_on_cores(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument, uint64_t bound_ns)
{
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
	save_and_switch_to_core(find_earliest_core(), &all.caller);
	all.working = false;
	for (size_t i = 0; i < count; i++)
		if (all.workers[cores[i]].now_ps > sim.now_ps)
			sim.now_ps = all.workers[cores[i]].now_ps;
	all.self = sim.core = 0;
	return count;
}

/*
 * Returns the time span of the first or last measurement pass over pairs of cores, if such a pass is running; otherwise
 * NULL. The survey's stage is 0 in a rehearsal (a trial of the first pairs), which makes the same calls as a pass.
 */
static struct span *
get_span_of_running_pass(const struct bench *bench, enum when *when)
{
	static const enum when whens[] = {
		[0] = WHEN_NEVER, [RECORD_PASS_FIRST] = WHEN_FIRST, [RECORD_PASS_MIDDLE] = WHEN_BETWEEN,
		[RECORD_PASS_LAST] = WHEN_LAST,
	};

	*when = machine.in_sleep ? WHEN_NEVER : whens[bench->run.survey.passes.stage];
	return *when == WHEN_FIRST ? &machine.first : *when == WHEN_LAST ? &machine.last : NULL;
}

static uint64_t
read_tsc(void)
{
	uint64_t ticks = hw_tsc_lfence();

	if (all.working && machine.message_ps) {
		sim_advance_ps(access_draw_jitter_ps(machine.message_ps * (1 + all.self % 3)));
		cores_let_earlier_cores_run();
	}
	return ticks;
}

/*
 * Sets the time of the running core to at least AT_PS. If the core then reaches an event of the machine, the core also
 * stops for the event's duration, because the event affects all cores at the same world time.
 */
static void
advance_core_to_time(uint64_t at_ps, uint64_t *begin_ps)
{
	uint64_t event_ps = machine.stop_count ? machine.stops_at_ps[machine.stop_count - 1] : machine.at_ps;

	if (sim.now_ps < at_ps)
		sim.now_ps = at_ps;
	if (event_ps == SIM_NEVER || *begin_ps >= event_ps || sim.now_ps < event_ps)
		return;
	if (sim.now_ps < event_ps + machine.by_ps)
		sim.now_ps += machine.by_ps;
	*begin_ps = sim.now_ps;
}

/* Draws the time at which CORE's polling loop sees a message that was just sent. Returns CORE's TSC at this time. */
static uint64_t
draw_arrival(uint32_t core, uint64_t start_ps, uint64_t *begin_ps)
{
	all.self = sim.core = core;
	advance_core_to_time(start_ps, begin_ps);
	sim_advance_ps(draw_below(sim.cost_ps[SIM_TSC_LFENCE] + sim.cost_ps[SIM_PAUSE] + 1));
	return read_tsc();
}

/* Draws the messages of a ping-pong: their times, and the stamps of the two cores' TSCs at these times. */
static void
draw_pingpong(struct pingpong *pingpong, const uint32_t *cores)
{
	uint64_t begin_ps = sim.now_ps, start_ps[2], start_tsc[2], stamp, sent, arrival;

	for (size_t side = 0; side < 2; side++)
		start_ps[side] = begin_ps + draw_below(machine.wake_ps + 1);
	stamp = sent = start_tsc[0] = draw_arrival(cores[0], start_ps[0], &begin_ps);
	start_tsc[1] = draw_arrival(cores[1], start_ps[1], &begin_ps);
	for (uint64_t i = 0; i < 2 * pingpong->trips_max; i++) {
		enum pingpong_side side = i % 2 ? PINGPONG_FIRST : PINGPONG_SECOND;
		int64_t elapsed;

		arrival = draw_arrival(cores[side], start_ps[side], &begin_ps);
		elapsed = (int64_t)(arrival - start_tsc[side]);
		if (elapsed > 0 && (uint64_t)elapsed > pingpong->bound_ticks)
			return;
		pingpong_record_message(pingpong, side, arrival, stamp, sent);
		stamp = arrival;
		sent = side == PINGPONG_FIRST ? arrival : sent;
	}
}

/* Draws the ping-pongs of a batch, which all start at the same time. */
static void
draw_pingpong_batch(struct pingpong *pingpongs, const uint32_t *cores, size_t count)
{
	uint64_t begin_ps = sim.now_ps, end_ps = begin_ps;

	all.working = true;
	all.others_ps = UINT64_MAX;
	for (size_t i = 0; i < count / 2; i++) {
		sim.now_ps = begin_ps;
		draw_pingpong(&pingpongs[i], &cores[2 * i]);
		end_ps = sim.now_ps > end_ps ? sim.now_ps : end_ps;
	}
	all.working = false;
	all.self = sim.core = 0;
	sim.now_ps = end_ps;
}

/*
 * Runs one batch of a measurement pass: a job on several cores. Draws the time of each TSC step that belongs to this
 * batch.
 */
static size_t
run_batch_of_pass(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument, uint64_t bound_ns)
{
	static uint64_t batches[WHEN_LAST + 1];
	const struct bench *bench = context;
	enum when when;
	struct span *span = get_span_of_running_pass(bench, &when);
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
	if (machine.is_drawn && !machine.in_sleep)
		draw_pingpong_batch(bench->run.survey.memory.pingpongs, cores, finished = count);
	else
		finished = run_on_cores(context, cores, count, job, argument, bound_ns);
	if (span)
		span->to_ps = sim.now_ps;
	return finished;
}

static size_t
run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t numbers[CORES_MAX];

	for (size_t i = 0; i < machine.cores; i++)
		numbers[i] = (uint32_t)i;
	return run_on_cores(context, numbers, machine.cores, job, argument, bound_ns);
}

/* Runs a job on one core. During the job, CPUID returns the APIC id of this core, which includes its package number. */
static bool
run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t id = machine.core[core].apic_id;

	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 0, 1, 0x100, id });
	sim_cpuid_set(0xb, 1, (struct hw_cpuid){ machine.package_bits, 1u << machine.package_bits, 0x201, id });
	sim.core = core;
	job(argument, core);
	sim.core = 0;
	return true;
}

void
cores_use_in_bench(struct bench *bench)
{
	all.count = machine.cores;
	all.bench = bench;
	for (size_t i = 0; i < all.count; i++)
		all.workers[i] = (struct worker){ .stack = malloc(STACK_BYTES) };
	bench->run.smp.run = run_on_core;
	bench->run.smp.run_all = run_on_all_cores;
	bench->run.smp.run_some = run_batch_of_pass;
	bench->machine.hooks.tsc_ordered = bench->run.survey.hooks.tsc_ordered = read_tsc;
}

void
cores_free(void)
{
	for (size_t i = 0; i < all.count; i++)
		free(all.workers[i].stack);
	all.count = 0;
}
