/* The HPET's registers, for its driver and its checks. Sections refer to the IA-PC HPET specification 1.0a. */
#ifndef BARETICK_HPET_REGISTERS_H
#define BARETICK_HPET_REGISTERS_H

#include <stdint.h>

#define HPET_SIZE            1024u /* 2.3: a block's registers */
#define HPET_ID              0x000u /* 2.3.4: general capabilities and ID, low half */
#define HPET_PERIOD          0x004u /* high half: femtoseconds per tick */
#define HPET_CONFIGURATION   0x010u /* 2.3.5 */
#define HPET_COUNTER         0x0f0u /* 2.3.7 */
#define HPET_COUNTER_HIGH    0x0f4u
#define HPET_TIMERS(id)      (((id) >> 8 & 0x1fu) + 1) /* 2.3.4: NUM_TIM_CAP is the number of the last */
#define HPET_TIMER(n)        (0x100u + 0x20u * (n))    /* 2.3.8: configuration and capabilities of timer n, low half */
#define HPET_TN_INT_ENB      (1u << 2)  /* 2.3.8: it interrupts at the comparator's value */
#define HPET_COUNT_SIZE_CAP  (1u << 13) /* 2.3.4: the main counter is 64 bits wide */
#define HPET_ENABLE_CNF      1u         /* 2.3.5: the main counter runs */
#define HPET_PERIOD_FS_MAX   100000000u /* 2.3.4: at most 05F5E100h, 100 ns */
#define HPET_PERIOD_FS_MIN   100000u    /* ours: no HPET ticks at 10 GHz */
#define HPET_FS_PER_S        UINT64_C(1000000000000000)
#define HPET_HALF_A_FS_PPB   500000000u /* the period is rounded to whole femtoseconds: of one of 1 fs */

/* One reading of the main counter, its full width; CONTEXT is the device. */
uint64_t hpet_read64(void *context);

#endif
