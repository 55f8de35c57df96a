/*
 * The rule catalogue: a table with a row for each fault that a clock, a core or the machine can have. With these rules,
 * the judge turns figures into findings and verdicts.
 */
#ifndef BARETICK_RULES_H
#define BARETICK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* maximum number of rules: the option limit.RULE has space for a limit of each rule */
#define RULES_MAX OPTIONS_LIMITS_MAX

struct rule {
	const char *id;        /* id of the rule, as in the option limit.RULE; it never changes */
	/* id of the clock that the rule is about, "any" for each clock, or NULL for a rule about the machine */
	const char *clock;
	const char *what;      /* the figure that is compared with the limit; NULL if the rule has no limit */
	uint64_t limit;        /* largest figure that keeps the rule, unless options.limits has another limit */
	const char *unit;      /* unit of figure and limit; NULL if the rule has no limit */
	/*
	 * severity of a fault, warn or fail; pass for a row that only holds a limit for other rules
	 */
	enum verdict severity;
	/* true if the rule is about one read method, and not about the counter that several methods may read */
	bool one_way;
	bool warns_in_guest;   /* true if the severity is only warn in a guest, where the host may be the cause */
	const char *sentence;  /* meaning of the rule, for users */
	const char *cause;     /* usual cause of the fault */
	const char *advice;    /* next step for the user, such as a setting or a kernel parameter */
	const char *source;    /* document, program or report that describes this fault */
};

extern const struct rule rules[]; /* in the order of findings in a report; the last row has id NULL */

const struct rule *rules_find(const char *id); /* returns NULL if there is no rule with this id */

/* Fills IDS with the ids of all rules that have a limit, and a final NULL. The list is for options_names.rules. */
void rules_limit_ids(const char *ids[RULES_MAX + 1]);

/* Returns the limit of RULE in this run. It comes from the option limit.RULE, or else from the catalogue. */
uint64_t rules_limit(const struct rule *rule, const struct options *options);

/* Returns the severity of RULE on the report's machine, which depends on warns_in_guest. */
enum verdict rules_severity(const struct rule *rule, const struct report *report);

/*
 * Returns true if a result of the clock NAMED (NULL: no clock) also applies to the clock ENTRY. This is so if both are
 * the same clock. If ONE_WAY is false, it is also so if both clocks read the same counter. An RTC's seconds and its
 * periodic flag have different nominal frequencies, so they count as two counters.
 */
bool rules_applies_to_clock(const struct report *report, const struct report_clock *entry, const char *named,
			    bool one_way);

/* Returns the outcome of ROW, from the comparison with the limit of its rule. */
enum outcome rules_outcome(const struct behaviour *row, const struct options *options);

/* Returns the number of rows that have OUTCOME, for one CLOCK, or for all clocks if CLOCK is NULL. */
size_t rules_count(const struct report *report, const char *clock, enum outcome outcome);

/*
 * Adds a finding of RULE_ID with the formatted text, and lowers the run's verdict. Callers outside the judge use it for
 * facts that only they know (acpi-table, ...). CLOCK may be NULL. CORE is a core that certainly differs, or
 * REPORT_NO_CORE; for a pair of cores use rules_set_pair(). Returns NULL if there is no rule RULE_ID or no space for
 * the finding. Without space the verdict is still lowered, and a note is added.
 */
struct finding *rules_add_finding(struct report *report, const char *rule_id, const char *clock,
				  uint32_t core, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Return true if FINDING is by RULE and on CLOCK, and the first such finding or NULL. RULE or CLOCK is NULL for any.
 */
bool rules_is_finding(const struct finding *finding, const char *rule, const char *clock);
struct finding *rules_find_finding(const struct report *report, const char *rule, const char *clock);

/* Appends text to the text of FINDING, which may be NULL. */
void rules_add_text(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the limit of the rule RULE_ID in this run. */
uint64_t rules_limit_of(const struct report *report, const char *rule_id);

/* Returns the advice of FINDING, or the advice of its rule if FINDING has none. */
const char *rules_advice(const struct finding *finding);

/* Sets the figure of FINDING, which may be NULL: the measured value, and its bounds LOW and HIGH. */
void rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high);

/* Sets the figure of FINDING, which may be NULL, to COUNT. A count is exact, so both bounds are COUNT, too. */
void rules_set_count(struct finding *finding, uint64_t count);

/* Adds the core APIC_ID to the cores of FINDING, which may be NULL, if there is space. */
void rules_add_core(struct finding *finding, uint32_t apic_id);

/* Sets the pair of cores of FINDING, which may be NULL. */
void rules_set_pair(struct finding *finding, uint32_t a, uint32_t b);

/* Returns true if APIC_ID is one of the cores of FINDING. */
bool rules_has_core(const struct finding *finding, uint32_t apic_id);

/* Returns true if the check of ROW was made and failed. */
bool rules_failed(const struct report *report, const struct behaviour *row);

/* Returns a full stop for the end of SENTENCE, or "" if SENTENCE already ends with one. */
const char *rules_full_stop(const char *sentence);

#endif
