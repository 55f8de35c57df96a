/* How fast the HPET counts here, and what it can have counted meanwhile: for its checks. */
#ifndef BARETICK_HPET_PACE_H
#define BARETICK_HPET_PACE_H

#include "checks/check.h"

/* The low half, which one access gives whole. */
uint32_t hpet_read_low(const struct checking *checking);

struct hpet_pace { /* how fast it counts here, whatever it claims: that is another rule's */
	uint64_t ticks, tsc_ticks;
};

/* More than the ticks that can pass in TSC_TICKS at PACE. */
uint64_t hpet_allowed_ticks(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* By a few microseconds of it. */
struct hpet_pace hpet_take_pace(const struct checking *checking);

/* A check, see check.h: whether full readings across the rollover of the low half are in order. */
check_look hpet_look_for_torn_readings;

#endif
