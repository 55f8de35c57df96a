/* Functions that draw parts of a machine, for use by each kind. */
#ifndef BARETICK_DRAW_MACHINE_H
#define BARETICK_DRAW_MACHINE_H

#include "machine.h"

enum tsc_claim { CLAIM_RIGHT, CLAIM_ROUNDED, CLAIM_HYPERVISOR, CLAIM_ABSENT };

/*
 * Draws five healthy clocks and the costs of their readings. The machine becomes a guest in 40 of 100 cases, if it is
 * not already one. The functions below may change the result.
 */
void draw_clocks(void);
void draw_rates(void);

void draw_own_sources(void);                              /* each clock gets its own oscillator */
void draw_same_source(const int *clocks, size_t count);   /* these clocks share one oscillator */
void draw_sick_source(unsigned source);                   /* the oscillator is off by 150 to 5,000 ppm */
void draw_far_source(unsigned source);                    /* the oscillator is off by 6 to 30 % */
void draw_load(void);                                     /* the core is often preempted, for up to 20 ms */
void draw_tsc_claim(enum tsc_claim how);
void draw_leaves(void);                                   /* CPUID leaves: right, rounded, and one wrong leaf */

/* Draws 2 to 16 healthy cores in one package. There are fewer clocks, so that tests are few. */
void draw_cores(void);
void draw_packages(size_t count);      /* splits the cores into packages of the same size, in order */
void draw_processors(void);            /* fewer processors than cores; each core runs for 0.1 to 5 ms in turn */
int64_t draw_offset(void);             /* 10 to 10^7 ticks, positive or negative */
uint64_t draw_drift(int64_t ppb);         /* rate of a TSC in microhertz that is faster by PPB */
size_t draw_core(void);                /* any core except the boot core */

#endif
