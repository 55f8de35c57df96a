/* Writes the report as an HTML page. See json.h. */
#include "base/base64.h"
#include "base/inflate.h"
#include "render/json/json.h"

#define LENGTH_BYTES 4 /* size of the length in front of a packed part; the lowest byte is the first */

static size_t
get_unpacked_length(struct html_part part)
{
	size_t length = 0;

	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		length |= (size_t)part.packed[i] << 8 * i;
	return length;
}

static bool
put_part(struct text *out, struct html_part part)
{
	return inflate_put(out, part.packed + LENGTH_BYTES, part.length - LENGTH_BYTES);
}

size_t
html_length(const struct html_page *page)
{
	size_t length = base64_encoded_size(page->charts_length);

	for (unsigned i = 0; i < HTML_PARTS; i++)
		length += get_unpacked_length(page->parts[i]);
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
