/*
 * The ACPI PM timer's status bit, which is set whenever the counter's highest bit changes (ACPI 6.5, 4.8.3.3 and
 * 4.8.3.1.1). The source "acpi_pm" polls the bit. With irq=all, the source "acpi_pm_sci" lets the bit raise the SCI.
 * The SCI is level-triggered, and stays asserted until a write clears the bit.
 */
#include "clocks/acpi_pm_registers.h"
#include "hw/hw.h"
#include "timers/timers.h"

#define TMR_STS       1u /* bit in PM1_STS, the first half of the PM1 event registers (ACPI 6.5, 4.8.3.1.1) */
#define TMR_EN        1u /* bit in PM1_EN, the second half of the PM1 event registers (ACPI 6.5, 4.8.3.1.2) */
#define EVENT_LENGTH  4u /* minimum number of bytes of the PM1 event registers: two for each half (ACPI 6.5, 4.8.3.1) */

enum { BY_STATUS, BY_SCI }; /* values of driver->route_kind, which selects how a tick is detected */
enum { STATUS_PORT, ENABLE_PORT, HALF, SAVED_ENABLE };

static uint64_t
pm_timer_read_count(const struct timer *timer)
{
	return hw_in32((uint16_t)timer->address) & timer->count_mask;
}

/*
 * Finds the counter, PM1_STS and PM1_EN, which must be at I/O ports. X_PM_TMR_BLK in the FADT is not read, because it
 * is another address of the same counter.
 */
static bool
find_register_blocks(const struct acpi_fadt *fadt, struct timer *timer)
{
	if (!fadt->found || fadt->hw_reduced || !fadt->pm_tmr_blk || fadt->pm_tmr_blk > UINT16_MAX)
		return timer_set_unusable(timer, CLOCK_ABSENT, "The FADT lists no PM timer at an I/O port.");
	if (!fadt->pm1_evt_blk || fadt->pm1_evt_blk > UINT16_MAX || fadt->pm1_evt_len < EVENT_LENGTH)
		return timer_set_unusable(timer, CLOCK_ABSENT, "The FADT lists no event registers, which hold the timer's status.");
	timer->address = fadt->pm_tmr_blk;
	timer->saved[STATUS_PORT] = fadt->pm1_evt_blk;
	timer->saved[ENABLE_PORT] = fadt->pm1_evt_blk + fadt->pm1_evt_len / 2;
	timer->count_mask = fadt->tmr_val_ext ? UINT32_MAX : ACPI_PM_MASK_24;
	timer->saved[HALF] = timer->count_mask / 2 + 1;
	return true;
}

static void
pm_timer_open(const struct platform *platform, struct timer *timer)
{
	const struct acpi_fadt *fadt = &platform->acpi.fadt;
	struct ioapic_line line = ioapic_get_sci_line(&platform->acpi.madt, fadt->sci_int);

	timer->route = (struct timer_route){ .kind = timer->driver->route_kind == BY_SCI ? "ioapic" : "status" };
	timer->hz = (struct rate)ACPI_PM_EXACT_HZ;
	timer->ticks_max = UINT32_MAX;
	timer->clock = "acpi_pm";
	timer->phase_ticks = 1; /* the current tick has partly passed, so the interrupt may be up to one tick early */
	timer->state = CLOCK_PRESENT;
	if (!find_register_blocks(fadt, timer))
		return;
	if (hw_in16((uint16_t)timer->saved[ENABLE_PORT]) & TMR_EN)
		timer_set_unusable(timer, CLOCK_DISABLED, "In use by the firmware (TMR_EN): not tested.");
	else if (timer->driver->route_kind == BY_SCI)
		timer_find_interrupt_line(platform, timer, line);
}

static void
pm_timer_acknowledge(const struct timer *timer)
{
	hw_out16((uint16_t)timer->saved[STATUS_PORT], TMR_STS);
}

static void
pm_timer_set_up(struct timer *timer, uint32_t vector)
{
	timer->route.vector = vector;
	timer->saved[SAVED_ENABLE] = hw_in16((uint16_t)timer->saved[ENABLE_PORT]);
	if (timer->driver->route_kind == BY_SCI)
		timer_route_interrupt_line(timer, vector);
}

static uint64_t
pm_timer_get_ticks_left(const struct timer *timer)
{
	return timer->saved[HALF] - pm_timer_read_count(timer) % timer->saved[HALF] - 1;
}

static uint64_t
pm_timer_get_nearest_period(const struct timer *timer, uint64_t)
{
	return timer->saved[HALF];
}

static uint64_t
pm_timer_arm(struct timer *timer, uint64_t, bool)
{
	pm_timer_acknowledge(timer);
	uint64_t now = pm_timer_read_count(timer);
	if (timer->driver->route_kind == BY_SCI)
		hw_out16((uint16_t)timer->saved[ENABLE_PORT], (uint16_t)timer->saved[SAVED_ENABLE] | TMR_EN);
	return (now + timer->saved[HALF] - now % timer->saved[HALF]) & timer->count_mask;
}

static bool
pm_timer_has_expired(const struct timer *timer)
{
	return hw_in16((uint16_t)timer->saved[STATUS_PORT]) & TMR_STS;
}

static void
pm_timer_disarm(struct timer *timer)
{
	if (timer->driver->route_kind == BY_SCI)
		hw_out16((uint16_t)timer->saved[ENABLE_PORT], (uint16_t)timer->saved[SAVED_ENABLE]);
}

static void
pm_timer_restore(struct timer *timer)
{
	pm_timer_disarm(timer);
	if (timer->driver->route_kind == BY_SCI)
		timer_restore_interrupt_line(timer);
	pm_timer_acknowledge(timer);
}

#define PM_DRIVER(name, text, ...)                                                                              \
	{                                                                                                       \
		.id = name, .title = text, __VA_ARGS__, .open = pm_timer_open, .set_up = pm_timer_set_up,       \
		.fit = pm_timer_get_nearest_period, .arm = pm_timer_arm, .expired = pm_timer_has_expired,       \
		.get_ticks_left = pm_timer_get_ticks_left,                                                      \
		.acknowledge = pm_timer_acknowledge, .disarm = pm_timer_disarm, .restore = pm_timer_restore,    \
	}

const struct timer_driver timer_acpi_pm[TIMER_PMS] = {
	PM_DRIVER("acpi_pm", "PM timer, its status polled", .kind = TIMER_POLLED, .route_kind = BY_STATUS),
	PM_DRIVER("acpi_pm_sci", "PM timer, by the SCI", .kind = TIMER_AWAITED, .route_kind = BY_SCI,
		  .tested = TIMER_TESTED_WITH_IRQ_ALL),
};
