/*
 * The report as a page: a template that holds all that the page needs, with one mark where the report's JSON
 * goes. The template is the caller's: src/page/build makes it. The JSON has no '<' in it, so that nothing in it
 * can end the <script> in which it stands.
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

/* OUT is truncated where it is too small, and empty where PAGE has no mark. */
void html_render(struct text *out, struct html_page page, const struct report *report);

#endif
