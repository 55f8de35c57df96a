/*
 * The report as one tidy table, RFC 4180 with \n: a heading, then a row for each figure. run is when the run
 * began, core an APIC id; low and high are there where the figure is an interval. A field that does not apply is
 * empty; machine is report_machine(). A figure that was not measured has no row, but every clock has its row `verdict`.
 */
#ifndef BARETICK_CSV_H
#define BARETICK_CSV_H

#include "base/text.h"
#include "report/report.h"

/* OUT is truncated where it is too small. */
void csv_render(struct text *out, const struct report *report);

/* Likewise, for a serial line and many cores: of these the boot core alone has rows, and no latencies by core. */
void csv_render_serial(struct text *out, const struct report *report);

#endif
