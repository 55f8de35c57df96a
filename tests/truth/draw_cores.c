/* The cores of a machine. See draw_machine.h. */
#include <math.h>

#include "draw.h"
#include "draw_machine.h"

#define MICRO 1000000

void
draw_cores(void)
{
	draw_clocks();
	machine.has[PIT] = machine.has[RTC] = false;
	machine.cores = (size_t)draw_between(2, 3) + (draw_chance(60) ? draw_below(6) : draw_below(14));
	machine.cores = machine.cores > CORES_MAX ? CORES_MAX : machine.cores;
	machine.step_before_offset = true;
	if (!draw_chance(30))
		machine.step_1024 = 1024;
	machine.wake_ps = draw_log_uniform(10 * SIM_PS_PER_US, 30 * SIM_PS_PER_MS);
	machine.message_ps = draw_chance(50) ? draw_log_uniform(5, 200) * SIM_PS_PER_NS : 0;
	/*
	 * a longer pause lets a waiting core poll a few times instead of about a hundred times; the simulation is then
	 * faster
	 */
	sim.cost_ps[SIM_PAUSE] += machine.message_ps;
	if (machine.preempt_every)
		/* preempt_every was drawn for the accesses of one core, but now several cores make accesses */
		machine.preempt_every *= 5;
	draw_rates();
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].microhz = draw_drifting_rate_microhz(0);
}

uint64_t
draw_drifting_rate_microhz(int64_t ppb)
{
	return (uint64_t)llroundl(machine.hz[TSC] * (1 + ppb / 1e9L) * MICRO);
}

void
draw_host_processors(void)
{
	machine.processors = 1 + draw_below(machine.cores > 3 ? 2 : 1);
	machine.slice_ps = draw_log_uniform(100, 5000) * SIM_PS_PER_US;
}

int64_t
draw_offset(void)
{
	return draw_signed(draw_log_uniform(10, 10000000));
}

void
draw_packages(size_t count)
{
	size_t each = machine.cores / count;

	machine.cores = each * count;
	for (size_t i = 0; i < machine.cores; i++)
		machine.core[i].apic_id = (uint32_t)(i / each << machine.package_bits | i % each);
}

size_t
draw_core_number(void)
{
	return 1 + draw_below(machine.cores - 1);
}
