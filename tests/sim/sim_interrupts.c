/*
 * The interrupts of the simulated machine: the local APIC's timer, the HPET's comparator 0, the I/O APIC's entries,
 * and a core that takes what comes by them into a recorder's slot, as boot/interrupts does. See sim_interrupts.h.
 */
#include "sim_interrupts.h"

#include <string.h>

#include "sim_internal.h"

#define IOAPIC_SELECT   0x00u
#define IOAPIC_WINDOW   0x10u
#define IOAPIC_VERSION  1u
#define IOAPIC_ENTRY    0x10u
#define ENTRY_MASKED    (UINT64_C(1) << 16)
#define LVT_MASKED      (1u << 16)
#define LVT_MODE        (3u << 17)
#define LVT_PERIODIC    (1u << 17)
#define LVT_DEADLINE    (2u << 17)
#define HPET_PER_INT_CAP UINT64_C(0x10)
#define HPET_SIZE_CAP   UINT64_C(0x20)
#define HPET_TYPE_CNF   UINT64_C(0x08)
#define HPET_INT_ENB    UINT64_C(0x04)
#define HPET_VAL_SET    UINT64_C(0x40)
#define HPET_ROUTES     (UINT64_C(0x00f00000) << 32) /* pins 20 to 23, as QEMU's and many chip sets' */
#define STORM_PS        (200 * SIM_PS_PER_NS)

static struct sim_interrupts *const all = &sim.interrupts;

/* Marsaglia, Xorshift RNGs (2003): 13, 7, 17. */
static uint64_t
draw(void)
{
	all->seed ^= all->seed << 13;
	all->seed ^= all->seed >> 7;
	all->seed ^= all->seed << 17;
	return all->seed;
}

/* When its interrupt leaves it: not only when it is due. */
static void
set_leaves(struct sim_timer *timer)
{
	timer->leaves_ps = timer->due_ps - timer->early_ps;
	if (timer->late_ps)
		timer->leaves_ps += timer->late_ps / 2 + draw() % timer->late_ps;
}

static void
arm(struct sim_timer *timer, uint64_t due_ps, uint64_t period_ps)
{
	timer->armed = true;
	timer->pending = 0;
	timer->due_ps = due_ps;
	timer->period_ps = (uint64_t)((__int128)period_ps * (1000000 - timer->fast_ppm) / 1000000);
	if (period_ps)
		timer->due_ps = due_ps - period_ps + timer->period_ps;
	set_leaves(timer);
}

static void
go_on(struct sim_timer *timer, uint64_t due_ps)
{
	timer->armed = timer->period_ps != 0;
	timer->due_ps = timer->armed ? due_ps : timer->due_ps;
	set_leaves(timer);
}

static void
leave(struct sim_timer *timer)
{
	unsigned drop_every = timer->period_ps ? timer->drop_every : timer->drop_shots_every;
	bool dropped = timer->never || (drop_every && ++timer->sent % drop_every == 0);
	unsigned count = timer->double_every && ++timer->sent % timer->double_every == 0 ? 2 : 1;

	if (timer->storms) {
		timer->leaves_ps = sim.now_ps + STORM_PS;
		timer->pending = 1;
		return;
	}
	if (!dropped && timer->policy == SIM_CATCH_UP)
		timer->pending += count;
	else if (!dropped)
		timer->pending = timer->pending ? timer->pending : count;
	/* The next is counted from when this one is taken, where that is much later. */
	if (timer->policy == SIM_DELAY && timer->period_ps && !all->open && !dropped) {
		timer->armed = false;
		timer->waits = true;
		return;
	}
	go_on(timer, timer->due_ps + timer->period_ps);
}

static uint32_t
route_of(const struct sim_timer *timer)
{
	uint32_t lvt = sim.lapic.registers[0x32];
	uint64_t entry;

	if (timer == &all->lapic)
		return lvt & LVT_MASKED ? 0 : lvt & 0xff;
	entry = all->entries[((sim.hpet.timers[0] >> 9 & 0x1f) ^ (all->wrong_pin ? 1 : 0)) % SIM_IOAPIC_PINS];
	return entry & ENTRY_MASKED ? 0 : entry & 0xff;
}

/* What the recorder does: its way in, the counter, the TSC. */
static void
take(uint32_t vector)
{
	struct timer_slot *slot = &all->slot;
	struct timer_event event = { 0, 0 };

	all->in_handler = true;
	sim_advance_ps(all->entry_ps);
	if (vector != SIM_TIMER_VECTOR) {
		slot->strays++;
		all->in_handler = false;
		return;
	}
	if (slot->counter_address)
		event.count = hw_read32(slot->counter_address);
	event.tsc = hw_tsc_lfence();
	if (slot->taken < slot->space)
		slot->events[slot->taken] = event;
	else
		all->open = false;
	slot->taken++;
	if (slot->acknowledge)
		slot->acknowledge(slot->timer);
	all->in_handler = false;
}

static void
deliver(struct sim_timer *timer)
{
	uint32_t vector;

	if (!timer->pending || !all->open)
		return;
	vector = route_of(timer);
	timer->pending--;
	if (timer->waits) {
		timer->waits = false;
		go_on(timer, sim.now_ps + timer->period_ps);
	}
	if (vector)
		take(vector);
}

void
sim_interrupts_poll(void)
{
	struct sim_timer *timers[] = { &all->lapic, &all->hpet };

	if (all->self && all->open && !all->in_handler) {
		uint32_t vector = all->self;

		all->self = 0;
		take(vector);
	}
	for (size_t i = 0; i < 2 && all->in_window && !all->in_handler; i++) {
		while (timers[i]->armed && sim.now_ps >= timers[i]->leaves_ps)
			leave(timers[i]);
		while (timers[i]->pending && all->open)
			deliver(timers[i]);
	}
}

/* The local APIC's timer. */

static uint64_t
lapic_ps(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * SIM_PS_PER_S / all->lapic_hz);
}

void
sim_interrupts_lapic_written(unsigned number)
{
	uint32_t lvt = sim.lapic.registers[0x32], count = sim.lapic.registers[0x38];

	if (number != 0x38 || (lvt & LVT_MODE) == LVT_DEADLINE)
		return;
	if (!count)
		all->lapic.armed = false;
	else
		arm(&all->lapic, sim.now_ps + lapic_ps(count), lvt & LVT_PERIODIC ? lapic_ps(count) : 0);
}

uint32_t
sim_interrupts_lapic_left(void)
{
	if (!all->lapic.armed || sim.now_ps >= all->lapic.due_ps || !sim.lapic.registers[0x38])
		return 0;
	return (uint32_t)((unsigned __int128)(all->lapic.due_ps - sim.now_ps) * all->lapic_hz / SIM_PS_PER_S);
}

void
sim_interrupts_self(uint32_t vector)
{
	all->self = vector;
}

/* The HPET's comparator 0. */

static uint64_t
hpet_ps(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * SIM_PS_PER_S * sim.hpet.counter.hz.den / sim.hpet.counter.hz.num);
}

/* When the counter is the comparator's value, be it behind a wrap. */
static void
hpet_arm(void)
{
	uint32_t left = (uint32_t)all->comparator - (uint32_t)sim_counter_ticks(&sim.hpet.counter);
	bool periodic = (sim.hpet.timers[0] & HPET_TYPE_CNF) && all->hpet_period;
	uint64_t edge_ps = sim.now_ps - (sim.now_ps - sim.hpet.counter.origin_ps) % hpet_ps(1);

	if ((int32_t)left < 0 && all->hpet.stale) {
		arm(&all->hpet, sim.now_ps, 0);
		return;
	}
	arm(&all->hpet, edge_ps + hpet_ps(left), periodic ? hpet_ps(all->hpet_period) : 0);
}

void
sim_interrupts_hpet_configured(uint64_t before, uint64_t now)
{
	if (!(now & HPET_INT_ENB))
		all->hpet.armed = false;
	else if (!(before & HPET_INT_ENB))
		hpet_arm();
}

/* 2.3.9: with VAL_SET the value is the comparator's, without the period's where the timer is periodic. */
void
sim_interrupts_comparator_write(uint64_t value)
{
	bool periodic = sim.hpet.timers[0] & HPET_TYPE_CNF;

	if (!periodic || (sim.hpet.timers[0] & HPET_VAL_SET))
		all->comparator = (uint32_t)value;
	else
		all->hpet_period = (uint32_t)value;
	sim.hpet.timers[0] &= ~HPET_VAL_SET;
	if (sim.hpet.timers[0] & HPET_INT_ENB)
		hpet_arm();
}

uint64_t
sim_interrupts_comparator(void)
{
	return all->comparator;
}

/* The I/O APIC. */

static uint64_t
ioapic_read(uint64_t address, unsigned width_bytes)
{
	uint32_t entry = (all->selected - IOAPIC_ENTRY) / 2;

	(void)width_bytes;
	if (address - SIM_IOAPIC_BASE == IOAPIC_SELECT)
		return all->selected;
	if (all->selected == IOAPIC_VERSION)
		return (SIM_IOAPIC_PINS - 1) << 16 | 0x20;
	if (all->selected < IOAPIC_ENTRY || entry >= SIM_IOAPIC_PINS)
		return 0;
	return (uint32_t)(all->entries[entry] >> (all->selected % 2 ? 32 : 0));
}

static void
ioapic_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	uint32_t entry = (all->selected - IOAPIC_ENTRY) / 2, shift = all->selected % 2 ? 32 : 0;

	(void)width_bytes;
	if (address - SIM_IOAPIC_BASE == IOAPIC_SELECT)
		all->selected = (uint32_t)value;
	else if (address - SIM_IOAPIC_BASE == IOAPIC_WINDOW && all->selected >= IOAPIC_ENTRY && entry < SIM_IOAPIC_PINS)
		all->entries[entry] = (all->entries[entry] & ~(UINT64_C(0xffffffff) << shift)) | (value & 0xffffffff) << shift;
}

/* The window. */

static const char *
play(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	uint64_t flags = hw_interrupts_mask(), begin_ps = sim.now_ps;

	all->in_window = true;
	all->open = false;
	work(argument);
	after(argument);
	all->open = true;
	hw_pause();
	all->open = false;
	all->in_window = false;
	hw_interrupts_restore(flags);
	if (sim.now_ps - begin_ps > all->longest_ps)
		all->longest_ps = sim.now_ps - begin_ps;
	return NULL;
}

static void
open_interrupts(void)
{
	all->open = true;
	sim_interrupts_poll();
}

static void
close_interrupts(void)
{
	sim_interrupts_poll();
	all->open = false;
}

struct timer_window
sim_interrupts_window(void)
{
	return (struct timer_window){
		.slot = &all->slot, .vector = SIM_TIMER_VECTOR, .play = play, .play_there = play, .open = open_interrupts,
		.close = close_interrupts,
	};
}

void
sim_interrupts_plug(void)
{
	memset(all, 0, sizeof(*all));
	all->plugged = true;
	all->seed = 1;
	all->lapic_hz = 100000000;
	all->entry_ps = 500 * SIM_PS_PER_NS;
	for (size_t i = 0; i < SIM_IOAPIC_PINS; i++)
		all->entries[i] = ENTRY_MASKED;
	sim.hpet.timers[0] |= HPET_PER_INT_CAP | HPET_SIZE_CAP | HPET_ROUTES;
	sim_map((struct sim_region){ SIM_IOAPIC_BASE, 4096, ioapic_read, ioapic_write });
}
