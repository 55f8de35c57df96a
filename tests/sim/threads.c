/* Simulated cores on host threads. See threads.h. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define STACK_BYTES      (256u << 10) /* size of a host thread's stack: sanitizers make frames large */
/*
 * size of a core's stack when cores run in turns; a small stack is faster, because the sanitizers clear its shadow for
 * each job
 */
#define TURN_STACK_BYTES (32u << 10)
/* time limit in s for all cores to finish their jobs; the test fails after it */
#define PATIENCE_S       120
#define PPB              1000000000

/*
 * duration of a pause in ticks of world time while only one core works. This core waits for a dead core, and reaches
 * its time limit after few pauses if each is long.
 */
#define LONELY_TICKS 1000

/* a sleep of all cores that lasts longer, in ticks, ends the test */
#define SLEEP_TICKS_MAX (UINT64_C(1) << 40)

#define JUMP_WORDS 5 /* size of the buffer of GCC's __builtin_setjmp */

struct core {
	pthread_t thread;
	pthread_cond_t woken;
	smp_job *job; /* job of the core; NULL if the core has nothing to do */
	void *argument;
	bool is_dead;
	uint64_t reads;
	/* The core sleeps until this world time, or until *is_woken (only with in_turns). See threads_sleep(). */
	uint64_t sleeps_until;
	const bool *is_woken;
	ucontext_t start;           /* with in_turns only: context in which the core's job starts */
	bool has_begun;             /* with in_turns only: true if position is valid */
	void *position[JUMP_WORDS]; /* with in_turns only: position at which the job continues */
	void *stack;                /* with in_turns only: the core's stack */
};

static struct {
	pthread_mutex_t mutex; /* protects all fields of this struct except world and reads */
	pthread_cond_t finished;
	size_t count, pending;
	bool is_over;
	bool in_turns; /* true if the cores run one after another on a single host thread */
	void *scheduler[JUMP_WORDS]; /* with in_turns only: position at which run_cores_in_turns() continues */
	size_t at_work; /* number of cores with a job, including the boot core; may be read without the mutex */
	size_t asleep;  /* with in_turns only: number of cores in threads_sleep() */
	uint64_t world, batches;
	size_t most;
	struct core cores[THREADS_MAX];
} state = { .mutex = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER };

struct threads_core threads_cores[THREADS_MAX];

static _Thread_local size_t self;

/* Not inlined, because GCC does not allow __builtin_setjmp and __builtin_longjmp in the same function. */
static __attribute__((noinline, noreturn)) void
jump(void **position)
{
	__builtin_longjmp(position, 1);
}

/* Ends the calling core's job. The caller must hold the mutex. */
static void
finish_job(void)
{
	state.cores[self].job = NULL;
	__atomic_sub_fetch(&state.at_work, 1, __ATOMIC_ACQ_REL);
	if (--state.pending == 0)
		pthread_cond_signal(&state.finished);
}

void
threads_stop_core(void)
{
	if (state.in_turns) {
		state.cores[self].is_dead = true;
		finish_job();
		jump(state.scheduler);
	}
	pthread_mutex_lock(&state.mutex);
	state.cores[self].is_dead = true;
	finish_job();
	pthread_mutex_unlock(&state.mutex);
	pthread_exit(NULL);
}

uint64_t
threads_read_tsc(void)
{
	const struct threads_core *core = &threads_cores[self];
	uint64_t reads = ++state.cores[self].reads;
	int64_t stepped = core->offset_ticks;
	uint64_t world;

	if (reads == core->dies_reading)
		threads_stop_core();
	world = __atomic_add_fetch(&state.world, 1 + core->late_ticks, __ATOMIC_ACQ_REL);
	if (core->stops_at && world > core->stops_at)
		world = core->stops_at;
	if (core->steps_at && world >= core->steps_at)
		stepped += core->step_ticks;
	return world + (uint64_t)stepped +
	       (uint64_t)((__int128)(world - THREADS_WORLD_0) * core->drift_ppb / PPB);
}

static bool
is_asleep(const struct core *core)
{
	return core->sleeps_until > state.world && !(core->is_woken && *core->is_woken);
}

/* Returns the ticks of world time until the first sleeping core wakes, or TICKS_MAX if this is later. */
static uint64_t
count_ticks_to_next_wake(uint64_t ticks_max)
{
	uint64_t ticks = ticks_max;

	for (size_t i = 0; i < state.count && state.asleep; i++) {
		const struct core *core = &state.cores[i];
		uint64_t left = is_asleep(core) ? core->sleeps_until - state.world : 0;

		if (core->sleeps_until && left < ticks)
			ticks = left;
	}
	return ticks;
}

void
threads_pause(void)
{
	bool is_alone = __atomic_load_n(&state.at_work, __ATOMIC_ACQUIRE) - state.asleep == 1;
	uint64_t ticks = is_alone ? count_ticks_to_next_wake(LONELY_TICKS) : 1;

	__atomic_add_fetch(&state.world, ticks, __ATOMIC_ACQ_REL);
	if (state.in_turns)
		threads_yield();
	else
		sched_yield();
}

/* noipa, because a caller in this file would keep values in registers that the other cores' turns change. */
__attribute__((noipa)) void
threads_yield(void)
{
	if (state.cores[self].job && __builtin_setjmp(state.cores[self].position) == 0)
		jump(state.scheduler);
}

void
threads_sleep(uint64_t until, const bool *is_woken)
{
	struct core *core = &state.cores[self];

	core->sleeps_until = until;
	core->is_woken = is_woken;
	state.asleep++;
	threads_yield();
	state.asleep--;
	core->sleeps_until = 0;
}

size_t
threads_get_core(void)
{
	return self;
}

uint64_t
threads_count_tsc_reads(size_t core)
{
	return state.cores[core].reads;
}

uint64_t
threads_get_time_ticks(void)
{
	return __atomic_load_n(&state.world, __ATOMIC_ACQUIRE);
}

void
threads_advance_ticks(uint64_t ticks)
{
	__atomic_add_fetch(&state.world, ticks, __ATOMIC_ACQ_REL);
}

uint64_t
threads_count_batches(void)
{
	return state.batches;
}

size_t
threads_get_largest_batch(void)
{
	return state.most;
}

static void *
run_core_thread(void *number)
{
	struct core *core;

	self = (size_t)number;
	core = &state.cores[self];
	pthread_mutex_lock(&state.mutex);
	for (;;) {
		while (!core->job && !state.is_over)
			pthread_cond_wait(&core->woken, &state.mutex);
		if (state.is_over)
			break;
		pthread_mutex_unlock(&state.mutex);
		core->job(core->argument, self);
		pthread_mutex_lock(&state.mutex);
		finish_job();
	}
	pthread_mutex_unlock(&state.mutex);
	return NULL;
}

static bool
is_core_alive(void *context, size_t core)
{
	return core < state.count && !state.cores[core].is_dead;
}

/* Waits until all cores have finished or died. The caller must hold the mutex. */
static void
await_all_cores(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	while (state.pending > 0)
		if (pthread_cond_timedwait(&state.finished, &state.mutex, &until) != 0) {
			fprintf(stderr, "threads: %zu cores are still at work\n", state.pending);
			abort();
		}
}

static void
fail_for_duplicate_core(uint32_t core)
{
	fprintf(stderr, "threads: core %u is twice in one batch\n", core);
	abort();
}

static void
record_batch_size(size_t asked)
{
	state.batches++;
	state.most = asked > state.most ? asked : state.most;
	__atomic_store_n(&state.at_work, asked, __ATOMIC_RELEASE);
}

/* Runs a core's job on the core's own stack, and then jumps to the scheduler. */
static void
run_job_and_return_to_scheduler(void)
{
	state.cores[self].job(state.cores[self].argument, self);
	finish_job();
	jump(state.scheduler);
}

static void
prepare_core(struct core *core, smp_job *job, void *argument)
{
	getcontext(&core->start);
	core->start.uc_stack.ss_sp = core->stack;
	core->start.uc_stack.ss_size = TURN_STACK_BYTES;
	core->start.uc_link = NULL;
	makecontext(&core->start, run_job_and_return_to_scheduler, 0);
	core->has_begun = false;
	core->job = job;
	core->argument = argument;
	state.pending++;
}

/*
 * Runs a core until its next pause, or until its job ends. A jump needs no system call, unlike swapcontext. Not
 * inlined, because a function's variables may be undefined after a jump to its __builtin_setjmp.
 */
static __attribute__((noinline)) void
run_core_for_one_turn(struct core *core)
{
	ucontext_t unused;

	if (__builtin_setjmp(state.scheduler))
		return;
	if (core->has_begun)
		jump(core->position);
	core->has_begun = true;
	/* unlike a jump, swapcontext() makes the sanitizers clear their shadow of this stack */
	swapcontext(&unused, &core->start);
}

/* Lets time pass until the first of the sleeping cores wakes. */
static void
pass_sleep_of_all_cores(void)
{
	uint64_t ticks = count_ticks_to_next_wake(SLEEP_TICKS_MAX);

	if (ticks == SLEEP_TICKS_MAX) {
		fprintf(stderr, "threads: all cores sleep for ever\n");
		abort();
	}
	state.world += ticks;
}

/* Runs the cores one after another, until all have finished or died. */
static void
run_cores_in_turns(const uint32_t *cores, size_t count)
{
	for (size_t i = 0, idle = 0; state.pending > 0; i = (i + 1) % count) {
		self = cores[i];
		if (state.cores[self].job && !is_asleep(&state.cores[self])) {
			run_core_for_one_turn(&state.cores[self]);
			idle = 0;
		} else if (++idle == count) {
			pass_sleep_of_all_cores();
		}
	}
	self = 0;
}

static size_t
run_job_on_cores_in_turns(const uint32_t *cores, size_t count, smp_job *job, void *argument)
{
	bool was_asked[THREADS_MAX] = { false };
	size_t finished = 0, asked = 0;

	for (size_t i = 0; i < count; i++) {
		if (was_asked[cores[i]])
			fail_for_duplicate_core(cores[i]);
		was_asked[cores[i]] = is_core_alive(NULL, cores[i]);
		asked += was_asked[cores[i]];
	}
	record_batch_size(asked);
	for (size_t i = 0; i < state.count; i++)
		if (was_asked[i])
			prepare_core(&state.cores[i], job, argument);
	run_cores_in_turns(cores, count);
	for (size_t i = 0; i < state.count; i++)
		finished += was_asked[i] && is_core_alive(NULL, i);
	return finished;
}

static size_t
run_on_cores(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
	     uint64_t bound_ns)
{
	bool is_for_boot_core = false;
	size_t finished = 0, asked = 0;
	bool was_asked[THREADS_MAX] = { false };

	/* The limit is ignored: in simulated time no core is late, and a core that does not return has died. */
	if (state.in_turns)
		return run_job_on_cores_in_turns(cores, count, job, argument);
	pthread_mutex_lock(&state.mutex);
	for (size_t i = 0; i < count; i++) {
		struct core *core = &state.cores[cores[i]];

		if (was_asked[cores[i]])
			fail_for_duplicate_core(cores[i]);
		if (!is_core_alive(context, cores[i]))
			continue;
		was_asked[cores[i]] = true;
		asked++;
		if (cores[i] == 0) {
			is_for_boot_core = true;
			continue;
		}
		core->argument = argument;
		core->job = job;
		state.pending++;
		pthread_cond_signal(&core->woken);
	}
	record_batch_size(asked);
	if (is_for_boot_core) {
		pthread_mutex_unlock(&state.mutex);
		job(argument, 0);
		__atomic_sub_fetch(&state.at_work, 1, __ATOMIC_ACQ_REL);
		pthread_mutex_lock(&state.mutex);
	}
	await_all_cores();
	pthread_mutex_unlock(&state.mutex);
	for (size_t i = 0; i < THREADS_MAX; i++)
		finished += was_asked[i] && is_core_alive(context, i);
	return finished;
}

static bool
run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint32_t number = (uint32_t)core;

	return run_on_cores(context, &number, 1, job, argument, bound_ns) == 1;
}

static size_t
run_on_all_cores(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	static uint32_t all[THREADS_MAX]; /* static is safe here, because only the boot core calls this function */

	for (size_t i = 0; i < state.count; i++)
		all[i] = (uint32_t)i;
	return run_on_cores(context, all, state.count, job, argument, bound_ns);
}

struct smp threads_smp = { .alive = is_core_alive, .run = run_on_core, .run_all = run_on_all_cores,
			   .run_some = run_on_cores };

static void
start_cores(size_t count, bool in_turns)
{
	memset(threads_cores, 0, sizeof(threads_cores));
	memset(state.cores, 0, sizeof(state.cores));
	self = 0;
	state.count = threads_smp.count = count;
	state.pending = state.asleep = 0;
	state.is_over = false;
	state.in_turns = in_turns;
	state.world = THREADS_WORLD_0;
	state.batches = 0;
	state.most = 0;
}

static void
fail_for_lack_of_memory(size_t count)
{
	fprintf(stderr, "threads: the host has no room for %zu\n", count);
	abort();
}

void
threads_start(size_t count)
{
	pthread_attr_t attributes;

	start_cores(count, false);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (size_t i = 1; i < count; i++) {
		pthread_cond_init(&state.cores[i].woken, NULL);
		if (pthread_create(&state.cores[i].thread, &attributes, run_core_thread, (void *)i) != 0)
			fail_for_lack_of_memory(count);
	}
	pthread_attr_destroy(&attributes);
}

void
threads_start_in_turns(size_t count)
{
	start_cores(count, true);
	for (size_t i = 0; i < count; i++) {
		state.cores[i].stack = malloc(TURN_STACK_BYTES);
		if (!state.cores[i].stack)
			fail_for_lack_of_memory(count);
	}
}

static void
stop_threads(void)
{
	pthread_mutex_lock(&state.mutex);
	state.is_over = true;
	for (size_t i = 1; i < state.count; i++)
		pthread_cond_signal(&state.cores[i].woken);
	pthread_mutex_unlock(&state.mutex);
	for (size_t i = 1; i < state.count; i++) {
		pthread_join(state.cores[i].thread, NULL);
		pthread_cond_destroy(&state.cores[i].woken);
	}
}

void
threads_stop(void)
{
	for (size_t i = 0; i < state.count && state.in_turns; i++)
		free(state.cores[i].stack);
	if (!state.in_turns)
		stop_threads();
	state.count = 0;
	state.in_turns = false;
}
