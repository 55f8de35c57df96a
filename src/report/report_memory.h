/* The memory of a report's figures of cores and of their pairs. */
#ifndef BARETICK_REPORT_MEMORY_H
#define BARETICK_REPORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/*
 * Reserves BYTES at *NEXT, and advances *NEXT past them to a multiple of ALIGNMENT. Only calculates addresses, so that
 * it also serves to calculate the size of a block that does not exist yet.
 */
static inline void *
report_reserve(uintptr_t *next, size_t bytes, size_t alignment)
{
	uintptr_t reserved = *next;

	*next += (bytes + alignment - 1) / alignment * alignment;
	return (void *)reserved;
}

/* Returns the size of the memory for CORES cores and for schedules up to WIDEST. It must be aligned to 8 bytes. */
size_t report_memory_size(size_t cores, enum pair_schedule widest);

/*
 * Divides MEMORY, which has report_memory_size() zeroed bytes, into the rows of report->cores and the arrays of
 * report->skew. The rows have no offsets after this call. A second call keeps all other fields of the rows.
 */
void report_lay_out(struct report *report, void *memory, size_t cores, enum pair_schedule widest);

#endif
