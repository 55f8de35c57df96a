/* The kinds of machine. Each function draws a machine that is healthy except for the fault in its kind's name. */
#include <string.h>

#include "draw.h"
#include "draw_machine.h"
#include "kinds.h"
#include "sim_paravirtual.h"

#define MS SIM_PS_PER_MS

static const int chip_set[] = { HPET, PM, PIT }, devices[] = { HPET, PM, PIT, RTC };

static void
draw_healthy_clocks(void)
{
	draw_clocks();
	draw_rates();
}

static void
draw_claims(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_cpuid_leaves();
	draw_rates();
}

static void
draw_one_faulty_clock(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_tsc_claim(CLAIM_RIGHT);
	machine.has[RTC] = draw_chance(60);
	draw_wrong_source_rate((unsigned)draw_below(machine.has[RTC] ? CLOCKS : RTC));
	draw_rates();
}

/* Draws a PIT or PM timer far from its nominal rate, for example a PIT that counts nanoseconds. */
static void
draw_far_clock(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_tsc_claim(CLAIM_RIGHT);
	draw_far_source_rate(draw_chance(70) ? PIT : PM);
	draw_rates();
}

/* Draws such a clock while a host preempts the core, often for many of the counter's wraps. */
static void
draw_far_clock_on_busy_host(void)
{
	draw_far_clock();
	draw_host_load();
}

/*
 * Draws a guest whose clocks all follow one clock of the host, which is wrong. The RTC is right in half of the
 * trials, and nothing shows whether the RTC or all other clocks are wrong.
 */
static void
draw_wrong_clocks_of_one_source(void)
{
	static const int all[] = { TSC, HPET, PM, PIT, RTC };

	machine.is_guest = true;
	draw_clocks();
	draw_independent_sources();
	draw_tsc_claim(CLAIM_HYPERVISOR);
	draw_same_source(all, draw_chance(50) ? 4 : 5);
	draw_source_rate(TSC, 500, 100000);
	draw_rates();
}

static void
draw_several_faulty_clocks(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_tsc_claim(draw_chance(50) ? CLAIM_RIGHT : CLAIM_ABSENT);
	for (unsigned i = 0, count = (unsigned)draw_between(2, 3); i < count; i++)
		draw_wrong_source_rate((unsigned)draw_below(CLOCKS));
	draw_rates();
}

static void
draw_faulty_chip_set(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_tsc_claim(CLAIM_RIGHT);
	draw_same_source(machine.is_guest ? devices : chip_set, machine.is_guest ? 4 : 3);
	draw_wrong_source_rate(HPET);
	draw_rates();
}

static void
draw_few_clocks(void)
{
	draw_clocks();
	draw_independent_sources();
	for (int i = HPET; i < CLOCKS; i++)
		machine.has[i] = draw_chance(40);
	/* the rate window needs the HPET, the PM timer or the PIT as reference clock */
	machine.has[HPET] |= !machine.has[PM] && !machine.has[PIT];
	if (draw_chance(50))
		draw_wrong_source_rate((unsigned)draw_below(CLOCKS));
	draw_rates();
}

/* Draws the start of an event (its phase, and the time since the phase's start) and its duration. */
static void
draw_event_time(void)
{
	static const char *const phases[] = { "rates", "rates", "latency", "rates-again", "checks" };

	machine.phase = phases[draw_below(5)];
	machine.delay_ps = draw_below(machine.phase == phases[0] ? 1500 * MS : 4 * MS);
	machine.by_ps = draw_log_uniform(100, 5000) * MS;
}

static void
draw_clock_jump(void)
{
	draw_healthy_clocks();
	draw_event_time();
	machine.event = EVENT_JUMP;
	machine.clock = (int)draw_below(CLOCKS);
	machine.by_ps = draw_log_uniform(1, 5000) * MS;
}

/*
 * Draws a TSC that stops for a while, as if a hypervisor moves the core to a processor whose TSC is behind. All methods
 * of reading the TSC are measured, because otherwise too few readings could show the stop.
 */
static void
draw_tsc_stop(void)
{
	draw_healthy_clocks();
	draw_event_time();
	if (draw_chance(50))
		machine.phase = "latency";
	if (strcmp(machine.phase, "latency") == 0)
		machine.delay_ps = draw_below(100 * MS);
	machine.event = EVENT_TSC_STOP;
	machine.by_ps = draw_log_uniform(3, 5000) * MS / 1000;
	machine.all_rows = true;
}

/*
 * Draws an event that affects the whole machine. In half of the trials the machine has several cores, and the event
 * may happen while their TSCs are compared.
 */
static void
draw_event_of_whole_machine(enum event event)
{
	machine.is_guest = true;
	if (draw_chance(50))
		draw_healthy_clocks();
	else
		draw_cores();
	machine.has[PIT] = machine.has[RTC] = true;
	draw_event_time();
	if (machine.cores > 1 && draw_chance(50))
		machine.phase = "skew";
	machine.event = event;
}

static void
draw_machine_pause(void)
{
	draw_event_of_whole_machine(EVENT_PAUSE);
}

static void
draw_machine_snapshot(void)
{
	draw_event_of_whole_machine(EVENT_SNAPSHOT);
}

/* Draws a stop or a restored snapshot that is so long that the RTC's minutes, hours and days matter. */
static void
draw_long_disruption(void)
{
	draw_event_of_whole_machine(draw_chance(50) ? EVENT_PAUSE : EVENT_SNAPSHOT);
	machine.by_ps = draw_log_uniform(10, 3 * 86400) * SIM_PS_PER_S;
}

static void
draw_rate_change(void)
{
	draw_clocks();
	draw_independent_sources();
	machine.event = EVENT_BEND;
	machine.clock = HPET;
	if (draw_chance(50))
		draw_same_source(machine.is_guest ? devices : chip_set, 3);
	else
		machine.clock = (int)draw_below(RTC);
	draw_rates();
	machine.phase = draw_chance(70) ? "rates" : "latency";
	machine.delay_ps = machine.phase[0] == 'r' ? 600 * MS + draw_below(900 * MS) : 0;
	machine.bend_ppm = draw_signed(draw_log_uniform(500, 6000));
}

static void
draw_tsc_set_back(void)
{
	uint64_t by_ns = draw_log_uniform(50, 10000);

	draw_healthy_clocks();
	machine.event = EVENT_BACK;
	machine.phase = "prepare";
	machine.delay_ps = draw_below(1500 * MS);
	machine.back_by_ticks = (uint64_t)(machine.hz[TSC] * by_ns / 1e9L);
	/* back_reads is so large that the TSC advances on average, although it is set back repeatedly */
	machine.back_reads = draw_log_uniform(100, 5000) + by_ns / 2;
	machine.all_rows = true;
}

/*
 * Draws a guest on a host whose TSCs differ. After each exit to the host, the guest may continue on another processor.
 */
static void
draw_tsc_halts(void)
{
	machine.is_guest = true;
	draw_healthy_clocks();
	machine.event = EVENT_HALTS;
	machine.phase = "prepare";
	machine.delay_ps = draw_below(100 * MS);
	machine.by_ps = draw_log_uniform(10, 1000) * MS / 1000;
	machine.back_reads = draw_log_uniform(500, 20000);
}

/*
 * Draws a guest on a busy host. Either the rate of its RTC is far off, or the guest is stopped once. A stop makes an
 * RTC look fast in one part of the run, although no rate is wrong.
 */
static void
draw_fast_rtc(void)
{
	machine.is_guest = true;
	draw_clocks();
	draw_independent_sources();
	draw_same_source(chip_set, 3);
	draw_host_load();
	machine.is_obvious = draw_chance(70);
	if (machine.is_obvious) {
		draw_very_wrong_source_rate(RTC);
		machine.away_ps = draw_chance(50) ? draw_log_uniform(1100, 1900) * MS : 0;
	} else {
		draw_event_time();
		machine.event = EVENT_PAUSE;
	}
	draw_rates();
}

/* Draws a guest that is stopped in the first 0.3 s of the rate window, before or after the window's first readings. */
static void
draw_early_guest_stop(void)
{
	machine.is_guest = true;
	draw_healthy_clocks();
	machine.phase = "rates";
	machine.delay_ps = draw_chance(50) ? 0 : draw_below(300 * MS);
	machine.by_ps = draw_log_uniform(1200, 5000) * MS;
	machine.event = EVENT_PAUSE;
	machine.is_obvious = true;
}

/*
 * Draws a guest that is stopped two to four times. A stop must be mentioned only if it begins in the phase rates, and
 * if the stops are 8 times as long as the time between them. Otherwise a fast RTC explains them, or no comparison of
 * the clocks follows.
 */
static void
draw_several_stops(void)
{
	draw_event_of_whole_machine(EVENT_PAUSE);
	machine.by_ps = draw_log_uniform(3000, 10000) * MS;
	machine.more_stops = 1 + draw_below(STOPS_MAX - 1);
	machine.between_ps = draw_log_uniform(1, 3000) * MS;
	machine.is_obvious = strcmp(machine.phase, "rates") == 0 && machine.by_ps > 8 * machine.between_ps;
}

/*
 * Draws a guest whose host takes processor time from it. The host's counter of stolen time counts all of it, none, or
 * three times as much.
 */
static void
draw_stolen_time_counter(void)
{
	static const unsigned percents[] = { 100, 100, 0, 300 };

	machine.is_guest = true;
	sim_paravirtual_make_kvm_guest(false);
	draw_healthy_clocks();
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = percents[draw_below(4)];
	sim_paravirtual.steal_long_ps = MS;
	machine.counts_stolen = true;
	machine.preempt_every = draw_log_uniform(300, 100000);
	machine.preempt_min_ps = MS / 100;
	machine.preempt_max_ps = 5 * MS;
	sim.cost_ps[SIM_TSC_LFENCE] = sim.cost_ps[SIM_TSC_MFENCE] = MS / 5000;
}

/* Draws a machine that is stopped, or restored from a snapshot. In half of the trials its vmclock announces this. */
static void
draw_disruption_marker(void)
{
	sim_paravirtual_make_kvm_guest(false);
	draw_event_of_whole_machine(draw_chance(50) ? EVENT_PAUSE : EVENT_SNAPSHOT);
	sim_paravirtual_add_vmclock();
	sim_paravirtual.vmclock_counter = 0xff;
	machine.has_marker = true;
	machine.announces = draw_chance(50);
}

/* A trial's random numbers depend on the index of its kind, so new kinds are added at the end. */
const struct kind kinds[] = {
	{ "rates", "clocks, all healthy", draw_healthy_clocks },
	{ "sick", "one of four or five oscillators off by 150 to 5,000 ppm", draw_one_faulty_clock },
	{ "several", "up to three of five oscillators off by as much", draw_several_faulty_clocks },
	{ "chipset", "the one oscillator of HPET, PM timer and PIT off by as much (in a guest the RTC's too)",
	  draw_faulty_chip_set },
	{ "few", "two or three clocks, in half of the trials one of them off", draw_few_clocks },
	{ "leap", "one clock leaps by 1 ms to 5 s", draw_clock_jump },
	{ "pause", "the machine is paused for 0.1 to 5 s", draw_machine_pause },
	{ "snapshot", "it is restored 0.1 to 5 s after it was saved", draw_machine_snapshot },
	{ "tsc-stand", "the TSC stands for 3 us to 5 ms", draw_tsc_stop },
	{ "tsc-halts", "a guest whose TSC stands for 0.5 us to 1 ms again and again", draw_tsc_halts },
	{ "bend", "the rate of a clock changes by 500 to 6,000 ppm, in half of the trials HPET, PM timer and PIT together",
	  draw_rate_change },
	{ "tsc-back", "the TSC is set back by 50 ns to 10 us again and again", draw_tsc_set_back },
	{ "cores", "2 to 16 cores, all healthy", draw_cores },
	{ "offset", "cores whose TSC has an offset of 10 to 10^7 ticks", draw_cores_with_offsets },
	{ "sockets", "2 to 4 packages, one with such an offset, or each", draw_sockets },
	{ "drift", "one core faster or slower by 20 to 100,000 ppb", draw_drifting_core },
	{ "step-first", "a core's TSC steps by 10 to 10^7 ticks in the first pass", draw_tsc_step_in_first_pass },
	{ "step-boot", "the boot core's does", draw_tsc_step_of_boot_core },
	{ "step-between", "one steps between the tournaments", draw_tsc_step_between_passes },
	{ "step-last", "one steps in the last pass", draw_tsc_step_in_last_pass },
	{ "groups", "2 to 4 groups of cores, each with a rate of its own", draw_core_groups },
	{ "halves", "two halves with an offset, mostly in a star, some on fewer processors", draw_two_halves_of_cores },
	{ "far", "one core is 10^9 to 5 * 10^10 ticks off", draw_far_offset },
	{ "coarse", "TSCs that count in steps of 2 to 36 ticks, each at a moment of its own", draw_coarse_tsc },
	{ "busy", "cores that take turns on fewer processors, in half of the trials some with an offset", draw_busy_host },
	{ "timers", "timers that interrupt, all healthy, whatever they do with periods that were masked", draw_timers },
	{ "timers-sick", "one of four has a fault", draw_faulty_timer },
	{ "rtc-fast", "a guest with load whose RTC is 6 to 30 % off, or which is stopped once", draw_fast_rtc },
	{ "stop-first", "a guest is stopped for 1.2 to 5 s in the first 0.3 s of the rates' window",
	  draw_early_guest_stop },
	{ "timers-tcg", "timers of an emulator that waits for nothing, in half of the trials one has a fault",
	  draw_emulated_timers },
	{ "core-back", "one that is not the boot core is set back, every 20 to 1,000 readings", draw_core_set_back },
	{ "core-ahead", "one in 20 to 1,000 readings of such a core is too high", draw_core_ahead },
	{ "stolen", "a host takes time, and counts it right, not at all or three times", draw_stolen_time_counter },
	{ "marker", "a stop or a restored snapshot that vmclock announces, or does not", draw_disruption_marker },
	{ "claims", "healthy clocks; leaves with right and rounded rates, in most machines a wrong one", draw_claims },
	{ "uneven", "oscillators off by 150 to 5,000 ppm, and an RTC whose edges are early and late", draw_uneven_clocks },
	{ "edge", "a guest that stops, or whose RTC leaps, within milliseconds of an edge that a rate uses",
	  draw_event_at_edge },
	{ "long", "a run of up to an hour, with a wrong rate, a leap, a stop or no fault", draw_long_run },
	{ "stuck", "one clock stops for good", draw_stuck_clock },
	{ "away", "the core is preempted once in the window for 20 ms to 2 s, most with a clock 0.5 to 2 % off",
	  draw_long_preemption },
	{ "rate-far", "a PIT or PM timer at 2 to 500 times its rate", draw_far_clock },
	{ "one-source", "a guest whose clocks are all wrong together, in half of the trials except the RTC",
	  draw_wrong_clocks_of_one_source },
	{ "stop-long", "the machine is paused, or restored from a snapshot, for 10 s to 3 days", draw_long_disruption },
	{ "sleep", "cores in HLT, in most machines a TSC, timer or clock that stops, or a late wake-up", draw_sleep },
	{ "step-far", "a core's TSC steps by 10 ms to 20 s in any pass, or between two", draw_far_tsc_step },
	{ "adjust", "TSCs in step; TSC_ADJUST by package, in half of the trials another one on one core",
	  draw_tsc_adjust_of_packages },
	{ "timers-fault", "timers, one of which causes an exception when it is armed", draw_timer_whose_access_faults },
	{ "timers-lost", "a guest's timers, one of which loses one interrupt, mostly while the guest is stopped",
	  draw_timer_that_loses_one_shot },
	{ "far-busy", "a PIT or PM timer at 2 to 500 times its rate, on a host that preempts the core for up to 20 ms",
	  draw_far_clock_on_busy_host },
	{ "stops", "a guest is stopped two to four times, for 3 to 10 s each", draw_several_stops },
	{ NULL, NULL, NULL },
};
