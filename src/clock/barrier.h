/*
 * Cores that begin something together: a barrier that waits a bounded number of pauses, since a core may
 * never come, and a flag by which the boot core ends what it no longer waits for.
 */
#ifndef BARETICK_BARRIER_H
#define BARETICK_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARRIER_LINE 64 /* bytes in a cache line */

struct barrier { /* zeroed by the boot core before the others start */
	/* Counted up by every core once. */
	uint64_t arrived __attribute__((aligned(BARRIER_LINE)));
	/* Set by the boot core. */
	uint32_t stop __attribute__((aligned(BARRIER_LINE)));
};

/* Comes back once EXPECTED cores are here, or after a bounded wait: which are missing shows in what they did. */
void barrier_wait(struct barrier *barrier, size_t expected, void (*pause)(void));

void barrier_stop(struct barrier *barrier);
bool barrier_is_stopped(const struct barrier *barrier);

#endif
