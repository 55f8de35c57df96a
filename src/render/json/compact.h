/*
 * The report for a console whose log is short: JSON without histograms, compressed (RFC 1951) and written in base64
 * with the alphabet for URLs (RFC 4648, section 5, without padding). A program that puts the log into JSON or a URL
 * does not have to escape the characters of this alphabet.
 *
 * Each line is `bt`, its number from 0001, a colon, and COMPACT_COLUMNS characters; the last line may be shorter.
 * A reader finds these lines among others, after time stamps or inside JSON. The numbers show which lines are missing.
 */
#ifndef BARETICK_COMPACT_H
#define BARETICK_COMPACT_H

#include "base/deflate.h"
#include "report/report.h"
#include "base/text.h"

#define COMPACT_COLUMNS   72u
/* size of a line in bytes, with the prefix "bt0001:" and the line end CR LF */
#define COMPACT_LINE_SIZE (COMPACT_COLUMNS + 9)
/*
 * Limits the lines and the marker lines around them, of 160 bytes, to 48 KiB. Cloud consoles keep only the last 64 KB,
 * and the report's text on the console needs the rest.
 */
#define COMPACT_LINES_MAX (((48u << 10) - 160) / COMPACT_LINE_SIZE)

/*
 * Writes REPORT into OUT. JSON is a buffer for the uncompressed report, and WORK is scratch memory. If the result has
 * more than COMPACT_LINES_MAX lines, the latencies of each core are left out. If that is not enough, the series of a
 * soak is left out, too. A report of 64 cores fits. With more cores the result may exceed COMPACT_LINES_MAX.
 */
void compact_render(struct text *out, struct text *json, struct deflate_work *work, const struct report *report);

#endif
