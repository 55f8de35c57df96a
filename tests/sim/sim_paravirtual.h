/*
 * A hypervisor on the simulated machine: KVM's, Xen's and Hyper-V's clocks, and what can be wrong with them. What it
 * writes into a core's page is right at the moment at which the core asks for it.
 */
#ifndef BARETICK_SIM_PARAVIRTUAL_H
#define BARETICK_SIM_PARAVIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "paravirtual/pages.h"
#include "sim.h"

#define SIM_PARAVIRTUAL_PAGES (SIM_CORES_MAX + 1)

struct sim_paravirtual {
	uint8_t *memory;                    /* of SIM_PARAVIRTUAL_PAGES; pages on a page's boundary */
	int64_t apart_ns[SIM_CORES_MAX];    /* the core's page is ahead of the others' */
	int64_t fast_ppm;                   /* all pages: they take the TSC for so much slower than it is */
	bool not_stable, odd, empty;        /* of KVM's and Xen's pages: without the flag; never whole; never written */
	uint64_t odd_at_ps;                 /* likewise, from then on; SIM_NEVER */
	unsigned updates;                   /* likewise: so many readings of the TSC see them written anew, */
	int64_t update_ns;                  /* and so much further each time */
	bool no_sequence;                   /* of Hyper-V's page */
	uint64_t no_sequence_at_ps;
	uint64_t sequence_again_at_ps;      /* SIM_NEVER: it stays 0 */
	uint64_t torn_at_ps;                /* it is written over and over from then on; SIM_NEVER */
	int64_t msr_ahead_ticks;            /* Hyper-V's MSR against its page */
	uint64_t paused_at_ps, paused_ps;   /* the guest, for so long, in which Hyper-V's MSR stands; SIM_NEVER */
	bool keeps_msr;                     /* of KVM and Xen: what was asked for once stays */
	uint64_t kvm_msrs[SIM_CORES_MAX];   /* 4B564D01h of each core */
	uint64_t xen_areas[SIM_CORES_MAX];  /* which Xen writes into */
	int xen_error;                      /* that it answers instead */
	size_t xen_error_core;              /* from this core on; 0: on all */
	bool no_safe_pvclock;               /* of its features */
	unsigned writes;                    /* to all MSRs, and of areas */
};

extern struct sim_paravirtual sim_paravirtual;

/*
 * After sim_reset() and before sim_platform(): a guest of KVM, with Hyper-V's interface stacked beneath where
 * HYPERV.
 */
void sim_paravirtual_plug(bool hyperv);

/* Likewise a guest of Xen, whose TSC is never emulated. */
void sim_paravirtual_plug_xen(bool hyperv);

/* Whether every MSR reads as it did when it was plugged, and no area is written into. */
bool sim_paravirtual_is_as_found(void);

#endif
