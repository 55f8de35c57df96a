/*
 * Linux's quick calibration of the TSC: Linux 6.16, arch/x86/kernel/tsc.c, quick_pit_calibrate(). Channel 2 of the PIT
 * counts down from FFFFh, and its high byte is polled. The high byte keeps each value for 256 PIT ticks (215 us). The
 * loop measures from the first change of the high byte to the latest change. It ends when the uncertainty of both
 * changes is below 1/2048 (488 ppm) of the time between them.
 */
#include "calibrations/calibrations.h"
#include "clocks/drivers.h"
#include "clocks/pit_registers.h"

#define PIT_RATE        1193182u
#define CLOCKS_EACH     256u
#define VALUES_MAX      233u /* number of changes of the high byte in 50 ms */
#define READS_MAX       50000u
#define READS_MIN       5u   /* Linux gives up if at most this number of reads return the same high byte */
#define PRECISION_LOG2  11

enum { TOO_SLOW, SKIPPED, NEVER_PRECISE };

static bool
pit_high_byte_equals(uint8_t high)
{
	(void)hw_in8(PIT_DATA_2); /* discards the low byte */
	return hw_in8(PIT_DATA_2) == high;
}

struct change { /* a change of the high byte from one value to the next */
	uint64_t tsc;   /* TSC after the last read that returned the old value */
	uint64_t ticks; /* TSC ticks from before the last read of the old value until after the next read */
};

static void
store_readings(struct calibration_result *result, unsigned i, const struct change *first, const struct change *now)
{
	calibration_add_reading(result, i);
	calibration_add_reading(result, first->tsc);
	calibration_add_reading(result, first->ticks);
	calibration_add_reading(result, now->tsc);
	calibration_add_reading(result, now->ticks);
}

/* Waits until the high byte is no longer HIGH. Returns false if READS_MIN or fewer reads returned HIGH. */
static bool
wait_for_high_byte_change(uint8_t high, struct change *change)
{
	uint64_t tsc = 0, before = 0;
	unsigned reads = 0;

	for (; reads < READS_MAX && pit_high_byte_equals(high); reads++) {
		before = tsc;
		tsc = hw_tsc();
	}
	change->ticks = hw_tsc() - before;
	change->tsc = tsc;
	return reads > READS_MIN;
}

static void
measure_tsc_rate_by_high_bytes(struct calibration_result *result)
{
	struct change first, now;
	unsigned i;

	if (!wait_for_high_byte_change(0xff, &first)) {
		calibration_set_failure(result, SKIPPED);
		store_readings(result, 0, &first, &first);
		return;
	}
	calibration_set_failure(result, NEVER_PRECISE);
	for (i = 1; i <= VALUES_MAX; i++) {
		if (!wait_for_high_byte_change((uint8_t)(0xff - i), &now)) {
			calibration_set_failure(result, SKIPPED);
			break;
		}
		uint64_t ticks = now.tsc - first.tsc, unsure = first.ticks + now.ticks;

		if (i == 1 && unsure >= ticks * VALUES_MAX >> PRECISION_LOG2) {
			calibration_set_failure(result, TOO_SLOW);
			break;
		}
		if (unsure >= ticks >> PRECISION_LOG2)
			continue;
		if (!pit_high_byte_equals((uint8_t)(0xfe - i)))
			calibration_set_failure(result, SKIPPED);
		else
			calibration_set_rate_khz(result, ticks * PIT_RATE / (i * CLOCKS_EACH * 1000));
		break;
	}
	store_readings(result, i, &first, &now);
}

static void
linux_pit_calibrate(const struct calibrating *, struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask();

	hw_out8(PIT_CONTROL, CONTROL_MODE_0);
	hw_out8(PIT_DATA_2, 0xff);
	hw_out8(PIT_DATA_2, 0xff);
	(void)pit_high_byte_equals(0); /* waits for the next PIT tick, at which the PIT loads the count */
	measure_tsc_rate_by_high_bytes(result);
	pit_start_counting();
	hw_interrupts_restore(interrupts);
}

static const char *
linux_pit_find_obstacle(const struct calibrating *calibrating)
{
	if (calibrating->devices[0])
		return NULL;
	return calibrating->left_out[0] ? "The option clocks= leaves out the PIT." : "No PIT can be read in this run.";
}

const struct calibration_loop calibration_linux_pit = {
	.id = "linux_pit",
	.user = "Linux 6.16, quick_pit_calibrate",
	.clock = "tsc",
	.uses = { &pit_driver },
	.refusals = {
		[TOO_SLOW] = "reads of the PIT take too long to limit the error to 500 ppm",
		[SKIPPED] = "a value of the PIT was missed (\"Fast TSC calibration failed\")",
		[NEVER_PRECISE] = "the error could not be limited to 500 ppm in 50 ms (\"Fast TSC calibration failed\")",
	},
	.longest_ns = 55000000,
	.missing = linux_pit_find_obstacle,
	.run = linux_pit_calibrate,
};
