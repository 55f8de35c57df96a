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
	bool seen;         /* false: it could not be looked at; TEXT says why */
	bool broken;       /* where there is no figure: the promise was not kept */
	bool has_figure;   /* else: judged by its figure, see behaviour_is_broken() */
	int64_t measured, low, high; /* in the rule's unit */
	char text[BEHAVIOUR_TEXT_SIZE]; /* what was seen, with the numbers */
};

struct behaviours {
	size_t count;
	struct behaviour rows[BEHAVIOURS_MAX];
};

/* The next free row, filled as "not seen"; NULL where there is no room. */
struct behaviour *behaviour_add(struct behaviours *behaviours, const char *rule, const char *clock);

/* Sets the sentence of ROW. */
void behaviour_say(struct behaviour *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ROW was seen and its promise was not kept: the whole interval of its figure is beyond LIMIT, either way. */
bool behaviour_is_broken(const struct behaviour *row, uint64_t limit);

#endif
