/*
 * How a device behaves, beside what its data sheet promises: a row for each promise that was looked at, with one
 * of four outcomes. Drivers fill the rows; what is a fault, and by which limit, the rule catalogue says.
 */
#ifndef BARETICK_BEHAVIOUR_H
#define BARETICK_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEHAVIOURS_MAX     144 /* timers make up to six each, and a chip set may have eight comparators */
#define BEHAVIOUR_TEXT_SIZE 192 /* a sentence and its final 0 */

/* The kind of reason why a promise was not checked; the row's text has the reason itself. */
enum unchecked {
	UNCHECKED_OTHER,
	UNCHECKED_GUEST,        /* a guest or an emulator cannot show it, or its host may be the cause */
	UNCHECKED_NO_REFERENCE, /* nothing independent to compare the figure with */
};

struct behaviour {
	const char *rule;  /* id of its row in the rule catalogue; static storage */
	const char *clock; /* id; static storage */
	bool checked;      /* false: it could not be; TEXT says why */
	enum unchecked unchecked; /* the kind of that reason; ignored if CHECKED */
	bool disturbed;    /* not checked for what passes: made again while there is time */
	bool failed;       /* where there is no figure: the device does not do what is promised */
	bool open;         /* judged: not determined, whatever the figure; TEXT says why */
	bool has_figure;   /* else: judged by its figure, see behaviour_outcome() */
	int64_t measured, low, high; /* in the rule's unit */
	/* Of what each core has one of: judged on so many, seen on so many of them, and most on that one (APIC id). */
	uint32_t cores_asked, cores, core;
	char text[BEHAVIOUR_TEXT_SIZE]; /* what was seen, with the numbers */
};

struct behaviours {
	size_t count;
	struct behaviour rows[BEHAVIOURS_MAX];
};

/* The next free row, filled as not checked; NULL where there is no space. */
struct behaviour *behaviour_add(struct behaviours *behaviours, const char *rule, const char *clock);

/* Sets the sentence of ROW. */
void behaviour_say(struct behaviour *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * What came of ROW's promise. A figure passed where its whole interval is within LIMIT, either way, and failed
 * where the whole of it is beyond: one that overlaps the limit has determined nothing.
 */
enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_NOT_CHECKED, OUTCOME_NOT_DETERMINED };
#define OUTCOMES 4
enum outcome behaviour_outcome(const struct behaviour *row, uint64_t limit);

#endif
