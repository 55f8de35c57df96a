/*
 * The driver of the HPET. ACPI states its address, and the main counter is read by MMIO. If the HPET is off, it is
 * switched on for the run, and off again afterwards. The counter itself is never written. See the IA-PC HPET
 * specification 1.0a.
 */
#include "clocks/hpet_registers.h"
#include "clocks/probe.h"

enum { HPET, HPET_32, HPET_COUNT };
/*
 * Indices into device.saved: the low half of the configuration register before the run, and a bit mask of the timers
 * whose interrupts were enabled before the run. The configuration's high half is reserved and never written.
 */
enum { SAVED_CONFIGURATION, SAVED_ARMED };

/*
 * Reads the two halves separately, because a 32-bit bus may split a 64-bit access. If the high half changed, the low
 * half is read again.
 */
uint64_t
hpet_read64(void *context)
{
	uint64_t base = ((const struct device *)context)->address;
	uint32_t high = hw_read32(base + HPET_COUNTER_HIGH);
	uint32_t low = hw_read32(base + HPET_COUNTER);
	uint32_t high_again = hw_read32(base + HPET_COUNTER_HIGH);

	/* At the shortest period (100 ps) the low half rolls over in 429 ms, so at most once between these reads. */
	if (high_again != high)
		low = hw_read32(base + HPET_COUNTER);
	return (uint64_t)high_again << 32 | low;
}

uint64_t
hpet_read32(void *context)
{
	return hw_read32(((const struct device *)context)->address + HPET_COUNTER);
}

DRIVER_SAMPLE(hpet64, hpet_read64)
DRIVER_SAMPLE(hpet32, hpet_read32)

static const struct clock hpet_rows[HPET_COUNT] = {
	[HPET] = {
		.id = "hpet", .title = "HPET main counter, full width", .rating = 250,
		.found_by = "ACPI HPET table", .sample = hpet64_sample,
	},
	[HPET_32] = {
		.id = "hpet_32", .title = "HPET main counter, low half in one read",
		.found_by = "ACPI HPET table", .width_bits = 32, .wrap_ticks = UINT32_MAX,
		.sample = hpet32_sample,
	},
};

/*
 * Returns true if the ACPI table states an address that may be read. Otherwise sets the clock's state and returns
 * false.
 */
static bool
hpet_locate(const struct acpi_hpet *table, struct clock *clock)
{
	uint64_t base = table->base;

	if (!table->found)
		return probe_set_state(clock, CLOCK_ABSENT, "There is no HPET table in ACPI.");
	if (table->space != ACPI_SPACE_MEMORY)
		return probe_set_state(clock, CLOCK_BROKEN,
				       "The HPET's ACPI table names address space %u instead of memory.",
				       table->space);
	if (base == 0 || base % sizeof(uint64_t))
		return probe_set_state(clock, CLOCK_BROKEN, "The HPET's ACPI table gives the base address %lxh, which is 0 "
				       "or not aligned.", base);
	if (!hw_is_mapped(base, HPET_SIZE))
		return probe_set_state(clock, CLOCK_BROKEN, "The firmware has not mapped the HPET's base address %lxh.", base);
	return true;
}

/*
 * Checks the capability register, and copies the counter's width and period into CLOCKS. Returns false if the register
 * is invalid.
 */
static bool
hpet_read_identity(uint64_t base, struct clock *clocks)
{
	uint32_t id = hw_read32(base + HPET_ID), period_fs = hw_read32(base + HPET_PERIOD);
	struct clock *clock = &clocks[HPET];

	if ((id == 0 && period_fs == 0) || (id == UINT32_MAX && period_fs == UINT32_MAX))
		return probe_set_state(clock, CLOCK_BROKEN,
				       "The HPET's capability register reads %s: nothing answers at %lxh.",
				       id ? "all ones" : "0", base);
	if (period_fs < HPET_PERIOD_FS_MIN || period_fs > HPET_PERIOD_FS_MAX)
		return probe_set_state(clock, CLOCK_BROKEN, "The HPET's period register reads %u fs, not %u to %u.",
				       period_fs, HPET_PERIOD_FS_MIN, HPET_PERIOD_FS_MAX);
	if (id & HPET_COUNT_SIZE_CAP) {
		clock->width_bits = 64;
		clock->wrap_ticks = UINT64_MAX;
	} else {
		clock->width_bits = 32;
		clock->wrap_ticks = UINT32_MAX;
		clock->sample = hpet32_sample;
	}
	clocks[HPET].claimed = clocks[HPET_32].claimed = (struct rate){ HPET_FS_PER_S, period_fs };
	clocks[HPET].claimed_within_ppb = clocks[HPET_32].claimed_within_ppb = HPET_HALF_A_FS_PPB / period_fs + 1;
	return true;
}

/*
 * Enables or disables the interrupts of TIMERS (bit n: timer n). If the HPET was off, no software expects interrupts of
 * its timers, even of enabled timers. They are therefore disabled while baretick runs the HPET.
 */
static void
hpet_set_timers_enabled(const struct device *device, uint64_t timers, bool on)
{
	for (uint32_t n = 0; timers >> n; n++) {
		uint64_t address = device->address + HPET_TIMER(n);
		uint32_t configuration = hw_read32(address);

		if (timers >> n & 1)
			hw_write32(address, on ? configuration | HPET_TN_INT_ENB : configuration & ~HPET_TN_INT_ENB);
	}
}

static uint64_t
hpet_get_enabled_timers(const struct device *device)
{
	uint32_t count = HPET_TIMERS(hw_read32(device->address + HPET_ID));
	uint64_t timers = 0;

	for (uint32_t n = 0; n < count && HPET_TIMER(n) < HPET_SIZE; n++)
		if (hw_read32(device->address + HPET_TIMER(n)) & HPET_TN_INT_ENB)
			timers |= UINT64_C(1) << n;
	return timers;
}

static void
hpet_close(struct device *device)
{
	if (!device->opened)
		return;
	device->opened = false;
	hw_write32(device->address + HPET_CONFIGURATION,
		   (uint32_t)device->saved[SAVED_CONFIGURATION]);
	hpet_set_timers_enabled(device, device->saved[SAVED_ARMED], true);
}

/* Starts the counter if it does not run. Does not change LEG_RT_CNF. Returns true if the counter counts. */
static bool
hpet_start(struct device *device, struct clock *clock)
{
	uint32_t configuration = hw_read32(device->address + HPET_CONFIGURATION);

	if (!(configuration & HPET_ENABLE_CNF)) {
		device->saved[SAVED_CONFIGURATION] = configuration;
		device->saved[SAVED_ARMED] = hpet_get_enabled_timers(device);
		device->opened = true;
		hpet_set_timers_enabled(device, device->saved[SAVED_ARMED], false);
		hw_write32(device->address + HPET_CONFIGURATION, configuration | HPET_ENABLE_CNF);
		probe_append_note(clock, "The HPET was off. It is switched on for the run, and off again afterwards.");
	} else {
		/*
		 * EDK II's HPET driver stops the main counter at each timer tick while it sets a comparator
		 * (HpetTimerDxe, TimerInterruptHandler()). The counter then loses time.
		 */
		clock->firmware_ticks = hpet_get_enabled_timers(device) != 0;
		if (clock->firmware_ticks)
			probe_append_note(clock, "The HPET is on and sends interrupts: the firmware may use it as its timer tick.");
	}
	if (probe_counter_moves(hpet_read32, device))
		return true;
	bool still_off = !(hw_read32(device->address + HPET_CONFIGURATION) & HPET_ENABLE_CNF);

	if (still_off)
		probe_set_state(clock, CLOCK_DISABLED, "The HPET is off, and ENABLE_CNF can't be set.");
	else
		probe_set_state(clock, CLOCK_STUCK, "The HPET is on, but its main counter does not count.");
	hpet_close(device);
	return false;
}

static void
hpet_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct acpi_hpet *table = &platform->acpi.hpet;

	if (!probe_initialize_clocks(platform, device, clocks, &hpet_driver))
		return;
	device->address = table->base;
	if (hpet_locate(table, &clocks[HPET]) && hpet_read_identity(table->base, clocks) &&
	    hpet_start(device, &clocks[HPET])) {
		clocks[HPET].state = CLOCK_PRESENT;
		if (table->base >> 32)
			probe_append_note(&clocks[HPET], "The HPET's base address is above 4 GiB.");
	}
	probe_copy_state_of_first_clock(clocks, HPET_COUNT);
	clocks[HPET_32].firmware_ticks = clocks[HPET].firmware_ticks;
	if (clocks[HPET].width_bits == 32)
		probe_set_state(&clocks[HPET_32], CLOCK_ABSENT,
				"This HPET has 32 bits, so its reads are those of the clock hpet.");
}

const struct driver hpet_driver = {
	.clock_count = HPET_COUNT,
	.rows = hpet_rows,
	.open = hpet_open,
	.close = hpet_close,
};
