/*
 * A hypervisor on the simulated machine: KVM's, Xen's and Hyper-V's clocks, and their faults. A core's page is right at
 * the time at which the core requests it.
 */
#ifndef BARETICK_SIM_PARAVIRTUAL_H
#define BARETICK_SIM_PARAVIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "paravirtual/pages.h"
#include "sim.h"

#define SIM_PARAVIRTUAL_PAGES (SIM_CORES_MAX + 1)

struct sim_paravirtual {
	uint8_t *memory;                    /* SIM_PARAVIRTUAL_PAGES aligned pages */
	int64_t apart_ns[SIM_CORES_MAX];    /* the core's page is ahead of the others' */
	int64_t fast_ppm;                   /* all pages: they take the TSC for so much slower than it is */
	bool not_stable, odd, empty;        /* KVM's and Xen's pages lack the flag, always change, are empty */
	uint64_t odd_at_ps;                 /* the pages always change from then on, or SIM_NEVER */
	unsigned updates;                   /* so many readings of the TSC find a rewritten page */
	int64_t update_ns;                  /* added to the page's time at each of these updates */
	bool no_sequence;                   /* Hyper-V's page has the sequence 0 */
	uint64_t no_sequence_at_ps;
	uint64_t sequence_again_at_ps;      /* SIM_NEVER: it stays 0 */
	uint64_t torn_at_ps;                /* it is written over and over from then on; SIM_NEVER */
	int64_t msr_ahead_ticks;            /* Hyper-V's MSR against its page */
	uint64_t paused_at_ps, paused_ps;   /* the guest, for so long, in which Hyper-V's MSR stands; SIM_NEVER */
	bool keeps_msr;                     /* a registration with KVM or Xen cannot be undone */
	uint64_t kvm_msrs[SIM_CORES_MAX];   /* 4B564D01h of each core */
	uint64_t xen_areas[SIM_CORES_MAX];  /* which Xen writes into */
	int xen_error;                      /* that it answers instead */
	size_t xen_error_core;              /* the error occurs from this core on; 0 for all cores */
	bool no_safe_pvclock;               /* Xen's features lack the clock */
	bool vmclock_empty;                 /* vmclock's page reads 0 */
	uint64_t vmclock_marker;            /* disruption marker in vmclock's page */
	uint32_t vmclock_counter;           /* id of the counter */
	uint64_t vmclock_period, vmclock_max_error; /* in units of 2^-84 s */
	/* From STEAL_AT_PS on the host takes STEAL_PS from the running core, and again STEAL_EVERY_PS later; SIM_NEVER */
	uint64_t steal_at_ps, steal_ps, steal_every_ps;
	unsigned steal_percent;             /* share of this time that its counter counts */
	uint64_t steal_long_ps, stolen_long_ps; /* sum of at least so long thefts while KVM knows an area */
	bool steal_silent;                  /* KVM never writes the counter */
	uint64_t stolen_ps[SIM_CORES_MAX];  /* counted so far */
	uint64_t kvm_steal_msrs[SIM_CORES_MAX]; /* 4B564D03h of each core */
	unsigned writes;                    /* number of written MSRs and registered areas */
};

extern struct sim_paravirtual sim_paravirtual;

/*
 * After sim_reset() and before sim_platform(): a guest of KVM, with Hyper-V's interface stacked beneath where
 * HYPERV.
 */
void sim_paravirtual_plug(bool hyperv);

/* Likewise a guest of Xen, whose TSC is never emulated. */
void sim_paravirtual_plug_xen(bool hyperv);

/* Then: Hyper-V's synthetic timers in direct mode, whose interrupts need sim_interrupts_plug(). */
void sim_paravirtual_offer_timers(void);

/* Then: KVM's counter of stolen time. Xen always has one. */
void sim_paravirtual_offer_steal(void);

/* Counts PS that the host took from the running core. The caller advances the time. */
void sim_paravirtual_count_stolen(uint64_t ps);

/* KVM sets the flag GUEST_STOPPED in the boot core's page, if that is in use. */
void sim_paravirtual_announce(void);

/* The page of vmclock, for acpi.vmclock. */
#define SIM_VMCLOCK_BASE UINT64_C(0xfeffb000)
void sim_paravirtual_plug_vmclock(void);

/* Whether every MSR reads as it did when it was plugged, and no area is written into. */
bool sim_paravirtual_is_as_found(void);

#endif
