/*
 * The report: all results of a run as plain data. The survey fills it, the judge adds the verdicts, and the
 * renderers turn it into bytes. A figure that was not measured is marked by its own flag or by a count of 0,
 * never by a plausible number.
 *
 * All memory belongs to the caller and is planned before the cores start.
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
#include "clock/paravirtual.h"
#include "clock/signals.h"
#include "consensus/discontinuity.h"
#include "consensus/rate.h"
#include "options/options.h"
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
/* maximum number of timer tests: two for each of 64 cores, and the tests of all sources on the boot core */
#define REPORT_INTERVALS_MAX 192
#define REPORT_NO_CORE      UINT32_MAX
#define REPORT_TAKEN_MAX    3 /* maximum number of systems with a row: Linux, Windows and PostgreSQL */
/* maximum number of systems that use a stated rate: Linux, FreeBSD, EDK II, PostgreSQL */
#define REPORT_CLAIM_USERS   4
#define REPORT_PASSES       3 /* maximum number of measurement passes over the cores that a report has */

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_INCOMPLETE, VERDICT_ABSENT };

/*
 * Error of a PC clock generator's crystal: 14.31818 MHz within 100 ppm, and 100 ppm more over temperature (data
 * sheet of IMI's C9851). The HPET specification 1.0a allows its counter 500 ppm.
 */
#define REPORT_CRYSTAL_PPB UINT64_C(200000)

/*
 * Parts of the error of a clock's rate in parts per 10^12. Each is half the width that the part adds to the interval.
 */
struct rate_budget {
	bool known;
	uint64_t bracket;        /* from the duration of the clock's readings: the narrowest brackets at both ends */
	uint64_t resolution;     /* from the resolution of the clock, as far as it remains after many readings */
	uint64_t tsc_resolution; /* from the resolution of the TSC, which times the brackets */
	/* From the error of the TSC's rate. It includes the whole error of the clock that sets the scale. */
	uint64_t tsc_rate;
	uint64_t claim;          /* from the rounding of the nominal frequency of the clock that sets the scale */
	uint64_t conversion;     /* from rounding in calculations, and from combinations of the other parts */
};

/*
 * The cost of a read for a program that uses the clock; set by the judge. On each core it is the mean latency of the
 * reads that no stolen time hit, minus the mean of the null clock. A program runs on any core, so the value is the
 * median of all cores (the mean of the middle two for an even number). The interval includes all cores.
 */
struct report_cost {
	struct interval_ns read_ps; /* in ps */
	struct interval_ns rows_ps; /* cost of two reads for each of 100,000 rows, in ps */
	size_t cores;               /* number of cores on which both clocks were read */
	uint64_t null_ps;           /* the mean of the null clock that was subtracted, on the median core */
	/*
	 * Mean loop time on the boot core, minus the null clock's mean latency. Includes reads that stolen time hit.
	 * PostgreSQL's pg_test_timing prints at least this.
	 */
	uint64_t loop_ps;
};

struct report_clock {
	struct clock clock; /* the clock as its driver has filled it; the state may become stuck during the run */
	size_t series;      /* index of the clock's driver in the table of drivers */
	/* The clock's rate, provided that the clock that sets the scale (report.relative_to) has its nominal frequency. */
	struct interval_millihz measured;
	/* MEASURED, widened by the possible error of the crystal of the clock that sets the scale */
	struct interval_millihz absolute;
	struct rate_budget budget;        /* error budget of MEASURED */
	struct interval_ppb error; /* MEASURED compared with clock.claimed */
	/*
	 * The TSC's rate if this clock has its nominal frequency. For the TSC, its own nominal frequency. The
	 * judge finds wrong clocks by comparing these rates.
	 */
	struct rate_interval implied;
	enum rate_fit rate_fit;    /* kind of readings that a constant rate explains */
	bool rate_whole_run;       /* true if IMPLIED was measured over the whole run, and not only over the rate window */
	struct rate_interval implied_window; /* IMPLIED, measured over the rate window or over its first half */
	/* IMPLIED, measured from the end of that window to the end of the run, or only at the run's end */
	struct rate_interval implied_since;
	/* Duration of the clock's readings in the rate window and after it; 0 without readings. */
	uint64_t window_ns, since_ns;
	/*
	 * Changes of the clock's rate against the TSC: between the halves of the rate window, from the window to the rest
	 * of the run, and the larger of the two. If all clocks show the same change, the TSC has changed.
	 */
	struct interval_ppb change_halves, change_since, change;
	bool failed_later;           /* true if the clock worked at first, and failed during the run */
	uint64_t failed_later_ms;    /* time of the failure in the run */
	unsigned disturbed;         /* number of discontinuities during the clock's readings on the boot core */
	/* True if the clock has no rate, because it is unknown how many times it wrapped while the core was preempted. */
	bool uncounted;
	/*
	 * Number of jumps (in monotonic.leaps) that may really be stops of the TSC, because no other clock excludes this.
	 */
	uint64_t unexplained_leaps;
	struct latency *latency;   /* latency on the boot core; latency->count is 0 if it was not measured */
	struct resolution resolution;
	struct monotonic monotonic;
	struct report_cost cost;
	/* True if the firmware's tick may have stopped this clock at any time, so that its rate is not judged. */
	bool stands_in_ticks;
	enum verdict verdict;
	size_t open; /* number of the clock's rules that are not determined; set by the judge */
};

/* the rate of clock A compared with clock B: how much faster A runs if both have their nominal frequencies */
struct report_rate {
	const char *a, *b; /* clock ids */
	struct interval_ppb ppb;
	/*
	 * true if every measurement allows exactly the ratio of the nominal rates, so that both clocks probably have one
	 * source
	 */
	bool same_source;
};

struct core_latency { /* latency of one clock on one core; count is 0 if it was not measured */
	uint64_t count;
	uint64_t min_ns, p50_ns, p99_ns;
	/* Mean of the reads that no stolen time hit; see latency_clean(). */
	uint64_t mean_ps, mean_low_ps, mean_high_ps;
};

struct text;

struct report_core {
	uint32_t apic_id;
	bool started; /* true if the core was started; always true for the boot core */
	bool boot;
	bool timed_out; /* true if REASON only means that a wait for the core timed out, which a busy host may cause */
	char reason[CLOCK_REASON_SIZE]; /* reason why the core did not start or stopped answering, otherwise "" */
	bool facts_known; /* true if FACTS are valid */
	struct core_facts facts;
	/* Latencies of the clocks in report.clocks while only this core reads, and while all cores read at once. */
	struct core_latency latency[REPORT_CLOCKS_MAX];
	struct core_latency contended[REPORT_CLOCKS_MAX];
	uint64_t observed_ns;     /* duration of the core's observation for gaps (stolen time); 0 if it was not observed */
	uint64_t gaps, worst_gap_ns; /* number of gaps, and the length of the longest gap */
	/* steps back of the core's TSC, from comparisons of each reading with the previous one on this core */
	struct tsc_steps tsc;
	uint64_t pingpongs;       /* number of the core's ping-pongs in the first pass that exchanged time stamps */
	struct offset offset;     /* offset of the core's TSC against the boot core's TSC at the start, in ticks */
	struct offset last_offset; /* offset in the last pass, if there was more than one pass */
	struct offset drift_ppb;  /* drift of the core's TSC against the boot core's TSC, from the first pass to the last */
	/* The judge sets the following fields. */
	bool off_majority;        /* true if the core's TSC differs from most others */
	bool steps_back;          /* true if the core's own readings prove that its TSC steps back */
	bool drifts;              /* true if the core's TSC drifts against most others */
	struct offset from_most;   /* proven minimum and possible maximum of the drift against most others, in ppb */
};

/* result of a warp check: all cores compare their TSC with a shared last value at the same time */
struct report_contended {
	bool measured;
	bool starved; /* true if a core got too few turns, so that the absence of warps proves nothing */
	size_t cores; /* number of cores that took part */
	uint64_t iterations, warps;
	uint64_t worst_ticks, worst_ns;
	uint32_t worst_a, worst_b; /* APIC ids of the cores with the worst warp: A's stamp was ahead of B's later reading */
};

/* A measurement pass, in which pairs of cores exchange time stamps (ping-pongs). */
struct report_pass {
	bool measured; /* true if at least one pair had a ping-pong */
	struct offsets offsets;
	/* The results of offsets_solve(), not for the middle pass. Cores are ranks. */
	struct offsets_summary summary;
	bool *outlier; /* true if the core with this rank differs from the majority */
};

struct report_skew {
	struct report_contended locked, lock_free;
	/* Arguments of report_lay_out(), which provides the arrays below. */
	void *memory;
	size_t cores_max;
	enum pair_schedule widest;

	/* The following fields come from measurement passes. */
	enum pair_schedule kind;    /* schedule of the passes: all pairs, or only pairs with the boot core */
	const char *kind_reason; /* reason why not all pairs were measured, or ""; static storage */
	size_t concurrency;      /* number of pairs measured at the same time, at the end of the first pass */
	size_t rounds;
	uint64_t elapsed_ns;     /* duration of the first pass */
	uint64_t pingpongs;      /* number of pairs that exchanged time stamps in the first pass */
	/* number of ping-pongs that were repeated because the interval of the first one was too wide */
	uint64_t again;
	uint64_t warps;          /* number of messages that arrived before they were sent, in all passes */
	uint64_t worst_warp_ticks, worst_warp_ns;
	uint32_t worst_warp_a, worst_warp_b; /* APIC ids of the pair with the worst warp: A was ahead of B */
	uint64_t best_trip_ns, median_trip_ns; /* the shortest round trip, and the median of the medians of all pairs */
	union {
		struct report_pass passes[REPORT_PASSES];
		struct {
			/* MIDDLE is only measured if FIRST took a small part of the run. */
			struct report_pass first, middle, last;
		};
	};
	uint32_t *core_of;       /* core number (index into report.cores) of the core with each rank */
	/* Drift of core B against core A from the first pass to the last, for each pair by pair_schedule_index(). */
	struct offset *drifts;
	uint64_t drift_span_ns;  /* time from the start of the first pass to the end of the last pass */
	/* Working memory: the offset of each rank in the pass that is solved, and the median round trips of the pairs. */
	struct offset *solved;
	struct histogram *trips;

	/* The judge sets the following fields. */
	/* MOVED is true for a rank if that core moved against most cores. DISPUTED is working memory. */
	bool *moved, *disputed;
	/* TSC at the end of the pass in which a core differed from the majority; 0 if there was none */
	uint64_t off_tsc;
	bool any_moved;          /* true if the two cores of any pair moved against each other */
	/* True if no core moved or differed in any pass, and WITHIN_NS is small enough to be useful. */
	bool synchronised;
	bool within_known;
	/* Upper bound of the difference of any two cores' TSCs, in the first and in the last pass. */
	uint64_t within_ns;
	/* True if sentences, tables and maps show the last pass, because only that pass found a fault. */
	bool last_shown;
	bool proven;             /* true if the cores' TSCs are synchronised, and no two of them are proven to differ */
	/* The result as a clause: "synchronised within 31 ns at 3.1 s and 9.8 s". */
	char text[REPORT_SENTENCE];
};

struct report_gap {
	uint64_t at_ms; /* start of the gap as time in the run */
	uint64_t ns;
	uint32_t core;  /* APIC id of the core */
};

struct report_interference { /* stolen time of all cores together */
	bool measured;
	uint64_t threshold_ns;
	uint64_t observed_ns; /* time in which cores were observed, as the sum over all cores */
	uint64_t gaps, worst_ns, total_ns;
	uint32_t worst_core;  /* APIC id of the core with the longest gap */
	/*
	 * The hypervisor's own counter of stolen time: its id, or NULL if none is offered. COUNTER_REASON is why it was not
	 * used, or NULL. The figures are sums over the cores on which the counter was read, and otherwise 0.
	 */
	const char *counter, *counter_reason;
	struct report_stolen {
		uint64_t observed_ns;
		/* stolen time by the hypervisor's counter, with and without the time directly before and after the loop */
		uint64_t reported_ns, reported_low_ns;
		uint64_t low_ns, high_ns; /* bounds of the stolen time from the loop's own readings */
	} stolen;
	uint64_t octave[OCTAVES]; /* number of gaps by the octave of their length in ns: see histogram.h */
	bool smi_known;       /* true if the CPU counts its SMIs, and this counter can be read */
	uint64_t smi_count;   /* number of SMIs from the start of the run to its end */
	size_t event_count;
	struct report_gap events[REPORT_EVENTS_MAX]; /* the first gaps of each core, as far as there is space */
};

enum discontinuity_class { DISCONTINUITY_PARTED, DISCONTINUITY_STOPPED, DISCONTINUITY_JUMPED };

struct report_discontinuity { /* a time at which the clocks disagree on how much time passed */
	/* interval in which the discontinuity happened; FROM_TSC is 0 if the start is not known */
	uint64_t from_tsc, at_tsc;
	uint64_t from_ms, at_ms;   /* the same interval as times in the run; set by the judge */
	enum discontinuity_class class; /* class of the discontinuity; set by the judge */
	/* bits of the clocks in the group that alone jumped or continued, or 0; set by the judge */
	uint32_t alone;
	size_t group_count;
	struct report_group { /* clocks that agree with each other */
		/* Bit I is clock I of the report. Bit REPORT_CLOCKS_MAX is a TSC that is not in the report. */
		uint32_t clocks;
		size_t clock_count;
		uint8_t members[REPORT_CLOCKS_MAX + 1]; /* the same clocks as a list */
		struct interval_ns elapsed; /* time that passed by these clocks */
	} groups[REPORT_GROUPS_MAX];
};

enum report_policy { /* policy of a timer for ticks with deadlines that pass while interrupts are masked */
	REPORT_POLICY_UNKNOWN,
	REPORT_POLICY_DISCARD,  /* at most one of these ticks comes, and later ticks keep their deadlines */
	REPORT_POLICY_CATCH_UP, /* several of these ticks come */
	REPORT_POLICY_DELAY,    /* at most one of these ticks comes, and the next tick follows one period after it */
};

/*
 * Smallest number of interrupts for p99, and for p99.9. With fewer interrupts, these percentiles would be the largest
 * value.
 */
#define REPORT_P99_MIN  100u
#define REPORT_P999_MIN 1000u

struct report_interval { /* a timer test: the requested interval of a source of interrupts, and its results */
	const char *source; /* id of the source; static storage */
	bool periodic;
	uint32_t core; /* APIC id of the tested core */
	const char *route_kind; /* route of the source's interrupts to the core: "lapic", "pic", ... */
	uint32_t pin, vector;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* reason why the source could not be tested, otherwise "" */
	uint64_t asked_ns; /* requested interval */
	/* The following figures are calculated by analysis_timers(). */
	uint64_t asked;    /* number of requests */
	uint64_t expected; /* number of deadlines while interrupts were enabled */
	/*
	 * DELIVERED is the number of interrupts. The others count deadlines: without an interrupt, with two or more
	 * interrupts, and with an early interrupt. EXCUSED is the number of deadlines that do not count, because the core
	 * was preempted (a gap).
	 */
	uint64_t delivered, empty, doubled, early, excused;
	uint64_t losses; /* number of times that a periodic source lost ticks; several lost ticks in a row count once */
	/* number of one-shots without an interrupt, although the device's own status shows that they expired */
	uint64_t expired;
	/*
	 * OVER is the number of armings with a deadline that had already passed. STALE is the number of such armings that
	 * caused an interrupt.
	 */
	uint64_t over, stale;
	struct report_lateness {
		uint64_t count; /* number of interrupts; 0 if none came */
		int64_t min_ns, p50_ns, p99_ns, p999_ns, max_ns;
		uint64_t error_ns; /* largest error of each lateness above, in ns */
		struct interval_ns earliest; /* how early the earliest interrupt came, as a positive time */
		int64_t p1_ns;
	} lateness;
	struct interval_ppb rate; /* rate error of a periodic source against the requested period */
	/*
	 * Time in which interrupts were masked, and number of interrupts in an equal time afterwards. Both are 0 if this
	 * was not tested.
	 */
	uint64_t held_ns, held_delivered;
	enum report_policy policy;
	/*
	 * True if ticks are spread over their periods, so that no tick can be matched to its deadline. Ticks are then not
	 * counted.
	 */
	bool scattered;
};

struct report_claim { /* a stated rate, its comparison with the measured rate, and the systems that would use it */
	struct claim claim;
	/* The judge sets the following fields. Before, they are unknown or 0. */
	struct interval_millihz measured; /* measured rate of the clock */
	struct interval_ppb error;        /* how much faster the clock runs than the stated rate */
	enum outcome outcome;
	size_t user_count;
	const char *users[REPORT_CLAIM_USERS]; /* names of the systems, in static storage */
};

struct report_quality { /* effect of stolen time on the latencies; set by the judge */
	bool stolen_known;
	uint64_t stolen_millipercent; /* stolen part of the observed time, in 1/1000 % */
	bool tails_known;        /* true if cores were observed for stolen time, or if stolen time hit reads */
	bool reliable_tails;     /* true if percentiles up to p99.9 show the clocks and not stolen time */
	char text[REPORT_SENTENCE]; /* a sentence on the effect of stolen time */
};

/* recommended clocks in the order of preference, and the clocks to avoid at the end; see recommend.h */
struct report_advice {
	size_t count;
	struct advice {
		const char *clock;
		bool avoid;
		char reason[REPORT_SENTENCE];
	} rows[REPORT_CLOCKS_MAX];
};

struct report_answer { /* a short summary of the report */
	char text[2 * REPORT_SENTENCE]; /* all fields below as sentences; "" before the judge has run */
	const char *clock;       /* id of the clock to use; NULL if no clock is fit */
	uint64_t read_ps;        /* cost of one read of this clock, see struct report_cost; 0 if not known */
	const char *linux_takes; /* id of the clock that Linux takes; NULL if not known */
	size_t wrong_count;
	const char *wrong[REPORT_CLOCKS_MAX]; /* ids of the clocks that failed */
	bool within_known;
	uint64_t within_ns; /* upper bound of the difference between the cores' TSCs */
};

struct report_taken { /* the clock that an operating system takes here */
	const char *system, *clock; /* CLOCK is the id of a clock */
	char reason[2 * REPORT_SENTENCE];
};

struct report_tick { /* the timer that Linux takes for its tick */
	const char *source; /* id of the source in report.intervals; NULL if not known */
	char reason[2 * REPORT_SENTENCE]; /* reason why Linux takes the source; "" if no timer was tested */
};

struct finding {
	const char *rule;     /* id of the rule in the catalogue */
	enum verdict severity; /* warn or fail */
	const char *clock;    /* id of the clock, or NULL */
	uint32_t core;        /* APIC id of the one core that is proven to differ, or REPORT_NO_CORE */
	/* APIC ids of at least two cores, if no single core is proven to differ. CORE is REPORT_NO_CORE then. */
	size_t core_count;
	uint32_t cores[REPORT_FINDING_CORES];
	bool one_way;         /* true if the finding concerns one read method of the clock, and not its counter */
	bool has_measured;
	int64_t measured, low, high, limit;
	const char *unit;
	char text[2 * REPORT_SENTENCE];
	char advice[REPORT_SENTENCE]; /* advice if it differs from the rule's advice; otherwise "" */
	const char *source;
};

#define REPORT_NAME_SIZE  65  /* size of the longest name in the SMBIOS tables, with a final 0 */
#define REPORT_NAMES_SIZE 131 /* space for two names with a blank between them */

struct report_identity { /* identity of the machine, printable ASCII; "" if not known */
	char vendor[REPORT_NAME_SIZE], product[REPORT_NAME_SIZE];
	char serial[REPORT_NAME_SIZE]; /* serial number; "" if not known, and also with identity=off */
	/* vendor and product of the board; vendor and version of the BIOS */
	char board[REPORT_NAMES_SIZE], bios[REPORT_NAMES_SIZE];
	char bios_date[REPORT_NAME_SIZE];
	bool cpu_known;
	uint32_t family, model, stepping;
	uint32_t microcode; /* revision of the microcode; 0 if not known */
	char oem[16];       /* OEM id from the ACPI tables */
	char host[32];      /* name and version of the hypervisor */
};

struct report_calibration { /* results of a calibration loop; the profile decides how many times the loop is run */
	const struct calibration_loop *loop; /* static storage */
	char reason[CLOCK_REASON_SIZE]; /* reason why the loop was not run, otherwise "" */
	uint64_t runs, refused; /* number of runs, and number of runs that gave no rate */
	size_t refusal_count;
	struct report_refusal {
		const char *reason; /* why the loop gave no rate; a string in static storage */
		uint64_t count;     /* number of runs that gave no rate for this reason */
	} refusals[CALIBRATION_REFUSALS];
	/* Median and worst error of the rates that it found, against the measured rate. Unknown if no rate was measured. */
	struct interval_ppb median, worst;
};

struct report_record { /* the run's record, see src/record */
	void *bytes; /* content of report.record; the run owns the memory */
	size_t length; /* size in bytes; 0 if the run did not start */
	uint64_t dropped; /* number of entries that were omitted because there was no space */
	char sha256[SHA256_HEX_SIZE];
};

struct report {
	const char *version, *commit; /* version and commit of baretick; static storage */
	struct options options;
	char options_given[OPTIONS_GIVEN_SIZE]; /* the options as a user would type them; "" if all are defaults */
	uint64_t duration_ns;     /* duration of each measurement, from the option or the profile */
	/* time of the start by the firmware's clock, in ISO 8601; "" if the firmware has no clock */
	char started_at[32];
	uint64_t elapsed_ms;
	bool elapsed_known;

	char cpu_vendor[13]; /* vendor as CPUID returns it */
	char cpu[49], hypervisor[13], firmware[96], accelerator[16];
	struct report_identity identity;
	struct paravirtual paravirtual;
	/* instructions that read the TSC before and after a clock: "lfence;rdtsc" or "mfence;lfence;rdtsc" */
	const char *fence;
	bool tsc_is_invariant;
	bool lapic_always_runs; /* true if the LAPIC's timer also runs in deep sleep */
	/* True if Linux distrusts the TSC of this CPU in every case: unsynchronized_tsc() in arch/x86/kernel/tsc.c, 6.6. */
	bool linux_distrusts_tsc;
	uint32_t cores_listed, cores_started;

	uint64_t start_tsc; /* start of the run; all times in the run count from here */
	/* Converts all ticks below to ns. If den is 0, the rate is unknown, and 1 tick counts as 1 ns. */
	struct rate tsc;
	struct rate_interval tsc_within; /* bounds of the TSC's rate; unknown if the rate was not measured */
	char tsc_source[64]; /* source of the rate, as text */
	/* rate of the boot core's LAPIC timer before its divider, measured against the TSC; unknown if not tested */
	struct interval_millihz lapic;
	const char *relative_to; /* id of the clock whose nominal frequency sets the scale; "" if none does */

	size_t clock_count;
	struct report_clock clocks[REPORT_CLOCKS_MAX];
	size_t claim_count;
	struct report_claim claims[CLAIMS_MAX];
	size_t rate_count;
	struct report_rate rates[REPORT_RATES_MAX];
	size_t core_count;
	struct report_core *cores;
	struct report_skew skew;
	struct report_interference interference;
	struct series series; /* series of a soak, otherwise empty; clocks and cores are in the order of the lists above */
	/*
	 * Signals that the hypervisor uses to announce disruptions. Their count is 0 if it offers none, or before the end
	 * of the run.
	 */
	struct signals signals;
	/* number of listed discontinuities, and number of omitted ones because there was no space */
	size_t discontinuity_count, discontinuities_lost;
	struct report_discontinuity discontinuities[REPORT_DISCONTINUITIES_MAX];
	size_t interval_count;
	struct report_interval intervals[REPORT_INTERVALS_MAX];
	struct behaviours behaviours;
	/* Sentence on the numbers of rules that were not determined or not checked, with reasons; may be empty. */
	char unjudged[REPORT_SENTENCE];
	size_t taken_count;
	struct report_taken taken[REPORT_TAKEN_MAX];
	struct report_advice advice;
	struct report_answer answer;
	struct report_tick tick;
	struct report_record record;
	size_t calibration_count;
	struct report_calibration calibrations[CALIBRATION_LOOPS];
	char calibrated[2 * REPORT_SENTENCE]; /* the consequences for a kernel on this machine; "" if nothing can be said */
	/* Sentences on the machine: broken tables, a volume that could not be written, ... */
	size_t note_count;
	char notes[REPORT_NOTES_MAX][REPORT_SENTENCE];
	/* true if the user ended the run early; the remaining measurements were then as short as in a quick run */
	bool ended_early;
	uint64_t ended_early_ms; /* time in the run at which the user ended it early */
	/*
	 * True if the run did not finish, for example because its deadline passed. The report has the results until then.
	 */
	bool incomplete;
	size_t finding_count;
	struct finding findings[REPORT_FINDINGS_MAX]; /* findings in the order of their severity: failures first */
	struct report_quality quality;
	enum verdict verdict;
};

/*
 * Returns a name for the machine of a report: its label, or else its serial number, or else its product. Returns "" if
 * the report has none of these.
 */
const char *report_machine_name(const struct report *report);

/*
 * Returns true if an emulator executes the machine's instructions (QEMU's TCG). Its timers are threads of the host, or
 * run in the emulator's main loop, so their delays are no fault of a device.
 */
bool report_is_emulated(const struct report *report);

/* Returns the id of clock I; "tsc" for REPORT_CLOCKS_MAX, even if the TSC is not in the report. */
const char *report_clock_id(const struct report *report, size_t i);

const char *verdict_word(enum verdict verdict);       /* returns "pass" ... "absent" */
const char *clock_state_word(enum clock_state state); /* "present" ... */
const char *policy_word(enum report_policy policy);   /* returns "discard" ...; "" for an unknown policy */
const char *rate_fit_word(enum rate_fit fit);         /* returns "all" ...; "" for RATE_FIT_NONE */

/*
 * Returns true for the main read method of a device, except for the null clock. Only such clocks are compared
 * with each other.
 */
bool report_clock_is_main_method(const struct report_clock *entry);

/*
 * Returns the clock's rate in Hz times 1,000. This is its own measured rate, or the main clock's rate if both read one
 * counter. It is the nominal frequency if nothing was measured, or if the measured interval includes it and is wide.
 * Returns 0 if neither is known.
 */
uint64_t report_clock_millihz(const struct report *report, const struct report_clock *entry);

/* Returns the duration of TICKS of the clock in ps, by report_clock_millihz(); 0 if the rate is unknown. */
uint64_t report_clock_ps(const struct report *report, const struct report_clock *entry, uint64_t ticks);

/*
 * Returns the number of warps: readings of a core's TSC that were lower than an earlier reading of another core's TSC.
 */
uint64_t report_warps(const struct report_skew *skew);

/* Returns true if the drift of the core's TSC against the boot core was measured. */
bool report_drift_is_known(const struct report *report, const struct report_core *core);

/* Returns the drift of CORE's TSC against the boot core's TSC, with the middle of its interval as value. */
struct interval_ppb report_drift_ppb(const struct report *report, const struct report_core *core);

/* Returns the scale that converts TSC ticks to ns, with the bounds of the TSC's rate. */
struct scale report_scale(const struct report *report);

/*
 * Returns OFFSET, of one core's TSC from another's, in ns. The bounds are rounded outwards, and the value is their
 * middle.
 */
struct interval_ns report_offset_ns(const struct report *report, struct offset offset);

/* Parts of the error of an offset, in ps. Each is half the width that the part adds to the interval; 0 if unknown. */
struct offset_budget {
	/*
	 * The uncertainty of the time within a round trip at which the other core read its TSC, and the resolution of both
	 * TSCs.
	 */
	uint64_t trip_ps;
	uint64_t tsc_rate_ps;   /* error of the TSC's rate in the conversion to ns */
	uint64_t conversion_ps; /* rounding */
};

struct offset_budget report_offset_budget(const struct report *report, struct offset offset);

/* Returns the clock ID, or NULL. The result is not const although REPORT is, as with strchr(). */
struct report_clock *report_find_clock(const struct report *report, const char *id);

/* Returns true if the report has a clock with this ID, and the clock can be read. */
bool report_has_clock(const struct report *report, const char *id);

/* Returns the time in the run, in ns, at which the boot core's TSC had the value TSC. */
uint64_t report_run_time_ns(const struct report *report, uint64_t tsc);

/*
 * Returns the latest time in the run, in ns, at which the boot core's TSC may have had the value TSC. After a step back
 * the TSC has some values a second time.
 */
uint64_t report_run_time_ns_max(const struct report *report, uint64_t tsc);

/* Writes NS, a time since the start of the run, as "3.1 s" or "312 ms". */
void report_put_run_time(struct text *out, uint64_t ns);

/* Writes the time in the run at which the boot core's TSC had the value TSC, as "3.1 s" or "312 ms". */
void report_put_tsc_time(struct text *out, const struct report *report, uint64_t tsc);

/* Writes the times of the first and the last pass over the cores, "at 3.1 s and 9.8 s", or of the only pass. */
void report_put_pass_times(struct text *out, const struct report *report);

/*
 * Return the pass that reports show (see last_shown), its summary by offsets_solve(), and the offset of CORE in this
 * pass.
 */
const struct offsets *report_shown_pass(const struct report *report);
const struct offsets_summary *report_shown_summary(const struct report *report);
struct offset report_shown_offset(const struct report *report, const struct report_core *core);

/* Adds a row for CLAIM, unless there is no space. */
void report_add_claim(struct report *report, const struct claim *claim);

/* Returns "tsc", "lapic" or "crystal". */
const char *report_claim_clock_id(const struct claim *claim);

/* Adds a note, unless there is no space. Text that does not fit is cut. */
void report_note(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
