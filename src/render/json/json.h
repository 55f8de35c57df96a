/*
 * The report as JSON, schema baretick.report/2 (src/report/report.schema.json): every key in every report, numbers
 * as numbers, null for what was not measured, ASCII only. No string in it is trusted: '<' is escaped too, so
 * that the text can stand inside a page's <script>.
 */
#ifndef BARETICK_JSON_H
#define BARETICK_JSON_H

#include "base/text.h"
#include "report/report.h"

/* One object and a final newline. OUT is truncated where it is too small, and then no JSON. */
void json_render(struct text *out, const struct report *report);

/*
 * Likewise, but `exact` is null, which is most of a report, and no white space stands outside of strings: for a
 * page, which draws the histograms. qemu/results/page.py makes the same bytes out of json_render's.
 */
void json_render_brief(struct text *out, const struct report *report);

/*
 * Likewise, for a serial line and many cores: each matrix of pairs is null, a core is one line, and its latencies are
 * empty maps.
 */
void json_render_serial(struct text *out, const struct report *report);

#endif
