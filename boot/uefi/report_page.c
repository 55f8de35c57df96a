/* Provides the page report.html and the pager's buffer for a plan. See page.h. */
#include "uefi/page.h"

#include "render/json/json.h"
#include "render/screen/screen.h"
#include "report/report_sizes.h"

static struct html_page
page_in_image(void)
{
	return (struct html_page){
		.bytes = page_bytes,
		.length = (size_t)(page_end - page_bytes),
		.charts = charts_bytes,
		.charts_length = (size_t)(charts_end - charts_bytes),
	};
}

static size_t
size_of_page(size_t cores)
{
	return report_size_html(cores, html_length(page_in_image()));
}

static void
render_page(struct text *out, const struct report *report)
{
	html_render(out, page_in_image(), report);
}

const struct plan_page report_page = { size_of_page, render_page, SCREEN_BUFFER_SIZE };
