/*
 * The rule catalogue: each fault that a clock, a core or the machine can have is one row of one table. Only the
 * judge turns figures into findings and verdicts.
 */
#ifndef BARETICK_RULES_H
#define BARETICK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

#define RULES_MAX OPTIONS_LIMITS_MAX /* most rows of the catalogue, each with a limit of its own */

struct rule {
	const char *id;        /* stable; the RULE of limit.RULE */
	const char *clock;     /* id of its clock, "any", or NULL for a rule about the machine */
	const char *what;      /* the figure that is compared with the limit; NULL for a fact without a limit */
	uint64_t limit;        /* highest figure that breaks nothing, unless options.limits has another limit */
	const char *unit;      /* unit of figure and limit; NULL for a fact */
	enum verdict severity; /* warn or fail; pass for a mere limit, which breaks nothing */
	bool one_way;          /* about one read method, not about the counter behind all of them */
	bool warns_in_guest;   /* in a guest it only warns, because the host may be the cause */
	const char *sentence;  /* its meaning, for people */
	const char *cause;     /* its usual cause */
	const char *advice;    /* next step: a setting or a kernel parameter */
	const char *source;    /* source of the knowledge about this fault */
};

extern const struct rule rules[]; /* in the order of findings in a report; the last row has id NULL */

const struct rule *rules_find(const char *id); /* NULL if there is no such rule */

/* Fills IDS with the ids of the rules that have a limit and a final NULL, for options_names.rules. */
void rules_limit_ids(const char *ids[RULES_MAX + 1]);

/* The limit of RULE in this run: the option's, or else the catalogue's. */
uint64_t rules_limit(const struct rule *rule, const struct options *options);

/* Severity of RULE on the report's machine. */
enum verdict rules_severity(const struct rule *rule, const struct report *report);

/*
 * Returns true if a result on the clock NAMED (NULL: none) applies to ENTRY. It does for the same clock. It
 * also does for another read method of its counter, unless ONE_WAY. An RTC's seconds and its periodic flag are
 * two counters, as their nominal frequencies differ.
 */
bool rules_is_about(const struct report *report, const struct report_clock *entry, const char *named, bool one_way);

/* The outcome of ROW by the limit of its rule. */
enum outcome rules_outcome(const struct behaviour *row, const struct options *options);

/* Number of rows with OUTCOME, for CLOCK, or for all clocks if it is NULL. */
size_t rules_count(const struct report *report, const char *clock, enum outcome outcome);

/*
 * Adds a finding of RULE_ID with its own text, and lowers the run's verdict, which is VERDICT_PASS in a fresh
 * report. Outside the judge it is for facts that only the caller has seen (acpi-table, ...). CLOCK may be NULL.
 * CORE is a core that is proven to differ, or REPORT_NO_CORE; for a pair use rules_set_pair(). Returns NULL if
 * there is no such rule, or no space. The verdict and a note then count the finding.
 */
struct finding *rules_add_finding(struct report *report, const char *rule_id, const char *clock,
				  uint32_t core, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Appends to the text of FINDING, which may be NULL. */
void rules_add_text(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The limit of the rule RULE_ID in this run. */
uint64_t rules_limit_of(const struct report *report, const char *rule_id);

/* Advice on FINDING: its own, or else that in its rule. */
const char *rules_advice(const struct finding *finding);

/* Sets the figure of FINDING, which may be NULL. */
void rules_set_figure(struct finding *finding, int64_t measured, int64_t low, int64_t high, uint64_t limit);

/* A count is exact: its interval is the count itself. */
void rules_set_count(struct finding *finding, uint64_t count, uint64_t limit);

/* Adds the core of APIC_ID to the cores of FINDING, which may be NULL, while there is space. */
void rules_add_core(struct finding *finding, uint32_t apic_id);

/* Sets the pair of cores of FINDING, which may be NULL. */
void rules_set_pair(struct finding *finding, uint32_t a, uint32_t b);

/* Returns true if FINDING is about the core of APIC_ID, alone or as one of several. */
bool rules_has_core(const struct finding *finding, uint32_t apic_id);

/* Returns true if ROW was checked and failed. */
bool rules_failed(const struct report *report, const struct behaviour *row);

/* The full stop for SENTENCE, or "" if it has one. */
const char *rules_full_stop(const char *sentence);

#endif
