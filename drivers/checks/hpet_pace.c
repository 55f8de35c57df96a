/* Measures the HPET's rate roughly. See check_internal.h. */
#include "checks/check_internal.h"

#include "clocks/hpet_registers.h"
#include "hw/wait.h"

#define PACE_NS           (20 * UINT64_C(1000))  /* duration of the measurement: at least 200 ticks of the HPET */
/* factor between the measured rate and the largest plausible rate, because two readings give only a rough rate */
#define LEAP_FACTOR       2
#define LEAP_TICKS        8u

uint32_t
hpet_read_low_half(const struct checking *checking)
{
	return hw_read32(checking->device->address + HPET_COUNTER);
}

struct hpet_pace
hpet_measure_rate_by_tsc(const struct checking *checking)
{
	uint32_t first = hpet_read_low_half(checking), ticks;
	uint64_t begin = check_read_tsc(checking->device), end;
	struct wait wait = wait_begin(checking->scale, PACE_NS);

	while (wait_has_time_left(&wait))
		;
	end = check_read_tsc(checking->device);
	ticks = hpet_read_low_half(checking) - first;
	return (struct hpet_pace){ ticks, end > begin ? end - begin : 1 };
}

uint64_t
hpet_get_ticks_max_during(const struct hpet_pace *pace, uint64_t tsc_ticks)
{
	return LEAP_FACTOR * scale_mul_div_up(pace->ticks, tsc_ticks, pace->tsc_ticks) + LEAP_TICKS;
}
