/*
 * The driver of the ACPI PM timer. The FADT states the address of the timer's single register, which is never written.
 * A sample is one read of the register. Kernels read the register three times, which would hide the wrong readings of
 * timers that are not latched.
 */
#include "clocks/acpi_pm_registers.h"
#include "clocks/probe.h"

#define PORT_MAX     0xfffcu     /* the last port at which 32 bits can be read */

static uint64_t
acpi_pm_read_port(void *context)
{
	const struct device *device = context;

	return hw_in32((uint16_t)device->address) & device->saved[ACPI_PM_MASK];
}

static uint64_t
acpi_pm_read_memory(void *context)
{
	const struct device *device = context;

	return hw_read32(device->address) & device->saved[ACPI_PM_MASK];
}

uint32_t
acpi_pm_read_24_bits(const struct device *device)
{
	uint32_t ticks = device->saved[ACPI_PM_IN_MEMORY] ? hw_read32(device->address) : hw_in32((uint16_t)device->address);

	return ticks & ACPI_PM_MASK_24;
}

DRIVER_SAMPLE(acpi_pm_port, acpi_pm_read_port)
DRIVER_SAMPLE(acpi_pm_memory, acpi_pm_read_memory)

static const struct clock acpi_pm_row = {
	.id = "acpi_pm", .title = "ACPI PM timer, one read", .rating = 200, .claimed = ACPI_PM_EXACT_HZ,
	.claimed_within_ppb = ACPI_PM_WITHIN_PPB,
};

/*
 * Reads the timer's address from the FADT. Uses X_PM_TMR_BLK unless its address is 0. Returns false if there is no
 * timer.
 */
static bool
acpi_pm_locate(const struct acpi_fadt *fadt, struct device *device, struct clock *clock,
	       uint8_t *space)
{
	if (!fadt->found)
		return probe_set_state(clock, CLOCK_ABSENT, "There is no FADT in ACPI.");
	if (fadt->hw_reduced)
		return probe_set_state(clock, CLOCK_ABSENT, "ACPI is hardware-reduced, which has no PM timer.");
	*space = ACPI_SPACE_IO;
	if (fadt->has_x_pm_tmr && fadt->x_pm_tmr_address &&
	    (fadt->x_pm_tmr_space == ACPI_SPACE_MEMORY || fadt->x_pm_tmr_space == ACPI_SPACE_IO)) {
		*space = fadt->x_pm_tmr_space;
		device->address = fadt->x_pm_tmr_address;
		clock->found_by = "ACPI FADT X_PM_TMR_BLK";
		return true;
	}
	if (fadt->pm_tmr_len == 0 || fadt->pm_tmr_blk == 0)
		return probe_set_state(clock, CLOCK_ABSENT,
				       "The FADT lists no PM timer (PM_TMR_LEN %u, PM_TMR_BLK %xh).",
				       fadt->pm_tmr_len, fadt->pm_tmr_blk);
	device->address = fadt->pm_tmr_blk;
	clock->found_by = "ACPI FADT PM_TMR_BLK";
	return true;
}

static bool
acpi_pm_is_readable(const struct device *device, uint8_t space, struct clock *clock)
{
	uint64_t address = device->address;

	if (space == ACPI_SPACE_IO && address > PORT_MAX)
		return probe_set_state(clock, CLOCK_BROKEN, "The FADT gives the I/O port %lxh, but ports end at FFFFh.",
				       address);
	if (space == ACPI_SPACE_MEMORY && address % sizeof(uint32_t))
		return probe_set_state(clock, CLOCK_BROKEN, "The FADT gives the address %lxh, which is not aligned.", address);
	if (space == ACPI_SPACE_MEMORY && !hw_is_mapped(address, sizeof(uint32_t)))
		return probe_set_state(clock, CLOCK_BROKEN, "The firmware has not mapped the timer's address %lxh.", address);
	return true;
}

static void
acpi_pm_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct acpi_fadt *fadt = &platform->acpi.fadt;
	uint8_t space;

	if (!probe_initialize_clocks(platform, device, clocks, &acpi_pm_driver))
		return;
	clocks->found_by = "ACPI FADT";
	if (!acpi_pm_locate(fadt, device, clocks, &space) ||
	    !acpi_pm_is_readable(device, space, clocks))
		return;
	sample_read *read = space == ACPI_SPACE_IO ? acpi_pm_read_port : acpi_pm_read_memory;
	clocks->sample = space == ACPI_SPACE_IO ? acpi_pm_port_sample : acpi_pm_memory_sample;
	clocks->width_bits = fadt->tmr_val_ext ? 32 : 24;
	clocks->wrap_ticks = fadt->tmr_val_ext ? UINT32_MAX : ACPI_PM_MASK_24;
	device->saved[ACPI_PM_MASK] = UINT32_MAX;
	device->saved[ACPI_PM_IN_MEMORY] = space == ACPI_SPACE_MEMORY;
	bool moves = probe_counter_moves(read, device);
	uint64_t reading = read(device);

	device->saved[ACPI_PM_MASK] = clocks->wrap_ticks;
	if (moves)
		clocks->state = CLOCK_PRESENT;
	else if (reading == UINT32_MAX)
		probe_set_state(clocks, CLOCK_ABSENT, "The timer reads all ones: nothing answers at %s %lxh.",
				space == ACPI_SPACE_IO ? "port" : "address",
				device->address);
	else
		probe_set_state(clocks, CLOCK_STUCK, "The timer reads %lxh every time.", reading);
}

const struct driver acpi_pm_driver = {
	.clock_count = 1,
	.rows = &acpi_pm_row,
	.open = acpi_pm_open,
	.close = probe_close,
};
