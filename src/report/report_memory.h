/* The memory of a report's figures of cores and of their pairs. */
#ifndef BARETICK_REPORT_MEMORY_H
#define BARETICK_REPORT_MEMORY_H

#include <stddef.h>

#include "report/report.h"

/* Returns the size of the memory for CORES cores and for schedules up to WIDEST. It must be aligned to 8 bytes. */
size_t report_memory_size(size_t cores, enum pair_schedule widest);

/*
 * Divides MEMORY, which has report_memory_size() zeroed bytes, into the rows of report->cores and the arrays of
 * report->skew. The rows have no offsets after this call. A second call keeps all other fields of the rows.
 */
void report_lay_out(struct report *report, void *memory, size_t cores, enum pair_schedule widest);

#endif
