/* Parts that the kinds of machine draw. */
#ifndef BARETICK_DRAW_MACHINE_H
#define BARETICK_DRAW_MACHINE_H

#include "machine.h"

enum tsc_claim { CLAIM_RIGHT, CLAIM_ROUNDED, CLAIM_HYPERVISOR, CLAIM_ABSENT };

/* All five clocks, healthy, with what their readings cost, in a guest or, unless it is one already, not; then: */
void draw_clocks(void);
void draw_rates(void);

void draw_own_sources(void);                              /* one oscillator each */
void draw_same_source(const int *clocks, size_t count);   /* one for these */
void draw_sick_source(unsigned source);                   /* off by 150 to 5,000 ppm */
void draw_far_source(unsigned source);                    /* off by 6 to 30 % */
void draw_load(void);                                     /* the core is often preempted, for up to 20 ms */
void draw_tsc_claim(enum tsc_claim how);
void draw_leaves(void);                                   /* leaves that are right, rounded, and one of them wrong */

/* Draws 2 to 16 healthy cores in one package, and clocks with few tests. */
void draw_cores(void);
void draw_packages(size_t count);      /* splits the cores into packages of the same size, in order */
void draw_processors(void);            /* fewer processors than cores, which run for 0.1 to 5 ms in turn */
int64_t draw_offset(void);             /* 10 to 10^7 ticks, either way */
uint64_t draw_drift(int64_t ppb);         /* microhertz of a TSC that is so much faster */
size_t draw_core(void);                /* not the boot core */

#endif
