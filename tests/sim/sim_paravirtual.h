/*
 * A hypervisor on the simulated machine: the clocks of KVM, Xen and Hyper-V, and their faults. A core's page is right
 * at the time at which the core requests it.
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
	int64_t apart_ns[SIM_CORES_MAX];    /* lead in ns of the core's page over the other cores' pages */
	int64_t fast_ppm;                   /* all pages state a TSC rate that is too low by this */
	/*
	 * faults of KVM's and Xen's pages: the flag for a stable TSC is missing, the version always changes, or the page is
	 * empty
	 */
	bool not_stable, odd, empty;
	uint64_t odd_at_ps;                 /* the pages always change after this time, or SIM_NEVER */
	unsigned updates;                   /* number of the next TSC readings that find a rewritten page */
	int64_t update_ns;                  /* added to the page's time at each of these updates */
	bool no_sequence;                   /* Hyper-V's page has the sequence 0 */
	uint64_t no_sequence_at_ps;
	uint64_t sequence_again_at_ps;      /* time at which the sequence is 1 again; SIM_NEVER if it stays 0 */
	uint64_t torn_at_ps;                /* the page is rewritten all the time after this time; SIM_NEVER */
	int64_t msr_ahead_ticks;            /* Hyper-V's MSR minus the time of its page, in ticks of 100 ns */
	/* time and duration of a pause of the guest, during which Hyper-V's MSR stops; SIM_NEVER */
	uint64_t paused_at_ps, paused_ps;
	bool keeps_msr;                     /* a registration with KVM or Xen cannot be undone */
	uint64_t kvm_msrs[SIM_CORES_MAX];   /* MSR 4B564D01h of each core */
	uint64_t xen_areas[SIM_CORES_MAX];  /* addresses that Xen writes to */
	int xen_error;                      /* error code that Xen returns instead of success */
	size_t xen_error_core;              /* the first core with this error; 0 for all cores */
	bool no_safe_pvclock;               /* Xen's features lack the clock */
	bool vmclock_empty;                 /* the page of vmclock reads 0 */
	uint64_t vmclock_marker;            /* disruption marker in vmclock's page */
	uint32_t vmclock_counter;           /* id of the counter in vmclock's page */
	uint64_t vmclock_period, vmclock_max_error; /* in units of 2^-84 s per tick */
	uint32_t vmclock_sequence;
	unsigned vmclock_updates;           /* so many reads of the period give half of it, and then the page is updated */
	/*
	 * The host takes STEAL_PS from the running core at STEAL_AT_PS, and again STEAL_EVERY_PS later. SIM_NEVER if never.
	 */
	uint64_t steal_at_ps, steal_ps, steal_every_ps;
	unsigned steal_percent;             /* share of the stolen time that the host's counter shows, in percent */
	uint64_t steal_long_ps, stolen_long_ps; /* sum of the thefts of at least steal_long_ps, while KVM knows an area */
	bool steal_silent;                  /* KVM never writes the counter */
	uint64_t stolen_ps[SIM_CORES_MAX];  /* counted stolen time until now */
	uint64_t kvm_steal_msrs[SIM_CORES_MAX]; /* MSR 4B564D03h of each core */
	uint64_t xen_shared;                /* address at which Xen's shared page is mapped, or 0 */
	uint64_t xen_callback;              /* HVM parameter 0 */
	uint32_t xen_port;                  /* port of the timer's event, or 0 */
	bool no_events;                     /* Xen refuses to bind events */
	unsigned writes;                    /* number of written MSRs and registered areas */
};

extern struct sim_paravirtual sim_paravirtual;

/*
 * Makes the machine a guest of KVM, with Hyper-V's interface in addition if HYPERV. To be called after sim_reset() and
 * before sim_platform().
 */
void sim_paravirtual_plug(bool hyperv);

/* Makes the machine a guest of Xen instead. Its TSC is never emulated. */
void sim_paravirtual_plug_xen(bool hyperv);

/* Adds Hyper-V's synthetic timers in direct mode. Their interrupts need sim_interrupts_plug(). */
void sim_paravirtual_offer_timers(void);

/* Adds KVM's counter of stolen time. Xen always has one. */
void sim_paravirtual_offer_steal(void);

/* Adds an address for Xen's shared page to a guest of Xen without firmware. Events need sim_interrupts_plug(). */
void sim_paravirtual_offer_events(void);

/* Returns the vector of an event of Xen's timer, or 0 if Xen does not interrupt. */
uint32_t sim_paravirtual_event_vector(void);
void sim_paravirtual_set_event(void); /* Xen sets the event's bits in the shared page */

/* Counts PS as time that the host took from the running core. The caller advances the time. */
void sim_paravirtual_count_stolen(uint64_t ps);

/* Sets KVM's flag GUEST_STOPPED in the boot core's page, if this page is in use. */
void sim_paravirtual_announce(void);

/* Adds vmclock's page, whose address is for acpi.vmclock. */
#define SIM_VMCLOCK_BASE UINT64_C(0xfeffb000)
void sim_paravirtual_plug_vmclock(void);

/* Returns true if every MSR has its first value again, and the hypervisor writes to no area. */
bool sim_paravirtual_is_as_found(void);

#endif
