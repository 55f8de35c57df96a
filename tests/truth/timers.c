/* The timers of a drawn machine and their interrupts. See timers_truth.h. */
#include "timers_truth.h"

#include <math.h>
#include <string.h>

#include "draw.h"
#include "draw_machine.h"
#include "kinds.h"
#include "sim_guard.h"
#include "verdict.h"

#define NS       SIM_PS_PER_NS
#define US       SIM_PS_PER_US
#define BIT(f)   (1u << FAULT_##f)
#define SHOTS    (BIT(DROPS_SHOTS) | BIT(NEVER) | BIT(DOUBLES) | BIT(EARLY) | BIT(LATE) | BIT(STORMS))
#define PERIODS  (BIT(DROPS) | BIT(RATE))
#define BY_PIN   BIT(WRONG_PIN)

static const struct timer_source sources[] = {
	{ &timer_lapic, SIM_LAPIC, SHOTS | PERIODS | BIT(STANDS), CLOCKS, true },
	{ &timer_deadline, SIM_DEADLINE, SHOTS | BIT(STANDS), TSC, true },
	{ &timer_hpet[0], SIM_HPET_0, SHOTS | PERIODS | BY_PIN | BIT(STALE), HPET, true },
	{ &timer_hpet[1], SIM_HPET_1, SHOTS | PERIODS | BY_PIN, HPET, true },
	{ &timer_pit[0], SIM_PIT_0, SHOTS | PERIODS | BY_PIN | BIT(STANDS), PIT, true },
	{ &timer_rtc[0], SIM_RTC_PERIODIC, PERIODS | BIT(NEVER) | BIT(DOUBLES) | BIT(STORMS) | BY_PIN, RTC, false },
	{ &timer_rtc[1], SIM_RTC_UPDATE, BIT(NEVER) | BIT(DOUBLES) | BIT(STORMS) | BY_PIN, RTC, false },
	{ &timer_rtc[2], SIM_RTC_ALARM, BIT(NEVER) | BIT(DOUBLES) | BIT(STORMS) | BY_PIN, RTC, false },
	{ &timer_acpi_pm[1], SIM_PM_STATUS, BIT(NEVER) | BIT(DOUBLES) | BIT(STORMS) | BIT(STICKS) | BY_PIN, PM, true },
	{ &timer_hpet[8], SIM_HPET_0, SHOTS | PERIODS, HPET, true },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

#define SHOTS_A_ROW 100 /* number of one-shots that a quick run tests in each row of `intervals` */

struct timers_truth timers_truth;

/*
 * Returns true if the record already has all armings of the timer for this row. Then any further interrupt in this row
 * is late or stale.
 */
static bool
is_row_complete(const struct interval_facts *row, struct times *times)
{
	uint64_t entries = timers_truth.record->entries;

	if (!times->count && !times->entries)
		times->entries = entries;
	return entries - times->entries > (row->test.periodic ? 0 : SHOTS_A_ROW);
}

static void
record_interrupt(const struct sim_taken *event)
{
	const struct report *report = timers_truth.report;
	size_t row = report->facts.interval_count - 1;
	struct times *times = &timers_truth.times[row];

	/*
	 * Ignores interrupts after the row's last arming, because they are late or stale. Also ignores a second
	 * interrupt of a one-shot.
	 */
	if (is_row_complete(&report->facts.intervals[row], times) ||
	    (!report->facts.intervals[row].test.periodic && sim.interrupts.slot.taken) || times->count == TIMES_MAX)
		return;
	times->late_ps[times->count++] = (int64_t)(event->read_ps - event->due_ps);
}

static bool
is_source_requested(const struct timer_source *source)
{
	for (size_t i = 0; timers_truth.tested[i]; i++)
		/* if a source is tested, all sources of its device count as tested, because they share its fault */
		if (timers_truth.tested[i]->at == source->at)
			return true;
	return false;
}

static void
draw_tested_sources(void)
{
	for (size_t count = 0; count < TIMERS_TESTED;) {
		const struct timer_source *source = &sources[draw_below(SOURCES)];

		if (is_source_requested(source))
			continue;
		timers_truth.tested[count] = source;
		timers_truth.drivers[count++] = source->driver;
	}
}

static void
draw_delivery_policies(void)
{
	for (size_t i = 0; timers_truth.tested[i]; i++) {
		const struct timer_source *source = timers_truth.tested[i];

		sim.interrupts.timers[source->at].policy = (enum sim_policy)draw_below(source->clock == RTC ? 2 : 3);
	}
}

/*
 * Draws healthy timers. Neither an access to a device nor the entry into an interrupt handler takes as long as a gap.
 */
void
draw_timers(void)
{
	memset(&timers_truth, 0, sizeof(timers_truth));
	draw_clocks();
	draw_rates();
	sim_interrupts_add_controllers();
	sim.interrupts.seed = draw_64_bits() | 1;
	sim.interrupts.lapic_hz = draw_log_uniform(10000000, 1000000000);
	sim.interrupts.entry_ps = draw_log_uniform(200, 20000) * NS;
	sim.interrupts.taken = record_interrupt;
	sim.cost_ps[SIM_PAUSE] = draw_log_uniform(200, 1000) * NS;
	draw_tested_sources();
	draw_delivery_policies();
}

static void
set_timer_fault(struct sim_timer *timer, enum timer_fault fault)
{
	unsigned every = (unsigned)draw_between(1, 20);

	timer->drop_every = fault == FAULT_DROPS ? every + 1 : 0;
	timer->drop_shots_every = fault == FAULT_DROPS_SHOTS ? every + 1 : 0;
	timer->double_every = fault == FAULT_DOUBLES ? every : 0;
	timer->never = fault == FAULT_NEVER;
	timer->storms = fault == FAULT_STORMS;
	timer->stands = fault == FAULT_STANDS;
	timer->wrong_pin = fault == FAULT_WRONG_PIN;
	timer->sticks = fault == FAULT_STICKS;
	timer->stale = fault == FAULT_STALE;
	if (fault == FAULT_EARLY)
		timer->early_ps = draw_log_uniform(1000, 60000) * NS;
	else if (fault == FAULT_RATE)
		timer->fast_ppm = draw_signed(draw_log_uniform(600, 20000));
	else if (fault == FAULT_LATE)
		timer->late_ps = draw_log_uniform(20, 1000) * US;
	if (fault == FAULT_LATE && draw_chance(30))
		timer->late_one_in = (uint64_t)draw_between(2, 10);
}

static void
draw_fault(void)
{
	timers_truth.faulty = timers_truth.tested[draw_below(TIMERS_TESTED)];
	do
		timers_truth.fault = (enum timer_fault)draw_below(FAULT_LOSES_SHOT);
	while (!(timers_truth.faulty->faults >> timers_truth.fault & 1));
	sim.interrupts.timers[timers_truth.faulty->at].policy = SIM_DISCARD;
	set_timer_fault(&sim.interrupts.timers[timers_truth.faulty->at], timers_truth.fault);
}

void
draw_faulty_timer(void)
{
	draw_timers();
	draw_fault();
}

/*
 * Draws the timers of a guest of QEMU's TCG whose time is a count of instructions. In such a guest, an access never
 * waits for the host.
 */
void
draw_emulated_timers(void)
{
	machine.is_guest = machine.is_emulated = true;
	draw_timers();
	machine.preempt_every = 0;
	if (draw_chance(50))
		draw_fault();
}

static struct timer_driver faulting;
static uint64_t arms_until_fault;

static uint64_t
arm_or_fault(struct timer *timer, uint64_t ticks, bool periodic)
{
	if (!arms_until_fault) {
		timers_truth.has_faulted = true;
		sim_take_fault();
	}
	arms_until_fault--;
	return timers_truth.faulty->driver->arm(timer, ticks, periodic);
}

/* From some call on, each write that arms one source causes an exception. The first call only tries the source. */
void
draw_timer_whose_access_faults(void)
{
	size_t k;

	draw_timers();
	do
		k = draw_below(TIMERS_TESTED);
	while (!timers_truth.drivers[k]->arm);
	timers_truth.faulty = timers_truth.tested[k];
	timers_truth.fault = FAULT_ACCESS;
	arms_until_fault = draw_chance(50) ? 0 : draw_log_uniform(1, 300);
	faulting = *timers_truth.drivers[k];
	faulting.arm = arm_or_fault;
	timers_truth.drivers[k] = &faulting;
}

static uint64_t shots_until_loss;

/*
 * Arms the source. The one-shot that is to be lost never interrupts, although its status shows that it was due. The
 * machine's event may happen while this one-shot is armed.
 */
static uint64_t
arm_or_lose(struct timer *timer, uint64_t ticks, bool periodic)
{
	bool is_lost = !periodic && !timers_truth.lost_at_ps && shots_until_loss-- == 0;
	uint64_t deadline = timers_truth.faulty->driver->arm(timer, ticks, periodic);

	sim.interrupts.timers[timers_truth.faulty->at].never = is_lost;
	if (!is_lost)
		return deadline;
	timers_truth.lost_at_ps = sim.now_ps;
	if (timers_truth.is_stopped_while_armed)
		access_start_event();
	return deadline;
}

/* Draws a source that has one-shots, makes it a tested source if it is none, and returns its index. */
static size_t
draw_source_with_one_shots(void)
{
	const struct timer_source *source;

	do
		source = &sources[draw_below(SOURCES)];
	while (!(source->faults & BIT(DROPS_SHOTS)));
	for (size_t i = 0; timers_truth.tested[i]; i++)
		if (timers_truth.tested[i]->at == source->at)
			return i;
	timers_truth.tested[0] = source;
	timers_truth.drivers[0] = source->driver;
	return 0;
}

/*
 * A guest loses the interrupt of one one-shot. In most trials it is also stopped, either while this one-shot is armed,
 * or while the rates are measured.
 */
void
draw_timer_that_loses_one_shot(void)
{
	size_t k;

	machine.is_guest = true;
	draw_timers();
	machine.has[RTC] = true;
	if (draw_chance(70))
		machine.preempt_every = 0;
	k = draw_source_with_one_shots();
	timers_truth.faulty = timers_truth.tested[k];
	timers_truth.fault = FAULT_LOSES_SHOT;
	shots_until_loss = draw_log_uniform(1, SHOTS_A_ROW);
	machine.event = draw_chance(30) ? EVENT_NONE : EVENT_PAUSE;
	timers_truth.is_stopped_while_armed = machine.event && draw_chance(70);
	machine.phase = timers_truth.is_stopped_while_armed ? "" : "rates";
	machine.delay_ps = draw_below(1500 * SIM_PS_PER_MS);
	machine.by_ps = draw_log_uniform(100, 5000) * SIM_PS_PER_MS;
	faulting = *timers_truth.drivers[k];
	faulting.arm = arm_or_lose;
	timers_truth.drivers[k] = &faulting;
}

void
timers_use_in_bench(struct bench *bench)
{
	if (!sim.interrupts.plugged)
		return;
	sim_guard_timers(bench);
	timers_truth.report = &bench->run.report;
	timers_truth.record = &bench->run.survey.record;
	bench->run.report.facts.options.irq = IRQ_ALL;
	bench->machine.timers = timers_truth.drivers;
}

const struct timer_source *
timers_find_source(const char *id)
{
	for (size_t i = 0; timers_truth.tested[i]; i++)
		if (id && strcmp(timers_truth.tested[i]->driver->id, id) == 0)
			return timers_truth.tested[i];
	return NULL;
}

/*
 * Returns the error of the source's rate in ppb, measured with the report's time scale. If the source has no nominal
 * rate, the error is the drawn fault alone.
 */
long double
timers_get_rate_ppb(const struct report *report, const struct timer_source *source)
{
	long double faster = 1 / (1 - sim.interrupts.timers[source->at].fast_ppm / 1e6L);

	if (source->clock != CLOCKS && machine.claimed[source->clock].den) {
		faster *= machine.hz[source->clock] / ((long double)machine.claimed[source->clock].num /
						       machine.claimed[source->clock].den);
		faster *= verdict_get_tsc_hz(report) / machine.hz[TSC];
	}
	return (faster - 1) * PPB;
}
