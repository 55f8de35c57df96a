/*
 * Results of comparing devices with their data sheets. Each rule has one row, with one of four outcomes. Drivers fill
 * the rows. The rule catalogue defines the rules and their limits.
 */
#ifndef BARETICK_BEHAVIOUR_H
#define BARETICK_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* maximum number of rows: each timer adds up to six rows, and a chip set may have eight HPET comparators */
#define BEHAVIOURS_MAX     144
#define BEHAVIOUR_TEXT_SIZE 192 /* a sentence with its final 0 */

/* Category of the reason why a rule was not checked. The text of the rule's row in the report is the reason. */
enum unchecked {
	UNCHECKED_OTHER,
	/* in a guest or an emulator the result would prove nothing, or its host may be the cause */
	UNCHECKED_GUEST,
	UNCHECKED_NO_REFERENCE, /* there is no independent clock to compare with */
	UNCHECKED_TIME,         /* too little time was left in the run */
};

struct behaviour {
	const char *rule;  /* id of the rule in the rule catalogue; static storage */
	const char *clock; /* id of the clock; static storage */
	bool checked;      /* true if the rule could be checked; otherwise TEXT has the reason */
	enum unchecked unchecked; /* kind of the reason; valid if CHECKED is false */
	bool disturbed;    /* true if a temporary disturbance prevented the check; it is repeated if there is time */
	bool failed;       /* true if the device breaks a rule that has no figure */
	bool open;         /* true if the outcome is "not determined" regardless of the figure; TEXT has the reason */
	bool has_figure;   /* true if the outcome depends on the figure (behaviour_outcome()), and not on FAILED */
	int64_t measured, low, high; /* the figure and its interval, in the rule's unit */
	/*
	 * These fields are only used if each core has its own device. CORES_ASKED is the number of checked cores, and CORES
	 * the number of cores that broke the rule. CORE is the APIC id of the core with the worst result.
	 */
	uint32_t cores_asked, cores, core;
	char text[BEHAVIOUR_TEXT_SIZE]; /* a sentence with the observation and its numbers */
};

struct behaviours {
	size_t count;
	struct behaviour rows[BEHAVIOURS_MAX];
};

/* Adds a row marked as not checked. Returns NULL if there is no space. */
struct behaviour *behaviour_add(struct behaviours *behaviours, const char *rule, const char *clock);

/* Sets the sentence of ROW. */
void behaviour_say(struct behaviour *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Marks ROW as not checked with a reason of the given kind, and sets its sentence. */
void behaviour_skip(struct behaviour *row, enum unchecked unchecked, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the figure of ROW with its interval, in the rule's unit. */
void behaviour_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high);

/*
 * Returns the outcome of ROW. A figure passes if its whole interval is between -LIMIT and LIMIT, and fails if the whole
 * interval is outside. Otherwise the outcome is not determined.
 */
enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_NOT_CHECKED, OUTCOME_NOT_DETERMINED };
#define OUTCOMES 4
enum outcome behaviour_outcome(const struct behaviour *row, uint64_t limit);

#endif
