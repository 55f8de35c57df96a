/*
 * The report for a console whose log is short: JSON without histograms, compressed (RFC 1951) and written in base64
 * with the alphabet of URLs (RFC 4648, section 5, without padding). No wrapper around a log escapes these characters.
 *
 * Each line is `bt`, its number from 0001, a colon, and COMPACT_COLUMNS characters; the last line may be shorter.
 * A reader finds the lines among others, behind time stamps or within JSON, and can name those that are missing.
 */
#ifndef BARETICK_COMPACT_H
#define BARETICK_COMPACT_H

#include "base/deflate.h"
#include "report/report.h"
#include "base/text.h"

#define COMPACT_COLUMNS   72u
#define COMPACT_LINE_SIZE (COMPACT_COLUMNS + 9) /* with bt0001: and the end of the line, CR and LF */
/* With the lines around it, 48 KiB: consoles of clouds keep 64 KB, and the tables of the run need some of them. */
#define COMPACT_LINES_MAX (((48u << 10) - 160) / COMPACT_LINE_SIZE)

/*
 * Writes REPORT into OUT. JSON is large enough for json_render(), and WORK is memory for the call. If OUT would have
 * more than COMPACT_LINES_MAX lines, the latencies of cores are left out, then the series of a soak, too. A report of
 * 64 cores fits. A larger one may be longer.
 */
void compact_render(struct text *out, struct text *json, struct deflate_work *work, const struct report *report);

#endif
