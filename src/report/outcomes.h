/*
 * The outcomes of a report: findings, rows of rules, and verdicts. src/judge calculates them from the facts and the
 * figures.
 */
#ifndef BARETICK_REPORT_OUTCOMES_H
#define BARETICK_REPORT_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "base/offset.h"
#include "clock/behaviour.h"
#include "report/boots.h"
#include "report/figures.h"

#define REPORT_FINDINGS_MAX 64
#define REPORT_FINDING_CORES 8
/* maximum number of programs that use the same stated rate: Linux, FreeBSD, EDK II, PostgreSQL */
#define REPORT_CLAIM_USERS   4

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_INCOMPLETE, VERDICT_ABSENT };

enum discontinuity_class {
	DISCONTINUITY_PARTED, DISCONTINUITY_STOPPED, DISCONTINUITY_JUMPED,
	/* In a guest, the TSC alone moved against all other clocks. The host may have stopped these others instead. */
	DISCONTINUITY_TSC_MOVED,
};

struct discontinuity_outcome { /* The judgement of a discontinuity. */
	enum discontinuity_class class;
	/*
	 * The clocks of the only group that jumped, or that continued while the others stopped, as a set like
	 * groups.clocks. The field is 0 if no such group is known.
	 */
	uint32_t alone;
};

#define REPORT_OTHER_RULES_MAX 160

struct report_other_rule { /* A rule that applies to the machine, without a row in behaviours and without a finding. */
	const char *rule, *clock; /* the rule's id; the main clock of a device, or NULL for a rule about the machine */
	const char *obstacle; /* why the rule was not checked, in static storage; NULL if it found nothing */
};

struct claim_outcome { /* The judgement of a claim. */
	struct interval_millihz measured; /* measured rate of the clock */
	struct interval_ppb error;        /* difference between the measured rate and the stated rate */
	enum outcome outcome;
	size_t user_count;
	const char *users[REPORT_CLAIM_USERS]; /* programs that use the stated rate, in static storage */
};

struct report_quality { /* Effect of stolen time on the measured latencies */
	bool stolen_known;
	uint64_t stolen_millipercent; /* stolen part of the observed time, in 1/1000 % */
	/* true if cores were observed for stolen time, or if stolen time caused the p99.9 latency of a clock */
	bool tails_known;
	bool reliable_tails;     /* true if percentiles up to p99.9 are not affected by stolen time */
	char text[REPORT_SENTENCE]; /* a sentence on the effect of stolen time */
};

struct clock_list {
	size_t count;
	uint8_t at[REPORT_CLOCKS_MAX]; /* indices of clocks in struct facts */
};

/* In which way a core's TSC differs from another's */
enum tsc_difference {
	DIFFERENCE_NONE, DIFFERENCE_AHEAD, DIFFERENCE_BEHIND, DIFFERENCE_STEPPED_AHEAD, DIFFERENCE_STEPPED_BACK,
	DIFFERENCE_FASTER, DIFFERENCE_SLOWER,
};

struct finding {
	const char *rule;     /* id of the rule in the catalogue (src/rules) */
	enum verdict severity; /* warn or fail */
	const char *clock;    /* id of the clock, or NULL */
	uint32_t core;        /* APIC id of the core that is proven to be faulty, or REPORT_NO_CORE */
	/* APIC ids of two or more cores, if it is not proven which of them is faulty. CORE is then REPORT_NO_CORE. */
	size_t core_count;
	uint32_t cores[REPORT_FINDING_CORES];
	/*
	 * How the TSC of one core differs from the TSC of core AGAINST (APIC id), by LOW to HIGH. This one core is CORE or
	 * the last of CORES. If the finding names neither, all cores of a group differ so. Other findings have NONE and
	 * REPORT_NO_CORE. SEEN is the time of the measurements, or { 0, 0 } if it is not known.
	 */
	enum tsc_difference difference;
	uint32_t against;
	struct moment seen;
	/* CLOCKS ran at other rates than OTHERS, or changed their rates against them. Empty in other findings. */
	struct clock_list clocks, others;
	/* true if the finding is about one read method of the clock, and not about its counter */
	bool one_way;
	bool has_measured;
	int64_t measured, low, high, limit;
	const char *unit;
	char text[2 * REPORT_SENTENCE];
	char advice[REPORT_SENTENCE]; /* advice to the user if it differs from the rule's advice, otherwise "" */
	const char *source;
};

struct clock_outcome { /* The judgement of a clock. */
	enum verdict verdict;
	size_t open; /* number of rules on this clock that are not determined */
	uint64_t jumped_tsc; /* TSC after the first discontinuity in which only this clock jumped; 0 if there was none */
};

struct pass_outcome { /* The judgement of a measurement pass, if it is the first or the last. */
	/* true if no group of more than half of the cores agrees, so that it is unknown which cores are right */
	bool no_majority;
	bool marks_cores; /* true if core_outcome.off_majority of at least one core is a result of this pass */
	/*
	 * For each rank, true if the core does not drift, and is proven to differ from the majority by more than the
	 * limit. If the cores are in two halves without a majority, true if it differs from the other half.
	 */
	bool *off;
};

struct core_outcome { /* The judgement of a core's TSC. */
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

struct sync_outcome { /* The judgement of the synchronisation of the cores' TSCs. */
	uint64_t offset_limit_ns, drift_limit_ppb; /* limits of the rules tsc-offset and tsc-drift */
	uint8_t *moved;          /* 1 for a rank if the offset of its core changed relative to most cores, otherwise 0 */
	bool any_moved;          /* true if the offset of at least one pair changed between two passes */
	/*
	 * True if no core differs from the majority in the first and the last pass, and WITHIN_NS does not exceed the
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
	struct core_outcome *cores; /* with the same indices as the cores in struct facts */
	struct pass_outcome passes[REPORT_PASSES]; /* with the same indices as the passes in struct report_skew */
};

/* The results of src/judge: findings, rows of rules, verdicts. */
struct outcomes {
	struct clock_outcome clocks[REPORT_CLOCKS_MAX]; /* with the same indices as the clocks in struct facts */
	struct sync_outcome sync;
	struct claim_outcome claims[CLAIMS_MAX]; /* with the same indices as the claims in struct facts */
	struct discontinuity_outcome discontinuities[REPORT_DISCONTINUITIES_MAX]; /* with the indices of struct figures */
	struct behaviours behaviours; /* facts.checks, and the rows that the judge adds */
	struct report_other_rule other_rules[REPORT_OTHER_RULES_MAX];
	size_t other_rule_count;
	/* Sentence on the rules that were not determined or not checked, with reasons. It may be empty. */
	char unjudged[REPORT_SENTENCE];
	struct boots boots_so_far; /* facts.boots with the results of this boot */
	size_t finding_count;
	struct finding findings[REPORT_FINDINGS_MAX]; /* sorted by severity: failures first, then warnings */
	struct notes notes; /* notes by the judge; replay_calculate_results() adds them to report.notes */
	struct report_quality quality;
	enum verdict verdict;
};

#endif
