/*
 * The systems whose choice of a clock is predicted: kernels of some versions, and programs. systems.c has the table of
 * all systems. linux_clocksource.c and linux_faults.c predict what Linux does.
 */
#ifndef BARETICK_SYSTEMS_H
#define BARETICK_SYSTEMS_H

#include "report/phrase.h"

/*
 * Differences between versions of Linux that decide which clock is taken. Linux's watchdog compares the TSC every 0.5 s
 * with a second clocksource, the *reference*.
 */
struct linux_versions {
	/* true: a TSC without the invariant bit is distrusted only if there are several packages, not several cores */
	bool counts_packages;
	/* the watchdog is off if the TSC is invariant and has TSC_ADJUST, up to this number of packages */
	size_t unwatched_packages_max;
	/*
	 * The watchdog notices a difference of rates above these limits. KNOWN is for a TSC whose rate is from CPUID or
	 * an MSR. REFINED is for a TSC whose rate was measured for a second after the start.
	 */
	int64_t known_limit_ppb, refined_limit_ppb;
	/*
	 * The watchdog does not surely notice a larger gain of one clock on the other in 0.5 s, because it then leaves
	 * out the check. For 7.1 this is the limit with a PM timer of 24 bits. With an HPET it is higher.
	 */
	uint64_t gain_ns_max;
	/* true: the watchdog compares the cores and notices any warp. Otherwise it notices an offset above 500 us. */
	bool compares_cores;
	/* A reference is not used if a read takes longer than this. If it is 0, no limit is known. */
	uint64_t reference_read_ns_max;
	/* true: in a guest, with the PM timer as reference, these kernels were seen to drop a right TSC on a busy host */
	bool pm_timer_may_drop_tsc;
	const char *watch_option; /* boot parameter that makes the watchdog check a TSC that it trusts, or NULL */
};

enum linux_tsc {
	LINUX_TSC_ABSENT,
	LINUX_TSC_KEPT,
	LINUX_TSC_UNSYNCHRONIZED, /* distrusted from the start, without a check */
	LINUX_TSC_WARPS,          /* the check of two cores found warps */
	LINUX_TSC_DROPPED,        /* the watchdog marks it unstable */
};

enum linux_watch {
	LINUX_WATCHES_TSC,
	LINUX_TRUSTS_TSC,            /* the watchdog is off, because the TSC counts as reliable */
	LINUX_LACKS_REFERENCE,
	LINUX_REFERENCE_IS_TOO_SLOW,
};

/* The reaction of a system to one fault, or to all faults together. */
struct response {
	enum taken_notices notices;
	enum taken_blames blames;
	bool drops_tsc; /* the system stops using the TSC */
	bool by_check;  /* it stops because its check of two cores at the start found warps */
	bool repairs;
	struct interval_ppb error; /* excess of the rate of the system's time; unknown if the fault does not show it */
	const char *rule;          /* the rule of the fault */
	const char *clock;         /* the clock with the fault */
};

struct linux_choice {
	const struct clock *first, *next; /* the clocksource, and the one that would follow; NULL if there is none */
	enum linux_tsc tsc;
	enum linux_watch watch;
	const struct clock *reference;    /* the clocksource that the TSC is compared with and measured by; may be NULL */
	uint64_t reference_read_ps;       /* cost of a read of the reference; 0 if unknown */
	struct response response;         /* to all faults; NOTICES is unknown if no fault matters to this kernel */
};

/* Returns what these versions of Linux do on the machine. FIRST is NULL if no clocksource is known. */
struct linux_choice linux_choose_clocksource(const struct report *report, const struct linux_versions *versions);

/* Returns the response to the faults of the TSC and of the reference, if Linux takes the TSC at its start. */
struct response linux_respond_to_faults(const struct report *report, const struct linux_versions *versions,
					const struct linux_choice *choice);

/* Adds the faults of CLOCK to RESPONSE. CLOCK is not the TSC, and Linux keeps its time by it without a check. */
void linux_add_faults_of_taken_clock(const struct report *report, const struct clock *clock,
				     struct response *response);

/* Writes the reason of Linux's choice. */
void linux_explain_choice(const struct report *report, const struct linux_versions *versions, struct text *reason);

/* Returns Linux's name of the clock ID, or NULL if Linux has no such clocksource. */
const char *linux_get_clocksource_name(const char *id);

/* Returns the number of packages (processors in sockets) of the started cores; 1 if it is not known. */
size_t systems_count_packages(const struct report *report);

bool systems_has_tsc_adjust(const struct report *report);

/*
 * Returns the id of the row in facts.clocks that reads the clock ID as Linux reads it. Linux reads 32 bits of the HPET
 * in one access (hpet_32), and the TSC by RDTSCP or LFENCE and RDTSC. Returns ID if this row was not measured.
 */
const char *systems_get_linux_read_row(const struct report *report, const char *id);

/* Returns the claim of the TSC's rate that SYSTEM uses without measuring it, or NULL. */
const struct claim_outcome *systems_find_used_claim(const struct report *report, const char *system);

#endif
