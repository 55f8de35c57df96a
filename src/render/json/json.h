/*
 * The report as JSON, schema baretick.report/1 (src/report/report.schema.json). Every report has every key; a value
 * that was not measured is null. The text is ASCII. '<' is escaped in strings. Otherwise a string could end the
 * <script> element that contains the text in an HTML page.
 */
#ifndef BARETICK_JSON_H
#define BARETICK_JSON_H

#include <stddef.h>

#include "base/text.h"
#include "report/report.h"

/* Writes one object and a final newline. If OUT is too small, the text is truncated and thus not valid JSON. */
void json_render(struct text *out, const struct report *report);

/*
 * Like json_render(), but for an HTML page, without white space outside strings. `exact`, the list of all durations, is
 * null, because it is the largest part of a report and the page does not use it. qemu/results/page.py makes the same
 * text from the output of json_render().
 */
void json_render_brief(struct text *out, const struct report *report);

/*
 * Like json_render(), but shorter, for a machine with many cores on a serial line: each matrix of TSC offsets is null.
 * The object of each core is on one line, and its latencies are empty maps.
 */
void json_render_for_serial_port(struct text *out, const struct report *report);

/* The parts of a report that json_render_compact() writes, from the fewest to the most. */
enum json_detail { JSON_WITHOUT_SERIES, JSON_WITHOUT_CORE_LATENCIES, JSON_WITH_BOTH, JSON_DETAILS };

/* Like json_render_brief(), but matrices, histograms and the parts that DETAIL excludes are null. */
void json_render_compact(struct text *out, const struct report *report, enum json_detail detail);

/*
 * The parts of the page report.html, which src/page/build makes: what comes before the report's JSON, between it and
 * Chart.js, and after Chart.js. Each part is its length in 4 bytes, and then its text in the form of base/inflate.h. As
 * plain text they would make the boot image 53 KB larger.
 */
enum html_place { HTML_BEFORE_REPORT, HTML_BEFORE_CHARTS, HTML_AFTER_CHARTS, HTML_PARTS };

struct html_page {
	struct html_part {
		const uint8_t *packed;
		size_t length; /* in bytes, at least 4 */
	} parts[HTML_PARTS];
	/* Chart.js, compressed by gzip; the page has it in base64, and the browser unpacks it */
	const char *charts;
	size_t charts_length;
};

/* Returns the length in bytes of the page without the report's JSON. */
size_t html_length(const struct html_page *page);

/* Adds the page with REPORT and Chart.js in it to OUT, which is truncated if it is too small. */
void html_render(struct text *out, const struct html_page *page, const struct report *report);

#endif
