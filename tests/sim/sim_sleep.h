/*
 * The sleep states of simulated cores: HLT and MWAIT with one hint. Each core has a local APIC timer. The cores run in
 * turns (bench_use_threads()), or as SIM_SLEEP.CORES says. A test switches on one fault, on one core and in one state.
 */
#ifndef BARETICK_SIM_SLEEP_H
#define BARETICK_SIM_SLEEP_H

#include "clock/sleep.h"

#define SIM_SLEEP_HINT   0x20u
#define SIM_FAULTY_CORE  2u
#define SIM_LATE_NS      200000u

enum sim_sleep_fault {
	SIM_SLEEP_HEALTHY,
	SIM_SLEEP_STOPS_TSC,    /* the core's TSC does not count while it sleeps */
	SIM_SLEEP_STOPS_TSCS,   /* no TSC counts while all cores sleep */
	SIM_SLEEP_STOPS_LAPIC,  /* the core's timer does not count, and no TSC deadline ends, while it sleeps */
	SIM_SLEEP_STOPS_HPET,   /* the HPET does not count while all cores sleep */
	SIM_SLEEP_STOPS_PM,     /* the PM timer does not count while all cores sleep */
	SIM_SLEEP_NEVER_WAKES,
	SIM_SLEEP_NOT_ENTERED,  /* the core leaves the state at once */
	SIM_SLEEP_IS_SHALLOW,   /* the core reaches C1 only */
	SIM_SLEEP_WAKES_LATE,   /* the core wakes late_ps after its interrupt */
	/* When the core wakes, firmware writes the TSC, and so TSC_ADJUST: */
	SIM_SLEEP_RESTORES_TSC, /* it sets the TSC back to its value before the sleep */
	SIM_SLEEP_HIDES_STOP,   /* it sets a TSC that stopped in the sleep to the right value */
	SIM_SLEEP_HAS_NO_TIMER, /* the core's local APIC timer cannot be used */
	SIM_SLEEP_FAULTS
};

struct sim_sleep_cores { /* what the sleep states need to know of the cores and of their time */
	size_t (*get_core)(void);
	uint64_t (*get_time_ps)(void);
	uint64_t (*read_tsc)(void);                /* returns the running core's TSC, and takes no time */
	uint64_t (*get_ps_of_ticks)(int64_t ticks); /* returns the time of so many ticks of the running core's TSC */
	/* lets other cores run until UNTIL_PS or until *IS_WOKEN, and may return much earlier; IS_WOKEN may be NULL */
	void (*wait)(uint64_t until_ps, const bool *is_woken);
	void (*stop_core)(void);                   /* the running core never runs again */
	void (*stop_tsc)(size_t core, uint64_t ps); /* the core's TSC did not count in the last PS */
	void (*advance)(uint64_t ps);              /* all cores sleep for PS */
};

struct sim_sleep {
	enum sim_sleep_fault fault;
	uint32_t state;     /* the state with the fault */
	uint32_t core;      /* the core with the fault */
	bool has_deep;      /* true if CPUID offers MWAIT */
	bool has_deadlines;
	uint32_t counters;  /* the set of residency counters; a core is in C1 by HLT, and in C6 by MWAIT */
	uint64_t lapic_hz, late_ps;
	uint64_t busy_ps;   /* a busy host runs a core this late after it has set up its timer for a short sleep */
	/* duration of the faulty core's first sleep, and sum of the boot core's sleeps */
	uint64_t first_ps, all_ps;
	const struct sim_sleep_cores *cores;
};

extern struct sim_sleep sim_sleep;
extern const struct sleep_driver sim_sleep_driver;

/* Makes all cores healthy and awake. Called by sim_reset(). */
void sim_sleep_reset(void);

#endif
