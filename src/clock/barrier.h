/*
 * Lets several cores start at the same time. The barrier waits for a bounded number of pauses, because a core may never
 * arrive. The boot core can end all waits with a flag.
 */
#ifndef BARETICK_BARRIER_H
#define BARETICK_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARRIER_LINE 64 /* bytes in a cache line */

struct barrier { /* the boot core sets it to zero before the other cores start */
	/* Number of arrived cores. Each core adds 1. */
	uint64_t arrived __attribute__((aligned(BARRIER_LINE)));
	/* 1 after barrier_stop(), which only the boot core calls. */
	uint32_t stop __attribute__((aligned(BARRIER_LINE)));
};

/*
 * Returns when EXPECTED cores have arrived, or after a bounded wait. There is no error: missing cores show by their
 * missing results.
 */
void barrier_wait(struct barrier *barrier, size_t expected, void (*pause)(void));

void barrier_stop(struct barrier *barrier);
bool barrier_is_stopped(const struct barrier *barrier);

#endif
