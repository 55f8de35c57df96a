/* Declarations that only the files in render/screen share. */
#ifndef BARETICK_SCREEN_INTERNAL_H
#define BARETICK_SCREEN_INTERNAL_H

#include "render/screen/screen.h"

#define SCREEN_BARS 2 /* number of rows that are on every page: the title and the bar of keys */

/* Renders the current page of SCREEN into its panes. */
void screen_render(struct screen *screen);

/* Return a page's name for the title and the bar of keys ("Summary"), and a shorter one for a narrow screen ("Sum"). */
const char *screen_page_name(enum screen_page page);
const char *screen_page_short_name(enum screen_page page);

/* Returns the number of rows that show lines of the page. */
size_t screen_get_page_rows(const struct screen *screen);

/*
 * Returns the offset in BYTES of the line that is COUNT lines after offset FROM. If there are fewer lines, returns the
 * offset of the end.
 */
size_t screen_skip_lines(const char *bytes, size_t from, size_t count);

/* Writes the title, verdict, state, rates and latencies of one clock. */
void screen_put_clock_facts(struct text *out, const struct report *report, const struct report_clock *entry);

#endif
