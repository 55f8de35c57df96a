/* Writes the report as a page. See json.h. */
#include "render/json/json.h"

#define MARK_LENGTH (sizeof(HTML_MARK) - 1)

static bool
is_mark(const char *bytes)
{
	for (size_t i = 0; i < MARK_LENGTH; i++)
		if (bytes[i] != HTML_MARK[i])
			return false;
	return true;
}

static void
put_bytes(struct text *out, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		text_put_char(out, bytes[i]);
}

void
html_render(struct text *out, struct html_page page, const struct report *report)
{
	size_t at = 0;

	while (at + MARK_LENGTH <= page.length && !is_mark(page.bytes + at))
		at++;
	if (at + MARK_LENGTH > page.length)
		return;
	put_bytes(out, page.bytes, at);
	json_render_brief(out, report);
	at += MARK_LENGTH;
	put_bytes(out, page.bytes + at, page.length - at);
}
