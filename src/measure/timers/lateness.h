/* When interrupts came, against when they were due. Pure: a fold over what a recorder wrote. */
#ifndef BARETICK_LATENESS_H
#define BARETICK_LATENESS_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"

struct lateness { /* of one interrupt: it came so long after it was due; in ps, both included */
	int64_t low, high;
};

/* Percentiles of COUNT VALUES, which it puts in order, and how many are early for certain. */
void lateness_fold(struct report_interval *row, struct lateness *values, size_t count);

struct slots { /* the grid of a periodic source: slot k is from a quarter period before its deadline to the next slot */
	uint64_t period_ps;
	size_t count;   /* whole slots in which interrupts were open */
	uint8_t *taken; /* interrupts in each; the caller's, zeroed */
};

/* The slot of an interrupt that came AFTER_PS after the first deadline; SIZE_MAX: outside of all. */
size_t slots_of(const struct slots *slots, int64_t after_ps);

#endif
