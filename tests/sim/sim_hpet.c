/* The HPET and the PM timer of the simulated machine: two counters and little else. */
#include "sim_internal.h"

#define CAPABILITY    0x000u
#define CONFIGURATION 0x010u
#define MAIN_COUNTER  0x0f0u
#define TIMER_0       0x100u
#define COMPARATOR_0  0x108u
#define TIMER_SIZE    0x020u
#define ENABLE_CNF    UINT64_C(1)
#define TN_INT_ENB    UINT64_C(4)
#define SIZE_CAP      (UINT64_C(1) << 13)
#define FS_PER_S      UINT64_C(1000000000000000)
#define FS_PER_PS     1000u

/* Revision 1, 3 comparators, 64 bits, legacy replacement possible, vendor 8086h. */
#define CAPABILITY_LOW UINT64_C(0x8086a201)

void
sim_hpet_reset(void)
{
	sim.hpet.capability = (uint64_t)SIM_HPET_PERIOD_FS << 32 | CAPABILITY_LOW;
	sim_counter_reset(&sim.hpet.counter, (struct rate){ FS_PER_S, SIM_HPET_PERIOD_FS }, 64);
}

/* How long ago the low half of TICKS rolled over. */
static uint64_t
rolled_over_ps(uint64_t ticks)
{
	return (uint32_t)ticks * (sim.hpet.capability >> 32) / FS_PER_PS;
}

static uint64_t
hpet_count(void)
{
	uint64_t ticks = sim.hpet.counter.origin_ticks;

	bool runs = (sim.hpet.configuration & ENABLE_CNF) || sim.hpet.counts_when_off;

	if (runs && !sim.hpet.dead)
		ticks = sim_counter_ticks(&sim.hpet.counter);
	if (ticks >> 32 && rolled_over_ps(ticks) < sim.hpet.high_late_ps)
		ticks -= UINT64_C(1) << 32;
	return sim.hpet.capability & SIZE_CAP ? ticks : (uint32_t)ticks;
}

/* The configuration register at OFFSET; NULL: there is none. */
static uint64_t *
timer_at(uint64_t offset)
{
	size_t number = (offset - TIMER_0) / TIMER_SIZE;

	if (offset < TIMER_0 || offset % TIMER_SIZE || number >= SIM_HPET_TIMERS)
		return NULL;
	return &sim.hpet.timers[number];
}

/* What real hardware would do then: interrupt. */
static void
count_armed(void)
{
	bool armed = false;

	for (size_t i = 0; i < SIM_HPET_TIMERS; i++)
		armed |= (sim.hpet.timers[i] & TN_INT_ENB) != 0;
	sim.hpet.armed_while_on += armed && (sim.hpet.configuration & ENABLE_CNF);
}

uint64_t
sim_hpet_read(uint64_t address, unsigned width_bytes)
{
	uint64_t offset = (address - SIM_HPET_BASE) & ~UINT64_C(7), value = 0;

	sim_advance_ps(sim.hpet.counter.extra_ps);
	if (sim.hpet.absent)
		return UINT64_MAX;
	if (offset == CAPABILITY)
		value = sim.hpet.capability;
	else if (offset == CONFIGURATION)
		value = sim.hpet.configuration;
	else if (offset == MAIN_COUNTER)
		value = hpet_count();
	else if (timer_at(offset))
		value = *timer_at(offset);
	else if (offset == COMPARATOR_0 && sim.interrupts.plugged)
		value = sim_interrupts_comparator();
	return width_bytes == 4 && (address & 4) ? value >> 32 : value;
}

static void
configure(uint64_t value)
{
	uint64_t ticks = hpet_count();

	sim.hpet.configuration_writes++;
	if ((value ^ sim.hpet.configuration) & ENABLE_CNF)
		sim_counter_set(&sim.hpet.counter, sim.hpet.loses_value && !(value & ENABLE_CNF) ? 0 : ticks);
	sim.hpet.configuration = value;
}

static void
configure_timer(uint64_t *timer, bool upper, uint64_t value)
{
	uint64_t before = *timer;

	if (upper)
		return; /* it is not to be written */
	*timer = (before & ~UINT64_C(0xffffffff)) | (uint32_t)value;
	if (timer == &sim.hpet.timers[0] && sim.interrupts.plugged)
		sim_interrupts_hpet_configured(before, *timer);
}

void
sim_hpet_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	uint64_t offset = (address - SIM_HPET_BASE) & ~UINT64_C(7), whole = value;

	if (sim.hpet.absent)
		return;
	if (width_bytes == 4 && (address & 4))
		whole = (uint32_t)sim.hpet.configuration | value << 32;
	else if (width_bytes == 4)
		whole = (sim.hpet.configuration & ~UINT64_C(0xffffffff)) | (uint32_t)value;
	if (offset == CONFIGURATION)
		configure(whole);
	else if (offset == MAIN_COUNTER)
		sim.hpet.counter_writes++;
	else if (timer_at(offset))
		configure_timer(timer_at(offset), width_bytes == 4 && (address & 4), value);
	else if (offset == COMPARATOR_0 && sim.interrupts.plugged && !(address & 4))
		sim_interrupts_comparator_write(value);
	count_armed();
}

void
sim_hpet_tick(void)
{
	uint64_t ticks = hpet_count();

	if (!(sim.hpet.configuration & ENABLE_CNF) || !(sim.hpet.timers[0] & TN_INT_ENB) ||
	    sim.now_ps - sim.hpet.ticked_ps < sim.hpet.tick_ps)
		return;
	sim_advance_ps(sim.hpet.tick_stop_ps);
	sim_counter_set(&sim.hpet.counter, ticks);
	sim.hpet.ticked_ps = sim.now_ps;
	sim.hpet.ticks++;
}

/* The PM timer. */

void
sim_pm_reset(void)
{
	sim_counter_reset(&sim.pm.counter, (struct rate){ 3579545, 1 }, 24);
	sim.pm.address = SIM_PM_PORT;
}

bool
sim_pm_answers(uint64_t address, bool is_memory)
{
	return !sim.pm.absent && sim.pm.is_memory == is_memory && sim.pm.address == address;
}

/*
 * A ripple counter that is not latched: just after an edge, what falls has fallen and what rises
 * is still 0.
 */
static uint64_t
glitched(uint64_t ticks)
{
	uint64_t now_ps = sim.now_ps, before;

	if (now_ps < sim.pm.glitch_ps)
		return ticks;
	sim.now_ps -= sim.pm.glitch_ps;
	before = sim_counter_ticks(&sim.pm.counter);
	sim.now_ps = now_ps;
	return before & ticks;
}

uint32_t
sim_pm_read(void)
{
	sim_advance_ps(sim.pm.counter.extra_ps);
	uint64_t ticks = sim_counter_ticks(&sim.pm.counter);

	return (uint32_t)(sim.pm.glitch_ps ? glitched(ticks) : ticks) | sim.pm.high_bits;
}
