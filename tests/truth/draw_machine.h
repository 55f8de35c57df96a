/* Functions that draw parts of a machine, for use by each kind. */
#ifndef BARETICK_DRAW_MACHINE_H
#define BARETICK_DRAW_MACHINE_H

#include "machine.h"

enum tsc_claim { CLAIM_RIGHT, CLAIM_ROUNDED, CLAIM_HYPERVISOR, CLAIM_ABSENT };

/*
 * Draws five healthy clocks and the costs of their readings. In 40 of 100 cases the machine becomes a guest, if it is
 * not already one. The functions below may change the result.
 */
void draw_clocks(void);
void draw_rates(void);

void draw_own_sources(void);                              /* gives each clock its own oscillator */
void draw_same_source(const int *clocks, size_t count);   /* gives these clocks one oscillator */
void draw_wrong_source(unsigned source);                   /* makes the oscillator wrong by 150 to 5,000 ppm */
void draw_very_wrong_source(unsigned source);                    /* makes the oscillator wrong by 6 to 30 % */
void draw_load(void);                                     /* lets the core be preempted often, for up to 20 ms */
void draw_tsc_claim(enum tsc_claim how);
/* draws CPUID leaves that state rates: right ones, rounded ones, and one wrong leaf */
void draw_leaves(void);

/* Draws 2 to 16 healthy cores in one package. The machine then has fewer clocks, so that a run has fewer readings. */
void draw_cores(void);
void draw_packages(size_t count);      /* splits the cores into packages of the same size, in order */
/* gives the machine fewer processors than cores; each core runs for 0.1 to 5 ms in turn */
void draw_processors(void);
int64_t draw_offset(void);             /* returns 10 to 10^7 ticks, positive or negative */
uint64_t draw_drift(int64_t ppb);         /* returns the rate in microhertz of a TSC that is faster by PPB */
size_t draw_core(void);                /* returns any core except the boot core */

#endif
