/*
 * The facts of a report: its options, its machine, and the readings of the run. boot, drivers, src/run and src/measure
 * write them. src/replay restores them. For src/analysis, src/judge and src/render they are const.
 */
#ifndef BARETICK_REPORT_FACTS_H
#define BARETICK_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "clock/behaviour.h"
#include "clock/calibration.h"
#include "clock/claims.h"
#include "clock/clock.h"
#include "clock/core_facts.h"
#include "clock/paravirtual.h"
#include "clock/signals.h"
#include "clock/sleep.h"
#include "options/options.h"
#include "report/boots.h"
#include "report/timer_figures.h"
#include "stats/latency.h"
#include "stats/monotonic.h"
#include "stats/resolution.h"
#include "stats/series.h"

#define REPORT_CLOCKS_MAX   16
#define REPORT_NOTES_MAX    16
#define REPORT_SENTENCE     256
#define REPORT_NO_CORE      UINT32_MAX
#define REPORT_NO_RANK      SIZE_MAX

/*
 * Assumed error of the crystal in a PC's clock generator: 100 ppm for the frequency of 14.31818 MHz, and another 100
 * ppm over temperature (data sheet of IMI's C9851). For comparison, the HPET specification 1.0a allows 500 ppm.
 */
#define REPORT_CRYSTAL_PPB UINT64_C(200000)

struct report_clock {
	/* the clock as its driver's open() filled it; the state may change to stuck or broken during the run */
	struct clock clock;
	size_t series;      /* index of the clock's driver in the table of drivers */
	/* TSC at which the clock, which had worked at first, was found to have failed; 0 if it did not fail */
	uint64_t failed_tsc;
	/* number of discontinuities that may explain a step back or a jump of this clock while its latency was measured */
	unsigned latency_discontinuities;
	/*
	 * Number of forward jumps (in monotonic.leaps) that may be stops of the TSC instead, because no other clock
	 * excludes this.
	 */
	uint64_t unexplained_leaps;
	struct latency *latency;   /* latency on the boot core; latency->count is 0 if it was not measured */
	struct resolution resolution;
	struct monotonic monotonic;
	/*
	 * True if the firmware's timer tick may have stopped this clock for short times. The clock's rate is then not
	 * judged.
	 */
	bool stops_in_ticks;
};

struct core_latency { /* latency of one clock on one core; count is 0 if it was not measured */
	uint64_t count;
	uint64_t min_ns, p50_ns, p99_ns;
	/* typical duration of a read with its interval: see latency_get_typical() */
	uint64_t typical_ps, typical_low_ps, typical_high_ps;
};

struct report_core {
	uint32_t apic_id;
	bool started; /* true if the core was started; always true for the boot core */
	bool boot;
	/* true if the only problem is that the core did not answer in time, for example because the host was busy */
	bool timed_out;
	char reason[CLOCK_REASON_SIZE]; /* why the core did not start or stopped answering, otherwise "" */
	bool facts_known; /* true if FACTS is valid */
	struct core_facts facts;
	/*
	 * Latency of each clock in facts.clocks: while only this core reads the clock, and while all cores read it
	 * at the same time.
	 */
	struct core_latency latency[REPORT_CLOCKS_MAX];
	struct core_latency contended[REPORT_CLOCKS_MAX];
	/* steps back between successive TSC readings on this core */
	struct tsc_steps tsc;
};

/*
 * Result of a warp check, in which each core has turns. In a turn, a core compares its TSC with a shared stamp, and
 * replaces the stamp (see sync/warp.h).
 */
struct report_contended {
	bool measured;
	bool starved; /* true if a core had too few turns, so that the absence of warps proves nothing */
	size_t cores; /* number of cores that had at least one turn */
	uint64_t iterations, warps;
	uint64_t worst_ticks;
	/* APIC ids of the cores of the largest warp: the stamp of A was ahead of the later reading of B */
	uint32_t worst_a, worst_b;
};

struct warp_checks {
	struct report_contended locked, lock_free; /* with a lock around each turn, and without */
};

struct stolen_counters { /* The counters of time that the hypervisor or the firmware takes. */
	const char *counter;        /* id of the hypervisor's counter of stolen time; NULL if there is none */
	const char *counter_reason; /* why this counter was not used, or NULL */
	bool smi_known;             /* true if the CPU counts SMIs and this counter can be read */
	uint64_t smi_count;         /* number of SMIs from the start to the end of the run */
};

#define REPORT_PHASES_MAX 24

struct report_phase { /* A phase of the run. A phase that the run enters several times has a row for each time. */
	const char *id; /* in static storage */
	uint64_t begin_ticks, ticks; /* TSC ticks from the start of the run to the start of the phase, and in the phase */
};

struct report_claim { /* A rate that the machine states (a claim). */
	struct claim claim;
};

#define REPORT_NAME_SIZE  65  /* size of the longest name in SMBIOS tables, with a final 0 */
#define REPORT_NAMES_SIZE 131 /* size of two names with a space between them */

struct report_identity { /* Identity of the machine, in printable ASCII; "" if unknown. */
	char vendor[REPORT_NAME_SIZE], product[REPORT_NAME_SIZE];
	char serial[REPORT_NAME_SIZE]; /* serial number; "" if unknown or with the option identity=off */
	/* vendor and product of the board; vendor and version of the BIOS */
	char board[REPORT_NAMES_SIZE], bios[REPORT_NAMES_SIZE];
	char bios_date[REPORT_NAME_SIZE];
	bool cpu_known;
	uint32_t family, model, stepping;
	uint32_t microcode; /* revision of the microcode; 0 if unknown */
	char oem[16];       /* OEM id from the ACPI tables */
	char host[32];      /* name and version of the hypervisor */
};

struct report_calibration { /* A calibration loop that the run tried (see clock/calibration.h). */
	const struct calibration_loop *loop; /* in static storage */
	char reason[CLOCK_REASON_SIZE]; /* why the loop was not run, otherwise "" */
};

struct report_run { /* The run itself: which version of baretick made it, when, and how it ended. */
	const char *version, *commit; /* version and commit of baretick, in static storage */
	/* start time according to the firmware's clock, in ISO 8601; "" if the firmware has no clock */
	char started_at[32];
	uint64_t start_tsc; /* TSC at the start of the run */
	uint64_t elapsed_ms;
	bool elapsed_known;
	size_t phase_count;
	struct report_phase phases[REPORT_PHASES_MAX];
	/*
	 * true if the user ended the run early; the remaining measurements were then as short as with profile=quick
	 */
	bool ended_early;
	uint64_t ended_early_ms; /* time since the start of the run at which the user ended it */
	/*
	 * True if the run did not finish, for example because its deadline passed. The report then has the results up
	 * to that time.
	 */
	bool incomplete;
};

struct report_machine { /* The machine, as its CPU, its firmware and its hypervisor describe it. */
	char cpu_vendor[13]; /* vendor string from CPUID */
	char cpu[49], hypervisor[13], firmware[96], accelerator[16];
	struct report_identity identity;
	struct paravirtual paravirtual;
	/* instructions for an ordered TSC read: "lfence;rdtsc" or "mfence;lfence;rdtsc" */
	const char *fence;
	bool tsc_is_invariant;
	bool lapic_always_runs; /* true if the local APIC timer also runs in deep sleep states */
	/*
	 * True if Linux before 6.12 never trusts the TSC of this machine: see unsynchronized_tsc() in
	 * arch/x86/kernel/tsc.c, Linux 6.1. Newer kernels distrust it only if there are also several packages.
	 */
	bool linux_distrusts_tsc;
	uint32_t cores_listed, cores_started;
};

/* Sentences on the machine and the run, for example on a wrong ACPI table, or on a volume that could not be written. */
struct notes {
	size_t count;
	char sentences[REPORT_NOTES_MAX][REPORT_SENTENCE];
};

/*
 * The options, the machine, and readings that are no entries of the record. boot, drivers and src/measure write
 * them.
 */
struct facts {
	struct options options;
	struct report_run run;
	struct report_machine machine;
	/*
	 * input frequency of the boot core's local APIC timer (before the divider), measured with the TSC; unknown if
	 * not tested
	 */
	struct interval_millihz lapic;
	size_t clock_count;
	struct report_clock clocks[REPORT_CLOCKS_MAX];
	size_t claim_count;
	struct report_claim claims[CLAIMS_MAX];
	size_t core_count;
	struct report_core *cores;
	struct warp_checks warp_checks;
	struct stolen_counters stolen_counters;
	/* series of a soak, otherwise empty; clocks and cores have the same index as in the arrays above */
	struct series series;
	/*
	 * Signals that announce a pause, restore or migration. The count is 0 before the end of the run, or if the
	 * hypervisor offers none.
	 */
	struct signals signals;
	size_t interval_count;
	struct interval_facts intervals[REPORT_INTERVALS_MAX];
	size_t calibration_count;
	struct report_calibration calibrations[CALIBRATION_LOOPS];
	struct behaviours checks; /* results of comparing devices with their data sheets */
	struct notes table_problems; /* faults of the firmware's tables, which the rule acpi-table reports */
	struct boots boots; /* results of the earlier boots of a series; PLANNED is 0 if there is no series */
	/* name of the sleep state in which the last run hung, so that it is not tested; or "" */
	char sleep_left_out[SLEEP_NAME_SIZE];
};

#endif
