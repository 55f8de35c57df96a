/*
 * A hypervisor on the simulated machine: the clocks of KVM, Xen and Hyper-V, and their faults. A core's page has the
 * right contents when the core requests it.
 */
#ifndef BARETICK_SIM_PARAVIRTUAL_H
#define BARETICK_SIM_PARAVIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "paravirtual/pages.h"
#include "sim.h"

#define SIM_PARAVIRTUAL_PAGES (SIM_CORES_MAX + 1)

struct sim_paravirtual {
	uint8_t *memory;                    /* memory for SIM_PARAVIRTUAL_PAGES aligned pages */
	int64_t page_lead_ns[SIM_CORES_MAX];    /* lead in ns of the core's page over the other cores' pages */
	int64_t fast_ppm;                   /* all pages state a TSC rate that is too low by this */
	/*
	 * faults of KVM's and Xen's pages: no flag for a stable TSC, a version that always changes, an empty page
	 */
	bool not_stable, odd, empty;
	uint64_t odd_at_ps;                 /* time after which the pages always change, or SIM_NEVER */
	unsigned updates;                   /* number of the next TSC readings that find a changed page */
	int64_t update_ns;                  /* time that is added to the page's time at each of these changes */
	/* true if Hyper-V's page has the sequence number 0, which means that it is invalid */
	bool no_sequence;
	uint64_t no_sequence_at_ps;
	uint64_t sequence_again_at_ps;      /* time at which the sequence number is 1 again; SIM_NEVER if it stays 0 */
	uint64_t torn_at_ps;                /* time after which the page changes all the time, or SIM_NEVER */
	int64_t msr_ahead_ticks;            /* Hyper-V's MSR minus the time of its page, in ticks of 100 ns */
	/* time and duration of a pause of the guest, during which Hyper-V's MSR stops; SIM_NEVER if there is none */
	uint64_t paused_at_ps, paused_ps;
	bool keeps_msr;                     /* true if a registration with KVM or Xen cannot be undone */
	uint64_t kvm_msrs[SIM_CORES_MAX];   /* MSR 4B564D01h, or 12h, of each core */
	uint64_t xen_areas[SIM_CORES_MAX];  /* addresses that Xen writes to */
	int xen_error;                      /* error code that Xen returns instead of success */
	size_t xen_error_core;              /* the first core that gets this error; 0 if all cores get it */
	bool no_safe_pvclock;               /* true if Xen's features lack the clock */
	bool vmclock_empty;                 /* true if the page of vmclock reads 0 */
	uint64_t vmclock_marker;            /* disruption marker in vmclock's page */
	uint32_t vmclock_counter;           /* id of the counter in vmclock's page */
	/* period of the TSC and its largest error, in units of 2^-84 s per tick */
	uint64_t vmclock_period, vmclock_max_error;
	uint32_t vmclock_sequence;
	/* number of the next readings of the period that give half of it; the page is updated after each */
	unsigned vmclock_updates;
	/*
	 * The host takes STEAL_PS from the running core at STEAL_AT_PS, and again after each STEAL_EVERY_PS. SIM_NEVER if
	 * it never does.
	 */
	uint64_t steal_at_ps, steal_ps, steal_every_ps;
	unsigned steal_percent;             /* share of the stolen time that the host's counter shows, in percent */
	/* smallest time that counts as long; sum of the long stolen times while KVM knows the address of a counter */
	uint64_t steal_long_ps, stolen_long_ps;
	bool steal_silent;                  /* true if KVM never writes the counter */
	uint64_t stolen_ps[SIM_CORES_MAX];  /* counted stolen time until now */
	uint64_t kvm_steal_msrs[SIM_CORES_MAX]; /* MSR 4B564D03h of each core */
	uint64_t xen_shared;                /* address at which Xen's shared page is mapped, or 0 */
	uint64_t xen_callback;              /* HVM parameter 0 (the callback of events) */
	uint32_t xen_port;                  /* event port of the timer, or 0 */
	bool high_port;                     /* true if Xen binds the event to port 64 */
	bool no_events;                     /* true if Xen refuses to bind events */
	unsigned writes;                    /* number of written MSRs and registered areas */
};

extern struct sim_paravirtual sim_paravirtual;

/*
 * Makes the machine a guest of KVM, and adds Hyper-V's interface if HYPERV is true. Must be called after sim_reset()
 * and before sim_platform().
 */
void sim_paravirtual_plug(bool hyperv);

/* Makes the machine a guest of Xen instead. Its TSC is never emulated. */
void sim_paravirtual_plug_xen(bool hyperv);

/* Adds Hyper-V's synthetic timers in direct mode. Their interrupts need sim_interrupts_plug(). */
void sim_paravirtual_offer_timers(void);

/* Adds KVM's counter of stolen time. Xen's interface always has one. */
void sim_paravirtual_offer_steal(void);

/* Adds an address for Xen's shared page to a guest of Xen without firmware. Events also need sim_interrupts_plug(). */
void sim_paravirtual_offer_events(void);

/* Returns the interrupt vector of an event of Xen's timer, or 0 if Xen does not interrupt. */
uint32_t sim_paravirtual_event_vector(void);
void sim_paravirtual_set_event(void); /* sets the bits of the timer's event in the shared page, as Xen does */

/* Adds PS to the time that the host has taken from the running core. The caller advances the world time. */
void sim_paravirtual_count_stolen(uint64_t ps);

/* Sets KVM's flag GUEST_STOPPED in the boot core's page, if this page is in use. */
void sim_paravirtual_announce(void);

/* Adds vmclock's page, whose address is for acpi.vmclock. */
#define SIM_VMCLOCK_BASE UINT64_C(0xfeffb000)
void sim_paravirtual_plug_vmclock(void);

/* Returns true if every MSR has its initial value again, and the hypervisor writes to no memory of the guest. */
bool sim_paravirtual_is_as_found(void);

#endif
