/*
 * Comparator 0 of the HPET, by an I/O APIC pin. It is due at a reading of the main counter, which the recorder reads
 * first: so its lateness needs no calibration. IA-PC HPET specification 1.0a. The main counter is never written.
 */
#include "hpet_registers.h"
#include "hw.h"
#include "ioapic.h"
#include "lapic.h"
#include "platform.h"
#include "text.h"
#include "timers.h"

#define TIMER        0u
#define PER_INT_CAP  (1u << 4) /* 2.3.8 */
#define TYPE_CNF     (1u << 3)
#define VAL_SET_CNF  (1u << 6)
#define LEVEL        (1u << 1)
#define MODE_32      (1u << 8)
#define ROUTE_SHIFT  9u
#define ROUTE_MASK   (0x1fu << ROUTE_SHIFT)
#define FSB_EN       (1u << 14)
#define LEGACY_CNF   (1u << 1) /* 2.3.5 */
#define COMPARATOR   (HPET_TIMER(TIMER) + 8)
#define ISA_PINS     0xffffu   /* of devices whose lines may be shared; those above are PCI's */
#define TICKS_MAX    (UINT32_MAX / 2)

enum { SAVED_CONFIGURATION, SAVED_COMPARATOR, SAVED_ENTRY };

static bool
refuse(struct timer *timer, enum clock_state state, const char *why)
{
	struct text reason;

	timer->state = state;
	text_init(&reason, timer->reason, sizeof(timer->reason));
	text_put(&reason, why);
	return false;
}

static bool
find_pin(const struct platform *platform, struct timer *timer)
{
	uint32_t pins = hw_read32(timer->address + HPET_TIMER(TIMER) + 4); /* 2.3.8: TN_INT_ROUTE_CAP */
	struct lapic lapic;

	if (lapic_open(&lapic) || lapic_id(&lapic) > IOAPIC_ID_MAX)
		return refuse(timer, CLOCK_DISABLED, "No I/O APIC can name this core: its APIC id has more than eight bits.");
	if (!(pins & ~ISA_PINS) || !ioapic_find_masked(&platform->acpi.madt, pins & ~ISA_PINS, &timer->pin_address,
						       &timer->entry, &timer->route.pin))
		return refuse(timer, CLOCK_DISABLED, "Each I/O APIC pin that it can be routed to is in use, or not there.");
	return true;
}

static void
hpet_timer_open(const struct platform *platform, struct timer *timer)
{
	const struct acpi_hpet *table = &platform->acpi.hpet;
	uint32_t period_fs, configuration;

	timer->route = (struct timer_route){ .kind = "ioapic" };
	if (!table->found || table->space != ACPI_SPACE_MEMORY || !table->base || !hw_is_mapped(table->base, HPET_SIZE)) {
		refuse(timer, CLOCK_ABSENT, "ACPI describes no HPET that can be read.");
		return;
	}
	timer->address = table->base;
	period_fs = hw_read32(timer->address + HPET_PERIOD);
	configuration = hw_read32(timer->address + HPET_CONFIGURATION);
	if (period_fs < HPET_PERIOD_FS_MIN || period_fs > HPET_PERIOD_FS_MAX || !(configuration & HPET_ENABLE_CNF)) {
		refuse(timer, CLOCK_DISABLED, "The HPET does not count.");
		return;
	}
	if (configuration & LEGACY_CNF || hw_read32(timer->address + HPET_TIMER(TIMER)) & HPET_TN_INT_ENB) {
		refuse(timer, CLOCK_DISABLED, "In use by the firmware: not asked.");
		return;
	}
	timer->hz = (struct rate){ HPET_FS_PER_S, period_fs };
	timer->ticks_max = TICKS_MAX;
	timer->count_mask = UINT32_MAX;
	timer->counter_address = timer->address + HPET_COUNTER;
	if (find_pin(platform, timer))
		timer->state = CLOCK_PRESENT;
}

static void
hpet_timer_disarm(struct timer *timer)
{
	uint64_t at = timer->address + HPET_TIMER(TIMER);

	hw_write32(at, hw_read32(at) & ~(HPET_TN_INT_ENB | TYPE_CNF));
}

static void
hpet_timer_take(struct timer *timer, uint32_t vector)
{
	uint64_t at = timer->address + HPET_TIMER(TIMER);
	uint32_t configuration = hw_read32(at);
	struct lapic lapic;

	timer->route.vector = vector;
	timer->saved[SAVED_CONFIGURATION] = configuration;
	timer->saved[SAVED_COMPARATOR] = hw_read32(timer->address + COMPARATOR) |
					 (uint64_t)hw_read32(timer->address + COMPARATOR + 4) << 32;
	timer->saved[SAVED_ENTRY] = ioapic_read(timer->pin_address, timer->entry);
	configuration &= ~(ROUTE_MASK | LEVEL | FSB_EN | HPET_TN_INT_ENB | TYPE_CNF);
	hw_write32(at, configuration | MODE_32 | timer->route.pin << ROUTE_SHIFT);
	if (!lapic_open(&lapic))
		ioapic_write(timer->pin_address, timer->entry, ioapic_edge_to(lapic_id(&lapic), vector));
}

/* The comparator before the enable: armed first, an old value may fire. 2.3.9.2: VAL_SET, then value, then period. */
static uint64_t
hpet_timer_arm(struct timer *timer, uint64_t ticks, bool periodic)
{
	uint64_t at = timer->address + HPET_TIMER(TIMER);
	uint32_t configuration = hw_read32(at) & ~(HPET_TN_INT_ENB | TYPE_CNF), due;

	if (periodic)
		hw_write32(at, configuration | TYPE_CNF | VAL_SET_CNF);
	due = hw_read32(timer->address + HPET_COUNTER) + (uint32_t)ticks;
	hw_write32(timer->address + COMPARATOR, due);
	if (periodic)
		hw_write32(timer->address + COMPARATOR, (uint32_t)ticks);
	hw_write32(at, configuration | HPET_TN_INT_ENB | (periodic ? TYPE_CNF : 0));
	return due;
}

static uint64_t
hpet_timer_left(const struct timer *timer)
{
	int32_t left = (int32_t)(hw_read32(timer->address + COMPARATOR) - hw_read32(timer->address + HPET_COUNTER));

	return left > 0 ? (uint64_t)left : 0;
}

static bool
hpet_timer_expired(const struct timer *timer)
{
	return hpet_timer_left(timer) == 0;
}

static void
hpet_timer_give_back(struct timer *timer)
{
	hpet_timer_disarm(timer);
	ioapic_write(timer->pin_address, timer->entry, timer->saved[SAVED_ENTRY]);
	hw_write32(timer->address + COMPARATOR, (uint32_t)timer->saved[SAVED_COMPARATOR]);
	hw_write32(timer->address + COMPARATOR + 4, (uint32_t)(timer->saved[SAVED_COMPARATOR] >> 32));
	hw_write32(timer->address + HPET_TIMER(TIMER), (uint32_t)timer->saved[SAVED_CONFIGURATION]);
}

const struct timer_driver timer_hpet = {
	.id = "hpet0",
	.title = "HPET comparator 0, by an I/O APIC",
	.periodic = true,
	.open = hpet_timer_open,
	.take = hpet_timer_take,
	.arm = hpet_timer_arm,
	.expired = hpet_timer_expired,
	.left = hpet_timer_left,
	.disarm = hpet_timer_disarm,
	.give_back = hpet_timer_give_back,
};
