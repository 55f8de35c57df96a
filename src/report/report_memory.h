/* Divides a block of memory into the arrays of a report whose size depends on the number of cores. */
#ifndef BARETICK_REPORT_MEMORY_H
#define BARETICK_REPORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/*
 * Reserves BYTES at the address *NEXT, and increments *NEXT to the next free multiple of ALIGNMENT. The function does
 * not access the memory, so it can also calculate the size of a block that does not exist yet.
 */
static inline void *
report_reserve(uintptr_t *next, size_t bytes, size_t alignment)
{
	uintptr_t reserved = *next;

	*next += (bytes + alignment - 1) / alignment * alignment;
	return (void *)reserved;
}

/*
 * Returns the size of the memory for CORES cores and ping-pongs of up to PAIRS pairs of cores. The memory must be
 * aligned to 8 bytes.
 */
size_t report_memory_bytes(size_t cores, size_t pairs);

/*
 * Divides MEMORY, which has report_memory_bytes() zeroed bytes, into facts.cores, figures.cores, and the arrays of
 * figures.skew and outcomes.sync. Then does what report_clear_passes() does.
 */
void report_divide_memory(struct report *report, void *memory, size_t cores, size_t pairs);

/* Removes the results of the measurement passes. The offsets and ranks of all cores are then unknown. */
void report_clear_passes(struct figures *figures);

#endif
