/*
 * Checks whether a device behaves as its data sheet specifies: one row for each rule that was checked, with one
 * of four outcomes. Drivers fill the rows. The rule catalogue defines faults and their limits.
 */
#ifndef BARETICK_BEHAVIOUR_H
#define BARETICK_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEHAVIOURS_MAX     144 /* each timer adds up to six rows, and a chip set may have eight comparators */
#define BEHAVIOUR_TEXT_SIZE 192 /* a sentence and its final 0 */

/* Kind of the reason why a rule was not checked. The row's text has the reason itself. */
enum unchecked {
	UNCHECKED_OTHER,
	UNCHECKED_GUEST,        /* a guest or an emulator cannot show it, or its host may be the cause */
	UNCHECKED_NO_REFERENCE, /* no independent source to compare the figure with */
	UNCHECKED_TIME,         /* too little time was left before the deadline */
};

struct behaviour {
	const char *rule;  /* id of its row in the rule catalogue; static storage */
	const char *clock; /* id; static storage */
	bool checked;      /* false if it could not be checked; TEXT has the reason */
	enum unchecked unchecked; /* kind of that reason; ignored if CHECKED */
	bool disturbed;    /* not checked because of a passing disturbance: repeated while there is time */
	bool failed;       /* for rules without a figure: the device does not behave as specified */
	bool open;         /* judged as not determined, whatever the figure; TEXT has the reason */
	bool has_figure;   /* judged by its figure, see behaviour_outcome(); otherwise by FAILED */
	int64_t measured, low, high; /* in the rule's unit */
	/*
	 * For a device that each core has: number of cores checked, number that showed the behaviour, and the
	 * APIC id of the core that showed it most.
	 */
	uint32_t cores_asked, cores, core;
	char text[BEHAVIOUR_TEXT_SIZE]; /* observation with its numbers */
};

struct behaviours {
	size_t count;
	struct behaviour rows[BEHAVIOURS_MAX];
};

/* Adds a row marked as not checked. Returns NULL if there is no space. */
struct behaviour *behaviour_add(struct behaviours *behaviours, const char *rule, const char *clock);

/* Sets the sentence of ROW. */
void behaviour_say(struct behaviour *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Outcome of ROW. A figure passes if its whole interval is within LIMIT on both sides of 0, and fails if its
 * whole interval is outside. If it overlaps the limit, the outcome is not determined.
 */
enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_NOT_CHECKED, OUTCOME_NOT_DETERMINED };
#define OUTCOMES 4
enum outcome behaviour_outcome(const struct behaviour *row, uint64_t limit);

#endif
