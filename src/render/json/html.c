/* Writes the report as an HTML page. See json.h. */
#include "base/base64.h"
#include "base/inflate.h"
#include "render/json/json.h"

static void
put_part(struct text *out, struct html_part part)
{
	inflate_put(out, part.packed + sizeof(uint32_t), part.length - sizeof(uint32_t));
}

size_t
html_length(const struct html_page *page)
{
	size_t length = base64_encoded_size(page->charts_length);

	for (unsigned i = 0; i < HTML_PARTS; i++) {
		uint32_t unpacked;

		__builtin_memcpy(&unpacked, page->parts[i].packed, sizeof(unpacked));
		length += unpacked;
	}
	return length;
}

void
html_render(struct text *out, const struct html_page *page, const struct report *report)
{
	put_part(out, page->parts[HTML_BEFORE_REPORT]);
	json_render_brief(out, report);
	put_part(out, page->parts[HTML_BEFORE_CHARTS]);
	base64_put(out, page->charts, page->charts_length);
	put_part(out, page->parts[HTML_AFTER_CHARTS]);
}
