/*
 * The interrupts of the simulated machine: the time at which each interrupt leaves its source, the source's faults,
 * and a core that records interrupts like boot/interrupts. See sim_interrupts.h. The devices are in sim_sources.c.
 */
#include "sim_interrupts.h"

#include <string.h>

#include "sim_internal.h"
#include "sim_sources.h"

#define STORM_PS  (200 * SIM_PS_PER_NS)
/* first step of the search for the time of a deadline; each further step is twice as long */
#define SEARCH_FIRST_PS   SIM_PS_PER_US
#define SEARCH_MAX_PS    (1000 * SIM_PS_PER_S) /* largest step of the search for the time of a deadline */
#define MILLION   1000000

static struct sim_interrupts *const all = &sim.interrupts;

static enum sim_source
get_timer_source(const struct sim_timer *timer)
{
	return (enum sim_source)(timer - all->timers);
}

/* Marsaglia, Xorshift RNGs (2003), with shifts by 13, 7 and 17. */
static uint64_t
draw_random(void)
{
	all->seed ^= all->seed << 13;
	all->seed ^= all->seed >> 7;
	all->seed ^= all->seed << 17;
	return all->seed;
}

static bool
is_source_due_at(enum sim_source source, uint64_t due, uint64_t at_ps)
{
	uint64_t now_ps = sim.now_ps;
	bool is_due;

	sim.now_ps = at_ps;
	is_due = (int64_t)(sim_source_get_count(source) - due) >= 0;
	sim.now_ps = now_ps;
	return is_due;
}

/* Returns the first time from FROM_PS on at which the source's counter has reached DUE, or SIM_NEVER. */
static uint64_t
find_due_time_ps(enum sim_source source, uint64_t due, uint64_t from_ps)
{
	uint64_t low_ps = from_ps, high_ps = from_ps;

	if (is_source_due_at(source, due, from_ps))
		return from_ps;
	for (uint64_t ahead_ps = SEARCH_FIRST_PS; !is_source_due_at(source, due, high_ps); ahead_ps *= 2) {
		if (ahead_ps > SEARCH_MAX_PS)
			return SIM_NEVER;
		low_ps = high_ps;
		high_ps = from_ps + ahead_ps;
	}
	while (high_ps - low_ps > 1) {
		uint64_t middle_ps = low_ps + (high_ps - low_ps) / 2;

		if (is_source_due_at(source, due, middle_ps))
			high_ps = middle_ps;
		else
			low_ps = middle_ps;
	}
	return high_ps;
}

/*
 * Returns the time of the timer's deadline. A timer with a rate error may have its deadline between two ticks of its
 * counter. If each deadline were rounded to a whole tick, tens of periods could have the same wrong length.
 */
static uint64_t
find_deadline_ps(const struct sim_timer *timer, uint64_t from_ps)
{
	enum sim_source source = get_timer_source(timer);
	uint64_t tick = (uint64_t)(timer->due_e6 / MILLION), part = (uint64_t)(timer->due_e6 % MILLION);
	uint64_t tick_ps = find_due_time_ps(source, tick, from_ps);

	if (!part || tick_ps == SIM_NEVER)
		return tick_ps;
	return tick_ps + (find_due_time_ps(source, tick + 1, tick_ps) - tick_ps) * part / MILLION;
}

/*
 * Sets the time at which the timer's interrupt is due, and the time at which the interrupt leaves its source. A timer's
 * faults make its interrupts leave earlier or later.
 */
static void
set_due_time(struct sim_timer *timer, uint64_t from_ps)
{
	bool is_late = timer->late_ps && (!timer->late_one_in || draw_random() % timer->late_one_in == 0);

	timer->due_ps = timer->stands ? SIM_NEVER : find_deadline_ps(timer, from_ps);
	timer->leaves_ps = timer->due_ps;
	if (timer->due_ps == SIM_NEVER)
		return;
	timer->leaves_ps += timer->delay_ps - timer->early_ps;
	if (is_late)
		timer->leaves_ps += timer->late_ps / 2 + draw_random() % timer->late_ps;
}

void
sim_source_arm(enum sim_source source, uint64_t due, uint64_t period)
{
	struct sim_timer *timer = &all->timers[source];

	timer->armed = true;
	timer->waits = false;
	timer->period_e6 = period * (uint64_t)(MILLION - timer->fast_ppm);
	timer->due_e6 = (unsigned __int128)due * MILLION + timer->period_e6 - (unsigned __int128)period * MILLION;
	set_due_time(timer, sim.now_ps);
	all->quiet_until_ps = 0;
}

void
sim_source_disarm(enum sim_source source)
{
	struct sim_timer *timer = &all->timers[source];

	if (timer->survives_disarm && timer->armed && sim.now_ps >= timer->due_ps)
		timer->owed_ps = timer->leaves_ps;
	timer->armed = timer->waits = false;
	all->quiet_until_ps = 0;
}

void
sim_interrupts_stop_for(uint64_t by_ps)
{
	for (size_t i = 0; i < SIM_SOURCES; i++) {
		struct sim_timer *timer = &all->timers[i];

		if (!timer->armed || timer->due_ps == SIM_NEVER || (i >= SIM_RTC_PERIODIC && i <= SIM_RTC_ALARM))
			continue;
		timer->due_ps += by_ps;
		timer->leaves_ps += by_ps;
	}
	all->lapic_armed_ps += by_ps;
}

/*
 * Arms a periodic timer for its next period. The period starts at the last due time. If DELAYED is true, it starts
 * now.
 */
static void
arm_next_period(struct sim_timer *timer, bool delayed)
{
	timer->armed = timer->period_e6 != 0;
	sim_source_advance_comparator(get_timer_source(timer));
	if (delayed)
		timer->due_e6 = (unsigned __int128)sim_source_get_count(get_timer_source(timer)) * MILLION;
	timer->due_e6 += timer->period_e6;
	if (timer->armed)
		set_due_time(timer, delayed ? sim.now_ps : timer->due_ps);
}

static bool
is_interrupt_dropped(const struct sim_timer *timer)
{
	unsigned every = timer->period_e6 ? timer->drop_every : timer->drop_shots_every;

	return timer->never || (every && timer->sent % every == 0);
}

/*
 * Makes the timer's interrupt pending until the core accepts interrupts. The local APIC holds one pending interrupt.
 * With SIM_CATCH_UP the source counts all pending interrupts, and sends them when the core accepts interrupts.
 */
static void
make_interrupt_pending(struct sim_timer *timer)
{
	unsigned count = timer->double_every && timer->sent % timer->double_every == 0 ? 2 : 1;

	timer->doubled += count - 1;
	timer->last_due_ps = timer->due_ps;
	timer->lost += timer->pending && timer->policy != SIM_CATCH_UP;
	timer->pending = timer->policy == SIM_CATCH_UP ? timer->pending + count : timer->pending ? timer->pending : count;
}

static void
send_interrupt(struct sim_timer *timer)
{
	bool dropped, reaches;

	timer->sent++;
	timer->came++;
	dropped = is_interrupt_dropped(timer);
	timer->dropped += dropped;
	reaches = !dropped && (sim_source_try_raise_irq(get_timer_source(timer)) || timer->policy == SIM_CATCH_UP) &&
		  sim_source_get_vector(get_timer_source(timer));
	if (reaches)
		make_interrupt_pending(timer);
	if (timer->storms) {
		timer->leaves_ps = sim.now_ps + STORM_PS;
		return;
	}
	/* With SIM_DELAY, the next period starts only when the core accepts this interrupt. */
	if (timer->policy == SIM_DELAY && timer->period_e6 && !all->open && reaches) {
		timer->armed = false;
		timer->waits = true;
		return;
	}
	arm_next_period(timer, false);
}

static void
call_taken_hook(const struct sim_timer *timer, uint64_t read_ps)
{
	if (timer && all->taken)
		all->taken(&(struct sim_taken){ get_timer_source(timer), timer->period_e6 != 0, timer->last_due_ps,
						read_ps });
}

/*
 * Records an interrupt like the recorder in boot/: enters the handler, reads the tested counter, and reads the TSC.
 * TIMER is NULL for an interrupt that the core sent to itself.
 */
static void
record_interrupt(uint32_t vector, const struct sim_timer *timer)
{
	struct timer_slot *slot = &all->slot;
	struct timer_event event = { 0, 0 };
	uint64_t read_ps = 0;

	all->in_handler = true;
	sim_advance_ps(all->entry_ps);
	if (vector != SIM_TIMER_VECTOR) {
		slot->strays++;
		all->in_handler = false;
		return;
	}
	if (slot->counter_address) {
		event.count = hw_read32(slot->counter_address);
		read_ps = sim.now_ps;
	}
	event.tsc = hw_tsc_lfence();
	call_taken_hook(timer, read_ps ? read_ps : sim.now_ps);
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
deliver_interrupt(struct sim_timer *timer)
{
	enum sim_source source = get_timer_source(timer);
	uint32_t vector = sim_source_get_vector(source);

	timer->pending--;
	if (timer->waits) {
		timer->waits = false;
		arm_next_period(timer, true);
	}
	if (vector) {
		sim_source_handle_delivery(source);
		record_interrupt(vector, timer);
	}
	if (vector && sim_source_is_status_set(source))
		timer->pending++;
}

static void
record_self_ipi(void)
{
	uint32_t vector = all->self;

	all->self = 0;
	record_interrupt(vector, NULL);
}

/*
 * Returns true while the host is busy. During this time the core continues to run, but no interrupt leaves its source.
 * Afterwards each source sends one pending interrupt.
 */
static bool
is_host_busy(void)
{
	uint64_t turn, begin_ps;

	if (!all->busy_every_ps)
		return false;
	turn = sim.now_ps / all->busy_every_ps;
	begin_ps = (turn + all->seed) * UINT64_C(0x9e3779b97f4a7c15) % (all->busy_every_ps - all->busy_ps);
	return sim.now_ps % all->busy_every_ps - begin_ps < all->busy_ps;
}

/*
 * Returns the earliest time at which any source sends an interrupt or changes its state. Arming or disarming a source
 * makes the result invalid. Returns 0 if an interrupt is pending.
 */
static uint64_t
get_next_event_ps(void)
{
	uint64_t until_ps = SIM_NEVER;

	for (size_t i = 0; i < SIM_SOURCES; i++) {
		const struct sim_timer *timer = &all->timers[i];

		if (timer->pending)
			return 0;
		if (timer->armed && timer->leaves_ps < until_ps)
			until_ps = timer->leaves_ps;
		if (timer->owed_ps && timer->owed_ps < until_ps)
			until_ps = timer->owed_ps;
	}
	return until_ps;
}

void
sim_interrupts_deliver_due(void)
{
	if (all->self && all->open && !all->in_handler)
		record_self_ipi();
	if (!all->in_window || all->in_handler || sim.now_ps < all->quiet_until_ps)
		return;
	for (size_t i = 0; i < SIM_SOURCES && all->in_window && !all->in_handler; i++) {
		struct sim_timer *timer = &all->timers[i];

		while (timer->armed && sim.now_ps >= timer->leaves_ps && !is_host_busy())
			send_interrupt(timer);
		if (timer->owed_ps && sim.now_ps >= timer->owed_ps) {
			timer->owed_ps = 0;
			timer->pending++;
		}
		while (timer->pending && all->open)
			deliver_interrupt(timer);
	}
	all->quiet_until_ps = get_next_event_ps();
}

void
sim_interrupts_send_self_ipi(uint32_t vector)
{
	all->self = vector;
}

/*
 * Functions of struct timer_window. They run code with interrupts masked. The core accepts interrupts only where the
 * code asks for them, and at the end.
 */

static const char *
run_interrupt_window(void (*work)(void *argument), void (*after)(void *argument), void *argument)
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
enable_interrupts(void)
{
	all->open = true;
	sim_interrupts_deliver_due();
}

static void
disable_interrupts(void)
{
	sim_interrupts_deliver_due();
	all->open = false;
}

struct timer_window
sim_interrupts_make_window(void)
{
	return (struct timer_window){
		.slot = &all->slot, .vector = SIM_TIMER_VECTOR,
		.run = run_interrupt_window, .run_on_core = run_interrupt_window,
		.open = enable_interrupts,
		.close = disable_interrupts,
	};
}

void
sim_interrupts_add_controllers(void)
{
	memset(all, 0, sizeof(*all));
	all->plugged = true;
	all->seed = 1;
	all->lapic_hz = 100000000;
	all->entry_ps = 500 * SIM_PS_PER_NS;
	sim_ioapic_reset();
	sim.pic_mask[0] = sim.pic_mask[1] = 0xff;
	sim.lapic.registers[SIM_LINT0] = SIM_LINT0_EXTINT;
	sim_interrupts_offer_timers();
	sim_map_region((struct sim_region){ SIM_IOAPIC_BASE, 4096, sim_ioapic_read, sim_ioapic_write });
}
