/*
 * Results of comparing devices with their data sheets. Each result is a row for one rule and one clock. There are
 * four outcomes: passed, failed, not checked and not determined. drivers/checks, src/measure and src/judge add rows.
 * The rule catalogue (src/rules) defines the rules and their limits.
 */
#ifndef BARETICK_BEHAVIOUR_H
#define BARETICK_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/offset.h"

/*
 * Maximum number of rows. Each timer adds up to six rows, and each of up to eight HPET comparators is a timer. Each of
 * up to nine sleep states adds up to five rows.
 */
#define BEHAVIOURS_MAX     192
#define BEHAVIOUR_OF_MACHINE "" /* the clock of a row about the machine */
#define BEHAVIOUR_TEXT_SIZE 192 /* size of a sentence with its final 0 */

/* Kind of reason why a rule was not checked. The TEXT of the row states the reason itself. */
enum unchecked {
	UNCHECKED_OTHER,
	/* in a guest or an emulator the result would prove nothing, or the host may be the cause of a fault */
	UNCHECKED_GUEST,
	UNCHECKED_NO_REFERENCE, /* there is no independent clock to compare with */
	UNCHECKED_TIME,         /* too little time was left in the run */
};

struct rule_fault { /* A finding, or a failed check that has no finding yet. */
	const char *rule, *clock; /* RULE is NULL if there is no fault; CLOCK may be NULL */
	uint32_t core; /* APIC id of the core that is proven to be faulty, or UINT32_MAX */
	struct offset figure;
};

struct behaviour {
	const char *rule;  /* id of the rule in the rule catalogue, in static storage */
	const char *clock; /* id of the clock, in static storage, or BEHAVIOUR_OF_MACHINE */
	bool checked;      /* true if the rule was checked; if false, TEXT is the reason */
	enum unchecked unchecked; /* kind of the reason in TEXT; valid only if CHECKED is false */
	/* true if a temporary disturbance prevented the check, so that it is repeated if there is time */
	bool disturbed;
	bool failed;       /* true if the device breaks the rule; only for rules without a measured value */
	/* true if the outcome is "not determined" whatever the measured value is; TEXT is the reason */
	bool open;
	/*
	 * true if the outcome depends on MEASURED, LOW and HIGH, see behaviour_get_outcome(); false if it depends on
	 * FAILED
	 */
	bool has_figure;
	int64_t measured, low, high; /* the measured value and its lower and upper bound, in the rule's unit */
	struct rule_fault explained_by; /* the fault that explains a failure; src/judge then withdraws the failure */
	const char *against; /* id of the other clock in a comparison of rates, in static storage, or NULL */
	/*
	 * CORES_ASKED is the number of checked cores, and CORES is the number of cores that broke the rule. CORE is
	 * the APIC id of the core with the worst result. These fields are used only for devices that each core has,
	 * such as the local APIC timer.
	 */
	uint32_t cores_asked, cores, core;
	char text[BEHAVIOUR_TEXT_SIZE]; /* a sentence that describes the observation */
};

struct behaviours {
	size_t count;
	struct behaviour rows[BEHAVIOURS_MAX];
};

/* Adds a row with the outcome "not checked". Returns NULL if there is no space. */
struct behaviour *behaviour_add_row(struct behaviours *behaviours, const char *rule, const char *clock);

/* Sets the sentence of ROW. */
void behaviour_set_text(struct behaviour *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Marks ROW as not checked for a reason of the kind UNCHECKED. The formatted sentence is the reason. */
void behaviour_mark_unchecked(struct behaviour *row, enum unchecked unchecked, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the measured value of ROW and its bounds, in the rule's unit. */
void behaviour_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high);

/* Sets the bounds of ROW's figure. The measured value is their middle. */
void behaviour_set_bounds(struct behaviour *row, struct offset bounds);

/*
 * Returns the outcome of ROW. The rule is kept if the whole interval from LOW to HIGH is between -LIMIT and LIMIT,
 * and broken if the whole interval is outside. Otherwise the outcome is not determined.
 */
enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_NOT_CHECKED, OUTCOME_NOT_DETERMINED };
#define OUTCOMES 4
enum outcome behaviour_get_outcome(const struct behaviour *row, uint64_t limit);

#endif
