/*
 * A barrier lets several cores start at the same time. Each core waits for a limited number of pauses, because
 * another core may never arrive. The boot core can end all waits early.
 */
#ifndef BARETICK_BARRIER_H
#define BARETICK_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARRIER_LINE 64 /* size of a cache line in bytes */

struct barrier { /* the boot core zeroes it before the other cores start */
	/* number of cores that have arrived */
	uint64_t arrived __attribute__((aligned(BARRIER_LINE)));
	/* 1 after barrier_stop(); only the boot core writes it */
	uint32_t stop __attribute__((aligned(BARRIER_LINE)));
};

/*
 * Waits until EXPECTED cores have called this function, but at most for a limited time. Does not return whether all
 * cores arrived, because the caller sees this from the cores' results. A core that did not arrive has no results.
 */
void barrier_wait(struct barrier *barrier, size_t expected, void (*pause)(void));

void barrier_stop(struct barrier *barrier);
bool barrier_is_stopped(const struct barrier *barrier);

#endif
