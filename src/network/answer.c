/* Reads the status line and the headers of an HTTP response. See answer.h. */
#include "network/answer.h"

#include "base/text.h"
#include "options/url.h"

#define LENGTH_MAX UINT64_C(1000000000000000)

/* A header line. VALUE points to the part after the colon. */
struct line {
	const char *bytes, *value;
	size_t length, value_length;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns true if LINE is the header NAME, and sets line->value to its value. */
static bool
is_header_named(struct line *line, const char *name)
{
	size_t size = text_length(name);

	if (!url_begins_with(line->bytes, line->length, name) || size == line->length || line->bytes[size] != ':')
		return false;
	line->value = line->bytes + size + 1;
	line->value_length = line->length - size - 1;
	for (; line->value_length && is_blank(line->value[0]); line->value++)
		line->value_length--;
	while (line->value_length && is_blank(line->value[line->value_length - 1]))
		line->value_length--;
	return true;
}

static void
parse_content_length(const struct line *line, struct answer *answer)
{
	uint64_t length = 0;
	size_t at = 0;

	while (at < line->value_length && line->value[at] >= '0' && line->value[at] <= '9' && length < LENGTH_MAX)
		length = length * 10 + (uint64_t)(line->value[at++] - '0');
	if (!at || at < line->value_length || (answer->has_length && answer->length != length))
		answer->refused = "the answer's Content-Length is not a single number";
	answer->has_length = true;
	answer->length = length;
}

static void
parse_header_line(struct line *line, struct answer *answer)
{
	if (is_header_named(line, "content-length"))
		parse_content_length(line, answer);
	else if (is_header_named(line, "transfer-encoding") || is_header_named(line, "content-encoding"))
		answer->refused = "the server's answer is encoded";
	else if (is_header_named(line, "content-type") && url_begins_with(line->value, line->value_length, "text/html"))
		answer->refused = "the server's answer is a web page";
}

bool
answer_parse_header(const char *bytes, size_t length, struct answer *answer)
{
	size_t begin = 0;

	*answer = (struct answer){ .status = url_parse_status_code(bytes, length) };
	if (!answer->status)
		return false;
	for (size_t at = 0; at < length; at++) {
		if (bytes[at] != '\n')
			continue;
		struct line line = { .bytes = bytes + begin, .length = at - begin };

		if (line.length && line.bytes[line.length - 1] == '\r')
			line.length--;
		begin = at + 1;
		if (!line.length) {
			answer->body_at = begin;
			return true;
		}
		parse_header_line(&line, answer);
	}
	return false;
}
