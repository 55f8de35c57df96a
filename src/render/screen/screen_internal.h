/* What the files of the screen share. */
#ifndef BARETICK_SCREEN_INTERNAL_H
#define BARETICK_SCREEN_INTERNAL_H

#include "render/screen/screen.h"

#define SCREEN_BARS 2 /* rows that are no page's: the title and the keys */

/* Renders the page that SCREEN is at into its panes. */
void screen_render(struct screen *screen);

/* As in the bars: "Summary". */
const char *screen_page_name(enum screen_page page);
const char *screen_page_brief(enum screen_page page);

/* Rows that show lines of the page. */
size_t screen_page_rows(const struct screen *screen);

/* Where line COUNT of BYTES begins, or its end where there are fewer. */
size_t screen_skip_lines(const char *bytes, size_t from, size_t count);

/* What the driver and the run know of one clock. */
void screen_clock_facts(struct text *out, const struct report *report, const struct report_clock *entry);

#endif
