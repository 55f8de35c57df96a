/* A hypervisor's own counter of the time that it took from a core: the core was ready to run, but did not. */
#ifndef BARETICK_STOLEN_H
#define BARETICK_STOLEN_H

#include <stdbool.h>
#include <stdint.h>

struct stolen {
	uint64_t ns;    /* stolen time that the hypervisor counted between two readings of its counter */
	uint64_t ticks; /* TSC ticks from before the first reading to after the second */
};

/*
 * Runs WORK between two readings of the calling core's counter, and fills STOLEN. Returns false if the counter could
 * not be read. The hypervisor's registers are restored before it returns.
 */
typedef bool stolen_count(const void *counter, void (*work)(void *argument), void *argument, struct stolen *stolen);

#endif
