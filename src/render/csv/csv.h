/*
 * The report as one tidy table, RFC 4180 with \n: a heading, then a row for each figure. The column run is the
 * start of the run, core an APIC id, and machine is report_machine(). Columns low and high are filled for
 * intervals. A field that does not apply is empty. A figure that was not measured has no row, but every clock
 * has a row `verdict`.
 */
#ifndef BARETICK_CSV_H
#define BARETICK_CSV_H

#include "base/text.h"
#include "report/report.h"

/* OUT is truncated if it is too small. */
void csv_render(struct text *out, const struct report *report);

/* The same for a serial line and many cores: only the boot core has rows, and there are no latencies by core. */
void csv_render_serial(struct text *out, const struct report *report);

#endif
