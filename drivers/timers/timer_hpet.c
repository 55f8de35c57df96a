/*
 * The HPET's comparators (IA-PC HPET specification 1.0a). Their interrupts have three possible routes: an I/O APIC pin,
 * messages (FSB delivery), or the interrupts of the PIT and RTC (legacy replacement). A comparator interrupts when the
 * main counter reaches its value. The interrupt handler reads the main counter first, so the lateness needs no
 * calibration. The main counter is never written.
 */
#include "base/text.h"
#include "clocks/hpet_registers.h"
#include "clocks/platform.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "timers/ioapic.h"
#include "timers/timers.h"

#define LEGACY_CAP   (1u << 15) /* IA-PC HPET 2.3.4: legacy replacement is supported */
#define PER_INT_CAP  (1u << 4) /* IA-PC HPET 2.3.8: periodic mode is supported */
#define TYPE_CNF     (1u << 3)
#define VAL_SET_CNF  (1u << 6)
#define LEVEL        (1u << 1)
#define MODE_32      (1u << 8)
#define ROUTE_SHIFT  9u
#define ROUTE_MASK   (0x1fu << ROUTE_SHIFT)
#define FSB_EN       (1u << 14)
#define FSB_CAP      (1u << 15)
/* IA-PC HPET 2.3.10: register with the message's data, followed by the register with the message's address */
#define FSB_ROUTE(n) (HPET_TIMER(n) + 0x10)
/*
 * SDM vol. 3A, 10.11.1, Message Address Register Format: address of a message, without the destination's APIC id in
 * bits 12 to 19
 */
#define MSI_ADDRESS  0xfee00000u
#define MSI_ID(id)   ((id) << 12)
#define LEGACY_CNF   (1u << 1) /* IA-PC HPET 2.3.5: legacy replacement is on */
/* I/O APIC pin of timer 0 if LEGACY_CNF is set (IA-PC HPET 2.3.5). The MADT's override for the PIT does not apply. */
#define LEGACY_PIN   2u
#define ISA_PINS     0xffffu   /* pins 0 to 15, which comparators do not use: they belong to ISA devices */
#define TICKS_MAX    (UINT32_MAX / 2)

enum { SAVED_CONFIGURATION, SAVED_COMPARATOR, SAVED_FSB, SAVED_GENERAL };
enum { BY_IOAPIC, BY_FSB, BY_LEGACY }; /* values of driver->route_kind, which selects the route of the interrupts */

static uint64_t
get_timer_registers_address(const struct timer *timer)
{
	return timer->address + HPET_TIMER(timer->driver->unit);
}

static uint64_t
get_comparator_address(const struct timer *timer)
{
	return get_timer_registers_address(timer) + 8;
}

static bool
find_free_ioapic_pin(const struct platform *platform, struct timer *timer, uint32_t pins)
{
	if (!pins || !ioapic_find_masked_pin(&platform->acpi.madt, pins, &timer->pin_address, &timer->entry,
					      &timer->route.pin))
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "Each I/O APIC pin that the timer can be routed to is in use or missing.");
	return true;
}

static bool
choose_interrupt_route(const struct platform *platform, struct timer *timer)
{
	struct lapic lapic;

	if (lapic_open(&lapic) || lapic_read_id(&lapic) > IOAPIC_ID_MAX)
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "The timer's interrupts can't address this core: the APIC id has more than eight bits.");
	switch (timer->driver->route_kind) {
	case BY_FSB:
		timer->route.kind = "fsb";
		return hw_read32(get_timer_registers_address(timer)) & FSB_CAP ||
		       timer_set_unusable(timer, CLOCK_ABSENT, "The HPET can't send its interrupts as messages (FSB delivery).");
	case BY_LEGACY:
		if (!(hw_read32(timer->address + HPET_ID) & LEGACY_CAP))
			return timer_set_unusable(timer, CLOCK_ABSENT, "The HPET can't replace the PIT (no legacy replacement route).");
		return timer_pic_is_masked(timer) && find_free_ioapic_pin(platform, timer, 1u << LEGACY_PIN);
	default: /* IA-PC HPET 2.3.8, high half: TN_INT_ROUTE_CAP, a bit mask of the pins that the timer can use */
		return find_free_ioapic_pin(platform, timer,
					    hw_read32(get_timer_registers_address(timer) + 4) & ~ISA_PINS);
	}
}

static void
hpet_timer_open(const struct platform *platform, struct timer *timer)
{
	const struct acpi_hpet *table = &platform->acpi.hpet;
	uint32_t period_fs, configuration;

	timer->route = (struct timer_route){ .kind = "ioapic" };
	if (!table->found || table->space != ACPI_SPACE_MEMORY || !table->base || !hw_is_mapped(table->base, HPET_SIZE)) {
		timer_set_unusable(timer, CLOCK_ABSENT, "ACPI describes no HPET that can be read.");
		timer->unlisted = timer->driver->unit != 0;
		return;
	}
	timer->address = table->base;
	period_fs = hw_read32(timer->address + HPET_PERIOD);
	configuration = hw_read32(timer->address + HPET_CONFIGURATION);
	if (period_fs < HPET_PERIOD_FS_MIN || period_fs > HPET_PERIOD_FS_MAX || !(configuration & HPET_ENABLE_CNF)) {
		timer_set_unusable(timer, CLOCK_DISABLED,
				   "The HPET is off: it is switched on only if it is measured as a clock (clocks=).");
		timer->unlisted = timer->driver->unit != 0;
		return;
	}
	timer->unlisted = timer->driver->unit >= HPET_TIMERS(hw_read32(timer->address + HPET_ID));
	if (timer->unlisted)
		return;
	if (configuration & LEGACY_CNF || hw_read32(get_timer_registers_address(timer)) & HPET_TN_INT_ENB) {
		timer_set_unusable(timer, CLOCK_DISABLED, "In use by the firmware: not tested.");
		return;
	}
	timer->hz = (struct rate){ HPET_FS_PER_S, period_fs };
	timer->ticks_max = TICKS_MAX;
	timer->clock = "hpet";
	timer->count_mask = UINT32_MAX;
	timer->no_periods = !(hw_read32(get_timer_registers_address(timer)) & PER_INT_CAP);
	timer->counter_address = timer->address + HPET_COUNTER;
	if (choose_interrupt_route(platform, timer))
		timer->state = CLOCK_PRESENT;
}

static void
hpet_timer_disarm(struct timer *timer)
{
	uint64_t at = get_timer_registers_address(timer);

	hw_write32(at, hw_read32(at) & ~(HPET_TN_INT_ENB | TYPE_CNF));
}

static void
set_up_msi_route(struct timer *timer, uint32_t apic_id, uint32_t vector)
{
	uint64_t route = timer->address + FSB_ROUTE(timer->driver->unit);

	timer->saved[SAVED_FSB] = hw_read32(route) | (uint64_t)hw_read32(route + 4) << 32;
	hw_write32(route, vector);
	hw_write32(route + 4, MSI_ADDRESS | MSI_ID(apic_id));
}

static void
restore_msi_route(const struct timer *timer)
{
	uint64_t route = timer->address + FSB_ROUTE(timer->driver->unit);

	hw_write32(route, (uint32_t)timer->saved[SAVED_FSB]);
	hw_write32(route + 4, (uint32_t)(timer->saved[SAVED_FSB] >> 32));
}

static void
hpet_timer_set_up(struct timer *timer, uint32_t vector)
{
	uint64_t at = get_timer_registers_address(timer);
	uint32_t configuration = hw_read32(at);
	struct lapic lapic;

	timer->route.vector = vector;
	timer->saved[SAVED_CONFIGURATION] = configuration;
	timer->saved[SAVED_COMPARATOR] = hw_read32(get_comparator_address(timer)) |
					 (uint64_t)hw_read32(get_comparator_address(timer) + 4) << 32;
	timer->saved[SAVED_GENERAL] = hw_read32(timer->address + HPET_CONFIGURATION);
	configuration &= ~(ROUTE_MASK | LEVEL | FSB_EN | HPET_TN_INT_ENB | TYPE_CNF);
	configuration |= MODE_32;
	if (lapic_open(&lapic))
		return;
	if (timer->driver->route_kind == BY_FSB) {
		set_up_msi_route(timer, lapic_read_id(&lapic), vector);
		configuration |= FSB_EN;
	} else {
		timer_route_interrupt_line(timer, vector);
	}
	if (timer->driver->route_kind == BY_IOAPIC)
		configuration |= timer->route.pin << ROUTE_SHIFT;
	hw_write32(at, configuration);
	if (timer->driver->route_kind == BY_LEGACY)
		hw_write32(timer->address + HPET_CONFIGURATION, (uint32_t)timer->saved[SAVED_GENERAL] | LEGACY_CNF);
}

/*
 * Programs and enables the timer. The comparator is written before the interrupt is enabled, because the comparator's
 * old value might cause an interrupt. IA-PC HPET 2.3.9.2 gives the order for periodic mode: VAL_SET, value, period.
 */
static uint64_t
hpet_timer_arm(struct timer *timer, uint64_t ticks, bool periodic)
{
	uint64_t at = get_timer_registers_address(timer);
	uint32_t configuration = hw_read32(at) & ~(HPET_TN_INT_ENB | TYPE_CNF), due;

	if (periodic)
		hw_write32(at, configuration | TYPE_CNF | VAL_SET_CNF);
	due = hw_read32(timer->address + HPET_COUNTER) + (uint32_t)ticks;
	hw_write32(get_comparator_address(timer), due);
	if (periodic)
		hw_write32(get_comparator_address(timer), (uint32_t)ticks);
	hw_write32(at, configuration | HPET_TN_INT_ENB | (periodic ? TYPE_CNF : 0));
	return due;
}

static void
hpet_timer_enable_interrupt(struct timer *timer)
{
	uint64_t at = get_timer_registers_address(timer);

	hw_write32(at, hw_read32(at) | HPET_TN_INT_ENB);
}

static uint64_t
hpet_timer_get_ticks_left(const struct timer *timer)
{
	int32_t left = (int32_t)(hw_read32(get_comparator_address(timer)) - hw_read32(timer->address + HPET_COUNTER));

	return left > 0 ? (uint64_t)left : 0;
}

static void
hpet_timer_restore(struct timer *timer)
{
	hpet_timer_disarm(timer);
	if (timer->driver->route_kind == BY_LEGACY)
		hw_write32(timer->address + HPET_CONFIGURATION, (uint32_t)timer->saved[SAVED_GENERAL]);
	hw_write32(get_comparator_address(timer), (uint32_t)timer->saved[SAVED_COMPARATOR]);
	hw_write32(get_comparator_address(timer) + 4, (uint32_t)(timer->saved[SAVED_COMPARATOR] >> 32));
	hw_write32(get_timer_registers_address(timer), (uint32_t)timer->saved[SAVED_CONFIGURATION]);
	if (timer->driver->route_kind == BY_FSB)
		restore_msi_route(timer);
	else
		timer_restore_interrupt_line(timer);
}

#define HPET_DRIVER(name, text, ...)                                                                            \
	{                                                                                                       \
		.id = name, .title = text, __VA_ARGS__, .open = hpet_timer_open,                                \
		.set_up = hpet_timer_set_up, .arm = hpet_timer_arm, .arm_over = hpet_timer_enable_interrupt,    \
		.get_ticks_left = hpet_timer_get_ticks_left,                                                    \
		.disarm = hpet_timer_disarm, .restore = hpet_timer_restore,                                     \
	}
#define HPET_OTHER(n) HPET_DRIVER("hpet" #n, "HPET comparator " #n ", by an I/O APIC", .unit = n, .secondary = true)

const struct timer_driver timer_hpet[TIMER_HPETS] = {
	HPET_DRIVER("hpet0", "HPET comparator 0, by an I/O APIC", .tested = TIMER_TESTED_ALWAYS),
	HPET_OTHER(1), HPET_OTHER(2), HPET_OTHER(3), HPET_OTHER(4), HPET_OTHER(5), HPET_OTHER(6), HPET_OTHER(7),
	HPET_DRIVER("hpet_fsb", "HPET comparator 0, by messages", .route_kind = BY_FSB, .secondary = true),
	HPET_DRIVER("hpet_legacy", "HPET comparator 0, replacing the PIT", .route_kind = BY_LEGACY, .secondary = true,
		    .tested = TIMER_TESTED_WITH_IRQ_ALL),
};
