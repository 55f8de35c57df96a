/*
 * Cores that begin something together: a barrier that waits a bounded number of pauses, since a core may
 * never come, and a flag by which the boot core ends what it no longer waits for.
 */
#ifndef BARETICK_GATHER_H
#define BARETICK_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATHER_LINE 64 /* bytes in a cache line */

struct gathering { /* zeroed by the boot core before the others start */
	/* Counted up by every core once. */
	uint64_t arrived __attribute__((aligned(GATHER_LINE)));
	/* Set by the boot core. */
	uint32_t stop __attribute__((aligned(GATHER_LINE)));
};

/* Comes back once EXPECTED cores are here, or after a bounded wait: who is missing shows in what they did. */
void gather(struct gathering *gathering, size_t expected, void (*pause)(void));

void gathering_stop(struct gathering *gathering);
bool gathering_stopped(const struct gathering *gathering);

#endif
