/*
 * The rule catalogue: each fault that a clock, a core or the machine can have is one row of one
 * table. Judging turns the figures of a report into findings and verdicts; nothing else in baretick does.
 */
#ifndef BARETICK_RULES_H
#define BARETICK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

#define RULES_MAX OPTIONS_LIMITS_MAX /* rows that the catalogue may have, each with a limit of its own */

struct rule {
	const char *id;        /* stable; the RULE of limit.RULE */
	const char *clock;     /* id of the clock it is for, "any", or NULL where it is for the machine */
	const char *what;      /* the figure that is compared with the limit; NULL: a fact, without a limit */
	uint64_t limit;        /* the highest figure that breaks nothing, unless options.limits has another */
	const char *unit;      /* of figure and limit; NULL for a fact */
	enum verdict severity; /* warn or fail; pass: only a limit, which breaks nothing */
	bool one_way;          /* of one way of reading the clock, not of the counter that all of them read */
	bool warns_in_guest;   /* there the host may be the cause, and it is a warning */
	const char *sentence;  /* what it means, for people */
	const char *cause;     /* what it mostly comes from */
	const char *advice;    /* what to do next: a setting, a kernel parameter */
	const char *source;    /* where the fault is known from */
};

extern const struct rule rules[]; /* in the order in which findings appear; a row with id NULL ends it */

const struct rule *rules_find(const char *id); /* NULL: no such rule */

/* Fills IDS with the ids of the rules that have a limit, and a final NULL: for options_names.rules. */
void rules_limit_ids(const char *ids[RULES_MAX + 1]);

/* The limit of RULE in this run: the option's where one was given, else the catalogue's. */
uint64_t rules_limit(const struct rule *rule, const struct options *options);

/* Of what breaks RULE on the report's machine. */
enum verdict rules_severity(const struct rule *rule, const struct report *report);

/*
 * Whether what was found of the clock NAMED (NULL: of none) holds for ENTRY: it is that clock, or another way of
 * reading its counter and what was found is not of ONE_WAY alone. An RTC's seconds and its periodic flag are two
 * counters, as their claims say.
 */
bool rules_is_about(const struct report *report, const struct report_clock *entry, const char *named, bool one_way);

/* What came of ROW's promise by the limit of its rule. */
enum outcome rules_outcome(const struct behaviour *row, const struct options *options);

/* How many of the report's promises came out so: of CLOCK, or of all where it is NULL. */
size_t rules_count(const struct report *report, const char *clock, enum outcome outcome);

/*
 * Adds a finding of RULE_ID with a text of its own, and lets the run's verdict, VERDICT_PASS in a fresh
 * report, follow from it: for what only the caller has seen (acpi-table, ...). CLOCK may be NULL. CORE
 * is one that is proven to differ, or REPORT_NO_CORE: a pair has rules_set_pair(). Returns NULL if there is no such
 * rule, or no space; the verdict and a note then count the finding.
 */
struct finding *rules_add_finding(struct report *report, const char *rule_id, const char *clock,
				  uint32_t core, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Appends to the text of FINDING, which may be NULL. */
void rules_add_text(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The limit of the catalogue's rule RULE_ID in this run. */
uint64_t rules_limit_of(const struct report *report, const char *rule_id);

/* What to do about FINDING: what its judge said, or else what its rule does. */
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

/* Whether ROW was checked and failed. */
bool rules_failed(const struct report *report, const struct behaviour *row);

/* What ends SENTENCE, which may have its full stop already. */
const char *rules_full_stop(const char *sentence);

#endif
