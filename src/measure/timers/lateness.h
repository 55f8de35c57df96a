/* When interrupts came, against when they were due. Pure: a fold over what a recorder wrote. */
#ifndef BARETICK_LATENESS_H
#define BARETICK_LATENESS_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct lateness { /* of one interrupt: it came so long after it was due; in ps, both included */
	int64_t low, high;
};

/* Percentiles of COUNT VALUES, which it puts in order, and how many are early for certain. */
void lateness_fold(struct report_interval *row, struct lateness *values, size_t count);

/*
 * Of a periodic row, when VALUES are folded: ticks that are certain to come before their deadlines beside others that
 * are late by half of a period, or one in eight so far behind the first. Each may as well be late for a deadline
 * before its own then.
 */
bool lateness_is_scattered(const struct report_interval *row, const struct lateness *values, size_t count);

#define SLOTS_EARLY_SHARE 4 /* what comes less than a quarter period early belongs to the deadline that follows */

struct slots { /* the grid of a periodic source: slot k is from a quarter period before its deadline to the next slot */
	uint64_t period_ps;
	size_t count;   /* whole slots in which interrupts were open */
	uint8_t *taken; /* interrupts in each; the caller's, zeroed */
};

/* The slot of an interrupt that came AFTER_PS after the first deadline; SIZE_MAX: outside of all. */
size_t slots_of(const struct slots *slots, int64_t after_ps);

/*
 * The slot of a tick that fell into slot K, the BURST'th last of those that came together: one that comes before its
 * deadline, or beside others, while slots before are empty, is late for one of those, as far back as there are ticks.
 * SIZE_MAX: the last slot, which takes only what is late.
 */
size_t slots_place(const struct slots *slots, size_t k, bool before_due, size_t burst);

/*
 * How much faster a periodic source ticks than its period says, by what each tick of a window was late by the TSC,
 * INT64_MAX where none is known. No handler is entered before its tick, so of each third of them the least are
 * compared, and by how far half of the rest lie behind those it may be off; where the thirds do not lie in a line, it
 * is between what they show two by two. Not known where a third has less than LATENESS_THIRD_MIN.
 */
struct interval_ppb lateness_rate(const int64_t *residuals_ps, size_t count, uint64_t period_ps);
#define LATENESS_THIRD_MIN 8

/*
 * Of two windows: the narrower one, made as wide as to touch the other, for what one shows by chance the other does
 * not.
 */
struct interval_ppb lateness_join(struct interval_ppb a, struct interval_ppb b);

#endif
