/*
 * The rule catalogue: a table with a row for each kind of fault that a clock, a core or the machine can have.
 * src/judge compares measured values with the limits of the rules. A broken rule gives a finding, and findings give
 * the verdict.
 */
#ifndef BARETICK_RULES_H
#define BARETICK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* maximum number of rules; the option limit.RULE has space for the limit of each rule */
#define RULES_MAX OPTIONS_LIMITS_MAX

struct rule {
	const char *id;        /* id of the rule, as in the option limit.RULE; it never changes */
	/* id of the clock that the rule is about, or "any" for all clocks. It is NULL if the rule is about the machine. */
	const char *clock;
	/* the measured value that is compared with the limit, in words; NULL if the rule has no limit */
	const char *what;
	/* the highest value that does not break the rule; the option limit.RULE may replace it */
	uint64_t limit;
	const char *unit;      /* unit of value and limit; NULL if the rule has no limit */
	/* severity of a finding, warn or fail. It is pass in rows that only define a limit for other rules. */
	enum verdict severity;
	/* true if the rule is about one read method, and not about the counter that several methods may read */
	bool one_way;
	bool warns_in_guest;   /* true if a finding is only a warning in a guest, where the host may be the cause */
	const char *sentence;  /* meaning of a finding, for users */
	const char *cause;     /* usual cause of the fault */
	const char *advice;    /* next step for the user, such as a firmware setting or a kernel parameter */
	const char *source;    /* document, program or report that describes this kind of fault */
};

/* Pairs of rules: a failed check of one rule has no finding if a fault of another rule explains it. */
struct explanation {
	const char *rule, *clock, *unit; /* the rule of the failed check, its clock and its unit; NULL for any */
	const char *by[11];              /* the rules whose faults explain it, followed by NULL */
	const char *by_clock;            /* the clock with the fault; NULL means the check's device, as "hpet" of "hpet0" */
	bool raises_limit; /* true if the check must pass with its limit raised by what the wrong rate can change */
	bool unchecked;    /* true if the check counts as not checked then, false if as not determined */
	/* the end of the check's sentence then; if RULE is NULL, of the sentence "The result is 900 ppm" */
	const char *words;
};

extern const struct explanation explanations[]; /* the first that applies counts; the words of the last row are NULL */

extern const struct rule rules[]; /* in the order in which findings are reported; the id of the last row is NULL */

const struct rule *rules_find(const char *id); /* returns NULL if there is no rule with this id */

/* Sets IDS to the ids of all rules that have a limit, followed by NULL. The list is for options_names.rules. */
void rules_list_ids_with_limit(const char *ids[RULES_MAX + 1]);

/* Returns the limit of RULE in this run, from the option limit.RULE or from the catalogue. */
uint64_t rules_get_limit(const struct rule *rule, const struct options *options);

/* Returns the severity of a finding on this machine, which depends on warns_in_guest. */
enum verdict rules_get_severity(const struct rule *rule, const struct report *report);

/*
 * Returns true if a finding on the clock NAMED (may be NULL) also applies to the clock ENTRY. It applies if NAMED and
 * ENTRY are the same clock. Unless ONE_WAY is true, it also applies if NAMED and ENTRY read the same counter. An RTC's
 * seconds and its periodic flag have different nominal frequencies, so they count as different counters.
 */
bool rules_does_finding_apply_to_clock(const struct report *report, const struct report_clock *entry, const char *named,
				       bool one_way);

/* Returns the outcome of the check ROW, by comparing it with the limit of its rule. */
enum outcome rules_get_outcome(const struct behaviour *row, const struct options *options);

/* Returns the number of checks with this OUTCOME, for one CLOCK, or for all clocks if CLOCK is NULL. */
size_t rules_count_outcomes(const struct report *report, const char *clock, enum outcome outcome);

/*
 * Adds a finding on RULE_ID with the formatted text to OUTCOMES, which are those of REPORT. CLOCK may be NULL. CORE is
 * a core that is proven to differ, or REPORT_NO_CORE; rules_set_pair_of_cores() sets a pair of cores. If there is no
 * space, adds a note, and a failure replaces the last finding, if that is a warning. Otherwise, or if there is no such
 * rule, returns NULL.
 */
struct finding *rules_add_finding(const struct report *report, struct outcomes *outcomes, const char *rule_id,
				  const char *clock, uint32_t core, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/*
 * Adds a finding without a text, as rules_add_finding() does, but with SEVERITY instead of the severity of RULE. The
 * caller then adds the text.
 */
struct finding *rules_begin_finding(const struct report *report, struct outcomes *outcomes, const struct rule *rule,
				    enum verdict severity, const char *clock, uint32_t core);

/* Returns the first finding on RULE and CLOCK, or NULL. CLOCK may be NULL, which means any. */
const struct finding *rules_find_finding(const struct report *report, const char *rule, const char *clock);

/* Returns the first row of the check of RULE on CLOCK, which may be BEHAVIOUR_OF_MACHINE, or NULL. */
const struct behaviour *rules_find_row(const struct report *report, const char *rule, const char *clock);

/* Appends the formatted text to FINDING, which may be NULL. */
void rules_add_text_to_finding(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the limit of the rule RULE_ID in this run. */
uint64_t rules_get_limit_by_id(const struct report *report, const char *rule_id);

/* Returns the advice of FINDING, or the advice of its rule if FINDING has none. */
const char *rules_get_advice(const struct finding *finding);

/* Sets the measured value of FINDING (may be NULL) and its bounds LOW and HIGH. */
void rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high);

/* Sets the measured value of FINDING (may be NULL) to a count. A count is exact, so both bounds are equal to it. */
void rules_set_count(struct finding *finding, uint64_t count);

/* Adds a core to the list in FINDING (may be NULL), if there is space. */
void rules_add_core_to_finding(struct finding *finding, uint32_t apic_id);

/* Sets the pair of cores in FINDING, which may be NULL. */
void rules_set_pair_of_cores(struct finding *finding, uint32_t a, uint32_t b);

/* Sets how the TSC in FINDING (may be NULL) differs from the TSC of the core AGAINST, and when this was seen. */
void rules_set_difference(struct finding *finding, enum tsc_difference difference, uint32_t against,
			  struct moment seen);

/* Sets the two sets of clocks in FINDING (may be NULL) whose rates differ from each other. */
void rules_set_clocks(struct finding *finding, uint32_t clocks, uint32_t others);

/* Returns true if FINDING names the core APIC_ID. */
bool rules_does_finding_name_core(const struct finding *finding, uint32_t apic_id);

/* Returns true if the check ROW has the outcome "failed". */
bool rules_has_check_failed(const struct report *report, const struct behaviour *row);

/* Returns the core on which alone the check ROW failed, or REPORT_NO_CORE. */
uint32_t rules_get_failed_core(const struct behaviour *row);

/* Returns the fault that FINDING is about. If FINDING is NULL, returns no fault. */
struct rule_fault rules_get_fault(const struct finding *finding);

/*
 * Finds a fault that explains the failed check ROW. Returns the first pair of both, and sets FAULT. Returns NULL if
 * there is none. Call it when all rows exist, and all findings on the state and rate of a clock.
 */
const struct explanation *rules_find_explanation(const struct report *report, const struct behaviour *row,
						 struct rule_fault *fault);

/*
 * Returns true if the main clock CLOCK failed a check of its device whose severity is fail. Wrong readings of the clock
 * then have the same cause, and get no second finding. Rows that src/judge adds or withdraws change nothing here.
 */
bool rules_has_failed_check(const struct report *report, const char *clock);

/* Returns "." if SENTENCE needs a full stop, or "" if it already ends with one. */
const char *rules_get_missing_full_stop(const char *sentence);

#endif
