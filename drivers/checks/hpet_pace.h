/* Measures the HPET's rate roughly, and limits the ticks that the HPET can make in a given time. */
#ifndef BARETICK_HPET_PACE_H
#define BARETICK_HPET_PACE_H

#include "checks/check.h"

/* Reads the low half of the main counter, in one access. */
uint32_t hpet_read_low(const struct checking *checking);

struct hpet_pace { /* HPET ticks, and TSC ticks in the same time */
	uint64_t ticks, tsc_ticks;
};

/* Returns an upper bound on the ticks that the HPET makes in TSC_TICKS. */
uint64_t hpet_allowed_ticks(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* Measures the rate over a few microseconds. */
struct hpet_pace hpet_measure_pace(const struct checking *checking);

/* A check (see check.h): 64-bit readings around the rollover of the low half must not be torn. */
check_function hpet_check_torn_readings;

#endif
