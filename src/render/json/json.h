/*
 * The report as JSON, schema baretick.report/2 (src/report/report.schema.json). Every key is in every report.
 * Numbers are numbers, values that were not measured are null, and all is ASCII. Strings are not trusted: '<'
 * is escaped too, so that the text can be inside a page's <script>.
 */
#ifndef BARETICK_JSON_H
#define BARETICK_JSON_H

#include "base/text.h"
#include "report/report.h"

/* Writes one object and a final newline. If OUT is too small, it is truncated and is no JSON. */
void json_render(struct text *out, const struct report *report);

/*
 * The same for a page: `exact`, which is most of a report, is null, and there is no white space outside
 * strings. The page draws the histograms. qemu/results/page.py makes the same bytes from json_render's output.
 */
void json_render_brief(struct text *out, const struct report *report);

/*
 * The same for a serial line and many cores: each matrix of pairs is null, a core is one line, and its
 * latencies are empty maps.
 */
void json_render_serial(struct text *out, const struct report *report);

/* How much json_render_compact() writes. */
enum json_detail { JSON_WITHOUT_SERIES, JSON_WITHOUT_CORE_LATENCIES, JSON_WITH_BOTH, JSON_DETAILS };

/* As json_render_brief(), but matrices and histograms are null, and so is more with little DETAIL. */
void json_render_compact(struct text *out, const struct report *report, enum json_detail detail);

#endif
