/*
 * A machine with known true values. It is drawn at random and simulated. All values here come from the drawn
 * parameters and from the times of events, never from baretick's measurements.
 */
#ifndef BARETICK_MACHINE_H
#define BARETICK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"
#include "sim.h"

enum { TSC, HPET, PM, PIT, RTC, CLOCKS };

#define CORES_MAX 16
#define SET_BACK_MAX 16384 /* maximum number of times that a core's TSC may be set back */
#define STOPS_MAX 4
#define PPM       1000       /* 1 ppm in ppb */
#define PPB       1000000000
#define TICK      ((__int128)1000000000000000000) /* a tick of a core's TSC, in the unit of machine_get_tsc_at() */

struct kind { /* a kind of machine, for example one with a wrong oscillator */
	const char *name, *what;
	void (*draw)(void);
};

extern const struct kind kinds[]; /* all kinds of machine; a row with the name NULL ends the table */

/* An event that affects the whole machine, and happens once in a run. */
enum event {
	EVENT_NONE,
	EVENT_PAUSE,    /* all clocks except the RTC stop, as when a guest is paused or migrated */
	/*
	 * the machine is saved and restored later: TSC and RTC then show the later time, and the other clocks their
	 * old values
	 */
	EVENT_SNAPSHOT,
	EVENT_TSC_STOP,    /* only the TSC stops, for by_ps */
	EVENT_JUMP,     /* one clock jumps ahead by by_ps */
	EVENT_BEND,     /* an oscillator becomes faster by bend_ppm, and so do all clocks that use it */
	EVENT_STUCK,    /* one clock stops for good */
	EVENT_BACK,     /* the TSC is set back repeatedly, from the event's time on */
	/*
	 * the TSC stops repeatedly for up to by_ps, from the event's time on; each stop follows an access to a device
	 */
	EVENT_HALTS,
};

/* A CPUID leaf that states the TSC's rate. */
struct leaf {
	const char *by;      /* name of the leaf in the report */
	struct rate hz;
	uint64_t within_hz;  /* largest rounding error of hz, in Hz */
	bool is_wrong;
};

#define LEAVES_MAX 3

/* the measurement pass over pairs of cores in which a core's TSC steps */
enum when { WHEN_NEVER, WHEN_FIRST, WHEN_BETWEEN, WHEN_LAST };

struct core {
	uint64_t microhz;    /* rate of the core's TSC in microhertz */
	int64_t offset;      /* offset of the core's TSC in ticks at the start of the run */
	enum when when;    /* the pass in which the core's TSC steps */
	uint64_t batch;      /* number of the batch in the pass WHEN in which the TSC steps, from 1 */
	int64_t step;        /* size of the step in ticks */
	uint64_t steps_at_ps; /* time of the step; SIM_NEVER until it happens */
	uint64_t sleeps_at_ps; /* time at which the core's TSC first stopped in a sleep, or SIM_NEVER */
	uint64_t stood_ps;     /* sum of the times in which it was stopped in sleeps */
	uint64_t last_seen_ps; /* time at which the core's latest ping-pong began */
	uint32_t apic_id;
	int64_t adjust;      /* value of TSC_ADJUST in ticks; the TSC's reading includes it */
};

struct span {
	uint64_t from_ps, to_ps;
};

struct machine {
	/* Values of the clocks. hz and claimed are set only for clocks that exist. */
	bool has[CLOCKS];
	long double hz[CLOCKS];
	struct rate claimed[CLOCKS]; /* nominal rate; den is 0 if there is none */
	uint64_t within_hz;          /* largest rounding error of the TSC's nominal rate, in Hz */
	struct leaf leaves[LEAVES_MAX]; /* only the kind "claims" has leaves */
	size_t leaf_count;
	unsigned source[CLOCKS];     /* clocks with the same number share an oscillator */
	uint64_t tsc_start;          /* the TSC's value in ticks at world time 0 */
	uint64_t step_1024;          /* size of a step of the TSC in units of 1/1024 tick */
	/* true if a reading is rounded to a step before the core's offset is added, as under a hypervisor */
	bool step_before_offset;
	/*
	 * True if messages between cores and waits for interrupts are drawn instead of simulated. A drawn trial leaves
	 * out the checks of devices.
	 */
	bool is_drawn;
	bool is_guest;
	bool is_emulated;            /* true for a guest of QEMU's TCG, where all devices are emulated */
	/*
	 * True if the fault is so large that the report must name the faulty clock, alone or in a finding about several
	 * clocks. If the fault is a stop of the machine, the report must show the stop.
	 */
	bool is_obvious;
	/* true if the report measures all read methods of each clock, and for a longer time */
	bool all_rows;

	/* SLEEPS: the cores sleep in the phase `sleep`. In that phase, IN_SLEEP is true. */
	bool sleeps, in_sleep;

	enum event event;
	/* the event happens in this phase, delay_ps after its start; "" if access_start_event() starts it */
	const char *phase;
	uint64_t delay_ps, by_ps;
	/* if not 0, delay_ps starts 15 ms before this edge of the RTC, counted from 1 at the phase's start */
	unsigned edge;
	int clock;
	int64_t bend_ppm;
	/*
	 * number of TSC readings from one step back to the next; for EVENT_HALTS, number of device accesses from one
	 * stop to the next
	 */
	uint64_t back_reads;
	uint64_t back_by_ticks;
	uint64_t back_ticks;         /* sum of all steps back so far */
	uint64_t at_ps;              /* time at which EVENT happened; SIM_NEVER before that */
	/* EVENT_PAUSE: number of further stops, each for by_ps, and the time from the end of a stop to the next one */
	size_t more_stops;
	uint64_t between_ps;
	/* start times of the stops so far, in order, for EVENT_PAUSE and EVENT_TSC_STOP (the first is at_ps) */
	uint64_t stops_at_ps[STOPS_MAX];
	size_t stop_count;

	size_t cores;
	/* true if memory suffices only for the star schedule (every core with the boot core), not for all pairs */
	bool is_star;
	struct core core[CORES_MAX];
	unsigned package_bits;       /* number of the lowest bit of the package number in an APIC id */
	size_t adjusted_core;        /* the core whose TSC_ADJUST differs from its package's; CORES_MAX if none does */

	/*
	 * A fault of one core. Every fault_reads-th reading of its TSC is too high by ahead_ticks, or sets the TSC back
	 * by set_back_ticks. Without a fault, fault_reads is 0.
	 */
	size_t fault_core;
	uint64_t fault_reads, ahead_ticks, set_back_ticks;
	uint64_t faults;             /* number of faults until now */
	uint64_t set_back_ps[SET_BACK_MAX]; /* times at which the TSC was set back, in order */
	bool is_ahead;               /* true if the current reading is too high */

	/* Costs. */
	uint64_t port_ps[CLOCKS];    /* duration of an access to the clock's device */
	/* when an access takes effect: at its end, at its start, or at any time in between */
	enum { EFFECT_LATE, EFFECT_EARLY, EFFECT_ANY } effect;
	uint64_t preempt_every, preempt_min_ps, preempt_max_ps;
	/*
	 * True if KVM offers its counter of stolen time. The counter then counts sim_paravirtual.steal_percent of the
	 * stolen time.
	 */
	bool counts_stolen;
	/* has_marker: vmclock exists. announces: vmclock's disruption marker changes at an event. */
	bool has_marker, announces;
	/*
	 * Duration of one preemption. It starts right after an edge of the RTC in the phase rates-again, or in the
	 * phase rates if away_in_window is true: at any time in its first second.
	 */
	uint64_t away_ps;
	bool away_in_window;
	/* time without readings before the phase rates-again, as in a long run */
	uint64_t idle_ps;
	/* number of processors that the cores use in turns; 0 if each core has its own processor */
	size_t processors;
	uint64_t slice_ps;
	uint64_t wake_ps;            /* longest time until a core starts its job */
	uint64_t message_ps;         /* duration of a message between cores, without the TSC readings in it */

	/* Results of the run, set while it runs. */
	bool expired; /* true if the run did not reach its end */
	struct span rates, first, last, run;
};

extern struct machine machine;

extern const char *const clock_ids[CLOCKS];
int find_clock_number(const char *id); /* returns CLOCKS if no clock has this id */

/*
 * Does a run on the machine of KIND and SEED, with drawn readings (see machine.is_drawn) or with simulated ones. The
 * caller frees the bench.
 */
struct bench *machine_run_trial(const struct kind *kind, uint64_t seed, bool is_drawn);

/* Returns the TSC of CORE at world time AT_PS, in units of 1/TICK tick. */
__int128 machine_get_tsc_at(size_t core, uint64_t at_ps);
/* returns the TSC of CORE at AT_PS without the offset that a hypervisor adds */
__int128 machine_get_tsc_before_offset(size_t core, uint64_t at_ps);

/*
 * Returns the error of the clock's rate against its nominal rate, in ppb. If the nominal rate is rounded, only the
 * part beyond the rounding counts.
 */
long double machine_get_rate_error_ppb(int clock);

/* Returns true if this clock jumped, stopped, was set back or changed its rate on the boot core at any time. */
bool machine_has_broken_clock(int clock);

/*
 * The first returns true if the core had the drawn fault. The second returns true if the core had this fault, or if its
 * TSC was set back. In both cases a reading may be lower than the previous reading.
 */
bool machine_core_has_fault(size_t core);
bool machine_does_tsc_step_back(size_t core);

/* Returns the lowest core number in CORE's class. A class has the cores whose TSCs always agree with each other. */
size_t machine_find_core_with_equal_tsc(size_t core);
/*
 * Returns the number of cores in the largest class, and stores the class's lowest core number in CLASS. Returns 0 if
 * the class has at most half of the cores.
 */
size_t machine_count_majority_cores(size_t *class);

/* Functions of cores.c: the machine's cores, which run at the same time. */
void cores_use_in_bench(struct bench *bench);
/* must be called when an access takes effect; the core with the earliest time then continues */
void cores_let_earlier_cores_run(void);
void cores_advance_time(uint64_t by_ps);  /* adds BY_PS to the time of the world and of all cores */
/* Lets the running core sleep until UNTIL_PS, or until another core may have sent an interrupt. */
void cores_sleep_until(uint64_t until_ps, const bool *is_woken);
void cores_stop_running_core(void);       /* the core never runs again; does not return */
bool cores_are_working(void);             /* returns true while several cores run at the same time */
void cores_free(void);

/* Functions of access.c: the duration of each access, and the events during an access. */
void access_reset(void); /* must be called after sim_reset() */
void access_start_phase(const char *phase);
void access_start_event(void); /* lets the machine's event happen at the next access */
uint64_t access_draw_jitter_ps(uint64_t ps); /* returns a random time from 0 to PS, and rarely a much longer time */
/* makes continuous readings of a clock slower, so that a run makes fewer readings */
void access_make_accesses_slow(bool slow);

#endif
