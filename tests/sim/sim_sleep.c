/* Sleeping cores of the simulated machine. See sim_sleep.h. */
#include "sim_sleep.h"

#include <string.h>

#include "clock/timer.h"
#include "sim_internal.h"
#include "threads.h"

#define TICK_OF_FIRMWARE (10 * SIM_PS_PER_MS)
#define NEVER            UINT64_MAX

struct sim_sleep sim_sleep;

static struct core {
	bool is_woken; /* an IPI is pending */
	/* world time at which the timer was started, its count, and time in which it did not count */
	uint64_t timer_from_ps, timer_count, lost_ps;
	bool interrupts;
	uint64_t deadline; /* value of the core's TSC; 0 if there is none */
	int64_t adjusted_ticks; /* change of TSC_ADJUST */
	uint64_t resident_ticks[SLEEP_COUNTERS];
} cores[SIM_CORES_MAX];

static uint64_t
get_time_ps_of_thread(void)
{
	return threads_get_time_ticks() * SIM_PS_PER_NS;
}

static uint64_t
read_tsc_of_thread(void)
{
	return threads_get_time_ticks() + (uint64_t)threads_cores[threads_get_core()].offset_ticks;
}

static uint64_t
get_ps_of_ns(int64_t ns)
{
	return (uint64_t)ns * SIM_PS_PER_NS;
}

static void
let_thread_sleep(uint64_t until_ps, const bool *is_woken)
{
	threads_sleep(until_ps == NEVER ? NEVER : (until_ps + SIM_PS_PER_NS - 1) / SIM_PS_PER_NS, is_woken);
}

static void
stop_tsc_of_thread(size_t core, uint64_t ps)
{
	sim.tsc.offset_ticks[core] -= (int64_t)(ps / SIM_PS_PER_NS);
	threads_cores[core].offset_ticks -= (int64_t)(ps / SIM_PS_PER_NS);
}

static void
advance_threads(uint64_t ps)
{
	sim_advance_ps(ps);
	threads_advance_ticks(ps / SIM_PS_PER_NS);
}

static const struct sim_sleep_cores threads = {
	threads_get_core, get_time_ps_of_thread, read_tsc_of_thread, get_ps_of_ns, let_thread_sleep, threads_stop_core,
	stop_tsc_of_thread, advance_threads,
};

void
sim_sleep_reset(void)
{
	sim_sleep = (struct sim_sleep){ .core = SIM_FAULTY_CORE, .cores = &threads, .lapic_hz = 100000000,
					.late_ps = SIM_LATE_NS * SIM_PS_PER_NS };
	memset(cores, 0, sizeof(cores));
}

static struct core *
get_core(void)
{
	return &cores[sim_sleep.cores->get_core()];
}

static size_t
list_deep_states(uint32_t states[SLEEP_STATES_MAX], fault_guard *guarded)
{
	(void)guarded;
	states[0] = SIM_SLEEP_HINT;
	return sim_sleep.has_deep;
}

static bool
has_fault(uint32_t state, enum sim_sleep_fault fault)
{
	return sim_sleep.fault == fault && sim_sleep.state == state && sim_sleep.cores->get_core() == sim_sleep.core;
}

static uint64_t
count_ticks_left(const struct core *core)
{
	uint64_t ran_ps = sim_sleep.cores->get_time_ps() - core->timer_from_ps - core->lost_ps;
	uint64_t ran = (uint64_t)((unsigned __int128)ran_ps * sim_sleep.lapic_hz / SIM_PS_PER_S);

	return ran < core->timer_count ? core->timer_count - ran : 0;
}

/* Returns the time at which the core's timer interrupts, or NEVER. */
static uint64_t
find_due_ps(const struct core *core)
{
	uint64_t due_ps = NEVER, now_ps = sim_sleep.cores->get_time_ps();
	int64_t ticks = core->deadline ? (int64_t)(core->deadline - sim_sleep.cores->read_tsc()) : 0;

	if (core->interrupts)
		due_ps = now_ps + (uint64_t)((unsigned __int128)count_ticks_left(core) * SIM_PS_PER_S / sim_sleep.lapic_hz);
	if (core->deadline)
		due_ps = ticks < 0 ? now_ps : now_ps + sim_sleep.cores->get_ps_of_ticks(ticks);
	return due_ps;
}

/* Lets other cores run until an interrupt of this core is due. Clears the interrupt. */
static void
wait_for_interrupt(struct core *core, bool stops_timer)
{
	uint64_t due_ps = stops_timer ? NEVER : find_due_ps(core);

	while (!core->is_woken && sim_sleep.cores->get_time_ps() < due_ps)
		sim_sleep.cores->wait(due_ps, &core->is_woken);
	core->is_woken = false;
	if (sim_sleep.cores->get_time_ps() >= due_ps) {
		core->interrupts = false;
		core->deadline = 0;
	}
}

/* The boot core sleeps until the firmware's tick. */
static void
sleep_on_boot_core(uint32_t state)
{
	enum sim_sleep_fault fault = sim_sleep.state == state ? sim_sleep.fault : SIM_SLEEP_HEALTHY;

	sim_sleep.cores->advance(TICK_OF_FIRMWARE);
	sim_sleep.all_ps += TICK_OF_FIRMWARE;
	sim.hpet.counter.origin_ps += fault == SIM_SLEEP_STOPS_HPET ? TICK_OF_FIRMWARE : 0;
	sim.pm.counter.origin_ps += fault == SIM_SLEEP_STOPS_PM ? TICK_OF_FIRMWARE : 0;
	for (size_t i = 0; i < SIM_CORES_MAX && fault == SIM_SLEEP_STOPS_TSCS; i++)
		sim_sleep.cores->stop_tsc(i, TICK_OF_FIRMWARE);
}

static void
enter(uint32_t state, const void *line)
{
	const struct sim_sleep_cores *world = sim_sleep.cores;
	struct core *core = get_core();
	uint64_t begin_ps = world->get_time_ps(), begin_tsc = world->read_tsc(), slept_ps, woken_ps;
	bool stops_timer = has_fault(state, SIM_SLEEP_STOPS_LAPIC);

	(void)line;
	if (world->get_core() == 0) {
		sleep_on_boot_core(state);
		return;
	}
	if (has_fault(state, SIM_SLEEP_NOT_ENTERED))
		return;
	wait_for_interrupt(core, stops_timer);
	woken_ps = world->get_time_ps();
	core->lost_ps += stops_timer ? woken_ps - begin_ps : 0;
	if (has_fault(state, SIM_SLEEP_NEVER_WAKES))
		world->stop_core();
	while (has_fault(state, SIM_SLEEP_WAKES_LATE) && world->get_time_ps() - woken_ps < sim_sleep.late_ps)
		world->wait(woken_ps + sim_sleep.late_ps, NULL);
	slept_ps = world->get_time_ps() - begin_ps;
	if (world->get_core() == sim_sleep.core && !sim_sleep.first_ps)
		sim_sleep.first_ps = slept_ps;
	core->resident_ticks[state == SLEEP_BY_HLT || has_fault(state, SIM_SLEEP_IS_SHALLOW) ? 0 : 2] +=
		world->read_tsc() - begin_tsc;
	if (has_fault(state, SIM_SLEEP_HIDES_STOP))
		core->adjusted_ticks += (int64_t)(world->read_tsc() - begin_tsc);
	if (has_fault(state, SIM_SLEEP_RESTORES_TSC))
		core->adjusted_ticks -= (int64_t)(world->read_tsc() - begin_tsc);
	if (has_fault(state, SIM_SLEEP_STOPS_TSC) || has_fault(state, SIM_SLEEP_RESTORES_TSC))
		world->stop_tsc(world->get_core(), slept_ps);
}

bool
sim_sleep_msr_read(uint32_t msr, uint64_t *value)
{
	if (msr != MSR_TSC_ADJUST || !get_core()->adjusted_ticks)
		return false;
	*value = sim_msr_get(msr) + (uint64_t)get_core()->adjusted_ticks;
	return true;
}

static void
wake(uint32_t apic_id)
{
	cores[apic_id].is_woken = true;
}

static uint32_t
find_counters(fault_guard *guarded)
{
	(void)guarded;
	return sim_sleep.counters;
}

static uint64_t
read_counter(size_t counter)
{
	if (!(sim_sleep.counters >> counter & 1))
		sim_fail("#GP: there is no residency counter %zu", counter);
	return get_core()->resident_ticks[counter];
}

static void
clear_timer(struct core *core)
{
	core->timer_count = core->deadline = core->lost_ps = 0;
	core->interrupts = false;
}

static void
open_counter(const struct platform *platform, struct timer *timer)
{
	(void)platform;
	timer->state = has_fault(sim_sleep.state, SIM_SLEEP_HAS_NO_TIMER) ? CLOCK_ABSENT : CLOCK_PRESENT;
	timer->ticks_max = UINT32_MAX;
}

static void
open_deadline(const struct platform *platform, struct timer *timer)
{
	(void)platform;
	timer->state = sim_sleep.has_deadlines ? CLOCK_PRESENT : CLOCK_ABSENT;
	timer->by_tsc = true;
}

static void
set_up_timer(struct timer *timer, uint32_t vector)
{
	(void)timer;
	if (vector != sim_sleep_driver.vector)
		sim_fail("vector %u does not wake a core", vector);
	clear_timer(get_core());
}

static uint64_t
arm_timer(struct timer *timer, uint64_t ticks, bool periodic)
{
	const struct sim_sleep_cores *world = sim_sleep.cores;
	uint64_t begin_ps = world->get_time_ps();
	struct core *core = get_core();

	(void)periodic;
	while (world->get_time_ps() - begin_ps < sim_sleep.busy_ps)
		world->wait(begin_ps + sim_sleep.busy_ps, NULL);
	clear_timer(core);
	if (timer->by_tsc)
		return core->deadline = sim_sleep.cores->read_tsc() + ticks;
	core->timer_from_ps = sim_sleep.cores->get_time_ps();
	core->timer_count = ticks;
	core->interrupts = true;
	return 0;
}

static uint64_t
get_ticks_left(const struct timer *timer)
{
	(void)timer;
	return count_ticks_left(get_core());
}

static bool
has_expired(const struct timer *timer)
{
	const struct core *core = get_core();

	if (timer->by_tsc) /* a deadline that passed in the sleep interrupts as soon as the core is awake */
		return !core->deadline || (int64_t)(sim_sleep.cores->read_tsc() - core->deadline) >= 0;
	return count_ticks_left(core) == 0;
}

static void
restore_timer(struct timer *timer)
{
	(void)timer;
	clear_timer(get_core());
}

#define TIMER_FUNCTIONS .set_up = set_up_timer, .arm = arm_timer, .expired = has_expired, .restore = restore_timer

static const struct timer_driver counter = { .open = open_counter, .get_ticks_left = get_ticks_left, TIMER_FUNCTIONS },
				 deadline = { .open = open_deadline, TIMER_FUNCTIONS };

const struct sleep_driver sim_sleep_driver = {
	.list_deep_states = list_deep_states,
	.enter = enter,
	.wake = wake,
	.find_counters = find_counters,
	.read_counter = read_counter,
	.counter = &counter,
	.deadline = &deadline,
	.vector = 0xf0,
};
