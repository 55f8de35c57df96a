/*
 * The report: everything that a run found, as plain data. Measuring fills it, judging adds the verdicts, and
 * the renderers turn it into bytes and know nothing else. A figure that was not measured is marked as such
 * by its own flag or count of 0, never by a plausible number.
 *
 * All memory is the caller's and is planned before the cores start.
 */
#ifndef BARETICK_REPORT_H
#define BARETICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "clock/behaviour.h"
#include "clock/clock.h"
#include "clock/core_facts.h"
#include "clock/paravirtual.h"
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
#define REPORT_INTERVALS_MAX 192 /* two of each of 64 cores, and the boot core's sources */
#define REPORT_NO_CORE      UINT32_MAX
#define REPORT_TAKEN_MAX    2 /* Linux, Windows */
#define REPORT_LATER_MAX    2 /* tournaments after the first */

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_INCOMPLETE, VERDICT_ABSENT };

/*
 * Crystals for a PC's clock generator: 14.31818 MHz within 100 ppm, and 100 more over temperature (data sheet of IMI's
 * C9851). The HPET specification 1.0a allows its counter 500.
 */
#define REPORT_CRYSTAL_PPB UINT64_C(200000)

/* What the error of a clock's rate consists of, each as half of what it adds to the interval, in parts per 10^12. */
struct rate_budget {
	bool known;
	uint64_t bracket;        /* when it was read: the narrowest brackets at both ends */
	uint64_t resolution;     /* what it is read to, as far as the readings have not moved past it */
	uint64_t tsc_resolution; /* likewise of the TSC, in which the brackets are read */
	uint64_t tsc_rate;       /* of the TSC, by the clock that sets the scale, with all of that clock's budget */
	uint64_t claim;          /* what the claim of the clock that sets the scale is rounded by */
	uint64_t conversion;     /* rounding, and what the others add up to more than their sum */
};

/*
 * Judged: what a read costs a program that times with it. It is the mean of the reads that were not hit less that
 * of the clock that reads nothing, on the same core. A program runs on any core: so of all cores it is the median
 * (of an even number the mean of the middle two), within the least and the most of any.
 */
struct report_cost {
	struct interval_ns read_ps; /* in picoseconds */
	struct interval_ns rows_ps; /* of two reads for each of 100,000 rows */
	size_t cores;               /* on which both were read */
	uint64_t null_ps;           /* what was subtracted, likewise of the middle two */
	/* The boot core's mean loop time less its own null, hits included: pg_test_timing prints no less. */
	uint64_t loop_ps;
};

struct report_clock {
	struct clock clock; /* as its driver left it; its state may become stuck while measuring */
	size_t series;      /* its driver's place in the table of drivers */
	struct interval_millihz measured; /* by the claim of the clock that sets the scale, report.relative_to */
	struct interval_millihz absolute; /* likewise, as far as that clock's crystal may be off */
	struct rate_budget budget;        /* of measured */
	struct interval_ppb error; /* of measured against clock.claimed */
	/*
	 * What the TSC's rate would be if this clock's claim were true; of the TSC, what is claimed of it. By
	 * these the judge finds which is wrong.
	 */
	struct rate_interval implied;
	enum rate_fit rate_fit;    /* how its readings fit one rate */
	bool rate_whole_run;       /* that is over the whole run, not over the rates' window alone */
	struct rate_interval implied_window; /* the same over the window of the rates, or its first half */
	struct rate_interval implied_since;  /* likewise, from that window to the end of the run, or at its end */
	/*
	 * Of its rate against the TSC's: from the first half of the rates' window to the second, from the window
	 * to the rest of the run, and the worse of the two. Where all clocks show the same, it is the TSC's.
	 */
	uint64_t window_ns, since_ns; /* how long it was followed in the window, and since; 0: it was not */
	struct interval_ppb change_halves, change_since, change;
	bool turned_sick;           /* it was well at first: */
	uint64_t turned_sick_ms;    /* into the run, when that was seen */
	unsigned disturbed;         /* discontinuities while its readings on the boot core were taken */
	bool uncounted; /* it has no rate: how often it wrapped while the core was away is not known */
	uint64_t unexplained_leaps; /* of monotonic.leaps: no other clock tells whether it leapt or the TSC stood */
	struct latency *latency;   /* on the boot core; latency->count == 0 where not measured */
	struct resolution resolution;
	struct monotonic monotonic;
	struct report_cost cost;
	bool stands_in_ticks;      /* the firmware's tick may have stopped it at any time: nothing is said of its rate */
	enum verdict verdict;
	size_t open; /* judged: of its promises, those that are not determined */
};

struct report_rate { /* how much faster A runs than B, by their claims */
	const char *a, *b; /* clock ids */
	struct interval_ppb ppb;
	bool same_source; /* exact within their errors over every window: not two witnesses but one */
};

struct core_latency { /* of one clock, read from one core; count == 0 where not measured */
	uint64_t count;
	uint64_t min_ns, p50_ns, p99_ns;
	uint64_t mean_ps, mean_low_ps, mean_high_ps; /* of the reads that were not hit; see latency_clean() */
};

struct text;

struct report_core {
	uint32_t apic_id;
	bool started; /* true for the boot core */
	bool boot;
	char reason[CLOCK_REASON_SIZE]; /* why it did not start or stopped answering, else "" */
	bool facts_known; /* the core was asked: */
	struct core_facts facts;
	/* Both in the order of report.clocks: read by this core alone, and by all cores at the same time. */
	struct core_latency latency[REPORT_CLOCKS_MAX];
	struct core_latency contended[REPORT_CLOCKS_MAX];
	uint64_t observed_ns;     /* for gaps; 0 where it was not */
	uint64_t gaps, worst_gap_ns;
	struct tsc_steps tsc;     /* its own TSC, each reading against the one before on this core */
	uint64_t pingpongs;       /* with other cores, in which stamps were exchanged, in the first tournament */
	struct offset offset;     /* of its TSC against the boot core's at the start, in ticks */
	struct offset last_offset; /* likewise in the last tournament, where there was one */
	struct offset drift_ppb;  /* of its TSC against the boot core's, from the first tournament to the last */
	bool off_majority;        /* judged: its TSC is off most others' */
	bool steps_back;          /* judged: its own readings prove that its TSC steps back */
	bool drifts;              /* judged: against most others ... */
	struct offset from_most;   /* ... by so much at least and at most */
};

struct report_contended { /* all cores at once on one shared last value */
	bool measured;
	bool starved; /* some core got too few turns: no warp seen proves nothing */
	size_t cores; /* that took part */
	uint64_t iterations, warps;
	uint64_t worst_ticks, worst_ns;
	uint32_t worst_a, worst_b; /* APIC ids: the stamp of A was ahead of the later one of B */
};

struct report_skew {
	struct report_contended locked, lock_free;

	/* The rest is of the tournament. */
	bool measured;           /* at least one pair had a ping-pong */
	enum tournament kind;    /* that was played */
	const char *kind_reason; /* why it was not all pairs, "" where it was; static storage */
	size_t concurrency;      /* pairs that played at the same time, at the end */
	size_t rounds;
	uint64_t elapsed_ns;     /* of the first tournament */
	uint64_t pingpongs;      /* of the first tournament: pairs that exchanged stamps */
	uint64_t again;          /* further ping-pongs of such pairs, since too little came of the first */
	uint64_t warps;          /* messages that arrived before they left, in all tournaments */
	uint64_t worst_warp_ticks, worst_warp_ns;
	uint32_t worst_warp_a, worst_warp_b; /* APIC ids: A was ahead of B */
	uint64_t best_trip_ns, median_trip_ns; /* the shortest round trip; the median of the pairs' medians */
	struct offsets offsets;  /* of the first tournament */
	const uint32_t *core_of; /* core number (index into report.cores), by rank in it */
	struct offsets_summary summary; /* in ranks */
	const bool *outlier;    /* by rank: those that offsets_solve() marks */
	bool drift_measured;     /* there was a second one: */
	const struct offset *drifts; /* of each pair, by tournament_index(): B against A, from the first to the last */
	bool middle_measured;    /* and one between: */
	union {
		struct offsets later[REPORT_LATER_MAX]; /* the second, that MIDDLE is, where it was measured; the last one itself, */
		struct {
			struct offsets middle, latest;
		};
	};
	const bool *latest_outlier; /* and what offsets_solve() says of it */
	struct offsets_summary latest_summary;
	uint64_t drift_span_ns;  /* from the first tournament's begin to the last one's end */
	/* Judged: */
	bool *moved, *disputed;  /* by rank: those that moved against most; and scratch */
	uint64_t off_tsc;        /* when those that are off the majority were: the end of that tournament */
	bool any_moved;          /* some pair did, whoever of the two it was */
	bool synchronised;       /* no core moved, none is off, and so little is open that it means something, to the end */
	bool within_known;
	uint64_t within_ns;      /* no two cores' TSCs were further apart, neither in the first tournament nor in the last */
	bool last_shown;         /* words, tables and maps are of the last tournament: it alone shows what there is to say */
	bool proven;             /* synchronised, and no two proven unequal */
	char text[REPORT_SENTENCE]; /* a clause on all of that: "synchronised within 31 ns at 3.1 s and 9.8 s" */
};

struct report_gap {
	uint64_t at_ms; /* into the run */
	uint64_t ns;
	uint32_t core;  /* APIC id */
};

struct report_interference { /* of all cores together */
	bool measured;
	uint64_t threshold_ns;
	uint64_t observed_ns; /* on all cores, added up */
	uint64_t gaps, worst_ns, total_ns;
	uint32_t worst_core;  /* APIC id */
	uint64_t octave[OCTAVES]; /* gaps by their octave in ns: see histogram.h */
	bool smi_known;       /* the CPU counts its SMIs and may be asked: */
	uint64_t smi_count;   /* from the run's begin to its end */
	size_t event_count;
	struct report_gap events[REPORT_EVENTS_MAX]; /* the first ones of each core, while there is space */
};

enum discontinuity_class { DISCONTINUITY_PARTED, DISCONTINUITY_STOPPED, DISCONTINUITY_JUMPED };

struct report_discontinuity { /* time that went otherwise for some clocks than for others */
	uint64_t from_tsc, at_tsc; /* between these; FROM_TSC 0: it is not known from when on */
	uint64_t from_ms, at_ms;   /* the same, into the run; when it is judged */
	enum discontinuity_class class; /* judged, */
	uint32_t alone; /* and the group that is alone; 0 where none is */
	size_t group_count;
	struct report_group {
		uint32_t clocks; /* bit I: clock I of the report; REPORT_CLOCKS_MAX: a TSC that is not in it */
		size_t clock_count;
		uint8_t members[REPORT_CLOCKS_MAX + 1]; /* likewise, one by one */
		struct interval_ns elapsed; /* from one to the other by these clocks */
	} groups[REPORT_GROUPS_MAX];
};

enum report_policy { /* what becomes of periods while interrupts are masked: */
	REPORT_POLICY_UNKNOWN,
	REPORT_POLICY_DISCARD,  /* at most one of them comes, and the others' deadlines stay */
	REPORT_POLICY_CATCH_UP, /* several come */
	REPORT_POLICY_DELAY,    /* at most one comes, and the next are a period behind that */
};

#define REPORT_P99_MIN  100u  /* interrupts: with less, no percentile is between the median and the largest */
#define REPORT_P999_MIN 1000u

struct report_interval { /* what a source of timer interrupts was asked for, and what came */
	const char *source; /* its id; static storage */
	bool periodic;
	uint32_t core; /* APIC id */
	const char *route_kind;
	uint32_t pin, vector;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* why it could not be asked, be it there or not; else "" */
	uint64_t asked_ns, asked; /* of how many */
	uint64_t expected; /* deadlines in the time in which interrupts were open */
	/* Interrupts; deadlines without one; with more than one; of those, that a gap in the core's time excuses. */
	uint64_t delivered, empty, doubled, early, excused;
	uint64_t losses; /* runs of adjacent empty deadlines, of a periodic source */
	uint64_t expired; /* of the empty one-shots, those that the device itself calls due */
	uint64_t over, stale; /* times that it was armed with a deadline that was over, and interrupted then */
	struct report_lateness {
		uint64_t count; /* 0: none came */
		int64_t min_ns, p50_ns, p99_ns, p999_ns, max_ns;
		uint64_t error_ns; /* any of them may be so far off */
		struct interval_ns earliest; /* of those that are early: the one that is so for the most; positive */
		int64_t p1_ns;
	} lateness;
	struct interval_ppb rate; /* of a periodic one: how much faster it ticks than was asked for */
	uint64_t held_ns, held_delivered; /* behind interrupts that were masked so long, in as long; 0: not tried */
	enum report_policy policy;
	bool scattered; /* ticks lie all over their periods: which deadline each was of can't be told; all are excused */
};

struct report_quality { /* judged: what stolen time leaves of the latencies */
	bool stolen_known;
	uint64_t stolen_millipercent; /* of the observed time */
	bool tails_known;        /* there is something to tell by: */
	bool reliable_tails;     /* percentiles up to p99.9 are the clocks' own */
	char text[REPORT_SENTENCE]; /* a sentence that says so */
};

struct report_advice { /* the best first, see recommend.h; those to avoid at the end */
	size_t count;
	struct advice {
		const char *clock;
		bool avoid;
		char reason[REPORT_SENTENCE];
	} rows[REPORT_CLOCKS_MAX];
};

struct report_answer { /* the whole report in short */
	char text[2 * REPORT_SENTENCE]; /* all of what follows, in words; "": nothing was judged */
	const char *clock;       /* the clock to use; NULL: none is fit */
	uint64_t read_ps;        /* what a read of it costs, see struct report_cost; 0: not known */
	const char *linux_takes; /* the clock that Linux takes; NULL: not known */
	size_t wrong_count;
	const char *wrong[REPORT_CLOCKS_MAX]; /* the clocks that failed */
	bool within_known;
	uint64_t within_ns; /* the cores' TSCs agree within this much */
};

struct report_taken { /* what a system takes for its clock here */
	const char *system, *clock; /* CLOCK: an id */
	char reason[2 * REPORT_SENTENCE];
};

struct report_tick { /* the timer that Linux takes for its tick */
	const char *source; /* an id of intervals; NULL: not known */
	char reason[2 * REPORT_SENTENCE]; /* why; "": no timer was asked */
};

struct finding {
	const char *rule;     /* id in the catalogue */
	enum verdict severity; /* warn or fail */
	const char *clock;    /* id, or NULL */
	uint32_t core;        /* APIC id of the one core that is proven to differ, or REPORT_NO_CORE */
	/* APIC ids of a pair or more if no single core is proven to differ; CORE is REPORT_NO_CORE then. */
	size_t core_count;
	uint32_t cores[REPORT_FINDING_CORES];
	bool one_way;         /* of that way of reading the clock, not of its counter */
	bool has_measured;
	int64_t measured, low, high, limit;
	const char *unit;
	char text[2 * REPORT_SENTENCE];
	char advice[REPORT_SENTENCE]; /* what to do, where that is not as the rule says; else "" */
	const char *source;
};

#define REPORT_NAME_SIZE  65  /* of the SMBIOS tables */
#define REPORT_NAMES_SIZE 131 /* of two of them, and a blank */

struct report_identity { /* what the machine says that it is; "": nothing. Printable ASCII */
	char vendor[REPORT_NAME_SIZE], product[REPORT_NAME_SIZE];
	char serial[REPORT_NAME_SIZE]; /* "" with identity=off, too */
	char board[REPORT_NAMES_SIZE], bios[REPORT_NAMES_SIZE]; /* vendor, and product or version */
	char bios_date[REPORT_NAME_SIZE];
	bool cpu_known;
	uint32_t family, model, stepping;
	uint32_t microcode; /* 0: not known */
	char oem[16];       /* of the ACPI tables */
	char host[32];      /* the hypervisor, beyond its name */
};

struct report {
	const char *version, *commit; /* of baretick; static storage */
	struct options options;
	char options_given[OPTIONS_GIVEN_SIZE]; /* as they would be typed; "": only defaults */
	uint64_t duration_ns;     /* per measurement, the profile's where none was given */
	char started_at[32];      /* ISO 8601 by the firmware's clock, "" where it gave none */
	uint64_t elapsed_ms;
	bool elapsed_known;

	char cpu[49], hypervisor[13], firmware[96], accelerator[16];
	struct report_identity identity;
	struct paravirtual paravirtual;
	const char *fence; /* "lfence;rdtsc" or "mfence;lfence;rdtsc": what brackets a sample */
	bool tsc_is_invariant;
	bool lapic_always_runs; /* its timer, in deep sleep, too */
	bool linux_distrusts_tsc; /* whatever it measures: unsynchronized_tsc() in arch/x86/kernel/tsc.c, as of 6.6 */
	uint32_t cores_listed, cores_started;

	uint64_t start_tsc; /* the run's begin, from which all moments are counted */
	struct rate tsc;  /* what turns ticks into ns everywhere below; den 0: unknown, then 1 tick = 1 ns */
	struct rate_interval tsc_within; /* likewise, with its error; not known where it was not measured */
	char tsc_source[64]; /* by what the rate was found, for people */
	const char *relative_to; /* id of the clock whose claim sets the scale, "" where none does */

	size_t clock_count;
	struct report_clock clocks[REPORT_CLOCKS_MAX];
	size_t rate_count;
	struct report_rate rates[REPORT_RATES_MAX];
	size_t core_count;
	struct report_core *cores;
	struct report_skew skew;
	struct report_interference interference;
	struct series series; /* of a soak; its clocks and cores are in the order of those above */
	size_t discontinuity_count, discontinuities_lost; /* lost: there was no space for */
	struct report_discontinuity discontinuities[REPORT_DISCONTINUITIES_MAX];
	size_t interval_count;
	struct report_interval intervals[REPORT_INTERVALS_MAX];
	struct behaviours behaviours;
	char unjudged[REPORT_SENTENCE]; /* counts of the rules not determined or not checked, with reasons; may be empty */
	size_t taken_count;
	struct report_taken taken[REPORT_TAKEN_MAX];
	struct report_advice advice;
	struct report_answer answer;
	struct report_tick tick;
	size_t note_count; /* sentences on the machine: broken tables, a volume that could not be written, ... */
	char notes[REPORT_NOTES_MAX][REPORT_SENTENCE];
	bool hurried;    /* somebody asked for the end: what followed was measured as a quick run does */
	uint64_t hurried_ms; /* when, from the begin */
	bool incomplete; /* the deadline came, or a core took the run down: what was measured is here */
	size_t finding_count;
	struct finding findings[REPORT_FINDINGS_MAX]; /* judged: those that fail first */
	struct report_quality quality;
	enum verdict verdict;
};

/*
 * By what one machine's reports are told from another's: its label, its serial number, its product; "" where it
 * has none.
 */
const char *report_machine(const struct report *report);

/*
 * By instructions: its timers run in threads of the host, or in the emulator's loop, and what those are kept waiting
 * for is no device's fault.
 */
bool report_is_emulated(const struct report *report);

/* The id of clock I; of REPORT_CLOCKS_MAX the TSC's, which need not be in the report. */
const char *report_clock_id(const struct report *report, size_t i);

const char *verdict_word(enum verdict verdict);       /* "pass" ... "absent" */
const char *clock_state_word(enum clock_state state); /* "present" ... */
const char *policy_word(enum report_policy policy);   /* "discard" ...; "" for unknown */
const char *rate_fit_word(enum rate_fit fit);         /* "all" ...; "" for none */

/* The device's first way of reading, and not the null clock: those are compared with each other. */
bool report_clock_is_main(const struct report_clock *entry);

/*
 * The clock's rate in Hz times 1,000: as measured, be it by the device's first way of reading the same counter, or else
 * as claimed; so, too, where the measurement holds the claim and is too coarse to say more. 0 where neither is known.
 */
uint64_t report_clock_millihz(const struct report *report, const struct report_clock *entry);

/* What TICKS of the clock last by that rate, in picoseconds; 0 where it is unknown. */
uint64_t report_clock_ps(const struct report *report, const struct report_clock *entry, uint64_t ticks);

/* Of the ping-pongs and both warp checks: times that a core's TSC read less than another's had before. */
uint64_t report_warps(const struct report_skew *skew);

/* Whether the core's TSC was followed against the boot core's. */
bool report_drift_is_known(const struct report *report, const struct report_core *core);

/* How fast it was seen to move, and the middle. */
struct interval_ppb report_drift_ppb(const struct report *report, const struct report_core *core);

/* From ticks of the TSC to nanoseconds, with what is not known of its rate. */
struct scale report_scale(const struct report *report);

/* OFFSET of one core's TSC against another's, rounded outwards, and the middle. */
struct interval_ns report_offset_ns(const struct report *report, struct offset offset);

/*
 * What the error of an offset in ns consists of, each as half of what it adds to the interval; 0 where it is
 * unknown.
 */
struct offset_budget {
	uint64_t trip_ps;       /* when in its round trip the other core read its TSC, and the resolution of both */
	uint64_t tsc_rate_ps;   /* of the TSC's rate, by which ticks are ns */
	uint64_t conversion_ps; /* rounding */
};

struct offset_budget report_offset_budget(const struct report *report, struct offset offset);

/* The clock of that id; NULL: there is none. It is the report's own, as the string that strchr() returns is. */
struct report_clock *report_find_clock(const struct report *report, const char *id);

/* Whether the clock of that id can be read. */
bool report_has_clock(const struct report *report, const char *id);

/* When the boot core's TSC read TSC, from the run's begin. */
uint64_t report_moment_ns(const struct report *report, uint64_t tsc);

/*
 * The latest time at which the boot core's TSC may have read TSC. A TSC that stepped back reads some values twice, and
 * all later ones too early.
 */
uint64_t report_moment_ns_max(const struct report *report, uint64_t tsc);

/* A time since the start of the run, as "3.1 s" or "312 ms". */
void report_put_run_time(struct text *out, uint64_t ns);

/* report_moment_ns(), as "3.1 s" or "312 ms". */
void report_put_moment(struct text *out, const struct report *report, uint64_t tsc);

/* "at 3.1 s and 9.8 s": when the cores had their tournaments; or the one alone. */
void report_put_tournaments(struct text *out, const struct report *report);

/* The tournament that people are shown, the first or the last; what offsets_solve() says of it, and of CORE in it. */
const struct offsets *report_shown(const struct report *report);
const struct offsets_summary *report_shown_summary(const struct report *report);
struct offset report_shown_offset(const struct report *report, const struct report_core *core);

/* Adds a note while there is space; what does not fit is cut. */
void report_note(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
