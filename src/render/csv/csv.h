/*
 * The report as one CSV table (RFC 4180, but lines end with \n): a heading, then a row for each figure. The column
 * `run` is the start time of the run, `core` an APIC id, and `machine` is report_machine_name(). `low` and `high` are
 * filled for intervals. A column that does not apply is empty. A figure that was not measured has no row, but every
 * clock has a row `verdict`.
 */
#ifndef BARETICK_CSV_H
#define BARETICK_CSV_H

#include "base/text.h"
#include "report/report.h"

/* Writes the CSV table into OUT. If OUT is too small, the table is truncated. */
void csv_render(struct text *out, const struct report *report);

/* Like csv_render(), but short for a serial line: of the cores, only the boot core has rows, without latencies. */
void csv_render_for_serial_port(struct text *out, const struct report *report);

#endif
