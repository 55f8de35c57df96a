/* Provides the page report.html and the pager's buffer for a plan. See page.h. */
#include "uefi/page.h"

#include "render/screen/screen.h"
#include "report/report_sizes.h"

static size_t
get_html_size(size_t cores)
{
	return report_size_html(cores, html_length(&page_parts));
}

static void
render_html_page(struct text *out, const struct report *report)
{
	html_render(out, &page_parts, report);
}

const struct plan_page report_page = { get_html_size, render_html_page, SCREEN_BUFFER_SIZE };
