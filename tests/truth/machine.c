/* Sets up the simulated machine with the drawn parameters, and does a whole run on it. See machine.h. */
#include "machine.h"

#include <math.h>
#include <string.h>

#include "draw.h"
#include "run/marker.h"
#include "samples.h"
#include "sim_paravirtual.h"
#include "timers_truth.h"

#define DURATION_NS   1000000 /* duration of each latency measurement, just long enough for a result */
#define DURATION_LONG_NS 5000000
#define DURATION_WATCH_NS 50000000
#define SAMPLE_MAX    256
#define ACCESSES_ENOUGH UINT64_C(100000000)
#define MICRO         1000000
#define FS_PER_S      1e15L
#define PER_1024TH    (TICK / 1024)

static uint64_t
read_true_tsc(size_t core)
{
	bool before_offset = machine.step_before_offset;
	__int128 ticks = before_offset ? machine_get_tsc_before_offset(core, sim.now_ps) :
			 machine_get_tsc_at(core, sim.now_ps);
	uint64_t steps = (uint64_t)((unsigned __int128)ticks / (uint64_t)PER_1024TH) / machine.step_1024;

	if (machine.is_ahead && core == machine.fault_core)
		steps += (machine.ahead_ticks << 10) / machine.step_1024;
	return (steps * machine.step_1024 >> 10) + (before_offset ? (uint64_t)machine.core[core].offset : 0);
}

/*
 * Rounds machine.hz of the clock to a fraction, and returns the fraction. The simulation then has exactly the known
 * true rate.
 */
static struct rate
round_clock_rate(int clock)
{
	struct rate rate = { (uint64_t)llroundl(machine.hz[clock] * MICRO), MICRO };

	machine.hz[clock] = (long double)rate.num / MICRO;
	return rate;
}

static void
set_up_tsc(void)
{
	round_clock_rate(TSC);
	machine.tsc_start = draw_log_uniform(UINT64_C(100000000000), UINT64_C(1000000000000));
	for (size_t i = 0; i < CORES_MAX && !machine.core[i].microhz; i++)
		machine.core[i].microhz = (uint64_t)llroundl(machine.hz[TSC] * MICRO);
	machine.hz[TSC] = (long double)machine.core[0].microhz / MICRO;
	sim.tsc.reading = read_true_tsc;
}

static void
set_up_devices(void)
{
	sim.hpet.counter.hz = round_clock_rate(HPET);
	sim.hpet.counter.origin_ticks = draw_64_bits() >> 28;
	sim.hpet.capability = (sim.hpet.capability & UINT32_MAX) |
			      (uint64_t)llroundl(FS_PER_S * machine.claimed[HPET].den / machine.claimed[HPET].num) << 32;
	machine.claimed[HPET] = (struct rate){ (uint64_t)FS_PER_S, sim.hpet.capability >> 32 };
	sim.pm.counter.hz = round_clock_rate(PM);
	sim.pm.counter.wrap_bits = draw_chance(50) ? 24 : 32;
	sim.pm.counter.origin_ticks = draw_64_bits() >> 32;
	sim.pit.hz = round_clock_rate(PIT);
	sim.rtc.fast_ppb = llroundl((machine.hz[RTC] - 1) * PPB);
	machine.hz[RTC] = 1 + sim.rtc.fast_ppb / 1e9L;
	sim.hpet.absent = !machine.has[HPET];
	sim.pm.absent = !machine.has[PM];
	sim.pit.absent = sim.pit.port_61_absent = !machine.has[PIT];
	sim.rtc.absent = !machine.has[RTC];
}

static void
handle_phase_start(void *context, const struct run *run, const struct run_phase *row)
{
	const char *phase = row->id;

	if (strcmp(phase, "rates") == 0)
		machine.rates.from_ps = sim.now_ps;
	else if (!machine.rates.to_ps && machine.rates.from_ps)
		machine.rates.to_ps = sim.now_ps;
	/* with WHEN_BETWEEN, the core's TSC steps in a phase before or after the middle pass over pairs of cores */
	for (size_t i = 0; i < machine.cores; i++)
		if (machine.core[i].when == WHEN_BETWEEN && strcmp(phase, machine.core[i].batch % 2 ? "cores" : "contended") == 0)
			machine.core[i].steps_at_ps = sim.now_ps + draw_below(10 * SIM_PS_PER_MS);
	if (strcmp(phase, "rates-again") == 0)
		sim.now_ps += machine.idle_ps;
	machine.in_sleep = strcmp(phase, MARKER_SLEEP) == 0;
	samples_start_phase(phase);
	access_start_phase(phase);
}

static uint64_t
ticks_left_if_not_too_long(void *context)
{
	machine.expired |= sim.accesses > ACCESSES_ENOUGH;
	return machine.expired ? 0 : UINT64_MAX;
}

/* Returns the ids of the machine's clocks, without the alternative read methods of a clock. */
static const char *const *
list_clock_ids(void)
{
	static const char *ids[CLOCKS + 1];
	size_t count = 0;

	for (int i = 0; i < CLOCKS; i++)
		if (machine.has[i])
			ids[count++] = clock_ids[i];
	ids[count] = NULL;
	return ids;
}

static const struct device_check no_checks[] = { { .driver = NULL } };

static void
open_bench(struct bench *bench)
{
	struct report *report = &bench->run.report;

	bench->duration_ns = machine.counts_stolen ? DURATION_WATCH_NS : machine.all_rows ? DURATION_LONG_NS : DURATION_NS;
	bench->platform.acpi.vmclock = machine.has_marker ? SIM_VMCLOCK_BASE : 0;
	bench->sleeps = machine.sleeps;
	bench->widest = machine.is_star ? PAIR_SCHEDULE_STAR : PAIR_SCHEDULE_ALL;
	bench->clocks = machine.all_rows ? NULL : list_clock_ids();
	bench_open(bench, machine.cores);
	bench->run.survey.buffer.sample_max = SAMPLE_MAX;
	bench->machine.phase_starts = handle_phase_start;
	if (machine.is_drawn)
		bench->machine.checks = no_checks;
	bench->run.survey.hooks.ticks_left = ticks_left_if_not_too_long;
	strcpy(report->facts.machine.accelerator, machine.is_emulated ? "tcg" : machine.is_guest ? "kvm" : "");
	for (size_t i = 0; i < machine.cores; i++)
		report->facts.cores[i].apic_id = machine.core[i].apic_id;
	cores_use_in_bench(bench);
	samples_start_recording(bench);
	timers_use_in_bench(bench);
}

/* If the machine has CPUID leaf 15h, the leaf states the rate of the LAPIC's timer too. */
static void
set_lapic_rate_in_cpuid(void)
{
	uint64_t hz = machine.claimed[TSC].num;

	sim.interrupts.lapic_hz &= ~UINT64_C(1);
	for (size_t i = 0; i < sim.cpuid_count && sim.interrupts.lapic_hz; i++)
		if (sim.cpuid[i].leaf == 0x15 && sim.cpuid[i].registers.eax)
			sim.cpuid[i].registers = (struct hw_cpuid){ (uint32_t)(sim.interrupts.lapic_hz / 2), (uint32_t)(hz / 2),
								    (uint32_t)sim.interrupts.lapic_hz, 0 };
}

struct bench *
machine_run_trial(const struct kind *kind, uint64_t seed, bool is_drawn)
{
	struct bench *bench;

	sim_reset();
	draw_set_seed(seed, (uint64_t)(kind - kinds));
	machine = (struct machine){ .cores = 1, .at_ps = SIM_NEVER, .step_1024 = 1024, .package_bits = 4,
				    .adjusted_core = CORES_MAX };
	for (size_t i = 0; i < CORES_MAX; i++)
		machine.core[i] = (struct core){ .steps_at_ps = SIM_NEVER, .sleeps_at_ps = SIM_NEVER, .apic_id = (uint32_t)i };
	kind->draw();
	set_lapic_rate_in_cpuid();
	set_up_tsc();
	set_up_devices();
	sim.accesses_max = 2 * ACCESSES_ENOUGH;
	sim.now_ps = draw_below(2 * SIM_PS_PER_S) + SIM_PS_PER_S;
	access_reset();
	machine.run.from_ps = sim.now_ps;
	bench = bench_new();
	machine.is_drawn = is_drawn;
	open_bench(bench);
	run_measure(&bench->run);
	if (is_drawn)
		run_close_clocks_and_judge(&bench->run);
	else
		bench_close(bench);
	machine.run.to_ps = sim.now_ps;
	return bench;
}
