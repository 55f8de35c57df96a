/* Figures on sleep states: what clocks and timers did while cores slept. */
#ifndef BARETICK_SLEEP_FIGURES_H
#define BARETICK_SLEEP_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"
#include "clock/sleep.h"

#define REPORT_SLEEPERS_MAX     64 /* maximum number of cores that sleep at the same time */
#define REPORT_SLEEP_STATES     (1 + SLEEP_STATES_MAX)
#define REPORT_SLEEPS_MAX       577 /* 64 cores in 9 states, and the boot core */
#define REPORT_SLEEP_CLOCKS_MAX 20

enum report_woken_by { WOKEN_BY_IPI, WOKEN_BY_TIMER, WAYS_OF_WAKING };

/* The state in which a core was for the longest time of its long sleep, or why it is not known. */
enum report_reached {
	/* in the order of resident_ns[] */
	REACHED_C1, REACHED_C3, REACHED_C6, REACHED_C7,
	REACHED_C6_OR_C7,   /* one counter counts both */
	REACHED_AT_MOST_C1, /* the counters of C3, C6 and C7 did not move, and C1 has no counter */
	REACHED_NONE,       /* no counter moved, and C1 has one */
	REACHED_SIBLING,    /* no counter moved, because the other thread (SMT) of the core was awake */
	REACHED_UNKNOWN,    /* no time in resident_ns[] is known */
	REACHED_LEFT,       /* the core left the state at once, again and again */
	REACHED_LOST,       /* the core did not wake */
};

struct report_wakes { /* Wake-ups of a core after short sleeps. The lateness is in ns. */
	uint32_t count, missed; /* number of wake-ups, and number of timers that never interrupted */
	int64_t p50_ns, max_ns;
	uint64_t error_ns;      /* error of these figures: the TSC's resolution, and the offset to the IPI's sender */
};

struct report_sleep { /* One core in one sleep state (see clock/sleep.h). */
	char state[SLEEP_NAME_SIZE];
	uint32_t core;      /* APIC id */
	bool all;           /* true if all cores slept; CORE is then the boot core */
	bool lost;          /* true if the core did not wake and was stopped by INIT, or had an exception */
	bool left;          /* true if the core left the state at once, again and again */
	bool counted;       /* true if the core's TSC counted the whole long sleep, so it did not stop in it */
	uint64_t slept_ns;  /* duration of the long sleep by the core's own TSC; 0 if the core was lost */
	/*
	 * Time that the core's TSC gained on the other core's TSC in the sleep, minus its drift. It is negative if the TSC
	 * stopped. OFFSET_UNKNOWN if it was not measured.
	 */
	struct offset tsc_gained_ns;
	/* change of the core's TSC_ADJUST, as a time. OFFSET_UNKNOWN if the core has none or was lost */
	struct offset adjusted_ns;
	/* time that the local APIC's timer lost against the core's TSC in the sleep, or OFFSET_UNKNOWN */
	struct offset lapic_lost_ns;
	uint64_t resident_ns[SLEEP_COUNTERS]; /* time in C1, C3, C6 and C7 in the long sleep; UINT64_MAX if not known */
	enum report_reached reached; /* the state that these times show */
	struct report_wakes wakes[WAYS_OF_WAKING];
};

struct report_sleep_clock { /* One clock of the chipset during a sleep. */
	char state[SLEEP_NAME_SIZE];
	bool all;                /* true if the boot core slept, too */
	size_t clock;            /* index in facts.clocks */
	struct offset lost_ns;   /* time that the clock lost against the boot core's TSC, or OFFSET_UNKNOWN */
};

struct report_sleeps {
	size_t count, clock_count;
	struct report_sleep rows[REPORT_SLEEPS_MAX];
	struct report_sleep_clock clocks[REPORT_SLEEP_CLOCKS_MAX];
};

#endif
