/*
 * Calculates the cost of each access to the simulated machine, and starts the machine's events during accesses. See
 * machine.h.
 */
#include <string.h>

#include "draw.h"
#include "sim_paravirtual.h"
#include "machine.h"
#include "sim_internal.h"

/*
 * A pause lasts at least 1/8 (1 / WAITED_SHARE) of the wait so far, so that the simulation of a long wait needs few
 * pauses. With a larger share, two cores that wait for each other would make each other's waits longer and longer.
 */
#define WAITED_SHARE  8
#define SLOW_PS       (100 * SIM_PS_PER_US)
/*
 * Accesses to the RTC are not slowed in this time before the RTC's next second, so that the edge of the second is
 * measured exactly. The time includes the update cycle.
 */
#define EDGE_NEAR_PS  (4 * SIM_PS_PER_MS)
/*
 * Accesses to the RTC are not slowed in this time after the start of the RTC's second, so that the edge of the second
 * is measured exactly.
 */
#define EDGE_OVER_PS  (SIM_PS_PER_MS / 2)
/* the preemption that lasts machine.away_ps starts at most this long after the start of the RTC's next second */
#define AWAY_IN_PS    (3 * SIM_PS_PER_MS)
/* an event near an edge of the RTC starts at most this long before the edge */
#define BEFORE_EDGE_PS (15 * SIM_PS_PER_MS)
/* duration of each pause in the phase "warps"; it is so long that this phase ends after a few hundred pauses */
#define WARPS_PS      (20 * SIM_PS_PER_MS)
/* additional duration of a TSC reading in the phase "interference", which searches for gaps */
#define OBSERVE_PS    (2 * SIM_PS_PER_US)
#define CHECKS_PS     (20 * SIM_PS_PER_US) /* additional duration of a device access in the phase "checks" */
#define PREPARE_PS    (2 * SIM_PS_PER_US)  /* additional duration of a device access in the phase "prepare" */
/* additional duration of a TSC reading in the phases "latency" and "cores" */
#define LATENCY_PS    (200 * SIM_PS_PER_NS)

/* longest drawn part of a wait for an interrupt; 10 us without a reading would count as a gap */
#define WAIT_PS       (8 * SIM_PS_PER_US)
/* duration of each pause in the phase "timers" of a drawn trial, which waits for an event of a free-running timer */
#define APPROACH_PS   SIM_PS_PER_MS

static struct {
	uint64_t due_ps; /* start time of the machine's event, or SIM_NEVER */
	uint64_t far_until_ps; /* no edge of the RTC is near until this time */
	uint64_t away_at_ps; /* time at which the core is preempted once for machine.away_ps, or SIM_NEVER */
	bool slow, in_warps, in_timers;
	/* additional durations of a TSC reading and of a device access in the current phase */
	uint64_t tsc_ps, device_ps;
	struct {
		/*
		 * sum of the core's pauses in the present wait; two TSC readings with no access in between end the
		 * wait
		 */
		uint64_t waited_ps;
		bool read_tsc;
		uint64_t owed_ps; /* part of the last access's duration that follows its effect */
	} cores[CORES_MAX];
	uint64_t tsc_reads, fault_reads;
} state;

/* Returns the time since the RTC's current second started, as the RTC's oscillator measures it. */
static uint64_t
get_ps_since_second(void)
{
	long double phase = (long double)sim.now_ps * (1 + sim.rtc.fast_ppb / 1e9L) + sim.rtc.ahead_ps;

	return (uint64_t)phase % SIM_PS_PER_S;
}

/* Returns the time until the RTC's next second starts. */
static uint64_t
get_ps_to_second(void)
{
	return (uint64_t)((SIM_PS_PER_S - get_ps_since_second()) / (1 + sim.rtc.fast_ppb / 1e9L));
}

static uint64_t
draw_away_at_ps(void)
{
	return sim.now_ps + (machine.away_in_window ? draw_below(SIM_PS_PER_S) : draw_below(AWAY_IN_PS) + get_ps_to_second());
}

void
access_start_phase(const char *phase)
{
	if (machine.away_ps && strcmp(phase, machine.away_in_window ? "rates" : "rates-again") == 0)
		state.away_at_ps = draw_away_at_ps();
	if (machine.event && machine.at_ps == SIM_NEVER && state.due_ps == SIM_NEVER && strcmp(phase, machine.phase) == 0) {
		state.due_ps = sim.now_ps + machine.delay_ps;
		if (machine.edge)
			state.due_ps += get_ps_to_second() + (machine.edge - 1) * SIM_PS_PER_S - BEFORE_EDGE_PS;
	}
	state.in_warps = strcmp(phase, "warps") == 0;
	state.in_timers = strcmp(phase, "timers") == 0;
	state.tsc_ps = strcmp(phase, "interference") == 0 ? OBSERVE_PS :
		       strcmp(phase, "latency") == 0 || strcmp(phase, "cores") == 0 ? LATENCY_PS : 0;
	state.device_ps = strcmp(phase, "checks") == 0 ? CHECKS_PS : strcmp(phase, "prepare") == 0 ? PREPARE_PS : 0;
}

void
access_start_event(void)
{
	state.due_ps = sim.now_ps;
}

void
access_make_accesses_slow(bool slow)
{
	state.slow = slow;
}

/*
 * Returns a random time from 0 to PS. One time in 128 is multiplied: half of these by two, a quarter by four, and so
 * on.
 */
uint64_t
access_draw_jitter_ps(uint64_t ps)
{
	uint64_t bits = draw_64_bits();
	uint64_t jitter = (ps * (bits >> 48)) >> 16;

	if (bits & 63)
		return jitter;
	return jitter << __builtin_ctzll((bits >> 6 & 0x3ff) | 0x400);
}

static int
get_accessed_device(enum sim_access access, uint64_t where)
{
	if (access <= SIM_TSC_CPUID)
		return TSC;
	if (access == SIM_READ || access == SIM_WRITE)
		return HPET;
	if (access != SIM_IN && access != SIM_OUT)
		return CLOCKS;
	if (where == SIM_PM_PORT)
		return PM;
	return where >= 0x70 && where <= 0x75 ? RTC : PIT;
}

static uint64_t
get_pause_instruction_ps(void)
{
	uint64_t ps = sim.cost_ps[SIM_PAUSE], *waited_ps = &state.cores[sim.core].waited_ps;

	if (state.in_warps)
		return WARPS_PS;
	if (state.in_timers && machine.is_drawn)
		return APPROACH_PS;
	if (ps < *waited_ps / WAITED_SHARE)
		ps = *waited_ps / WAITED_SHARE;
	*waited_ps += ps;
	return ps;
}

static bool
is_second_edge_near(void)
{
	uint64_t into_ps, to_edge_ps;

	if (sim.now_ps < state.far_until_ps)
		return false;
	into_ps = get_ps_since_second();
	if (into_ps > SIM_PS_PER_S - EDGE_NEAR_PS || into_ps < EDGE_OVER_PS + sim.rtc.late_max_ps)
		return true;
	to_edge_ps = get_ps_to_second();
	/* twice the distance, because a slow RTC needs longer for it */
	if (to_edge_ps > 2 * EDGE_NEAR_PS)
		state.far_until_ps = sim.now_ps + to_edge_ps - 2 * EDGE_NEAR_PS;
	return false;
}

/*
 * Returns the time from now until an access that takes PS has its effect: the rest of the previous access, and the
 * part of this access before its effect. The part after its effect is saved for the next call.
 */
static uint64_t
draw_time_to_access_effect_ps(uint64_t ps)
{
	uint64_t *owed_ps = &state.cores[sim.core].owed_ps, owed = *owed_ps;

	*owed_ps = machine.effect == EFFECT_LATE ? 0 : machine.effect == EFFECT_EARLY ? ps : draw_below(ps + 1);
	return owed + ps - *owed_ps;
}

/*
 * Returns the time until the running core gets a processor. There are fewer processors than cores, so the cores use
 * them in turns, one time slice each.
 */
static uint64_t
get_wait_for_processor_ps(void)
{
	uint64_t slice = sim.now_ps / machine.slice_ps;

	for (uint64_t i = 0; i < machine.cores; i++, slice++)
		for (size_t p = 0; p < machine.processors; p++)
			if ((slice * machine.processors + p) % machine.cores == sim.core)
				return i == 0 ? 0 : slice * machine.slice_ps - sim.now_ps;
	return 0;
}

static uint64_t
draw_preemption_ps(void)
{
	uint64_t ps = draw_log_uniform(machine.preempt_min_ps, machine.preempt_max_ps);

	if (machine.counts_stolen)
		sim_paravirtual_add_stolen_time(ps);
	return ps;
}

/*
 * In a drawn trial, returns the time until the next interrupt of a timer, but at most WAIT_PS; otherwise 0. Pauses and
 * readings before the interrupt are not simulated, so the time may include a preemption in one of them.
 */
static uint64_t
draw_time_to_interrupt_ps(void)
{
	uint64_t until_ps = sim.interrupts.open ? sim.interrupts.quiet_until_ps : SIM_NEVER, ps, accesses;

	if (!machine.is_drawn || until_ps <= sim.now_ps)
		return 0;
	ps = until_ps - sim.now_ps < WAIT_PS ? until_ps - sim.now_ps : WAIT_PS;
	accesses = 2 * ps / (sim.cost_ps[SIM_PAUSE] + sim.cost_ps[SIM_TSC_LFENCE]);
	if (machine.preempt_every && draw_below(machine.preempt_every) < accesses)
		return draw_below(ps) + draw_preemption_ps();
	return ps;
}

static uint64_t
get_access_cost_ps(enum sim_access access, uint64_t where)
{
	int device = get_accessed_device(access, where);
	uint64_t ps = device == TSC || device == CLOCKS ? 0 : machine.port_ps[device];

	ps += access_draw_jitter_ps(device == TSC ? sim.cost_ps[access] : ps / 2);
	if (access == SIM_PAUSE && !sim.interrupts.in_window)
		ps += get_pause_instruction_ps();
	else if (access == SIM_PAUSE)
		ps += draw_time_to_interrupt_ps();
	else if (device == TSC && state.cores[sim.core].read_tsc)
		state.cores[sim.core].waited_ps = 0;
	state.cores[sim.core].read_tsc = device == TSC;
	ps += device == TSC ? state.tsc_ps : device < CLOCKS ? state.device_ps : 0;
	ps = draw_time_to_access_effect_ps(ps);
	if (state.slow && device != TSC && (device != RTC || !is_second_edge_near()))
		ps += SLOW_PS;
	if (machine.preempt_every && draw_below(machine.preempt_every) == 0)
		ps += draw_preemption_ps();
	if (machine.processors && cores_are_working())
		ps += get_wait_for_processor_ps();
	return ps;
}

/* Stops all clocks that a hypervisor calculates for its guest, for BY_PS. */
static void
stop_emulated_clocks_for(uint64_t by_ps)
{
	sim.hpet.counter.origin_ps += by_ps;
	sim.pm.counter.origin_ps += by_ps;
	sim.pit.channels[0].loaded_ps += by_ps;
	sim.pit.channels[2].loaded_ps += by_ps;
	sim_interrupts_stop_for(by_ps);
}

static struct sim_counter *
get_counter(int clock)
{
	return clock == HPET ? &sim.hpet.counter : clock == PM ? &sim.pm.counter : NULL;
}

static void
move_clock_ahead(int clock, uint64_t by_ps)
{
	uint64_t ticks = (uint64_t)(machine.hz[clock] * by_ps / SIM_PS_PER_S);

	if (get_counter(clock))
		get_counter(clock)->origin_ticks += ticks;
	else if (clock == PIT)
		sim.pit.channels[2].held_cycles += ticks;
	else if (clock == RTC) {
		sim.rtc.ahead_ps += by_ps;
		state.far_until_ps = 0;
	}
}

static void
stop_clock(int clock)
{
	if (get_counter(clock))
		get_counter(clock)->stuck_at_ps = sim.now_ps;
	else if (clock == PIT)
		sim.pit.gated_at_ps = sim.now_ps;
	else if (clock == RTC)
		sim.rtc.halted_at_ps = sim_rtc_get_time_ps();
}

static void
change_clock_rate(int clock)
{
	struct sim_pit_channel *channel = &sim.pit.channels[2];

	if (get_counter(clock)) {
		struct sim_counter *counter = get_counter(clock);

		sim_counter_set(counter, sim_counter_get_ticks(counter));
		counter->hz.num += (uint64_t)((__int128)counter->hz.num * machine.bend_ppm / 1000000);
	} else if (clock == PIT) {
		channel->held_cycles += sim_count_clock_cycles(channel->loaded_ps, sim.now_ps, sim.pit.hz);
		channel->loaded_ps = sim.now_ps;
		sim.pit.hz.num += (uint64_t)((__int128)sim.pit.hz.num * machine.bend_ppm / 1000000);
	}
}

static void
trigger_event(void)
{
	state.due_ps = SIM_NEVER;
	if (machine.at_ps == SIM_NEVER)
		machine.at_ps = sim.now_ps;
	sim_paravirtual.vmclock_marker += machine.announces;
	if (machine.event == EVENT_PAUSE || machine.event == EVENT_TSC_STOP)
		machine.stops_at_ps[machine.stop_count++] = sim.now_ps;
	switch (machine.event) {
	case EVENT_PAUSE:
	case EVENT_SNAPSHOT:
		cores_advance_time(machine.by_ps);
		stop_emulated_clocks_for(machine.by_ps);
		if (machine.stop_count && machine.stop_count <= machine.more_stops)
			state.due_ps = sim.now_ps + machine.between_ps;
		break;
	case EVENT_TSC_STOP:
		cores_advance_time(machine.by_ps);
		break;
	case EVENT_JUMP:
		move_clock_ahead(machine.clock, machine.by_ps);
		break;
	case EVENT_STUCK:
		stop_clock(machine.clock);
		break;
	case EVENT_BEND:
		for (int i = 0; i < CLOCKS; i++)
			if (machine.source[i] == machine.source[machine.clock])
				change_clock_rate(i);
		break;
	default:
		break;
	}
}

static void
halt_tsc(void)
{
	uint64_t by_ps = draw_log_uniform(machine.by_ps / 20, machine.by_ps);

	cores_advance_time(by_ps);
	machine.back_ticks += (uint64_t)((__int128)by_ps * machine.core[0].microhz / TICK);
}

/*
 * Called when a TSC reading on the faulty core takes effect. Every fault_reads-th call makes this reading too high, or
 * sets the TSC back.
 */
static void
inject_tsc_fault_if_due(void)
{
	machine.is_ahead = false;
	if (++state.fault_reads % machine.fault_reads || machine.faults == SET_BACK_MAX)
		return;
	machine.is_ahead = machine.ahead_ticks > 0;
	machine.set_back_ps[machine.faults++] = sim.now_ps;
}

/* Called at the start of an access: lets its duration pass, and starts events that are due. */
static void
handle_access(enum sim_access access, uint64_t where)
{
	sim_advance_ps(get_access_cost_ps(access, where));
	if (sim.now_ps >= state.away_at_ps) {
		state.away_at_ps = SIM_NEVER;
		sim_advance_ps(machine.away_ps);
	}
	cores_let_earlier_cores_run();
	if (sim.now_ps >= state.due_ps)
		trigger_event();
	if (machine.fault_reads && access <= SIM_TSC_CPUID && sim.core == machine.fault_core)
		inject_tsc_fault_if_due();
	if (machine.event == EVENT_BACK && machine.at_ps != SIM_NEVER && access <= SIM_TSC_CPUID &&
	    ++state.tsc_reads % machine.back_reads == 0)
		machine.back_ticks += machine.back_by_ticks;
	if (machine.event == EVENT_HALTS && machine.at_ps != SIM_NEVER && get_accessed_device(access, where) % CLOCKS != TSC &&
	    ++state.tsc_reads % machine.back_reads == 0)
		halt_tsc();
}

void
access_reset(void)
{
	memset(&state, 0, sizeof(state));
	state.due_ps = state.away_at_ps = SIM_NEVER;
	sim.spent = handle_access;
}
