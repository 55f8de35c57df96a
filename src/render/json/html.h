/*
 * The report as an HTML page. The template, which src/page/build makes, has all that the page needs, and HTML_MARK
 * at the place for the report's JSON. The JSON contains no '<', so that no string in it can end its <script>.
 */
#ifndef BARETICK_HTML_H
#define BARETICK_HTML_H

#include <stddef.h>

#include "base/text.h"
#include "report/report.h"

#define HTML_MARK "@REPORT@"

struct html_page {
	const char *bytes;
	size_t length;
};

/* Copies the template PAGE into OUT with the report in it. OUT is truncated if too small, and empty without a mark. */
void html_render(struct text *out, struct html_page page, const struct report *report);

#endif
