/*
 * The report as a page: a template with everything that the page needs, and one mark where the report's JSON
 * goes. The caller owns the template, which src/page/build makes. The JSON contains no '<', so that nothing in
 * it can end its <script>.
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

/* OUT is truncated if it is too small, and empty if PAGE has no mark. */
void html_render(struct text *out, struct html_page page, const struct report *report);

#endif
