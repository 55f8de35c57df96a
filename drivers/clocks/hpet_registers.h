/*
 * The HPET's registers. Included by its driver and its checks. Sections are in the IA-PC HPET specification 1.0a.
 */
#ifndef BARETICK_HPET_REGISTERS_H
#define BARETICK_HPET_REGISTERS_H

#include <stdint.h>

#define HPET_SIZE            1024u /* IA-PC HPET 2.3: size of the register block, in bytes */
#define HPET_ID              0x000u /* IA-PC HPET 2.3.4: general capabilities and ID, low half */
/* IA-PC HPET 2.3.4: general capabilities and ID, high half, which is the period of a tick in fs */
#define HPET_PERIOD          0x004u
#define HPET_CONFIGURATION   0x010u /* IA-PC HPET 2.3.5: general configuration */
#define HPET_COUNTER         0x0f0u /* IA-PC HPET 2.3.7: main counter, low half */
#define HPET_COUNTER_HIGH    0x0f4u
/* number of timers, which is NUM_TIM_CAP plus 1 (IA-PC HPET 2.3.4) */
#define HPET_TIMERS(id)      (((id) >> 8 & 0x1fu) + 1)
/* IA-PC HPET 2.3.8: configuration and capabilities of timer n, low half */
#define HPET_TIMER(n)        (0x100u + 0x20u * (n))
#define HPET_TN_INT_ENB      (1u << 2)  /* IA-PC HPET 2.3.8: the timer interrupts at its comparator's value */
#define HPET_COUNT_SIZE_CAP  (1u << 13) /* IA-PC HPET 2.3.4: the main counter is 64 bits wide */
#define HPET_ENABLE_CNF      1u         /* IA-PC HPET 2.3.5: the main counter runs */
#define HPET_PERIOD_FS_MAX   100000000u /* IA-PC HPET 2.3.4: longest allowed period, 05F5E100h, which is 100 ns */
/* our lower limit, 10 GHz: no HPET ticks that fast, so a shorter period is an error */
#define HPET_PERIOD_FS_MIN   100000u
#define HPET_FS_PER_S        UINT64_C(1000000000000000)
/*
 * The period's register holds whole fs, so its rounding error is up to 0.5 fs. This constant divided by the period in
 * fs is the rounding error in ppb.
 */
#define HPET_HALF_A_FS_PPB   500000000u

/* Read the whole main counter, or its low half. CONTEXT is the device. */
uint64_t hpet_read64(void *context);
uint64_t hpet_read32(void *context);

#endif
