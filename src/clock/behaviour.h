/*
 * How a device behaves, beside what its data sheet promises: a row for each promise that was looked at.
 * Drivers fill the rows; what is a fault, and by which limit, the rule catalogue says.
 */
#ifndef BARETICK_BEHAVIOUR_H
#define BARETICK_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEHAVIOURS_MAX     32
#define BEHAVIOUR_TEXT_SIZE 128 /* a sentence and its final 0 */

struct behaviour {
	const char *rule;  /* id of its row in the rule catalogue; static storage */
	const char *clock; /* id; static storage */
	bool checked;      /* false: it could not be; TEXT says why */
	bool disturbed;    /* not checked for what passes: made again while there is time */
	bool failed;       /* where there is no figure: the device does not do what is promised */
	bool has_figure;   /* else: judged by its figure, see behaviour_failed() */
	int64_t measured, low, high; /* in the rule's unit */
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

/* ROW was checked and failed: the whole interval of its figure is beyond LIMIT, either way. */
bool behaviour_failed(const struct behaviour *row, uint64_t limit);

#endif
