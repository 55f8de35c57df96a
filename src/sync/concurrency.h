/*
 * Limits the number of pairs that exchange ping-pongs at the same time. If there are more virtual cores than real ones,
 * such pairs delay each other. Therefore the number starts at one, and doubles while the median round trip stays short.
 * If that becomes long, the number is halved and no longer grows. It is halved again whenever that happens.
 */
#ifndef BARETICK_CONCURRENCY_H
#define BARETICK_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct concurrency {
	size_t now, max;     /* number of pairs at a time, and its maximum; 1 <= now <= max */
	uint64_t best_ticks; /* shortest median round trip so far; 0 if there is none */
	bool settled;        /* true if the number no longer grows */
};

void concurrency_init(struct concurrency *concurrency, size_t max);

/*
 * Adapts concurrency->now after a batch of ping-pongs. MEDIAN_TICKS is the median of the pairs' median round trips. If
 * it is 0, there were none, and nothing changes.
 */
void concurrency_learn(struct concurrency *concurrency, uint64_t median_ticks);

#endif
