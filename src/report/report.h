/*
 * The report: all results of a run as plain data. src/measure and src/analysis fill it, src/judge adds findings and
 * verdicts, and src/render writes it as text, JSON and CSV. A value that was not measured is marked by a flag or by a
 * count of 0. It is never a plausible number.
 *
 * The caller owns all memory, and allocates it before the cores are started.
 */
#ifndef BARETICK_REPORT_H
#define BARETICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "base/sha256.h"
#include "clock/behaviour.h"
#include "clock/calibration.h"
#include "clock/claims.h"
#include "clock/clock.h"
#include "clock/core_facts.h"
#include "clock/firmware_time.h"
#include "clock/paravirtual.h"
#include "clock/signals.h"
#include "consensus/discontinuity.h"
#include "consensus/rate.h"
#include "options/options.h"
#include "report/boots.h"
#include "stats/latency.h"
#include "stats/monotonic.h"
#include "stats/resolution.h"
#include "stats/series.h"
#include "sync/offsets.h"

#define REPORT_CLOCKS_MAX   16
#define REPORT_RATES_MAX    (REPORT_CLOCKS_MAX * (REPORT_CLOCKS_MAX - 1) / 2)
#define REPORT_FINDINGS_MAX 64
#define REPORT_FINDING_CORES 8
#define REPORT_NOTES_MAX    16
#define REPORT_SENTENCE     256
#define REPORT_EVENTS_MAX   256
#define REPORT_DISCONTINUITIES_MAX 8
#define REPORT_GROUPS_MAX DISCONTINUITY_GROUPS_MAX
/* maximum number of timer tests: two for each of 64 cores, and the tests of all interrupt sources on the boot core */
#define REPORT_INTERVALS_MAX 192
#define REPORT_NO_CORE      UINT32_MAX
#define REPORT_NO_RANK      SIZE_MAX
/* maximum number of systems in `taken`: the table systems[] in judge/recommend/systems.c */
#define REPORT_TAKEN_MAX    8
/* maximum number of programs that use the same stated rate: Linux, FreeBSD, EDK II, PostgreSQL */
#define REPORT_CLAIM_USERS   4
#define REPORT_FIRMWARE_MAX  16 /* maximum number of rows on the firmware's time services */
#define REPORT_PASSES       3 /* maximum number of measurement passes over the pairs of cores */

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_INCOMPLETE, VERDICT_ABSENT };

/*
 * Assumed error of the crystal in a PC's clock generator: 100 ppm for the frequency of 14.31818 MHz, and another 100
 * ppm over temperature (data sheet of IMI's C9851). For comparison, the HPET specification 1.0a allows 500 ppm.
 */
#define REPORT_CRYSTAL_PPB UINT64_C(200000)

/*
 * Error budget of a clock's rate, in parts per 10^12. Each cause of error makes the interval of the rate wider. Its
 * part in the budget is half of this additional width.
 */
struct rate_budget {
	bool known;
	/* part due to the duration of a reading, from the shortest samples at both ends of the rate window */
	uint64_t bracket;
	/* part due to the clock's resolution, as far as many readings do not average it out */
	uint64_t resolution;
	/* part due to the resolution of the TSC, which is read before and after each reading of the clock */
	uint64_t tsc_resolution;
	/* part due to the error of the TSC's rate, which includes the whole error of the clock that sets the scale */
	uint64_t tsc_rate;
	uint64_t claim;          /* part due to rounding of the nominal frequency of the clock that sets the scale */
	uint64_t conversion;     /* part due to rounding, and due to combinations of the other parts */
};

/*
 * The cost of one read for a program that uses the clock. On each core, it is the typical latency of the clock minus
 * the typical latency of the null clock: see latency_get_typical(). A program may run on any core, so the result is the
 * median of all cores (the lower one of two middle values). Its interval contains the intervals of all cores. The judge
 * sets it.
 */
struct report_cost {
	struct interval_ns read_ps; /* in ps */
	/*
	 * Duration of two reads for each of 100,000 database rows, in ps. It is a lower bound of what timing the rows
	 * costs, because it leaves out the system call and the database's own work.
	 */
	struct interval_ns rows_ps;
	/* "user space", "kernel" (by a system call) or "either"; NULL if no kernel keeps time by this read method */
	const char *read_in;
	size_t cores;               /* number of cores on which both clocks were read */
	/*
	 * The costs on the cores with the cheapest and the dearest read. DIFFERS is true if the intervals of two cores
	 * do not overlap, and their costs differ by more than 1/4 and by more than half of the bracket.
	 */
	int64_t least_ps, most_ps;
	bool differs;
	/* typical latency of the null clock that was subtracted, on the core with the median cost */
	uint64_t null_ps;
	/*
	 * Time per read in a loop on the boot core, minus the typical latency of the null clock. It includes reads that
	 * a gap interrupted. PostgreSQL's pg_test_timing prints at least this value.
	 */
	uint64_t loop_ps;
};

struct report_clock {
	/* the clock as its driver's open() filled it; the state may change to stuck or broken during the run */
	struct clock clock;
	size_t series;      /* index of the clock's driver in the table of drivers */
	/*
	 * The clock's rate, if the clock that sets the scale (report.relative_to) has exactly its nominal frequency.
	 */
	struct interval_millihz measured;
	/* MEASURED, widened by the possible error of the crystal of the clock that sets the scale. */
	struct interval_millihz absolute;
	struct rate_budget budget;        /* error budget of MEASURED */
	struct interval_ppb error; /* difference between MEASURED and the nominal frequency clock.claimed */
	/*
	 * The TSC's rate if this clock has exactly its nominal frequency. For the TSC itself, its own nominal
	 * frequency. Wrong clocks are found by comparing these rates.
	 */
	struct rate_interval implied;
	enum rate_fit rate_fit;    /* the readings that IMPLIED is calculated from */
	/* true if IMPLIED was measured over the whole run, and not only over the rate window */
	bool rate_whole_run;
	/*
	 * The same as IMPLIED, but measured only over the rate window. For an edge clock (an RTC) in a guest, the field
	 * may be the rate over only the first half of the window.
	 */
	struct rate_interval implied_window;
	/*
	 * The same as IMPLIED, but measured from the end of the rate window to the end of the run. If an edge clock (an
	 * RTC) was measured once more at the run's end, the field is the rate in only that additional measurement.
	 */
	struct rate_interval implied_since;
	/*
	 * Time between the clock's first and last reading in the rate window, and in the rest of the run. 0 if there
	 * are no readings.
	 */
	uint64_t window_ns, since_ns;
	/*
	 * Changes of the clock's rate relative to the TSC. HALVES is the change from the first to the second half of the
	 * rate window. SINCE is the change from the window to the rest of the run. CHANGE is the larger of the two. If
	 * all clocks show the same change, the TSC's rate has changed.
	 */
	struct interval_ppb change_halves, change_since, change;
	/* TSC at which the clock, which had worked at first, was found to have failed; 0 if it did not fail */
	uint64_t failed_tsc;
	/* number of discontinuities that occurred while the boot core measured the latency of this clock */
	unsigned latency_discontinuities;
	/*
	 * True if the clock has no rate, because the core was preempted for so long that the number of wraps is
	 * unknown.
	 */
	bool uncounted;
	/*
	 * Number of forward jumps (in monotonic.leaps) that may be stops of the TSC instead, because no other clock
	 * excludes this.
	 */
	uint64_t unexplained_leaps;
	struct latency *latency;   /* latency on the boot core; latency->count is 0 if it was not measured */
	struct resolution resolution;
	struct monotonic monotonic;
	struct report_cost cost;
	/*
	 * True if the firmware's timer tick may have stopped this clock for short times. The clock's rate is then not
	 * judged.
	 */
	bool stops_in_ticks;
	enum verdict verdict;
	size_t open; /* number of rules on this clock that are not determined; the judge sets it */
};

/* Comparison of two clocks: by how much A runs faster than B, relative to their nominal frequencies. */
struct report_rate {
	const char *a, *b; /* ids of the two clocks */
	struct interval_ppb ppb;
	/*
	 * True if the ratio of the two measured rates may be exactly the ratio of the nominal frequencies. The two
	 * clocks then probably have the same source.
	 */
	bool same_source;
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
	 * Latency of each clock in report.clocks: while only this core reads the clock, and while all cores read it
	 * at the same time.
	 */
	struct core_latency latency[REPORT_CLOCKS_MAX];
	struct core_latency contended[REPORT_CLOCKS_MAX];
	uint64_t observed_ns;     /* time in which the core was observed for gaps; 0 if it was not observed */
	uint64_t gaps, worst_gap_ns; /* number of gaps, and length of the longest gap */
	/* steps back between successive TSC readings on this core */
	struct tsc_steps tsc;
	/* number of other cores that exchanged messages with this core in both directions in the first pass */
	uint64_t pingpongs;
	size_t rank; /* index among the cores that took part in the passes; REPORT_NO_RANK if it did not */
	/* The judge sets the following fields. */
	bool off_majority;        /* true if this core's TSC differs from the TSCs of most other cores */
	bool steps_back;          /* true if successive readings on this core prove that its TSC steps back */
	bool drifts;              /* true if this core's TSC drifts relative to the TSCs of most other cores */
	bool stepped;             /* true if the core counts as drifting because its TSC stepped once */
	/*
	 * Lowest and highest possible drift of this core's TSC in ppb, if it drifts. The drift is relative to the core of
	 * the majority against which the proven drift is largest.
	 */
	struct offset from_most;
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
	uint64_t worst_ticks, worst_ns;
	/* APIC ids of the cores of the largest warp: the stamp of A was ahead of the later reading of B */
	uint32_t worst_a, worst_b;
};

/* A measurement pass, in which pairs of cores exchange messages with TSC readings (ping-pongs). */
struct report_pass {
	struct offsets offsets;
	/* number of pairs that have ping-pongs at the same time; it is adapted during a pass, and this is its last value */
	size_t concurrency;
	size_t rounds;
	uint64_t elapsed_ns; /* duration of the pass */
	uint64_t pingpongs;  /* number of pairs whose messages arrived on both sides */
	uint64_t again;      /* number of ping-pongs that were repeated because the first result had a wide interval */
	/* The following fields are results of offsets_calculate_core_offsets(). The arrays have an entry for each rank. */
	struct offsets_summary summary;
	struct offset *core_offsets; /* offset of the core's TSC against the boot core's TSC, in ticks */
	uint8_t *outlier;            /* 1 if the TSC of the core differs from the majority */
	/* The judge sets the following fields of the first and the last pass. */
	/* true if no group of more than half of the cores agrees, so that it is unknown which cores are right */
	bool no_majority;
	bool marks_cores; /* true if report_core.off_majority of at least one core is a result of this pass */
	/*
	 * For each rank, true if the core does not drift, and is proven to differ from the majority by more than the
	 * limit. If the cores are in two halves without a majority, true if it differs from the other half.
	 */
	bool *off;
};

struct report_skew { /* synchronisation of the cores' TSCs */
	struct report_contended locked, lock_free;
	/* The arguments of report_divide_memory(), which divides the memory into the arrays below. */
	void *memory;
	size_t cores_max, pairs_max;

	/* The following fields are results of the measurement passes. */
	const char *kind_reason; /* why not all pairs were measured, or ""; in static storage */
	uint64_t warps;          /* number of messages in all passes whose stamp was ahead of the receiver's TSC */
	uint64_t worst_warp_ticks, worst_warp_ns;
	uint32_t worst_warp_a, worst_warp_b; /* APIC ids of the cores of the largest warp: A's TSC was ahead of B's */
	/* shortest round trip of all pairs in the first pass, and the median of the pairs' median round trips */
	uint64_t best_trip_ns, median_trip_ns;
	/*
	 * The passes in which at least one pair had a ping-pong, in the order of time. All have the same cores and the same
	 * schedule. A pass between the first and the last is made only if the first took a small part of the run.
	 */
	size_t pass_count;
	struct report_pass passes[REPORT_PASSES];
	uint32_t *core_of;       /* for each rank, the index of the core in report.cores */
	/*
	 * Drifts of the pairs from the first pass to the last, in ppb, stored like the offsets of a pass. There are no
	 * cores if there was no second pass.
	 */
	struct offsets drifts;
	/* time from the end of the first pass to the end of the last pass, which are the times in phrase_pass_times() */
	uint64_t drift_span_ns;
	struct histogram *trips; /* working memory for the median round trips of all pairs */

	/* The judge sets the following fields. */
	uint64_t offset_limit_ns, drift_limit_ppb; /* limits of the rules tsc-offset and tsc-drift */
	uint8_t *moved;          /* 1 for a rank if the offset of its core changed relative to most cores, otherwise 0 */
	bool any_moved;          /* true if the offset of at least one pair changed between two passes */
	/*
	 * True if the first and the last pass have a majority from which no core differs, and WITHIN_NS is at most the
	 * limit of the rule tsc-sync. The limit is raised to a few round trips, unless the user sets it.
	 */
	bool synchronised;
	bool within_known;
	/* Upper bound of the difference between any two cores' TSCs, in the first and in the last pass. */
	uint64_t within_ns;
	/*
	 * True if only the first or only the last pass is exact enough to show that the cores are synchronised, and the
	 * other pass does not contradict it. EXACT is the index of the exact pass.
	 */
	bool one_is_exact;
	size_t exact;
	/*
	 * Index of the pass that sentences, tables and maps show: the first, or the last if only the last found a fault.
	 */
	size_t shown;
	bool proven;             /* true if SYNCHRONISED is true and no two TSCs are proven to differ */
	/* the result as part of a sentence: "synchronised within 31 ns at 3.1 s and 9.8 s" */
	char text[REPORT_SENTENCE];
};

struct report_gap {
	uint64_t at_ms; /* start of the gap, since the start of the run */
	uint64_t ns;
	uint32_t core;  /* APIC id of the core */
};

struct report_interference { /* stolen time on all cores together */
	bool measured;
	uint64_t threshold_ns;
	uint64_t observed_ns; /* time in which cores were observed for gaps, added up for all cores */
	uint64_t gaps, worst_ns, total_ns;
	uint32_t worst_core;  /* APIC id of the core with the longest gap */
	/*
	 * COUNTER is the id of the hypervisor's own counter of stolen time, or NULL if there is none. COUNTER_REASON
	 * states why the counter was not used, or is NULL. The fields in STOLEN are sums over the cores whose counter
	 * was read, and 0 if no counter was read.
	 */
	const char *counter, *counter_reason;
	struct report_stolen {
		uint64_t observed_ns;
		/*
		 * REPORTED_NS is the stolen time according to the hypervisor's counter. The counter is read shortly
		 * before and after the loop that observes the core. REPORTED_LOW_NS is a lower bound for the loop: the
		 * time between these reads and the loop is subtracted.
		 */
		uint64_t reported_ns, reported_low_ns;
		/* bounds of the stolen time according to the TSC readings of the loop that observes the core */
		uint64_t low_ns, high_ns;
	} stolen;
	uint64_t octave[OCTAVES]; /* number of gaps in each octave of their length in ns: see base/histogram.h */
	bool smi_known;       /* true if the CPU counts SMIs and this counter can be read */
	uint64_t smi_count;   /* number of SMIs from the start to the end of the run */
	size_t event_count;
	struct report_gap events[REPORT_EVENTS_MAX]; /* the first gaps of each core, as far as there is space */
};

enum discontinuity_class {
	DISCONTINUITY_PARTED, DISCONTINUITY_STOPPED, DISCONTINUITY_JUMPED,
	/* In a guest, the TSC alone moved against all other clocks. The host may have stopped these others instead. */
	DISCONTINUITY_TSC_MOVED,
};

/* The advance of one clock in a discontinuity. */
struct report_advance {
	uint8_t clock; /* index of the clock, as in struct report_group */
	/* Time that passed in the discontinuity by this clock. Unknown if the readings of the clock allow any time. */
	struct interval_ns elapsed;
	/*
	 * Lateness of a time that is counted by this clock, after the discontinuity. Negative if it is early. Unknown if
	 * nothing shows the true time. The judge sets it.
	 */
	struct interval_ns late;
};

enum report_announced { ANNOUNCED_UNKNOWN, ANNOUNCED_NO, ANNOUNCED_PERHAPS, ANNOUNCED_YES };

/* Whether a timer interrupted after a discontinuity: not tested since, no interrupt came, or an interrupt came. */
enum report_survives { SURVIVES_UNKNOWN, SURVIVES_NO, SURVIVES_YES };

/* Maximum number of interrupt sources that are tested on the boot core. */
#define REPORT_SOURCES_MAX 24

struct report_discontinuity { /* A discontinuity: a time interval in which clocks disagree on how much time passed. */
	/* TSC at the start and at the end of the discontinuity; from_tsc is 0 if the start is unknown */
	uint64_t from_tsc, at_tsc;
	/* start and end of the discontinuity in ms since the start of the run; the judge sets them */
	uint64_t from_ms, at_ms;
	/* true if the clocks still diverged when they were last read: a clock had another rate, and did not jump */
	bool gradual;
	enum discontinuity_class class; /* kind of the discontinuity; the judge sets it */
	/*
	 * The clocks of the only group that jumped, or that continued while the others stopped, as a set like
	 * groups.clocks. The field is 0 if no such group is known. The judge sets the field.
	 */
	uint32_t alone;
	size_t group_count;
	struct report_group { /* clocks that agree with each other */
		/* Bit I is clock I of the report. Bit REPORT_CLOCKS_MAX is the TSC, if it is not in the report. */
		uint32_t clocks;
		size_t clock_count;
		uint8_t members[REPORT_CLOCKS_MAX + 1]; /* indices of the clocks in the group, as a list */
		/* time that passed in the discontinuity, according to the clocks of the group */
		struct interval_ns elapsed;
	} groups[REPORT_GROUPS_MAX];
	size_t clock_count; /* number of clocks that were compared */
	struct report_advance clocks[REPORT_CLOCKS_MAX + 1];
	/*
	 * The fields below are set after the systems were predicted. RIGHT is the index of the group that shows the true
	 * time, or REPORT_GROUPS_MAX if nothing shows it. ANNOUNCED states whether a signal of the hypervisor announced
	 * the discontinuity.
	 */
	size_t right;
	enum report_announced announced;
	struct interval_ns late[REPORT_TAKEN_MAX]; /* lateness of each system in report.taken */
	size_t source_count;
	struct report_survivor {
		const char *source; /* id of the interrupt source, as in struct report_interval */
		enum report_survives survives;
	} sources[REPORT_SOURCES_MAX];
};

/*
 * The policy of a periodic timer for ticks that become due while interrupts are masked. They cannot all be delivered.
 */
enum report_policy {
	REPORT_POLICY_UNKNOWN,
	/* at most one of the ticks that were due during the masking is delivered; later ticks keep their deadlines */
	REPORT_POLICY_DISCARD,
	/* several of the ticks that were due during the masking are delivered one after another */
	REPORT_POLICY_CATCH_UP,
	/*
	 * at most one of the ticks that were due during the masking is delivered; the next tick follows a full period
	 * after the delivered tick
	 */
	REPORT_POLICY_DELAY,
};

/*
 * Minimum number of interrupts for p99, and for p99.9. With fewer interrupts, these percentiles would equal the
 * maximum.
 */
#define REPORT_P99_MIN  100u
#define REPORT_P999_MIN 1000u

#define REPORT_OTHER_RULES_MAX 160

struct report_other_rule { /* A rule that applies to the machine, without a row in behaviours and without a finding. */
	const char *rule, *clock; /* the rule's id; the main clock of a device, or NULL for a rule about the machine */
	const char *obstacle; /* why the rule was not checked, in static storage; NULL if it found nothing */
};

#define REPORT_PHASES_MAX 24

struct report_phase { /* A phase of the run. A phase that the run enters several times has a row for each time. */
	const char *id; /* in static storage */
	uint64_t begin_ticks, ticks; /* TSC ticks from the start of the run to the start of the phase, and in the phase */
};

struct report_interval { /* Results of one timer test: an interrupt source that was programmed with one interval. */
	const char *source; /* id of the interrupt source, in static storage */
	bool periodic;
	uint32_t core; /* APIC id of the core on which the source was tested */
	const char *route_kind; /* route of the interrupts to the core: "lapic", "pic", ... */
	uint32_t pin, vector;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* why the source could not be tested, otherwise "" */
	bool faulted;      /* true if an access to the source caused an exception, which ended its tests */
	uint64_t asked_ns; /* programmed interval */
	/* analysis_calculate_timers() calculates the following fields. */
	uint64_t asked;    /* number of requested interrupts (one-shots or periods) */
	uint64_t expected; /* number of deadlines at which interrupts were enabled */
	/*
	 * DELIVERED is the number of interrupts. EMPTY, DOUBLED and EARLY are numbers of deadlines: without an
	 * interrupt, with two or more interrupts, and with an interrupt that came too early. EXCUSED is the number of
	 * deadlines that are not counted, because preemption or slow reads of the TSC may have affected them. Under
	 * QEMU's -icount every two reads of the TSC can be as far apart as if the core was preempted between them.
	 */
	uint64_t delivered, empty, doubled, early, excused;
	/* number of times that ticks of a periodic source were lost; several lost ticks in a row count once */
	uint64_t losses;
	/* number of ticks that may be late by a whole period, because others are late; their lateness is not known */
	uint64_t doubtful;
	/* number of one-shots that caused no interrupt, although the device's status shows that they expired */
	uint64_t expired;
	uint64_t lost_tsc; /* TSC at which the latest of these one-shots was armed */
	/* TSC when the source was last armed for interrupts, and when its latest interrupt came; 0 if never */
	uint64_t armed_tsc, came_tsc;
	/*
	 * OVER_GAPS is the number of one-shots with at least a quarter of their time left when the core was preempted.
	 * DELAYED of them came late by as long as the core was preempted, although it ran again before. DELAY is the
	 * lateness of the latest of these.
	 */
	uint64_t over_gaps, delayed;
	struct interval_ns delay;
	/*
	 * OVER is the number of one-shots that were programmed with a deadline in the past. STALE is the number of
	 * interrupts that they caused.
	 */
	uint64_t over, stale;
	struct report_lateness {
		uint64_t count; /* number of interrupts; the other fields are valid only if it is not 0 */
		int64_t min_ns, p50_ns, p99_ns, p999_ns, max_ns;
		uint64_t error_ns; /* largest error of the latenesses in this struct, in ns */
		/* time from the earliest interrupt to its deadline, as a positive number */
		struct interval_ns earliest;
		int64_t p1_ns;
	} lateness;
	struct interval_ppb rate; /* difference between the rate of a periodic source and the programmed rate */
	/*
	 * Time in which interrupts were masked, and number of interrupts in an equally long time afterwards. Both are
	 * 0 if this was not tested.
	 */
	uint64_t held_ns, held_delivered;
	enum report_policy policy;
	const char *policy_reason; /* why POLICY is unknown, in static storage; NULL if it is known or was not tested */
	/*
	 * True if ticks come at such irregular times that a tick cannot be assigned to a deadline. Ticks are then not
	 * counted.
	 */
	bool scattered;
};

/* A time service of UEFI's firmware, called with one requested time. See struct record_firmware. */
struct report_firmware {
	enum firmware_service service;
	enum firmware_tick tick; /* only for timers */
	uint64_t asked_ns; /* requested time or period; 0 if the service has none */
	uint64_t stated, range; /* as in struct record_firmware */
	uint64_t count;    /* number of calls that returned, or of events that came */
	uint64_t missing;  /* number of events that did not come, or 1 if a call had not returned */
	uint64_t back;     /* number of readings below the reading before */
	/*
	 * Shortest and longest time from a request to its return or event. A periodic timer's request counts from the
	 * previous deadline.
	 */
	uint64_t least_ns, most_ns;
	uint64_t first_ns; /* duration of the first call */
	/* excess of a firmware's second over a second; unknown if it was not measured */
	struct interval_ppb second;
	/* FPDT: start of baretick in ns since the reset by the table, and by the TSC */
	uint64_t start_ns, tsc_ns;
};

struct report_claim { /* A rate that the machine states (a claim), compared with the measured rate. */
	struct claim claim;
	/* The judge sets the following fields. Until then, all of them are unknown or 0. */
	struct interval_millihz measured; /* measured rate of the clock */
	struct interval_ppb error;        /* difference between the measured rate and the stated rate */
	enum outcome outcome;
	size_t user_count;
	const char *users[REPORT_CLAIM_USERS]; /* programs that use the stated rate, in static storage */
};

struct report_quality { /* Effect of stolen time on the measured latencies; set by the judge. */
	bool stolen_known;
	uint64_t stolen_millipercent; /* stolen part of the observed time, in 1/1000 % */
	/* true if cores were observed for stolen time, or if stolen time caused the p99.9 latency of a clock */
	bool tails_known;
	bool reliable_tails;     /* true if percentiles up to p99.9 are not affected by stolen time */
	char text[REPORT_SENTENCE]; /* a sentence on the effect of stolen time */
};

/* Recommended clocks, the best clock first, and after them the clocks to avoid; see judge/recommend. */
struct report_ranking {
	size_t count;
	struct report_ranked {
		const char *clock;
		bool avoid;
		char reason[REPORT_SENTENCE];
	} rows[REPORT_CLOCKS_MAX];
};

struct report_answer { /* A short summary of the report. */
	char text[2 * REPORT_SENTENCE]; /* all fields below as sentences; "" before the judge has set it */
	const char *clock;       /* id of the clock to use; NULL if no clock is suitable */
	uint64_t read_ps;        /* cost of one read of the clock to use, see struct report_cost; 0 if unknown */
	const char *linux_takes; /* id of the clock that the newest Linux would use; NULL if unknown */
	size_t wrong_count;
	const char *wrong[REPORT_CLOCKS_MAX]; /* ids of the clocks that failed */
	bool within_known;
	uint64_t within_ns; /* upper bound of the difference between the cores' TSCs */
};

/* Whether a system notices the faults that the run found in its clock. If it notices only some, the answer is NO. */
enum taken_notices { TAKEN_NOTICES_UNKNOWN, TAKEN_NOTICES_NO, TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_YES };

/* Whether the clock that the system then stops using is the clock with the fault. */
enum taken_blames { TAKEN_BLAMES_NONE, TAKEN_BLAMES_RIGHT, TAKEN_BLAMES_WRONG };

/* Whether a program may read the TSC itself, on all cores, and compare the readings. */
enum taken_safety { TAKEN_SAFETY_NOT_ASKED, TAKEN_SAFE, TAKEN_UNSAFE, TAKEN_SAFETY_UNPROVEN };

/* The evidence for the row of a system. */
enum taken_evidence { TAKEN_FROM_BOOTS, TAKEN_FROM_SOURCE, TAKEN_FROM_DOCUMENTATION };

/*
 * The clock that a system would use on this machine, and what the system would do about the faults that were found. A
 * system is a kernel of some versions, or a program.
 */
struct report_taken {
	const char *system;        /* name of the system with its versions, in static storage */
	/* For Linux: the first version of this row, and the first version after it. NULL: the row is open at this end. */
	const char *since, *until;
	const char *clock;         /* id of the clock; NULL if a program must not read the TSC */
	const char *read_by;       /* id of the row in `clocks` whose read method the system uses */
	uint64_t read_ps;          /* cost of one read by this method, see struct report_cost; 0 if unknown */
	enum taken_notices notices;
	enum taken_blames blames;
	const char *blamed;        /* id of the clock that the system stops using, or NULL */
	bool repairs;              /* true if the system removes the fault, for example by writing TSC_ADJUST */
	/* Error of the rate of the system's time because of the faults that were found. It is positive if time runs fast. */
	struct interval_ppb time_error;
	enum taken_safety safety;
	enum taken_evidence evidence;
	char reason[2 * REPORT_SENTENCE];
};

struct report_tick { /* The timer that Linux would use for its tick. */
	const char *source; /* id of the interrupt source in report.intervals; NULL if unknown */
	char reason[2 * REPORT_SENTENCE]; /* why Linux would use this timer; "" if no timer was tested */
};

struct finding {
	const char *rule;     /* id of the rule in the catalogue (src/rules) */
	enum verdict severity; /* warn or fail */
	const char *clock;    /* id of the clock, or NULL */
	uint32_t core;        /* APIC id of the core that is proven to be faulty, or REPORT_NO_CORE */
	/* APIC ids of two or more cores, if it is not proven which of them is faulty. CORE is then REPORT_NO_CORE. */
	size_t core_count;
	uint32_t cores[REPORT_FINDING_CORES];
	/* true if the finding is about one read method of the clock, and not about its counter */
	bool one_way;
	bool has_measured;
	int64_t measured, low, high, limit;
	const char *unit;
	char text[2 * REPORT_SENTENCE];
	char advice[REPORT_SENTENCE]; /* advice to the user if it differs from the rule's advice, otherwise "" */
	const char *source;
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

struct report_calibration { /* Results of a calibration loop (see clock/calibration.h), which is run many times. */
	const struct calibration_loop *loop; /* in static storage */
	char reason[CLOCK_REASON_SIZE]; /* why the loop was not run, otherwise "" */
	uint64_t runs, refused; /* number of runs, and number of runs whose result the loop refused */
	size_t refusal_count;
	struct report_refusal {
		const char *reason; /* why the loop refused the result, in static storage */
		uint64_t count;     /* number of runs whose result was refused for this reason */
	} refusals[CALIBRATION_REFUSALS];
	/*
	 * Median and worst error of the accepted results, against the measured rate. Unknown if the rate was not
	 * measured.
	 */
	struct interval_ppb median, worst;
	/*
	 * Duration of the run with the worst error, and of the shortest run, by the TSC. Both are 0 if the record has no
	 * TSC readings of the run with the worst error.
	 */
	uint64_t worst_run_ns, shortest_run_ns;
	char remark[REPORT_SENTENCE]; /* a sentence on a worst error above 1 %, otherwise "" */
};

struct report_record { /* The run's record of raw readings, see src/record. */
	void *bytes; /* contents of the file report.record; the run owns this memory */
	size_t length; /* size in bytes; 0 if the run did not start */
	uint64_t dropped; /* number of entries that were not recorded because there was no space */
	char sha256[SHA256_HEX_SIZE];
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
	/* series of a soak, otherwise empty; clocks and cores have the same index as in the arrays above */
	struct series series;
	/*
	 * Signals that announce a pause, restore or migration. The count is 0 before the end of the run, or if the
	 * hypervisor offers none.
	 */
	struct signals signals;
	size_t interval_count;
	struct report_interval intervals[REPORT_INTERVALS_MAX];
	size_t calibration_count;
	struct report_calibration calibrations[CALIBRATION_LOOPS];
	/*
	 * Sentences on the machine and the run, for example on a wrong ACPI table, or on a volume that could not be
	 * written.
	 */
	size_t note_count;
	char notes[REPORT_NOTES_MAX][REPORT_SENTENCE];
	struct boots boots; /* results of the earlier boots of a series; PLANNED is 0 if there is no series */
};

/* The results of src/analysis, calculated from the facts and the record. */
struct figures {
	/*
	 * The TSC's rate, which converts all ticks to ns. If den is 0, it is unknown, and 1 tick counts as 1 ns.
	 */
	struct rate tsc;
	struct rate_interval tsc_within; /* the TSC's rate with its bounds; unknown if it was not measured */
	char tsc_source[64]; /* where the TSC's rate comes from, as text */
	/*
	 * id of the clock that sets the scale, because its nominal frequency is taken as exact; "" if there is none
	 */
	const char *relative_to;
	size_t rate_count;
	struct report_rate rates[REPORT_RATES_MAX];
	struct report_skew skew;
	struct report_interference interference;
	size_t firmware_count; /* 0 without UEFI */
	struct report_firmware firmware[REPORT_FIRMWARE_MAX];
	/* number of discontinuities in the array, and number of further ones, which did not fit into it */
	size_t discontinuity_count, discontinuities_lost;
	struct report_discontinuity discontinuities[REPORT_DISCONTINUITIES_MAX];
};

/* The results of src/judge: findings, rows of rules, verdicts. Checks of devices also add rows. */
struct outcomes {
	struct behaviours behaviours;
	struct report_other_rule other_rules[REPORT_OTHER_RULES_MAX];
	size_t other_rule_count;
	/* Sentence on the rules that were not determined or not checked, with reasons. It may be empty. */
	char unjudged[REPORT_SENTENCE];
	struct boots boots_so_far; /* facts.boots with the results of this boot */
	size_t finding_count;
	struct finding findings[REPORT_FINDINGS_MAX]; /* sorted by severity: failures first, then warnings */
	struct report_quality quality;
	enum verdict verdict;
};

/* The results of src/judge/recommend: the clock to use, and the clocks and timers that systems take. */
struct advice {
	struct report_ranking ranking;
	struct report_answer answer;
	size_t taken_count;
	struct report_taken taken[REPORT_TAKEN_MAX];
	struct report_tick tick;
	/* a sentence on the consequences of the calibration results for a kernel; "" if there are none */
	char calibrated[2 * REPORT_SENTENCE];
};

/* All results. The figures are calculated from the facts, the outcomes from both, and the advice from all three. */
struct report {
	struct facts facts;
	struct figures figures;
	struct outcomes outcomes;
	struct advice advice;
	struct report_record record;
	/* the options as a user would type them; "" if all have their default values */
	char options_given[OPTIONS_GIVEN_SIZE];
	uint64_t duration_ns;     /* duration of each long measurement, from the option duration= or the profile */
};

/*
 * Returns a name for the machine: the option label=, or the serial number, or the product. Returns "" if the report
 * has none of these.
 */
const char *report_machine_name(const struct report *report);

/*
 * Returns true if an emulator executes the instructions (QEMU's TCG). Emulated timers are threads of the host or run
 * in the emulator's main loop, so their delays do not prove that a device is faulty.
 */
bool report_is_machine_emulated(const struct report *report);

/* Returns the id of clock I. If I is REPORT_CLOCKS_MAX, returns "tsc", even if the TSC is not in the report. */
const char *report_clock_id(const struct report *report, size_t i);

const char *verdict_word(enum verdict verdict);       /* returns "pass" ... "absent" */
const char *clock_state_word(enum clock_state state); /* returns "present" ... "broken" */
const char *policy_word(enum report_policy policy);   /* returns "discard", "catch up", "delay" or "" */
const char *rate_fit_word(enum rate_fit fit);         /* returns "all", "ends", "uneven", "two" or "" */
const char *taken_notices_word(enum taken_notices notices);    /* returns "no", "perhaps", "yes" or "" */
const char *taken_blames_word(enum taken_blames blames);       /* returns "right", "wrong" or "" */
const char *taken_safety_word(enum taken_safety safety);       /* returns "yes", "no", "not proven" or "" */
const char *announced_word(enum report_announced announced);   /* returns "no", "perhaps", "yes" or "" */
const char *survives_word(enum report_survives survives);      /* returns "no", "yes" or "" */
const char *taken_evidence_word(enum taken_evidence evidence); /* returns "boots", "source" or "documentation" */

/*
 * Returns true if ENTRY is the main read method of a device, and not the null clock. Only clocks for which this is true
 * are compared with each other.
 */
bool report_clock_is_main_of_device(const struct report_clock *entry);

/*
 * Returns the clock's rate in Hz times 1,000, as measured. A clock without a measured rate has the measured rate of its
 * device's main clock, if these two clocks read the same counter. Returns the nominal frequency if no rate was
 * measured, or if the measured interval is wide and contains the nominal frequency. Returns 0 if no rate is known.
 */
uint64_t report_clock_rate_millihz(const struct report *report, const struct report_clock *entry);

/*
 * Returns the duration of TICKS of the clock in ps, according to report_clock_rate_millihz(). Returns 0 if the rate is
 * unknown.
 */
uint64_t report_clock_ticks_to_ps(const struct report *report, const struct report_clock *entry, uint64_t ticks);

/* Returns the number of warps: TSC readings of one core that were lower than an earlier reading of another core. */
uint64_t report_count_warps(const struct report_skew *skew);

/* Returns the offset or drift of rank B relative to rank A, or OFFSET_UNKNOWN if OFFSETS has no such ranks. */
struct offset report_get_offset_of_ranks(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the drift of core B's TSC relative to core A's TSC in ppb, from the first pass to the last. A and B are
 * ranks. Returns OFFSET_UNKNOWN if the two were not measured against each other in both passes. In a star schedule,
 * each core is measured against the boot core only. The drift of two other cores is then unknown, because the boot
 * core's TSC may have changed between their measurements.
 */
struct offset report_get_pair_drift(const struct report *report, size_t a, size_t b);

/* Returns the drift of CORE's TSC relative to the boot core's TSC in ppb, or OFFSET_UNKNOWN. */
struct offset report_get_core_drift(const struct report *report, const struct report_core *core);

/* The judge marks cores by fields of struct report_core. Each number here counts the cores with one of these marks. */
struct core_faults {
	size_t off_majority, drifting, stepped, stepping_back; /* the stepped cores are among the drifting cores */
};

struct core_faults report_count_core_faults(const struct report *report);

/* Summary of the cores' TSC_ADJUST. */
struct tsc_adjusts {
	size_t known; /* number of cores whose CPUID was read */
	size_t cores; /* number of cores that have the register TSC_ADJUST */
	const struct report_core *least, *most; /* the first cores with the smallest and with the largest value */
	size_t least_count, most_count;         /* numbers of cores with the same value as LEAST and as MOST */
	/*
	 * The core whose value differs most from the value of the first core of its package, and that first core; NULL if
	 * the values are equal within each package. Packages may have different values: they may be reset at different
	 * times, and Linux accepts this (arch/x86/kernel/tsc_sync.c).
	 */
	const struct report_core *odd, *first;
	size_t packages;
};

/*
 * Returns the first core in the report whose facts are known and that is in the same package as core I. This is core I
 * itself if the facts of core I are not known.
 */
const struct report_core *report_get_first_core_of_package(const struct report *report, size_t i);

struct tsc_adjusts report_collect_tsc_adjusts(const struct report *report);

/* Returns the scale that converts TSC ticks to ns, with the bounds of the TSC's rate. */
struct scale report_get_tsc_scale(const struct report *report);

/*
 * Converts OFFSET, the offset of one core's TSC against another's, to ns. The bounds are rounded outwards. Returns
 * OFFSET_UNKNOWN if a bound is unknown or there was no pass.
 */
struct offset report_offset_to_ns(const struct report *report, struct offset offset);

/* Returns TICKS in ns, as an interval because the TSC's rate is not exact. More than 2^60 ticks count as 2^60. */
struct offset report_ticks_to_ns(const struct report *report, uint64_t ticks);

/* Returns TICKS of the TSC in ms, rounded up. */
uint64_t report_ticks_to_ms(const struct report *report, uint64_t ticks);

/* Returns an upper bound in ns of the difference between any two TSCs in PASS, all of whose offsets are known. */
uint64_t report_get_bound_of_pass_ns(const struct report *report, const struct report_pass *pass);

/* Error budget of an offset in ps. Each part is half of the width that it adds to the interval; 0 if unknown. */
struct offset_budget {
	/*
	 * Uncertainty due to the round trip, because the other core read its TSC at an unknown time within the trip.
	 * This part includes the resolution of both TSCs.
	 */
	uint64_t trip_ps;
	uint64_t tsc_rate_ps;   /* error of the TSC's rate, because the offset was converted to ns with this rate */
	uint64_t conversion_ps; /* rounding */
};

struct offset_budget report_offset_error_budget(const struct report *report, struct offset offset);

/* Returns the clock with this id, or NULL. Although REPORT is const, the result is not, as with strchr(). */
struct report_clock *report_find_clock(const struct report *report, const char *id);

/* Returns true if the report has a clock with this id whose state is "present". */
bool report_has_clock(const struct report *report, const char *id);

/* Returns the time in ns since the start of the run at which the boot core's TSC had the value TSC. */
uint64_t report_run_time_ns(const struct report *report, uint64_t tsc);

/*
 * Returns the latest time in ns since the start of the run at which the boot core's TSC may have had the value TSC.
 * If the TSC stepped back, it had some values a second time.
 */
uint64_t report_max_run_time_ns(const struct report *report, uint64_t tsc);

/*
 * Returns the latest pass. Returns the first pass if it is the only one, and a pass without cores if there is none.
 * Although REPORT is const, the result is not, as with strchr().
 */
struct report_pass *report_get_last_pass(const struct report *report);

/* Returns the pass that reports show. It has no cores if there was no pass. */
const struct report_pass *report_get_shown_pass(const struct report *report);

/* Return the core with this rank, which is its index among the cores that took part in the passes, and its APIC id. */
const struct report_core *report_get_core_of_rank(const struct report *report, size_t rank);
uint32_t report_get_apic_id_of_rank(const struct report *report, size_t rank);

/* Returns the offset of CORE's TSC against the boot core's TSC in PASS, in ticks. Returns OFFSET_UNKNOWN if unknown. */
struct offset report_get_core_offset(const struct report_pass *pass, const struct report_core *core);

/* Adds CLAIM to the report, unless there is no space. */
void report_add_claim(struct report *report, const struct claim *claim);

/* Returns the id of a time service of the firmware ("efi_stall"). Rows of rules have it instead of a clock. */
const char *report_firmware_id(enum firmware_service service);
/* Returns the name of SERVICE for a sentence with "The firmware's", such as "Stall()". */
const char *report_firmware_name(enum firmware_service service);
/* Returns "hpet", "lapic" or "pit", or NULL if the device of the firmware's tick is not known. */
const char *report_firmware_tick(enum firmware_tick tick);

/* Returns "tsc", "lapic" or "crystal". */
const char *report_claim_clock_id(const struct claim *claim);

/* Adds a note, unless there is no space. A text that is too long is cut. */
void report_add_note(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
