/* Functions that draw one part of a machine. Each kind of machine combines some of them. */
#ifndef BARETICK_DRAW_MACHINE_H
#define BARETICK_DRAW_MACHINE_H

#include "machine.h"

enum tsc_claim { CLAIM_RIGHT, CLAIM_ROUNDED, CLAIM_HYPERVISOR, CLAIM_ABSENT };

/*
 * Draws five healthy clocks and the durations of their readings. In 40 of 100 cases the machine becomes a guest, if it
 * is not a guest already. The other functions change these values, so they must be called later.
 */
void draw_clocks(void);
void draw_rates(void);

void draw_independent_sources(void);                              /* gives each clock its own oscillator */
void draw_same_source(const int *clocks, size_t count);   /* gives these clocks one oscillator */
/* makes the oscillator too fast or too slow by LOW_PPM to HIGH_PPM */
void draw_source_rate(unsigned source, uint64_t low_ppm, uint64_t high_ppm);
void draw_wrong_source_rate(unsigned source);                   /* makes the oscillator wrong by 150 to 5,000 ppm */
/* makes the oscillator 2 to 500 times as fast as its nominal rate */
void draw_far_source_rate(unsigned source);
void draw_very_wrong_source_rate(unsigned source);                    /* makes the oscillator wrong by 6 to 30 % */
void draw_host_load(void);                                   /* lets the host preempt the core often, for up to 20 ms */
void draw_tsc_claim(enum tsc_claim how);
/* draws the CPUID leaves that state the TSC's rate: exact leaves, rounded leaves, and at most one wrong leaf */
void draw_cpuid_leaves(void);

/* Draws 2 to 16 healthy cores in one package. Also removes the PIT and the RTC, so that a run takes less time. */
void draw_cores(void);
void draw_packages(size_t count);      /* splits the cores into packages of the same size, in order */
/* gives the machine fewer processors than cores; each core runs in turn for 0.1 to 5 ms */
void draw_host_processors(void);
int64_t draw_offset(void);             /* returns 10 to 10^7 ticks, positive or negative */
/* returns the rate in microhertz of a TSC that is faster by PPB than the other cores' TSCs */
uint64_t draw_drifting_rate_microhz(int64_t ppb);
size_t draw_core_number(void);                /* returns a random core that is not the boot core */

#endif
