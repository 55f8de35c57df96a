/*
 * A hypervisor on the simulated machine: the clocks of KVM, Xen and Hyper-V, and their faults. Each core has a page
 * with the parameters of its clock. The page is filled when the core registers it.
 */
#ifndef BARETICK_SIM_PARAVIRTUAL_H
#define BARETICK_SIM_PARAVIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "paravirtual/pages.h"
#include "sim.h"

#define SIM_PARAVIRTUAL_PAGES (SIM_CORES_MAX + 1)

struct sim_paravirtual {
	uint8_t *memory;                    /* memory for the hypervisor's pages: SIM_PARAVIRTUAL_PAGES aligned pages */
	int64_t page_lead_ns[SIM_CORES_MAX];    /* lead in ns of the core's page over the other cores' pages */
	/* error of the TSC rate in all pages, in ppm; the rate is too low, so that the clocks run too fast */
	int64_t fast_ppm;
	/*
	 * faults of KVM's and Xen's pages: no flag for a stable TSC, a version that is always odd (the page is being
	 * updated), an empty page
	 */
	bool not_stable, odd, empty;
	uint64_t odd_at_ps;                 /* time after which the version is always odd, or SIM_NEVER */
	/* number of further TSC readings that each update the page; the driver must read an updated page again */
	unsigned updates;
	int64_t update_ns;                  /* time that each update adds to the page's time */
	/* true if the sequence number in Hyper-V's page is 0, which means that the page is invalid */
	bool no_sequence;
	uint64_t no_sequence_at_ps;
	uint64_t sequence_again_at_ps;      /* time at which the sequence number is 1 again; SIM_NEVER if it stays 0 */
	uint64_t torn_at_ps;                /* time after which Hyper-V's page changes at each reading, or SIM_NEVER */
	int64_t msr_ahead_ticks;            /* time in Hyper-V's MSR minus time in its page, in ticks of 100 ns */
	/*
	 * start and duration of a pause of the guest, in which Hyper-V's MSR stops; paused_at_ps is SIM_NEVER without
	 * a pause
	 */
	uint64_t paused_at_ps, paused_ps;
	bool keeps_msr;                     /* true if a registration with KVM or Xen cannot be undone */
	/* each core's MSR 4B564D01h or 12h, which holds the address of KVM's page */
	uint64_t kvm_msrs[SIM_CORES_MAX];
	/* addresses of the areas to which Xen writes each core's clock parameters */
	uint64_t xen_areas[SIM_CORES_MAX];
	int xen_error;                      /* error code that Xen returns instead of success */
	size_t xen_error_core;              /* the first core that gets xen_error; 0 if all cores get it */
	bool no_safe_pvclock;               /* true if Xen does not report the feature of a safe pvclock */
	bool vmclock_empty;                 /* true if the page of vmclock reads 0 */
	uint64_t vmclock_marker;            /* disruption marker in vmclock's page */
	uint32_t vmclock_counter;           /* id of the counter in vmclock's page */
	/* period of the TSC and its largest error, in units of 2^-84 s */
	uint64_t vmclock_period, vmclock_max_error;
	uint32_t vmclock_sequence;
	/* number of coming readings of the period that return half of it; each changes the page's sequence number */
	unsigned vmclock_updates;
	/*
	 * The host takes STEAL_PS from the running core at STEAL_AT_PS, and again after each STEAL_EVERY_PS.
	 * STEAL_AT_PS is SIM_NEVER if the host takes no time.
	 */
	uint64_t steal_at_ps, steal_ps, steal_every_ps;
	unsigned steal_percent;             /* share of the stolen time that the host's counter shows, in percent */
	/*
	 * steal_long_ps: shortest stolen time that counts as long. stolen_long_ps: sum of the long stolen times since a
	 * core gave KVM the address of its counter.
	 */
	uint64_t steal_long_ps, stolen_long_ps;
	bool steal_silent;                  /* true if KVM never writes its counter of stolen time */
	uint64_t stolen_ps[SIM_CORES_MAX];  /* value of each core's counter of stolen time */
	/* each core's MSR 4B564D03h, which holds the address of KVM's counter of stolen time */
	uint64_t kvm_steal_msrs[SIM_CORES_MAX];
	uint64_t xen_shared;                /* address at which Xen's shared page is mapped, or 0 */
	uint64_t xen_callback;              /* HVM parameter 0, which sets the interrupt vector of events */
	uint32_t xen_port;                  /* event port of the timer, or 0 */
	/* true if Xen binds the event to port 64, whose bit is in the second word of event bits */
	bool high_port;
	bool no_events;                     /* true if Xen refuses to bind events */
	unsigned writes;                    /* number of written MSRs and registered areas */
};

extern struct sim_paravirtual sim_paravirtual;

/*
 * Makes the machine a guest of KVM, and adds Hyper-V's interface if HYPERV is true. Must be called after sim_reset()
 * and before sim_describe_platform().
 */
void sim_paravirtual_make_kvm_guest(bool hyperv);

/* Makes the machine a guest of Xen. Xen does not emulate its TSC. */
void sim_paravirtual_make_xen_guest(bool hyperv);

/* Adds Hyper-V's synthetic timers in direct mode. Their interrupts need sim_interrupts_add_controllers(). */
void sim_paravirtual_offer_timers(void);

/* Adds KVM's counter of stolen time. Xen's interface always has such a counter. */
void sim_paravirtual_offer_stolen_time(void);

/*
 * Adds an address where Xen's shared page can be mapped, as in a guest of Xen that boots without firmware. The driver
 * finds Xen's events in this page. Their interrupts also need sim_interrupts_add_controllers().
 */
void sim_paravirtual_offer_xen_events(void);

/* Returns the interrupt vector of the event of Xen's timer, or 0 if Xen sends no interrupts. */
uint32_t sim_paravirtual_get_event_vector(void);
void sim_paravirtual_raise_timer_event(void); /* sets the bits of the timer's event in the shared page, as Xen does */

/* Adds PS to the time that the host took from the running core. The caller must also advance world time. */
void sim_paravirtual_add_stolen_time(uint64_t ps);

/* Sets the flag GUEST_STOPPED in the boot core's page of KVM, if this page is in use. */
void sim_paravirtual_set_stopped_flag(void);

/* Adds vmclock's page to the machine. A test sets acpi.vmclock to the page's address. */
#define SIM_VMCLOCK_BASE UINT64_C(0xfeffb000)
void sim_paravirtual_add_vmclock(void);

/*
 * Returns true if every MSR has its initial value again, and the hypervisor does not write to the guest's memory any
 * more.
 */
bool sim_paravirtual_are_settings_restored(void);

#endif
