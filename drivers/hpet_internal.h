/* What the HPET's driver and its checks share. Sections are those of the IA-PC HPET specification 1.0a. */
#ifndef BARETICK_HPET_INTERNAL_H
#define BARETICK_HPET_INTERNAL_H

#include "check.h"

#define HPET_SIZE            1024u /* 2.3: a block's registers */
#define HPET_ID              0x000u /* 2.3.4: general capabilities and ID, low half */
#define HPET_PERIOD          0x004u /* high half: femtoseconds per tick */
#define HPET_CONFIGURATION   0x010u /* 2.3.5 */
#define HPET_COUNTER         0x0f0u /* 2.3.7 */
#define HPET_COUNTER_HIGH    0x0f4u
#define HPET_COUNT_SIZE_CAP  (1u << 13) /* 2.3.4: the main counter is 64 bits wide */
#define HPET_ENABLE_CNF      1u         /* 2.3.5: the main counter runs */
#define HPET_PERIOD_FS_MAX   100000000u /* 2.3.4: at most 05F5E100h, 100 ns */
#define HPET_PERIOD_FS_MIN   100000u    /* ours: no HPET ticks at 10 GHz */
#define HPET_FS_PER_S        UINT64_C(1000000000000000)

/* One reading of the main counter, its full width; CONTEXT is the device. */
uint64_t hpet_read64(void *context);

/* The low half, which one access gives whole. */
uint32_t hpet_read_low(const struct checking *checking);

struct hpet_pace { /* how fast it counts here, whatever it claims: that is another rule's */
	uint64_t ticks, tsc_ticks;
};

/* More than the ticks that can pass in TSC_TICKS at PACE. */
uint64_t hpet_allowed_ticks(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* By a few microseconds of it. */
struct hpet_pace hpet_take_pace(const struct checking *checking);

/* A check, see check.h: whether full readings across the rollover of the low half follow each other. */
check_look hpet_look_for_torn_readings;

void hpet_check(const struct platform *platform, struct device *device, const struct clock *rows,
		const struct scale *scale, uint64_t budget_ns, struct behaviours *behaviours);

#endif
