/* Calculates the true values of the drawn machine at any time. See machine.h. */
#include "machine.h"

#include <string.h>

struct machine machine;

const char *const clock_ids[CLOCKS] = { "tsc", "hpet", "acpi_pm", "pit", "rtc" };

int
find_clock_number(const char *id)
{
	int clock = 0;

	while (clock < CLOCKS && (!id || strcmp(id, clock_ids[clock]) != 0))
		clock++;
	return clock;
}

/* Returns the time AT_PS without the time in which the TSC was stopped. */
static uint64_t
get_tsc_running_time_ps(uint64_t at_ps)
{
	uint64_t running_ps = at_ps;

	for (size_t i = 0; i < machine.stop_count && machine.stops_at_ps[i] < at_ps; i++) {
		uint64_t since_ps = at_ps - machine.stops_at_ps[i];

		running_ps -= since_ps < machine.by_ps ? since_ps : machine.by_ps;
	}
	return running_ps;
}

/* Returns how often the faulty core's TSC had been set back at AT_PS. */
static size_t
count_tsc_set_backs(uint64_t at_ps)
{
	size_t low = 0, high = machine.faults;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (machine.set_back_ps[middle] <= at_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

__int128
machine_get_tsc_before_offset(size_t core, uint64_t at_ps)
{
	const struct core *own = &machine.core[core];
	uint64_t stood_ps = at_ps > own->sleeps_at_ps ? own->stood_ps : 0;
	__int128 ticks = (__int128)(get_tsc_running_time_ps(at_ps) - stood_ps) * own->microhz + machine.tsc_start * TICK;

	if (own->steps_at_ps != SIM_NEVER && at_ps >= own->steps_at_ps)
		ticks += own->step * TICK;
	if (machine.event == EVENT_JUMP && machine.clock == TSC && at_ps >= machine.at_ps)
		ticks += (__int128)machine.by_ps * machine.core[0].microhz;
	if (machine.event == EVENT_BEND && machine.source[TSC] == machine.source[machine.clock] && at_ps > machine.at_ps)
		ticks += (__int128)(at_ps - machine.at_ps) * own->microhz / 1000000 * machine.bend_ppm;
	if (core == machine.fault_core && machine.set_back_ticks)
		ticks -= (__int128)count_tsc_set_backs(at_ps) * machine.set_back_ticks * TICK;
	return ticks - (__int128)machine.back_ticks * TICK;
}

__int128
machine_get_tsc_at(size_t core, uint64_t at_ps)
{
	return machine_get_tsc_before_offset(core, at_ps) + machine.core[core].offset * TICK;
}

long double
machine_get_rate_error_ppb(int clock)
{
	const struct rate *claimed = &machine.claimed[clock];
	long double claim, within, low, high;

	if (!claimed->den)
		return 0;
	claim = (long double)claimed->num / claimed->den;
	within = clock == TSC ? machine.within_hz : 0;
	low = (machine.hz[clock] / (claim - within) - 1) * PPB;
	high = (machine.hz[clock] / (claim + within) - 1) * PPB;
	/* error in ppb against the nearest rate that rounds to the nominal rate */
	return low < 0 ? low : high > 0 ? high : 0;
}

bool
machine_has_broken_clock(int clock)
{
	if (clock == TSC && machine.core[0].steps_at_ps != SIM_NEVER)
		return true;
	if (machine.at_ps == SIM_NEVER)
		return false;
	switch (machine.event) {
	case EVENT_JUMP:
	case EVENT_STUCK:
		return clock == machine.clock;
	case EVENT_BEND:
		return machine.source[clock] == machine.source[machine.clock];
	case EVENT_BACK:
	case EVENT_HALTS:
	case EVENT_TSC_STOP:
		return clock == TSC;
	default:
		return false;
	}
}

bool
machine_core_has_fault(size_t core)
{
	return machine.faults && core == machine.fault_core;
}

bool
machine_does_tsc_step_back(size_t core)
{
	return machine_core_has_fault(core) || (machine.core[core].steps_at_ps != SIM_NEVER && machine.core[core].step < 0) ||
	       (machine.event == EVENT_BACK && machine.at_ps != SIM_NEVER);
}

static bool
is_core_stable(size_t core)
{
	return machine.core[core].steps_at_ps == SIM_NEVER && !machine_core_has_fault(core);
}

static bool
do_cores_have_equal_tscs(size_t a, size_t b)
{
	return machine.core[a].microhz == machine.core[b].microhz && machine.core[a].offset == machine.core[b].offset &&
	       is_core_stable(a) && is_core_stable(b);
}

size_t
machine_find_core_with_equal_tsc(size_t core)
{
	for (size_t i = 0; i < core; i++)
		if (do_cores_have_equal_tscs(i, core))
			return i;
	return core;
}

size_t
machine_count_majority_cores(size_t *class)
{
	size_t counts[CORES_MAX] = { 0 };

	for (size_t i = 0; i < machine.cores; i++)
		counts[machine_find_core_with_equal_tsc(i)]++;
	for (size_t i = 0; i < machine.cores; i++)
		if (counts[i] * 2 > machine.cores) {
			*class = i;
			return counts[i];
		}
	return 0;
}
