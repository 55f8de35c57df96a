/*
 * Lets several cores start together. The barrier waits for a bounded number of pauses, because a core may never
 * come. A flag lets the boot core end waits that it has given up.
 */
#ifndef BARETICK_BARRIER_H
#define BARETICK_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARRIER_LINE 64 /* bytes in a cache line */

struct barrier { /* zeroed by the boot core before the others start */
	/* Incremented once by every core. */
	uint64_t arrived __attribute__((aligned(BARRIER_LINE)));
	/* Set by the boot core. */
	uint32_t stop __attribute__((aligned(BARRIER_LINE)));
};

/*
 * Returns once EXPECTED cores are here, or after a bounded wait. Missing cores are found by their missing
 * results.
 */
void barrier_wait(struct barrier *barrier, size_t expected, void (*pause)(void));

void barrier_stop(struct barrier *barrier);
bool barrier_is_stopped(const struct barrier *barrier);

#endif
