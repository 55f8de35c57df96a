/*
 * The ACPI PM timer: one register, found by the FADT, read once per reading. The threefold read
 * that kernels use would hide the glitches of timers that are not latched. It is never
 * written.
 */
#include "check.h"
#include "probe.h"
#include "wait.h"

#define PM_HZ        3579545u    /* ACPI 6.5, 4.8.3.3 */
#define PM_MASK_24   0xffffffu   /* likewise: 24 bits, 32 where the FADT sets TMR_VAL_EXT */
#define PORT_MAX     0xfffcu     /* the last port at which 32 bits can be read */

#define PM_BATCH         64u     /* readings in one masked section: 64 us, or 4 ms where each costs 57 us */
#define PM_GLITCH_READS  4096u   /* PIIX4's bad 3 ns in 69.8 would show in one of 23 */
#define PM_GLITCH_READS_MIN 256u /* fewer prove nothing */
#define PM_GLITCH_NS     (20 * WAIT_NS_PER_MS)
#define PM_LEAP_FACTOR   4       /* what runs at up to four times its rate is another rule's */
#define PM_LEAP_TICKS    4u
#define PM_WRAP_NS       (5 * WAIT_NS_PER_MS) /* beyond the time to the wrap: 1,000 ppm of 4.69 s */

enum { SAVED_MASK }; /* not a register: what of a reading counts */

static uint64_t
acpi_pm_read_port(void *context)
{
	const struct device *device = context;

	return hw_in32((uint16_t)device->address) & device->saved[SAVED_MASK];
}

static uint64_t
acpi_pm_read_memory(void *context)
{
	const struct device *device = context;

	return hw_read32(device->address) & device->saved[SAVED_MASK];
}

DRIVER_SAMPLE(acpi_pm_port, acpi_pm_read_port)
DRIVER_SAMPLE(acpi_pm_memory, acpi_pm_read_memory)

static const struct clock acpi_pm_row = {
	.id = "acpi_pm", .title = "ACPI PM timer, one read", .main = "acpi_pm",
	.claimed = { PM_HZ, 1 },
};

/* Where the FADT says that the timer is. The extended field counts unless its address is 0. */
static bool
acpi_pm_locate(const struct acpi_fadt *fadt, struct device *device, struct clock *clock,
	       uint8_t *space)
{
	if (!fadt->found) {
		probe_state(clock, CLOCK_ABSENT, "There is no FADT in ACPI.");
		return false;
	}
	if (fadt->hw_reduced) {
		probe_state(clock, CLOCK_ABSENT,
			    "ACPI is hardware-reduced, which has no PM timer.");
		return false;
	}
	*space = ACPI_SPACE_IO;
	if (fadt->has_x_pm_tmr && fadt->x_pm_tmr_address &&
	    (fadt->x_pm_tmr_space == ACPI_SPACE_MEMORY || fadt->x_pm_tmr_space == ACPI_SPACE_IO)) {
		*space = fadt->x_pm_tmr_space;
		device->address = fadt->x_pm_tmr_address;
		clock->found_by = "ACPI FADT X_PM_TMR_BLK";
		return true;
	}
	if (fadt->pm_tmr_len == 0 || fadt->pm_tmr_blk == 0) {
		probe_state(clock, CLOCK_ABSENT,
			    "The FADT says that there is none (PM_TMR_LEN %u, PM_TMR_BLK %xh).",
			    fadt->pm_tmr_len, fadt->pm_tmr_blk);
		return false;
	}
	device->address = fadt->pm_tmr_blk;
	clock->found_by = "ACPI FADT PM_TMR_BLK";
	return true;
}

static bool
acpi_pm_is_readable(const struct device *device, uint8_t space, struct clock *clock)
{
	unsigned long long address = device->address;

	if (space == ACPI_SPACE_IO && address > PORT_MAX)
		probe_state(clock, CLOCK_BROKEN, "The FADT gives %llxh as its I/O port.", address);
	else if (space == ACPI_SPACE_MEMORY && address % sizeof(uint32_t))
		probe_state(clock, CLOCK_BROKEN,
			    "The FADT gives its address as %llxh, not aligned.", address);
	else if (space == ACPI_SPACE_MEMORY && !hw_is_mapped(address, sizeof(uint32_t)))
		probe_state(clock, CLOCK_BROKEN, "The firmware has not mapped its address %llxh.",
			    address);
	else
		return true;
	return false;
}

static void
acpi_pm_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	const struct acpi_fadt *fadt = &platform->acpi.fadt;
	sample_read *read;
	uint8_t space;

	if (!probe_begin(platform, device, clocks, &acpi_pm_row, 1))
		return;
	clocks->found_by = "ACPI FADT";
	if (!acpi_pm_locate(fadt, device, clocks, &space) ||
	    !acpi_pm_is_readable(device, space, clocks))
		return;
	read = space == ACPI_SPACE_IO ? acpi_pm_read_port : acpi_pm_read_memory;
	clocks->sample = space == ACPI_SPACE_IO ? acpi_pm_port_sample : acpi_pm_memory_sample;
	clocks->width_bits = fadt->tmr_val_ext ? 32 : 24;
	clocks->wrap_ticks = fadt->tmr_val_ext ? UINT32_MAX : PM_MASK_24;
	device->saved[SAVED_MASK] = UINT32_MAX;
	bool moves = probe_moves(read, device);
	uint64_t reading = read(device);

	device->saved[SAVED_MASK] = clocks->wrap_ticks;
	if (moves)
		clocks->state = CLOCK_PRESENT;
	else if (reading == UINT32_MAX)
		probe_state(clocks, CLOCK_ABSENT, "It reads all ones: nothing answers at %s %llxh.",
			    space == ACPI_SPACE_IO ? "port" : "address",
			    (unsigned long long)device->address);
	else
		probe_state(clocks, CLOCK_STUCK, "It reads %llxh again and again.",
			    (unsigned long long)reading);
}

/* COUNT readings as the register gives them, its upper bits too. */
static void
acpi_pm_take_raw(const struct checking *checking, struct sample *samples, size_t count)
{
	struct device *device = checking->device;
	uint64_t interrupts = hw_interrupts_mask(), mask = device->saved[SAVED_MASK];

	device->saved[SAVED_MASK] = UINT32_MAX;
	checking->rows->sample(device, samples, count);
	device->saved[SAVED_MASK] = mask;
	hw_interrupts_restore(interrupts);
}

static void
acpi_pm_look_at_24_bits(const struct checking *checking, struct behaviour *row)
{
	struct sample samples[PM_BATCH];
	size_t i = 0;

	acpi_pm_take_raw(checking, samples, PM_BATCH);
	while (i < PM_BATCH && samples[i].ticks <= PM_MASK_24)
		i++;
	check_fact(row, i < PM_BATCH);
	if (row->broken)
		behaviour_tell(row, "The FADT says 24 bits, but bits 24 to 31 are not 0: it reads %llxh.",
			       (unsigned long long)samples[i].ticks);
	else
		behaviour_tell(row, "24 bits, as the FADT says: bits 24 to 31 are 0 in %u readings.", PM_BATCH);
}

/* A timer that has counted beyond 24 bits is wider; one that has not must be seen when it gets there. */
static void
acpi_pm_look_at_32_bits(const struct checking *checking, struct behaviour *row)
{
	struct sample first, last;
	uint64_t wrap_ns;

	acpi_pm_take_raw(checking, &first, 1);
	last = first;
	wrap_ns = scale_mul_div_up(PM_MASK_24 + 1 - (first.ticks & PM_MASK_24), WAIT_NS_PER_S, PM_HZ);
	if (first.ticks <= PM_MASK_24 && wrap_ns + PM_WRAP_NS > check_left_ns(checking)) {
		behaviour_tell(row, "Not seen: bit 24 comes in %llu ms, later than there is time for.",
			       (unsigned long long)(wrap_ns / WAIT_NS_PER_MS));
		return;
	}
	struct wait wait = wait_begin(checking->scale, wrap_ns + PM_WRAP_NS);

	while (last.ticks <= PM_MASK_24 && wait_goes_on(&wait))
		acpi_pm_take_raw(checking, &last, 1);
	if (last.ticks <= PM_MASK_24 && last.ticks >= first.ticks) {
		behaviour_tell(row, "Not seen: it did not come to bit 24 in the time that it needs.");
		return;
	}
	check_fact(row, last.ticks <= PM_MASK_24);
	if (row->broken)
		behaviour_tell(row, "The FADT says 32 bits, but after %llxh it read %llxh: it wraps at 24.",
			       (unsigned long long)first.ticks, (unsigned long long)last.ticks);
	else
		behaviour_tell(row, "More than 24 bits, as the FADT says: it reads %llxh.",
			       (unsigned long long)last.ticks);
}

/* Whether NOW can't follow THEN: further on than the time between them allows, or further back. */
static bool
acpi_pm_leaps(const struct checking *checking, const struct sample *then, const struct sample *now)
{
	uint64_t ticks = clock_elapsed_ticks(checking->rows, then->ticks, now->ticks);
	uint64_t allowed = check_ticks(checking->scale, checking->rows->claimed, now->end - then->begin);

	return ticks > PM_LEAP_FACTOR * allowed + PM_LEAP_TICKS;
}

/* Single readings, since it takes no threefold one to see what that is for: one off, the next right again. */
static void
acpi_pm_look_for_glitches(const struct checking *checking, struct behaviour *row)
{
	struct sample s[PM_BATCH];
	unsigned reads = 0, glitches = 0;
	uint64_t before = 0, off = 0;
	struct wait wait = wait_begin(checking->scale, PM_GLITCH_NS);

	do {
		uint64_t interrupts = hw_interrupts_mask();

		checking->rows->sample(checking->device, s, PM_BATCH);
		hw_interrupts_restore(interrupts);
		reads += PM_BATCH;
		for (size_t i = 1; i + 1 < PM_BATCH; i++) {
			if (!acpi_pm_leaps(checking, &s[i - 1], &s[i]) ||
			    acpi_pm_leaps(checking, &s[i - 1], &s[i + 1]))
				continue;
			glitches++;
			before = s[i - 1].ticks;
			off = s[i].ticks;
		}
	} while (reads < PM_GLITCH_READS && wait_goes_on(&wait));
	if (!glitches && reads < PM_GLITCH_READS_MIN) {
		behaviour_tell(row, "Not seen: there was time for %u readings only.", reads);
		return;
	}
	check_fact(row, glitches != 0);
	if (glitches)
		behaviour_tell(row, "%u of %u single readings were off, the next one right again: %llxh after %llxh.",
			       glitches, reads, (unsigned long long)off, (unsigned long long)before);
	else
		behaviour_tell(row, "%u single readings without one that was off.", reads);
}

static void
acpi_pm_check(const struct platform *platform, struct device *device, const struct clock *rows,
	      const struct scale *scale, uint64_t budget_ns, struct behaviours *behaviours)
{
	static const struct check as_24_bits = { "pm-high-bits", WAIT_NS_PER_MS, acpi_pm_look_at_24_bits };
	static const struct check as_32_bits = { "pm-width", WAIT_NS_PER_MS, acpi_pm_look_at_32_bits };
	static const struct check glitches = { "pm-glitch", PM_GLITCH_NS, acpi_pm_look_for_glitches };
	const struct checking checking = { platform, device, rows, scale, hw_tsc(), budget_ns };

	if (rows->state != CLOCK_PRESENT)
		return;
	check_each(&checking, device->saved[SAVED_MASK] == PM_MASK_24 ? &as_24_bits : &as_32_bits, 1, rows->id,
		   behaviours);
	check_each(&checking, &glitches, 1, rows->id, behaviours);
}

static void
acpi_pm_close(struct device *device)
{
	(void)device;
}

const struct driver acpi_pm_driver = {
	.id = "acpi_pm",
	.clock_count = 1,
	.ids = { "acpi_pm" },
	.open = acpi_pm_open,
	.check = acpi_pm_check,
	.close = acpi_pm_close,
};
