/* Draws the kinds of machine that differ in their cores. See kinds.h. */
#include "draw.h"
#include "draw_machine.h"
#include "kinds.h"

#define MSR_TSC_ADJUST 0x3b

static void
draw_core_offsets(void)
{
	size_t sick = 1 + (machine.cores > 4 ? draw_below((machine.cores - 1) / 2) : 0);
	int64_t offset = draw_offset();
	bool together = draw_chance(50);

	for (size_t i = 0; i < sick; i++)
		machine.core[draw_below(machine.cores)].offset = together ? offset : draw_offset();
}

void
draw_cores_with_offsets(void)
{
	draw_cores();
	draw_core_offsets();
}

void
draw_sockets(void)
{
	size_t packages = (size_t)draw_between(2, 4), odd;
	bool all_differ = draw_chance(30);
	int64_t offset = draw_offset();

	draw_cores();
	machine.cores = machine.cores < 2 * packages ? 2 * packages : machine.cores;
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].microhz = machine.core[0].microhz;
	draw_packages(packages);
	odd = draw_below(packages);
	for (size_t i = 0; i < machine.cores; i++) {
		size_t package = machine.core[i].apic_id >> machine.package_bits;

		machine.core[i].offset = all_differ ? offset * (int64_t)package : package == odd ? offset : 0;
	}
}

static int64_t
draw_drift_ppb(void)
{
	return draw_signed(draw_log_uniform(20, 100000));
}

void
draw_drifting_core(void)
{
	draw_cores();
	machine.core[draw_below(machine.cores)].microhz = draw_drifting_rate_microhz(draw_drift_ppb());
}

static void
draw_tsc_step(size_t core, enum when moment)
{
	machine.core[core].when = moment;
	machine.core[core].batch = 1 + draw_below(machine.cores + machine.cores / 2);
	machine.core[core].step = draw_offset();
}

void
draw_tsc_step_in_first_pass(void)
{
	draw_cores();
	draw_tsc_step(draw_core_number(), WHEN_FIRST);
}

void
draw_tsc_step_of_boot_core(void)
{
	draw_cores();
	machine.is_star = draw_chance(25);
	draw_tsc_step(0, WHEN_FIRST);
}

void
draw_tsc_step_between_passes(void)
{
	draw_cores();
	draw_tsc_step(draw_below(machine.cores), WHEN_BETWEEN);
}

void
draw_tsc_step_in_last_pass(void)
{
	draw_cores();
	draw_tsc_step(draw_below(machine.cores), WHEN_LAST);
}

/* Draws a fault of one core. The boot core never has the fault, because its TSC times all measurements. */
void
draw_far_tsc_step(void)
{
	static const enum when passes[] = { WHEN_FIRST, WHEN_BETWEEN, WHEN_LAST };
	size_t core;

	draw_cores();
	core = draw_core_number();
	draw_tsc_step(core, passes[draw_below(3)]);
	machine.core[core].step = draw_signed((uint64_t)(machine.hz[TSC] / 1000 * draw_log_uniform(10, 20000)));
}

/* TSC_ADJUST of the core that reads it. */
static bool
read_tsc_adjust(uint32_t msr, uint64_t *value)
{
	if (msr == MSR_TSC_ADJUST)
		*value = (uint64_t)machine.core[sim.core].adjust;
	return msr == MSR_TSC_ADJUST;
}

/*
 * Packages may be reset at different times, so their values of TSC_ADJUST may differ although all TSCs are in step.
 * Within a package, one written core has another value.
 */
void
draw_tsc_adjust_of_packages(void)
{
	size_t packages = (size_t)draw_between(1, 4);
	int64_t of_package[4], odd = draw_offset();

	for (size_t i = 0; i < packages; i++)
		of_package[i] = draw_chance(50) ? 0 : draw_signed(draw_log_uniform(1, UINT64_C(1) << 40));
	draw_cores();
	machine.cores = machine.cores < 2 * packages ? 2 * packages : machine.cores;
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].microhz = machine.core[0].microhz;
	draw_packages(packages);
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].adjust = of_package[machine.core[i].apic_id >> machine.package_bits];
	if (draw_chance(50)) {
		machine.adjusted_core = draw_below(machine.cores);
		machine.core[machine.adjusted_core].adjust += odd;
	}
	sim.read_msr = read_tsc_adjust;
}

static void
draw_fault_ticks(uint64_t *ticks)
{
	draw_cores();
	machine.fault_core = draw_core_number();
	machine.fault_reads = draw_log_uniform(20, 1000);
	*ticks = draw_log_uniform(1000, 1000000);
}

void
draw_core_set_back(void)
{
	draw_fault_ticks(&machine.set_back_ticks);
}

void
draw_core_ahead(void)
{
	draw_fault_ticks(&machine.ahead_ticks);
}

void
draw_core_groups(void)
{
	size_t groups = (size_t)draw_between(2, 4);
	uint64_t microhz[4];

	draw_cores();
	for (size_t i = 0; i < groups; i++)
		microhz[i] = draw_drifting_rate_microhz(i ? draw_drift_ppb() : 0);
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].microhz = microhz[i % groups];
}

void
draw_two_halves_of_cores(void)
{
	int64_t offset = draw_offset();

	draw_cores();
	machine.is_star = draw_chance(60);
	machine.cores -= machine.cores > 2 && machine.cores % 2;
	if (draw_chance(30))
		draw_host_processors();
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].offset = i % 2 ? offset : 0;
}

void
draw_far_offset(void)
{
	draw_cores();
	machine.core[draw_core_number()].offset = draw_signed(draw_log_uniform(1000000000, UINT64_C(50000000000)));
}

void
draw_coarse_tsc(void)
{
	bool each = draw_chance(50);

	draw_cores();
	machine.step_before_offset = false;
	machine.step_1024 = draw_chance(50) ? 1024 * (uint64_t)draw_between(2, 36) : draw_log_uniform(2048, 36 * 1024);
	machine.message_ps = 0;
	for (size_t i = 0; i < machine.cores && each; i++)
		machine.core[i].offset = draw_between(0, 50);
	if (!each)
		draw_core_offsets();
}

void
draw_busy_host(void)
{
	machine.is_guest = true;
	draw_cores();
	draw_host_processors();
	if (draw_chance(50))
		draw_core_offsets();
}
