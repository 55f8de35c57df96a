/*
 * Checks the ACPI PM timer against the ACPI specification: its width, and its readings. If the counter is not latched,
 * some readings are wrong.
 */
#include "checks/check.h"
#include "checks/checks.h"
#include "clocks/acpi_pm_registers.h"
#include "hw/wait.h"

/* number of readings in a batch; interrupts are masked during a batch, for 64 us, or 4 ms in a nested guest */
#define PM_BATCH         64u
/*
 * Number of readings in the search for glitches. On a PIIX4 the counter is unstable for 3 ns of each 69.8 ns, so one
 * reading in 23 would be wrong.
 */
#define PM_GLITCH_READS  4096u
#define PM_GLITCH_READS_MIN 256u /* with fewer readings the check has no result */
#define PM_GLITCH_NS     (20 * WAIT_NS_PER_MS)
/* the timer has jumped if it advanced faster than this multiple of its nominal rate; another rule checks the rate */
#define PM_LEAP_FACTOR   4
#define PM_LEAP_TICKS    4u
/* margin of the wait until bit 24 becomes 1: 1,000 ppm of 4.69 s, the period of a 24-bit counter */
#define PM_WRAP_NS       (5 * WAIT_NS_PER_MS)

/* Takes COUNT readings of all 32 bits. The driver's samples would mask the high bits of a 24-bit timer. */
static void
acpi_pm_sample_all_32_bits(const struct checking *checking, struct sample *samples, size_t count)
{
	struct device *device = checking->device;
	uint64_t interrupts = hw_interrupts_mask(), mask = device->saved[ACPI_PM_MASK];

	device->saved[ACPI_PM_MASK] = UINT32_MAX;
	checking->rows->sample(device, samples, count);
	device->saved[ACPI_PM_MASK] = mask;
	hw_interrupts_restore(interrupts);
}

static void
acpi_pm_check_24_bits(const struct checking *checking, struct behaviour *row)
{
	struct sample samples[PM_BATCH];
	size_t i = 0;

	acpi_pm_sample_all_32_bits(checking, samples, PM_BATCH);
	while (i < PM_BATCH && samples[i].ticks <= ACPI_PM_MASK_24)
		i++;
	check_set_outcome(row, i < PM_BATCH);
	if (row->failed)
		behaviour_set_text(row, "By the FADT the timer has 24 bits, but bits 24 to 31 are not 0: it reads "
				   "%lxh.",
			       samples[i].ticks);
	else
		behaviour_set_text(row, "The timer has 24 bits, as the FADT says: bits 24 to 31 are 0 in %u "
				   "readings.", PM_BATCH);
}

/*
 * Passes at once if the reading has more than 24 bits. Otherwise waits until bit 24 should be 1. The check fails if the
 * counter has wrapped to a lower value.
 */
static void
acpi_pm_check_32_bits(const struct checking *checking, struct behaviour *row)
{
	struct sample first, last;
	uint64_t wrap_ns;

	acpi_pm_sample_all_32_bits(checking, &first, 1);
	last = first;
	wrap_ns = scale_mul_div_up(ACPI_PM_MASK_24 + 1 - (first.ticks & ACPI_PM_MASK_24), WAIT_NS_PER_S, ACPI_PM_HZ);
	if (first.ticks <= ACPI_PM_MASK_24 && !check_has_time(checking, wrap_ns + PM_WRAP_NS, row))
		return;
	struct wait wait = wait_begin(checking->scale, wrap_ns + PM_WRAP_NS);

	while (last.ticks <= ACPI_PM_MASK_24 && wait_has_time_left(&wait))
		acpi_pm_sample_all_32_bits(checking, &last, 1);
	if (last.ticks <= ACPI_PM_MASK_24 && last.ticks >= first.ticks) {
		behaviour_set_text(row, "Bit 24 of the timer did not become 1 in the expected time.");
		return;
	}
	check_set_outcome(row, last.ticks <= ACPI_PM_MASK_24);
	if (row->failed)
		behaviour_set_text(row, "By the FADT the timer has 32 bits, but after %lxh it read %lxh: it wraps at "
				   "24 bits.",
			       first.ticks, last.ticks);
	else
		behaviour_set_text(row, "The timer has more than 24 bits, as the FADT says: it reads %lxh.",
				   last.ticks);
}

/* Returns true if NOW is before THEN, or after it by more than the time between the two readings allows. */
static bool
acpi_pm_jumped(const struct checking *checking, const struct sample *then, const struct sample *now)
{
	uint64_t ticks = clock_elapsed_ticks(checking->rows, then->ticks, now->ticks);
	uint64_t allowed = check_convert_to_clock_ticks(checking->scale, checking->rows->claimed,
							now->end - then->begin);

	return ticks > PM_LEAP_FACTOR * allowed + PM_LEAP_TICKS;
}

/* Returns true if NOW is before THEN. Does not use the TSC, which may have stopped. */
static bool
acpi_pm_went_back(const struct checking *checking, const struct sample *then, const struct sample *now)
{
	return clock_stepped_back(checking->rows, clock_elapsed_ticks(checking->rows, then->ticks, now->ticks));
}

/*
 * Takes single readings, because a triple reading, as kernels use, would hide a glitch. In a glitch one reading is
 * wrong and the next reading is right. The timer seems to go back in the wrong reading if it is too low, and in the
 * next reading if the wrong reading is too high.
 */
static void
acpi_pm_check_glitches(const struct checking *checking, struct behaviour *row)
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
			if (!acpi_pm_jumped(checking, &s[i - 1], &s[i]) ||
			    acpi_pm_jumped(checking, &s[i - 1], &s[i + 1]) ||
			    !(acpi_pm_went_back(checking, &s[i - 1], &s[i]) || acpi_pm_went_back(checking, &s[i], &s[i + 1])))
				continue;
			glitches++;
			before = s[i - 1].ticks;
			off = s[i].ticks;
		}
	} while (reads < PM_GLITCH_READS && wait_has_time_left(&wait));
	if (!glitches && reads < PM_GLITCH_READS_MIN) {
		behaviour_set_text(row, "There was time for %u readings only.", reads);
		return;
	}
	check_set_outcome(row, glitches != 0);
	if (glitches)
		behaviour_set_text(row, "%u of %u readings were wrong, such as %lxh after %lxh; each time the next "
				   "reading was right.",
			       glitches, reads, off, before);
	else
		behaviour_set_text(row, "None of %u single readings was wrong.", reads);
}

void
acpi_pm_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check as_24_bits[] = {
		{ "pm-high-bits", WAIT_NS_PER_MS, acpi_pm_check_24_bits },
		{ "pm-glitch", PM_GLITCH_NS, acpi_pm_check_glitches },
		{ NULL, 0, NULL },
	};
	static const struct check as_32_bits[] = {
		{ "pm-width", WAIT_NS_PER_MS, acpi_pm_check_32_bits },
		{ "pm-glitch", PM_GLITCH_NS, acpi_pm_check_glitches },
		{ NULL, 0, NULL },
	};
	bool is_24_bits = checking->device->saved[ACPI_PM_MASK] == ACPI_PM_MASK_24;

	if (checking->rows->state == CLOCK_PRESENT)
		check_run_all(checking, is_24_bits ? as_24_bits : as_32_bits, behaviours);
}
