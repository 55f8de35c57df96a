/*
 * EDK II's calibration of the TSC: edk2-stable202311, PcAtChipsetPkg/Library/AcpiTimerLib/AcpiTimerLib.c,
 * InternalCalculateTscFrequency(). It counts TSC ticks during 363 ticks of the PM timer and multiplies them by 9861.
 * The loop ends only after the 363rd tick has passed, which is up to one tick late. So the result is up to 1/363 too
 * high. The duration of a read of the PM timer adds to this error.
 */
#include "calibrations/calibrations.h"
#include "clocks/acpi_pm_registers.h"
#include "clocks/drivers.h"
#include "hw/wait.h"

#define TICKS     363u
#define FACTOR    9861u
#define SIGN      (UINT32_C(1) << 23)
#define BOUND_NS  (20 * WAIT_NS_PER_MS) /* our limit of the loop's duration; EDK II's code waits without a limit */

enum { STOPPED };

static void
edk2_calibrate(const struct calibrating *calibrating, struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask(), begin, end;
	struct wait wait = wait_begin(calibrating->scale, BOUND_NS);
	uint32_t due = acpi_pm_read_24_bits(calibrating->devices[0]) + TICKS;
	bool waits;

	begin = hw_tsc();
	while ((waits = ((due - acpi_pm_read_24_bits(calibrating->devices[0])) & SIGN) == 0) && wait_has_time_left(&wait))
		;
	end = hw_tsc();
	hw_interrupts_restore(interrupts);
	calibration_add_reading(result, begin);
	calibration_add_reading(result, end);
	if (waits) {
		calibration_set_failure(result, STOPPED);
		return;
	}
	result->hz = (end - begin) * FACTOR;
	result->refusal = CALIBRATION_NONE;
}

static const char *
edk2_find_obstacle(const struct calibrating *calibrating)
{
	if (calibrating->devices[0])
		return NULL;
	return calibrating->left_out[0] ? "The option clocks= leaves out the PM timer." :
	       "No PM timer can be read in this run.";
}

const struct calibration_loop calibration_edk2 = {
	.id = "edk2",
	.user = "EDK II, AcpiTimerLib",
	.clock = "tsc",
	.uses = { &acpi_pm_driver },
	.refusals = { [STOPPED] = "the PM timer stopped: EDK II's loop would never end" },
	.longest_ns = 1000000,
	.missing = edk2_find_obstacle,
	.run = edk2_calibrate,
};
