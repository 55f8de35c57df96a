/*
 * How many pairs may exchange ping-pongs side by side. Where virtual cores outnumber real ones, pairs that do so at
 * the same time ruin each other's round trips: so the concurrency starts at one and doubles while the median round
 * trip does not suffer, is halved once it does, and stays there; it is halved again whenever it suffers again.
 */
#ifndef BARETICK_CONCURRENCY_H
#define BARETICK_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct concurrency {
	size_t now, max;     /* pairs at a time; 1 <= now <= max */
	uint64_t best_ticks; /* the least median round trip at any concurrency so far; 0: none yet */
	bool settled;        /* no longer growing */
};

void concurrency_init(struct concurrency *concurrency, size_t max);

/*
 * Learns from one batch of ping-pongs at concurrency->now, whose median round trips had MEDIAN_TICKS for their own
 * median (0: there was none; nothing is learned), and sets concurrency->now for the next.
 */
void concurrency_learn(struct concurrency *concurrency, uint64_t median_ticks);

#endif
