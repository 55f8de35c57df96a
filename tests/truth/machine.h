/*
 * A machine with known true values. It is drawn at random and put into the simulated machine. All values here come from
 * the drawn parameters and from the times of events, and never from baretick's measurements.
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
#define SET_BACK_MAX 16384 /* times that a core's TSC may be set back */
#define PPM       1000       /* in ppb */
#define PPB       1000000000
#define TICK      ((__int128)1000000000000000000) /* a tick of a core's TSC in the unit of machine_tsc_at() */

struct kind { /* a kind of machine */
	const char *name, *what;
	void (*draw)(void);
};

extern const struct kind kinds[]; /* a row with name NULL ends it */

/* An event of the whole machine, which happens once. */
enum event {
	EVENT_NONE,
	EVENT_PAUSE,    /* all clocks but the RTC stop: also a migration */
	EVENT_SNAPSHOT, /* it was saved, and is restored later: TSC and RTC are ahead, the others went back with it */
	EVENT_STAND,    /* the TSC alone stops for by_ps */
	EVENT_LEAP,     /* one clock is ahead by by_ps */
	EVENT_BEND,     /* the oscillator of that clock, and of all that share it, becomes faster by bend_ppm */
	EVENT_BACK,     /* from then on the TSC is set back, again and again */
	EVENT_HALTS,    /* from then on it stands for a moment, up to by_ps, again and again, after accesses of devices */
};

/* A CPUID leaf that states the TSC's rate. */
struct leaf {
	const char *by;      /* its name in the report */
	struct rate hz;
	uint64_t within_hz;  /* its rounding */
	bool is_wrong;
};

#define LEAVES_MAX 3

enum when { WHEN_NEVER, WHEN_FIRST, WHEN_BETWEEN, WHEN_LAST }; /* the tournament in which a step happens */

struct core {
	uint64_t microhz;    /* rate of its TSC */
	int64_t offset;      /* offset in ticks at the run's start */
	enum when when;    /* when it steps */
	uint64_t batch;      /* in the so manieth batch of that tournament */
	int64_t step;        /* ticks */
	uint64_t steps_at_ps; /* SIM_NEVER as long as it has not */
	uint64_t last_seen_ps; /* it began its last ping-pong of all then */
	uint32_t apic_id;
};

struct span {
	uint64_t from_ps, to_ps;
};

struct machine {
	/* The clocks. hz and claimed are set only for existing ones. */
	bool has[CLOCKS];
	long double hz[CLOCKS];
	struct rate claimed[CLOCKS]; /* den 0: none */
	uint64_t within_hz;          /* the TSC's claim is rounded by so much at most */
	struct leaf leaves[LEAVES_MAX]; /* only the kind "claims" has leaves */
	size_t leaf_count;
	unsigned source[CLOCKS];     /* the same number: one oscillator */
	uint64_t tsc_start;          /* ticks, before the world began */
	uint64_t step_1024;          /* the TSC moves by that many 1024ths of a tick at once */
	bool step_before_offset;     /* a core's offset is added to what it reads, as a hypervisor does */
	bool is_guest;
	bool is_emulated;            /* a guest of QEMU's TCG, in which all is emulated */
	bool is_obvious;             /* the report must mention its fault or what happened, by name or as one of two groups */
	bool all_rows;               /* all ways of reading a clock are in the report, and read for longer */

	enum event event;
	const char *phase;           /* which, so long after its begin: */
	uint64_t delay_ps, by_ps;
	int clock;
	int64_t bend_ppm;
	uint64_t back_reads;         /* the TSC is set back after so many readings of it (stands: accesses of devices), */
	uint64_t back_by_ticks;
	uint64_t back_ticks;         /* sum of all steps back so far */
	uint64_t at_ps;              /* time of the event, SIM_NEVER before it */

	size_t cores;
	bool is_star;                /* there is memory for no more */
	struct core core[CORES_MAX];
	unsigned package_bits;       /* bits of the package in the APIC ids */

	/*
	 * A fault of one core: each FAULT_READS'th reading of its TSC there is AHEAD_TICKS too high, or finds the TSC set back
	 * by SET_BACK_TICKS. FAULT_READS 0: no core has it.
	 */
	size_t fault_core;
	uint64_t fault_reads, ahead_ticks, set_back_ticks;
	uint64_t faults;             /* so far */
	uint64_t set_back_ps[SET_BACK_MAX]; /* when it was set back, in order */
	bool is_ahead;               /* the reading that takes effect now */

	/* Costs. */
	uint64_t port_ps[CLOCKS];    /* cost of an access of the device */
	enum { EFFECT_LATE, EFFECT_EARLY, EFFECT_ANY } effect; /* at which end of its time an access takes effect */
	uint64_t preempt_every, preempt_min_ps, preempt_max_ps;
	bool counts_stolen;          /* KVM's counter of stolen time is offered, and counts sim_paravirtual.steal_percent */
	bool has_marker, announces;  /* vmclock is there, and its disruption marker changes at an event */
	uint64_t away_ps;            /* the core is preempted for so long once, right after an RTC's edge in rates-again */
	size_t processors;           /* shared processors with time slices, or 0 if each core has one */
	uint64_t slice_ps;
	uint64_t wake_ps;            /* a core that has a job begins within that */
	uint64_t message_ps;         /* time of a message between cores, without the readings */

	/* Times of events, set during the run. */
	bool expired; /* the run did not reach its end */
	struct span rates, first, last, run;
};

extern struct machine machine;

extern const char *const clock_ids[CLOCKS];
int clock_of(const char *id); /* CLOCKS: none of them */

/* Does a whole run on the machine of KIND and SEED. The caller frees the bench. */
struct bench *machine_run(const struct kind *kind, uint64_t seed);

/* The TSC of that core at that time of the world, in TICKths of a tick. */
__int128 machine_tsc_at(size_t core, uint64_t at_ps);
__int128 machine_tsc_before_offset(size_t core, uint64_t at_ps); /* without the offset that a hypervisor adds */

/* How far a clock is off its claim, in ppb; of a rounded claim what goes beyond the rounding. */
long double machine_off_ppb(int clock);

/* Whether the clock's readings on the boot core did not go on evenly all the time, by its own fault. */
bool machine_broke(int clock);

/* Whether the core had the fault, or its TSC stepped back by itself: a reading may be lower than the one before. */
bool machine_has_fault(size_t core);
bool machine_steps_back(size_t core);

/* Returns the lowest core in the class of cores whose TSCs always agree with CORE. */
size_t machine_class(size_t core);
/* The cores of the class that most belong to, or 0 where no class is more than half. */
size_t machine_majority(size_t *class);

/* cores.c: the machine's cores, which run at the same time. */
void cores_use(struct bench *bench);
void cores_turn(void);             /* an access takes effect: whoever is earlier goes on first */
void cores_shift(uint64_t by_ps);  /* the world's time is that much later for all */
bool cores_work(void);             /* side by side */
void cores_free(void);

/* access.c: the cost of each access, and the events during it. */
void access_begin(void); /* after sim_reset() */
void access_phase(const char *phase);
uint64_t access_jitter(uint64_t ps); /* from 0 to about so much, seldom much more */
void access_slow(bool slow);         /* the clock that is read all the time is read seldom */

#endif
