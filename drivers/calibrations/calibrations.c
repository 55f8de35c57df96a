/* The table of all calibration loops. The shortest loops are first, because a run may have no time for the others. */
#include "calibrations/calibrations.h"

const struct calibration_loop *const calibrations[] = {
	&calibration_edk2, &calibration_postgresql, &calibration_linux_pit, &calibration_linux_reference,
	&calibration_valkey, &calibration_linux_lapic, NULL,
};

_Static_assert(sizeof(calibrations) / sizeof(calibrations[0]) <= CALIBRATION_LOOPS + 1, "rows of the report");
