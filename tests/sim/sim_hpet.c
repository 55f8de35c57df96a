/* The HPET and the PM timer of the simulated machine. */
#include "sim_internal.h"

#define CAPABILITY    0x000u
#define CONFIGURATION 0x010u
#define MAIN_COUNTER  0x0f0u
#define TIMER_0       0x100u
#define TIMER_SIZE    0x020u
#define TN_CONFIGURATION 0x00u
#define TN_COMPARATOR    0x08u
#define TN_MESSAGE       0x10u
#define ENABLE_CNF    UINT64_C(1)
#define TN_INT_ENB    UINT64_C(4)
#define TN_WRITABLE   UINT64_C(0x7f4e) /* bits of a timer's configuration that software may write: IA-PC HPET 2.3.8 */
#define SIZE_CAP      (UINT64_C(1) << 13)
#define FS_PER_S      UINT64_C(1000000000000000)
#define FS_PER_PS     1000u

/* Low half of the capability register: revision 1, 3 comparators, 64 bits, legacy replacement, vendor 8086h. */
#define CAPABILITY_LOW UINT64_C(0x8086a201)

void
sim_hpet_reset(void)
{
	sim.hpet.capability = (uint64_t)SIM_HPET_PERIOD_FS << 32 | CAPABILITY_LOW;
	sim_counter_reset(&sim.hpet.counter, (struct rate){ FS_PER_S, SIM_HPET_PERIOD_FS }, 64);
}

/* Returns the time since the low 32 bits of TICKS became 0. */
static uint64_t
get_time_since_rollover_ps(uint64_t ticks)
{
	return (uint32_t)ticks * (sim.hpet.capability >> 32) / FS_PER_PS;
}

static uint64_t
get_hpet_count(void)
{
	uint64_t ticks = sim.hpet.counter.origin_ticks;

	bool runs = (sim.hpet.configuration & ENABLE_CNF) || sim.hpet.counts_when_off;

	if (runs && !sim.hpet.dead)
		ticks = sim_counter_get_ticks(&sim.hpet.counter);
	if (ticks >> 32 && get_time_since_rollover_ps(ticks) < sim.hpet.high_late_ps)
		ticks -= UINT64_C(1) << 32;
	return sim.hpet.capability & SIZE_CAP ? ticks : (uint32_t)ticks;
}

/*
 * Returns true if OFFSET is the register WHICH (for example the comparator) of any timer, and stores the timer's number
 * in N.
 */
static bool
is_timer_register(uint64_t offset, unsigned which, size_t *n)
{
	*n = (offset - TIMER_0) / TIMER_SIZE;
	return offset >= TIMER_0 && offset % TIMER_SIZE == which && *n < SIM_HPET_TIMERS;
}

/* Counts writes after which the counter runs with a timer's interrupt enabled. Real hardware would interrupt then. */
static void
count_write_if_timer_could_interrupt(void)
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
	size_t n;

	sim_advance_ps(sim.hpet.counter.extra_ps);
	if (sim.hpet.absent)
		return UINT64_MAX;
	if (offset == CAPABILITY)
		value = sim.hpet.capability;
	else if (offset == CONFIGURATION)
		value = sim.hpet.configuration;
	else if (offset == MAIN_COUNTER)
		value = get_hpet_count();
	else if (is_timer_register(offset, TN_CONFIGURATION, &n))
		value = sim.hpet.timers[n];
	else if (is_timer_register(offset, TN_COMPARATOR, &n) && sim.interrupts.plugged)
		value = sim_interrupts_get_comparator(n);
	else if (is_timer_register(offset, TN_MESSAGE, &n) && sim.interrupts.plugged)
		value = *sim_interrupts_get_fsb_message(n);
	return width_bytes == 4 && (address & 4) ? value >> 32 : value;
}

static void
write_configuration(uint64_t value)
{
	uint64_t ticks = get_hpet_count();

	sim.hpet.configuration_writes++;
	if ((value ^ sim.hpet.configuration) & ENABLE_CNF)
		sim_counter_set(&sim.hpet.counter, sim.hpet.loses_value && !(value & ENABLE_CNF) ? 0 : ticks);
	sim.hpet.configuration = value;
}

static void
write_timer_configuration(size_t n, bool upper, uint64_t value)
{
	uint64_t before = sim.hpet.timers[n];

	if (upper)
		return; /* software cannot write the upper half of a timer's configuration */
	sim.hpet.timers[n] = (before & ~TN_WRITABLE) | (value & TN_WRITABLE);
	if (sim.interrupts.plugged)
		sim_interrupts_handle_hpet_configuration(n, before, sim.hpet.timers[n]);
}

static void
write_fsb_message(size_t n, bool upper, uint64_t value)
{
	uint64_t *message = sim_interrupts_get_fsb_message(n);
	unsigned shift = upper ? 32 : 0;

	*message = (*message & ~(UINT64_C(0xffffffff) << shift)) | (value & UINT32_MAX) << shift;
}

void
sim_hpet_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	uint64_t offset = (address - SIM_HPET_BASE) & ~UINT64_C(7), whole = value;
	bool upper = width_bytes == 4 && (address & 4);
	size_t n;

	if (sim.hpet.absent)
		return;
	if (upper)
		whole = (uint32_t)sim.hpet.configuration | value << 32;
	else if (width_bytes == 4)
		whole = (sim.hpet.configuration & ~UINT64_C(0xffffffff)) | (uint32_t)value;
	if (offset == CONFIGURATION)
		write_configuration(whole);
	else if (offset == MAIN_COUNTER)
		sim.hpet.counter_writes++;
	else if (is_timer_register(offset, TN_CONFIGURATION, &n))
		write_timer_configuration(n, upper, value);
	else if (is_timer_register(offset, TN_COMPARATOR, &n) && sim.interrupts.plugged && !upper)
		sim_interrupts_write_comparator(n, value);
	else if (is_timer_register(offset, TN_MESSAGE, &n) && sim.interrupts.plugged)
		write_fsb_message(n, upper, value);
	count_write_if_timer_could_interrupt();
}

void
sim_hpet_handle_tick(void)
{
	uint64_t ticks = get_hpet_count();

	if (!(sim.hpet.configuration & ENABLE_CNF) || !(sim.hpet.timers[0] & TN_INT_ENB) ||
	    sim.now_ps - sim.hpet.ticked_ps < sim.hpet.tick_ps)
		return;
	sim_advance_ps(sim.hpet.tick_stop_ps);
	sim_counter_set(&sim.hpet.counter, ticks);
	sim.hpet.ticked_ps = sim.now_ps;
	sim.hpet.ticks++;
}


void
sim_pm_reset(void)
{
	sim_counter_reset(&sim.pm.counter, (struct rate){ 3579545, 1 }, 24);
	sim.pm.address = SIM_PM_PORT;
}

bool
sim_pm_is_at(uint64_t address, bool is_memory)
{
	return !sim.pm.absent && sim.pm.is_memory == is_memory && sim.pm.address == address;
}

/*
 * Returns a reading of a ripple counter without a latch. Just after a tick, bits that fall already read 0, but bits
 * that rise do not read 1 yet.
 */
static uint64_t
apply_ripple_error(uint64_t ticks)
{
	uint64_t now_ps = sim.now_ps, before;

	if (now_ps < sim.pm.glitch_ps)
		return ticks;
	sim.now_ps -= sim.pm.glitch_ps;
	before = sim_counter_get_ticks(&sim.pm.counter);
	sim.now_ps = now_ps;
	return before & ticks;
}

uint32_t
sim_pm_read(void)
{
	sim_advance_ps(sim.pm.counter.extra_ps);
	uint64_t ticks = sim_counter_get_ticks(&sim.pm.counter);

	return (uint32_t)(sim.pm.glitch_ps ? apply_ripple_error(ticks) : ticks) | sim.pm.high_bits;
}
