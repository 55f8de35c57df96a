/*
 * The rule catalogue: a table with a row for each fault that a clock, a core or the machine can have. The judge turns
 * figures into findings and verdicts by these rules.
 */
#ifndef BARETICK_RULES_H
#define BARETICK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

#define RULES_MAX OPTIONS_LIMITS_MAX /* most rows of the catalogue, because an option may limit each */

struct rule {
	const char *id;        /* never changes; the RULE in the option limit.RULE */
	const char *clock;     /* id of its clock, "any", or NULL for a rule about the machine */
	const char *what;      /* the figure that is compared with the limit; NULL if the rule has no limit */
	uint64_t limit;        /* largest figure that keeps the rule, unless options.limits has another limit */
	const char *unit;      /* unit of figure and limit; NULL if the rule has no limit */
	enum verdict severity; /* warn or fail; pass if the row only holds a limit that others use */
	bool one_way;          /* true if it is about one read method, not about the counter that several methods read */
	bool warns_in_guest;   /* true if it only warns in a guest, where the host may be the cause */
	const char *sentence;  /* its meaning, for people */
	const char *cause;     /* its usual cause */
	const char *advice;    /* next step: a setting or a kernel parameter */
	const char *source;    /* document, program or report that describes this fault */
};

extern const struct rule rules[]; /* in the order of findings in a report; the last row has id NULL */

const struct rule *rules_find(const char *id); /* NULL if there is no such rule */

/* Fills IDS with the ids of the rules that have a limit and a final NULL, for options_names.rules. */
void rules_limit_ids(const char *ids[RULES_MAX + 1]);

/* Returns the limit of RULE in this run: from the option limit.RULE, or else from the catalogue. */
uint64_t rules_limit(const struct rule *rule, const struct options *options);

/* Returns the severity of RULE on the report's machine: see warns_in_guest. */
enum verdict rules_severity(const struct rule *rule, const struct report *report);

/*
 * Returns true if a result on the clock NAMED (NULL: no clock) applies to ENTRY: if both are the same clock or, unless
 * ONE_WAY, read the same counter. An RTC's seconds and its periodic flag have different nominal frequencies, so they
 * are two counters.
 */
bool rules_applies_to_clock(const struct report *report, const struct report_clock *entry, const char *named,
			    bool one_way);

/* Returns the outcome of ROW by the limit of its rule. */
enum outcome rules_outcome(const struct behaviour *row, const struct options *options);

/* Returns the number of rows with OUTCOME, for CLOCK, or for all clocks if it is NULL. */
size_t rules_count(const struct report *report, const char *clock, enum outcome outcome);

/*
 * Adds a finding of RULE_ID with the formatted text, and lowers the run's verdict. Callers outside the judge use it for
 * facts that only they know (acpi-table, ...). CLOCK may be NULL. CORE is a core that is proven to differ, or
 * REPORT_NO_CORE; for a pair use rules_set_pair(). Returns NULL if there is no such rule, or no space. Without space
 * the verdict is lowered all the same, and a note is added.
 */
struct finding *rules_add_finding(struct report *report, const char *rule_id, const char *clock,
				  uint32_t core, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Appends to the text of FINDING, which may be NULL. */
void rules_add_text(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the limit of the rule RULE_ID in this run. */
uint64_t rules_limit_of(const struct report *report, const char *rule_id);

/* Returns the advice of FINDING or, if it has none, of its rule. */
const char *rules_advice(const struct finding *finding);

/* Sets the figure of FINDING, which may be NULL. */
void rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high, uint64_t limit);

/* Sets the figure of FINDING, which may be NULL, to COUNT. A count is exact, so it is also the interval. */
void rules_set_count(struct finding *finding, uint64_t count, uint64_t limit);

/* Adds the core APIC_ID to the cores of FINDING, which may be NULL, while there is space. */
void rules_add_core(struct finding *finding, uint32_t apic_id);

/* Sets the pair of cores of FINDING, which may be NULL. */
void rules_set_pair(struct finding *finding, uint32_t a, uint32_t b);

/* Returns true if FINDING is about the core APIC_ID, alone or with others. */
bool rules_has_core(const struct finding *finding, uint32_t apic_id);

/* Returns true if ROW was checked and failed. */
bool rules_failed(const struct report *report, const struct behaviour *row);

/* Returns a full stop to print after SENTENCE, or "" if it ends with one. */
const char *rules_full_stop(const char *sentence);

#endif
