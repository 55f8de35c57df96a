/*
 * Limits the number of pairs that exchange ping-pongs at the same time. If virtual cores outnumber real ones,
 * pairs that do so delay each other's round trips. Therefore the concurrency starts at one and doubles while
 * the median round trip stays short. If it becomes long, the concurrency is halved and no longer grows. It is
 * halved again each time that happens.
 */
#ifndef BARETICK_CONCURRENCY_H
#define BARETICK_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct concurrency {
	size_t now, max;     /* pairs at a time; 1 <= now <= max */
	uint64_t best_ticks; /* shortest median round trip at any concurrency so far; 0 if there is none */
	bool settled;        /* no longer growing */
};

void concurrency_init(struct concurrency *concurrency, size_t max);

/*
 * Adapts concurrency->now to one batch of ping-pongs. MEDIAN_TICKS is the median of their median round trips.
 * If it is 0, there were none and nothing changes.
 */
void concurrency_learn(struct concurrency *concurrency, uint64_t median_ticks);

#endif
