/*
 * The sources of interrupts of the simulated machine, by their data sheets. The local APIC's timer and its
 * TSC-deadline mode follow Intel SDM vol. 3A, 10.5.4. The HPET's comparators follow IA-PC HPET 1.0a, 2.3.8 to 2.3.10,
 * and the PIT's channel 0 follows the 8254's modes 0 and 2. The RTC's three interrupts follow the MC146818, and the PM
 * timer's status follows ACPI 6.5, 4.8.3.1.
 */
#include "sim_sources.h"

#include "sim_internal.h"
#include "sim_paravirtual.h"

#define LVT_TIMER       0x32u
#define INITIAL_COUNT   0x38u
#define DIVIDE          0x3eu
#define LVT_MASKED      (1u << 16)
#define LVT_MODE        (3u << 17)
#define LVT_PERIODIC    (1u << 17)
#define LVT_DEADLINE    (2u << 17)
#define ECX_DEADLINE    (1u << 24)
#define HPET_PER_INT_CAP UINT64_C(0x10)
#define HPET_SIZE_CAP   UINT64_C(0x20)
#define HPET_TYPE_CNF   UINT64_C(0x08)
#define HPET_INT_ENB    UINT64_C(0x04)
#define HPET_VAL_SET    UINT64_C(0x40)
#define HPET_FSB_EN     UINT64_C(0x4000)
#define HPET_FSB_CAP    UINT64_C(0x8000)
/* I/O APIC pins that the HPET may use: 20 to 23, as in QEMU and many chip sets */
#define HPET_ROUTES     (UINT64_C(0x00f00000) << 32)
#define HPET_LEGACY     UINT64_C(2)
#define MESSAGES        0xfeeu /* upper bits of an MSI's address (FEExxxxxh) */
/* I/O APIC pin of the PIT. On nearly all PCs, an interrupt source override in ACPI moves IRQ 0 to this pin. */
#define PIT_PIN         2u
#define RTC_PIN         8u
#define PIT_IRQ         0u
#define RTC_IRQ         8u
#define SCI_PIN         9u
#define B_PIE           0x40u
#define B_AIE           0x20u
#define B_UIE           0x10u
#define TMR             1u
#define HV_ENABLE       UINT64_C(1)
#define HV_PERIODIC     UINT64_C(2)
#define HV_AUTO_ENABLE  UINT64_C(8)
#define HV_DIRECT       UINT64_C(0x1000)
#define HV_PS_PER_TICK  100000u

static struct sim_interrupts *const all = &sim.interrupts;

void
sim_interrupts_offer_timers(void)
{
	for (size_t i = 0; i < SIM_COMPARATORS; i++)
		sim.hpet.timers[i] |= HPET_PER_INT_CAP | HPET_SIZE_CAP | HPET_ROUTES | (i == 0 ? HPET_FSB_CAP : 0);
	for (size_t i = 0; i < sim.cpuid_count; i++)
		if (sim.cpuid[i].leaf == 1)
			sim.cpuid[i].registers.ecx |= ECX_DEADLINE;
}


static uint32_t
get_lvt_timer(void)
{
	return sim.lapic.registers[LVT_TIMER];
}

/* Intel SDM vol. 3A, figure 10-10: bits 0, 1 and 3 select a division by 2 to 128, and all ones a division by 1. */
static struct rate
get_lapic_rate(void)
{
	uint32_t divide = sim.lapic.registers[DIVIDE], power = (divide & 3) | (divide >> 1 & 4);

	return (struct rate){ all->lapic_hz, power == 7 ? 1 : UINT64_C(2) << power };
}

void
sim_interrupts_handle_lapic_write(unsigned number, uint32_t before)
{
	uint32_t count = sim.lapic.registers[INITIAL_COUNT];

	if (number == LVT_TIMER && (before ^ get_lvt_timer()) & LVT_MODE) {
		sim_source_disarm(SIM_LAPIC);
		sim_source_disarm(SIM_DEADLINE);
		all->deadline_ticks = 0;
	}
	if (number != INITIAL_COUNT || (get_lvt_timer() & LVT_MODE) == LVT_DEADLINE)
		return;
	sim_source_disarm(SIM_LAPIC);
	all->lapic_armed_ps = sim.now_ps;
	if (count)
		sim_source_arm(SIM_LAPIC, count, get_lvt_timer() & LVT_PERIODIC ? count : 0);
}

uint32_t
sim_interrupts_get_lapic_count(void)
{
	uint32_t count = sim.lapic.registers[INITIAL_COUNT];
	uint64_t counted;

	if ((get_lvt_timer() & LVT_MODE) == LVT_DEADLINE || !count)
		return 0;
	counted = all->lapic.stands ? 0 : sim_source_get_count(SIM_LAPIC);
	if (get_lvt_timer() & LVT_PERIODIC)
		return count - (uint32_t)(counted % count);
	return counted < count ? count - (uint32_t)counted : 0;
}

/*
 * Intel SDM vol. 3A, 10.5.4.1: the write is ignored if the timer is in another mode. The value 0 disarms the timer.
 * The register reads 0 after the interrupt.
 */
void
sim_interrupts_write_deadline(uint64_t value)
{
	if ((get_lvt_timer() & LVT_MODE) != LVT_DEADLINE)
		return;
	sim_source_disarm(SIM_DEADLINE);
	all->deadline_ticks = value;
	if (value)
		sim_source_arm(SIM_DEADLINE, value, 0);
}

uint64_t
sim_interrupts_read_deadline(void)
{
	const struct sim_timer *timer = &all->deadline;
	bool over = sim.now_ps >= timer->due_ps || sim.now_ps >= timer->leaves_ps;

	return over ? 0 : all->deadline_ticks;
}


static bool
is_comparator_periodic(size_t n)
{
	return (sim.hpet.timers[n] & HPET_TYPE_CNF) && all->hpet_periods[n];
}

/*
 * Arms HPET comparator N for the next time at which the low half of the main counter equals the comparator's value. The
 * main counter may wrap before this time.
 */
static void
arm_comparator(size_t n)
{
	uint64_t count = sim_source_get_count(SIM_HPET_0);
	uint32_t left = (uint32_t)all->comparators[n] - (uint32_t)count;
	bool stale = (int32_t)left < 0 && all->timers[SIM_HPET_0 + n].stale;

	sim_source_arm(SIM_HPET_0 + n, count + (stale ? 0 : left),
		       is_comparator_periodic(n) && !stale ? all->hpet_periods[n] : 0);
}

void
sim_interrupts_handle_hpet_configuration(size_t n, uint64_t before, uint64_t now)
{
	if (!(now & HPET_INT_ENB))
		sim_source_disarm(SIM_HPET_0 + n);
	else if (!(before & HPET_INT_ENB))
		arm_comparator(n);
}

/* IA-PC HPET 1.0a, 2.3.9: while VAL_SET is set, a write changes only the comparator, and the period stays as it is. */
void
sim_interrupts_write_comparator(size_t n, uint64_t value)
{
	uint64_t *configuration = &sim.hpet.timers[n];

	if (!(*configuration & HPET_TYPE_CNF) || (*configuration & HPET_VAL_SET))
		all->comparators[n] = (uint32_t)value;
	else
		all->hpet_periods[n] = (uint32_t)value;
	*configuration &= ~HPET_VAL_SET;
	if (*configuration & HPET_INT_ENB)
		arm_comparator(n);
}

uint64_t
sim_interrupts_get_comparator(size_t n)
{
	return all->comparators[n];
}

uint64_t *
sim_interrupts_get_fsb_message(size_t n)
{
	return &all->messages[n];
}

static uint32_t
get_hpet_vector(size_t n, uint32_t pin_change)
{
	uint64_t configuration = sim.hpet.timers[n];

	if (configuration & HPET_FSB_EN)
		return all->messages[n] >> 52 == MESSAGES ? all->messages[n] & 0xff : 0;
	if (sim.hpet.configuration & HPET_LEGACY && n < 2)
		return sim_ioapic_get_vector((n == 0 ? PIT_PIN : RTC_PIN) ^ pin_change);
	return sim_ioapic_get_vector((configuration >> 9 & 0x1f) ^ pin_change);
}

/*
 * The first pulse of the PIT's clock after the write loads the count without counting. Therefore OUT rises and raises
 * IRQ 0 at pulse N + 1, and in mode 2 again after each N further pulses.
 */
void
sim_interrupts_handle_pit_load(unsigned mode, uint32_t reload)
{
	if (mode == 0 || mode == 2)
		sim_source_arm(SIM_PIT_0, reload + 1, mode == 2 ? reload : 0);
	else
		sim_source_disarm(SIM_PIT_0);
}

void
sim_interrupts_handle_pit_stop(void)
{
	sim_source_disarm(SIM_PIT_0);
}

/* Updates the RTC's line, which is raised while an enabled flag is set. */

void
sim_interrupts_handle_rtc_enable(uint8_t before, uint8_t now)
{
	static const struct {
		uint8_t bit;
		enum sim_source source;
	} enables[] = { { B_PIE, SIM_RTC_PERIODIC }, { B_UIE, SIM_RTC_UPDATE }, { B_AIE, SIM_RTC_ALARM } };
	uint64_t period;

	for (size_t i = 0; i < 3; i++) {
		if (!(now & enables[i].bit)) {
			sim_source_disarm(enables[i].source);
		} else if (!(before & enables[i].bit)) {
			period = enables[i].source == SIM_RTC_PERIODIC ? sim_rtc_get_interrupt_period() : 1;
			if (!period || (enables[i].source == SIM_RTC_ALARM && !sim_rtc_is_alarm_each_second()))
				continue;
			sim_source_arm(enables[i].source,
				       (sim_source_get_count(enables[i].source) / period + 1) * period, period);
		}
	}
}

/*
 * Hyper-V's synthetic timer, by Microsoft's TLFS. A count of 0 stops the timer. With auto-enable, any other count
 * starts the timer. A one-shot clears its enable bit when it expires.
 */
uint64_t
sim_interrupts_read_hv_timer_msr(bool count)
{
	const struct sim_timer *timer = &all->hv;
	bool over = !(all->hv_config & HV_PERIODIC) && (sim.now_ps >= timer->due_ps || sim.now_ps >= timer->leaves_ps);

	return count ? all->hv_count : all->hv_config & ~(over ? HV_ENABLE : 0);
}

void
sim_interrupts_write_hv_timer_msr(bool count, uint64_t value)
{
	uint64_t period;

	if (count)
		all->hv_count = value;
	else
		all->hv_config = value;
	if (count && all->hv_config & HV_AUTO_ENABLE)
		all->hv_config |= HV_ENABLE;
	if (!all->hv_count)
		all->hv_config &= ~HV_ENABLE;
	sim_source_disarm(SIM_HV_TIMER);
	period = all->hv_config & HV_PERIODIC ? all->hv_count : 0;
	if (all->hv_config & HV_ENABLE)
		sim_source_arm(SIM_HV_TIMER, period ? sim_source_get_count(SIM_HV_TIMER) + period : all->hv_count, period);
}


static uint64_t
count_pm_half_wraps(void)
{
	struct sim_counter whole = sim.pm.counter;

	whole.wrap_bits = 64;
	return sim_counter_get_ticks(&whole) >> (sim.pm.counter.wrap_bits - 1);
}

static bool
get_pm_status(void)
{
	return all->pm.sticks || (!all->pm.stands && count_pm_half_wraps() > all->pm_cleared);
}

uint16_t
sim_interrupts_read_pm1(uint16_t port)
{
	if (port == SIM_PM1_PORT)
		return get_pm_status() ? TMR : 0;
	return port == SIM_PM1_PORT + 2 ? all->pm_enable : UINT16_MAX;
}

void
sim_interrupts_write_pm1(uint16_t port, uint16_t value)
{
	if (port == SIM_PM1_PORT && value & TMR)
		all->pm_cleared = count_pm_half_wraps();
	if (port != SIM_PM1_PORT + 2)
		return;
	if (!(value & TMR))
		sim_source_disarm(SIM_PM_STATUS);
	else if (!(all->pm_enable & TMR))
		sim_source_arm(SIM_PM_STATUS, count_pm_half_wraps() + !get_pm_status(), 1);
	all->pm_enable = value;
}


uint64_t
sim_source_get_count(enum sim_source source)
{
	switch (source) {
	case SIM_LAPIC:
		return sim_count_clock_cycles(all->lapic_armed_ps, sim.now_ps, get_lapic_rate());
	case SIM_DEADLINE:
		return sim_get_tsc_ticks();
	case SIM_PIT_0:
		return sim_count_clock_cycles(sim.pit.channels[0].loaded_ps, sim.now_ps, sim.pit.hz);
	case SIM_RTC_PERIODIC:
		return sim_rtc_get_crystal_ticks();
	case SIM_RTC_UPDATE:
	case SIM_RTC_ALARM:
		return sim_rtc_get_second();
	case SIM_PM_STATUS:
		return count_pm_half_wraps();
	case SIM_HV_TIMER:
		return sim.now_ps / HV_PS_PER_TICK;
	case SIM_XEN_TIMER:
		return sim.now_ps / SIM_PS_PER_NS;
	default:
		return sim_counter_get_ticks(&sim.hpet.counter);
	}
}

/*
 * Returns the vector of the I/O APIC's PIN. If this pin is masked, returns the vector of the PICs' input IRQ.
 * PIN_CHANGE is 1 for a source with the fault wrong_pin, and selects the neighbour of PIN and of IRQ. Otherwise it is
 * 0.
 */
static uint32_t
get_vector_of_irq_line(uint32_t pin, uint32_t irq, uint32_t pin_change)
{
	uint32_t vector = sim_ioapic_get_vector(pin ^ pin_change);

	return vector ? vector : sim_pic_get_vector(irq ^ pin_change);
}

static bool
is_delivered_by_pic(uint32_t pin, uint32_t irq)
{
	return !sim_ioapic_get_vector(pin) && sim_pic_get_vector(irq);
}

void
sim_source_handle_delivery(enum sim_source source)
{
	if (source == SIM_PIT_0 && is_delivered_by_pic(PIT_PIN, PIT_IRQ))
		sim_pic_set_in_service(PIT_IRQ);
	else if (source >= SIM_RTC_PERIODIC && source <= SIM_RTC_ALARM && is_delivered_by_pic(RTC_PIN, RTC_IRQ))
		sim_pic_set_in_service(RTC_IRQ);
	else if (source == SIM_XEN_TIMER)
		sim_paravirtual_raise_timer_event();
}

uint32_t
sim_source_get_vector(enum sim_source source)
{
	uint32_t pin_change = all->timers[source].wrong_pin;

	switch (source) {
	case SIM_LAPIC:
	case SIM_DEADLINE:
		return get_lvt_timer() & LVT_MASKED ? 0 : get_lvt_timer() & 0xff;
	case SIM_PIT_0:
		return get_vector_of_irq_line(PIT_PIN, PIT_IRQ, pin_change);
	case SIM_RTC_PERIODIC:
	case SIM_RTC_UPDATE:
	case SIM_RTC_ALARM:
		return get_vector_of_irq_line(RTC_PIN, RTC_IRQ, pin_change);
	case SIM_PM_STATUS:
		return sim_ioapic_get_vector(SCI_PIN ^ pin_change);
	case SIM_HV_TIMER:
		return all->hv_config & HV_DIRECT ? all->hv_config >> 4 & 0xff : 0;
	case SIM_XEN_TIMER:
		return sim_paravirtual_get_event_vector();
	default:
		return get_hpet_vector(source - SIM_HPET_0, pin_change);
	}
}

void
sim_source_advance_comparator(enum sim_source source)
{
	if (source >= SIM_HPET_0 && source <= SIM_HPET_2 && is_comparator_periodic(source - SIM_HPET_0))
		all->comparators[source - SIM_HPET_0] += all->hpet_periods[source - SIM_HPET_0];
}

bool
sim_source_try_raise_irq(enum sim_source source)
{
	if (source != SIM_RTC_PERIODIC && source != SIM_RTC_UPDATE && source != SIM_RTC_ALARM)
		return true;
	return sim_rtc_try_raise_irq();
}

bool
sim_source_is_status_set(enum sim_source source)
{
	return source == SIM_PM_STATUS && all->pm_enable & TMR && get_pm_status();
}
