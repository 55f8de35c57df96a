/*
 * Linux's calibration of the TSC if the quick calibration failed: Linux 6.16, arch/x86/kernel/tsc.c,
 * pit_hpet_ptimer_calibrate_cpu(), pit_calibrate_tsc(), tsc_read_refs(). The PIT counts down for 10 ms, up to three
 * times. A reference clock, the HPET or else the PM timer, is read before and after each countdown. The result by the
 * reference clock is used if it is within 10 % of the PIT's result, or if the PIT gave no result. The third try takes
 * 50 ms if the PIT has given no result before.
 */
#include "calibrations/calibrations.h"
#include "clocks/acpi_pm_registers.h"
#include "clocks/drivers.h"
#include "clocks/hpet_registers.h"
#include "clocks/pit_registers.h"
#include "hw/wait.h"

#define PIT_RATE        1193182u
#define PM_RATE         3579545u
#define TRIES           3u
#define REFERENCE_TRIES 5u
/*
 * A reading of the reference clock that takes this number of TSC ticks or more counts as disturbed. The limit is in TSC
 * ticks, because Linux does not know the TSC's rate yet.
 */
#define REFERENCE_TICKS 0x20000u
#define LOOPS_EACH_MS   100u     /* a try is disturbed if it has fewer reads of the PIT's OUT per ms */
#define UNEVEN          10u      /* a try is disturbed if its longest read of OUT takes over 10 times its shortest */
#define SHORT_MS        10u
#define LONG_MS         50u
/* number of PIT readings in the record for each try; each is 0 if there is no PIT */
#define PIT_READINGS    4u
/* our limit of the wait for the PIT's OUT, as a multiple of the requested time; Linux has no limit */
#define OUT_FACTOR      4u
#define NONE            UINT64_MAX

enum { PIT, HPET, PM };
enum { NO_REFERENCE, ALL_DISTURBED };

/* Readings of the TSC and the reference clock at the start or the end of a try. */
struct end {
	uint64_t tsc; /* NONE if the reading was disturbed */
	uint64_t reference;
};

static struct end
read_reference_and_tsc(const struct calibrating *c)
{
	struct end end = { NONE, 0 };

	if (!c->devices[HPET] && !c->devices[PM])
		return end;
	for (unsigned i = 0; i < REFERENCE_TRIES; i++) {
		uint64_t before = hw_tsc(), after;

		end.reference = c->devices[HPET] ? hw_read32(c->devices[HPET]->address + HPET_COUNTER) :
						   acpi_pm_read_24_bits(c->devices[PM]);
		after = hw_tsc();
		if (after - before < REFERENCE_TICKS) {
			end.tsc = after;
			break;
		}
	}
	return end;
}

static void
wait_ms(const struct calibrating *c, unsigned ms)
{
	struct wait wait = wait_begin(c->scale, ms * WAIT_NS_PER_MS);

	while (wait_has_time_left(&wait))
		;
}

/*
 * Returns the TSC's rate in kHz, measured during MS milliseconds of the PIT. Returns NONE if a read was disturbed.
 * Without a PIT, returns NONE after 50 ms.
 */
static uint64_t
measure_khz_by_pit(const struct calibrating *c, unsigned ms, struct calibration_result *result)
{
	uint32_t count = PIT_RATE / (1000 / ms);
	uint64_t begin, last, now, shortest = NONE, longest = 0, loops = 0;

	if (!c->devices[PIT]) {
		wait_ms(c, LONG_MS);
		for (unsigned i = 0; i < PIT_READINGS; i++)
			calibration_add_reading(result, 0);
		return NONE;
	}
	struct wait wait = wait_begin(c->scale, OUT_FACTOR * ms * WAIT_NS_PER_MS);
	hw_out8(PIT_CONTROL, CONTROL_MODE_0);
	hw_out8(PIT_DATA_2, count & 0xff);
	hw_out8(PIT_DATA_2, (uint8_t)(count >> 8));
	begin = last = now = hw_tsc();
	for (; (hw_in8(PORT_B) & PORT_B_OUT_2) == 0 && wait_has_time_left(&wait); last = now, loops++) {
		now = hw_tsc();
		shortest = now - last < shortest ? now - last : shortest;
		longest = now - last > longest ? now - last : longest;
	}
	pit_start_counting();
	calibration_add_reading(result, now - begin);
	calibration_add_reading(result, loops);
	calibration_add_reading(result, shortest);
	calibration_add_reading(result, longest);
	if (loops < (uint64_t)LOOPS_EACH_MS * ms || longest > UNEVEN * shortest)
		return NONE;
	return (now - begin) / ms;
}

/* Returns the TSC's rate in kHz, measured by the reference clock, or NONE if a reading was disturbed. */
static uint64_t
calculate_khz_by_reference(const struct calibrating *c, struct end first, struct end last)
{
	uint64_t ticks, ns;

	if (first.reference == last.reference || first.tsc == NONE || last.tsc == NONE)
		return NONE;
	if (c->devices[HPET]) {
		ticks = (last.reference - first.reference) & UINT32_MAX;
		ns = ticks * hw_read32(c->devices[HPET]->address + HPET_PERIOD) / 1000000;
	} else {
		ticks = (last.reference - first.reference) & ACPI_PM_MASK_24;
		ns = ticks * 1000000000 / PM_RATE;
	}
	return ns ? (last.tsc - first.tsc) * 1000000 / ns : NONE;
}

static bool
is_within_10_percent(uint64_t khz, uint64_t reference_khz)
{
	return khz != NONE && reference_khz && khz <= NONE / 100 && khz * 100 / reference_khz >= 90 &&
	       khz * 100 / reference_khz <= 110;
}

enum outcome_of_try { TRY_DISTURBED, TRY_DIFFERS, TRY_AGREES };

/*
 * Measures the TSC's rate by the PIT and by the reference clock, for MS milliseconds. Lowers *PIT_KHZ and
 * *REFERENCE_KHZ to this try's rates if these are lower.
 */
static enum outcome_of_try
measure_both_rates_once(const struct calibrating *c, unsigned ms, uint64_t *pit_khz, uint64_t *reference_khz,
			struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask(), khz, by_pit;
	struct end first = read_reference_and_tsc(c), last;

	by_pit = measure_khz_by_pit(c, ms, result);
	last = read_reference_and_tsc(c);
	hw_interrupts_restore(interrupts);
	calibration_add_reading(result, first.tsc);
	calibration_add_reading(result, first.reference);
	calibration_add_reading(result, last.tsc);
	calibration_add_reading(result, last.reference);
	*pit_khz = by_pit < *pit_khz ? by_pit : *pit_khz;
	khz = calculate_khz_by_reference(c, first, last);
	*reference_khz = khz < *reference_khz ? khz : *reference_khz;
	if (khz == NONE)
		return TRY_DISTURBED;
	return is_within_10_percent(*pit_khz, *reference_khz) ? TRY_AGREES : TRY_DIFFERS;
}

static void
linux_reference_calibrate(const struct calibrating *c, struct calibration_result *result)
{
	uint64_t pit_khz = NONE, reference_khz = NONE;
	unsigned ms = SHORT_MS;

	for (unsigned i = 0; i < TRIES; i++) {
		enum outcome_of_try outcome = measure_both_rates_once(c, ms, &pit_khz, &reference_khz, result);

		if (outcome == TRY_AGREES) {
			calibration_set_rate_khz(result, reference_khz);
			return;
		}
		if (i == 1 && outcome == TRY_DIFFERS && pit_khz == NONE)
			ms = LONG_MS;
	}
	if (pit_khz != NONE)
		calibration_set_rate_khz(result, pit_khz);
	else if (reference_khz != NONE)
		calibration_set_rate_khz(result, reference_khz);
	else
		calibration_set_failure(result, c->devices[HPET] || c->devices[PM] ? ALL_DISTURBED : NO_REFERENCE);
}

static const char *
linux_reference_find_obstacle(const struct calibrating *c)
{
	if (c->devices[PIT] || c->devices[HPET] || c->devices[PM])
		return NULL;
	return c->left_out[PIT] || c->left_out[HPET] || c->left_out[PM] ?
	       "No PIT, HPET or PM timer can be read: the option clocks= leaves out at least one of them." :
	       "No PIT, HPET or PM timer can be read in this run.";
}

const struct calibration_loop calibration_linux_reference = {
	.id = "linux_reference",
	.user = "Linux 6.16, pit_hpet_ptimer_calibrate_cpu",
	.clock = "tsc",
	.uses = { [PIT] = &pit_driver, [HPET] = &hpet_driver, [PM] = &acpi_pm_driver },
	.refusals = {
		[NO_REFERENCE] = "the PIT was disturbed (\"No reference (HPET/PMTIMER) available\")",
		[ALL_DISTURBED] = "all readings were disturbed (\"HPET/PMTIMER calibration failed\")",
	},
	.longest_ns = 80000000,
	/* without a PIT each try takes LONG_MS */
	.without_first_ns = TRIES * LONG_MS * WAIT_NS_PER_MS + WAIT_NS_PER_MS,
	.missing = linux_reference_find_obstacle,
	.run = linux_reference_calibrate,
};
