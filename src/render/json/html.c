/* Writes the report as an HTML page. See json.h. */
#include "base/base64.h"
#include "render/json/json.h"

static bool
is_mark_at(struct html_page page, size_t at, const char *mark)
{
	size_t length = text_length(mark);

	return at + length <= page.length && __builtin_memcmp(page.bytes + at, mark, length) == 0;
}

static bool
has_report_mark(struct html_page page)
{
	for (size_t at = 0; at < page.length; at++)
		if (is_mark_at(page, at, HTML_REPORT_MARK))
			return true;
	return false;
}

size_t
html_length(struct html_page page)
{
	return page.length + base64_encoded_size(page.charts_length);
}

void
html_render(struct text *out, struct html_page page, const struct report *report)
{
	if (!has_report_mark(page))
		return;
	for (size_t at = 0; at < page.length;) {
		if (is_mark_at(page, at, HTML_REPORT_MARK)) {
			json_render_brief(out, report);
			at += sizeof(HTML_REPORT_MARK) - 1;
		} else if (is_mark_at(page, at, HTML_CHARTS_MARK)) {
			base64_put(out, page.charts, page.charts_length);
			at += sizeof(HTML_CHARTS_MARK) - 1;
		} else
			text_put_char(out, page.bytes[at++]);
	}
}
