/* The measured rate of the HPET, and the most that it can count in a given time. For its checks. */
#ifndef BARETICK_HPET_PACE_H
#define BARETICK_HPET_PACE_H

#include "checks/check.h"

/* Reads the low half, which takes one access. */
uint32_t hpet_read_low(const struct checking *checking);

struct hpet_pace { /* the measured rate; another rule compares it with the claimed one */
	uint64_t ticks, tsc_ticks;
};

/* Returns an upper bound on the HPET's ticks in TSC_TICKS. */
uint64_t hpet_allowed_ticks(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* Measures the pace over a few microseconds. */
struct hpet_pace hpet_take_pace(const struct checking *checking);

/* A check, see check.h: whether full readings across the rollover of the low half are in order. */
check_look hpet_look_for_torn_readings;

#endif
