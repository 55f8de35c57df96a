/* Writes the report for serial=compact: compressed, and in base64 lines. See compact.h. */
#include "render/json/compact.h"

#include "render/json/json.h"

#define GROUP_BYTES 3u
#define GROUP_CHARS 4u
#define CHAR_BITS   6u
#define BYTE_BITS   8u

_Static_assert(COMPACT_COLUMNS % GROUP_CHARS == 0, "a line has whole groups");

struct lines {
	struct text *out;
	uint32_t bits;       /* bytes of a group that is not yet complete; base64 encodes groups of GROUP_BYTES bytes */
	unsigned bytes;      /* number of bytes in BITS */
	unsigned column;     /* number of characters in the current line, without its prefix */
	unsigned count;      /* number of lines, including the current one */
};

static void
put_base64_characters(struct lines *lines, unsigned chars)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	if (lines->column == COMPACT_COLUMNS || !lines->count) {
		if (lines->count++)
			text_put_char(lines->out, '\n');
		text_printf(lines->out, "bt%04u:", lines->count);
		lines->column = 0;
	}
	for (unsigned i = 0; i < chars; i++)
		text_put_char(lines->out, alphabet[lines->bits >> (GROUP_CHARS - 1 - i) * CHAR_BITS & 0x3f]);
	lines->column += chars;
}

static void
put_byte(void *sink, uint8_t byte)
{
	struct lines *lines = sink;

	lines->bits |= (uint32_t)byte << (GROUP_BYTES - 1 - lines->bytes) * BYTE_BITS;
	if (++lines->bytes < GROUP_BYTES)
		return;
	put_base64_characters(lines, GROUP_CHARS);
	lines->bits = lines->bytes = 0;
}

/* Compresses JSON and writes it into OUT as lines. Returns the number of lines. */
static unsigned
compress_json(struct text *out, const struct text *json, struct deflate_work *work)
{
	struct lines lines = { .out = out };

	text_init(out, out->bytes, out->size);
	deflate_bytes(work, json->bytes, json->length, put_byte, &lines);
	if (lines.bytes)
		put_base64_characters(&lines, lines.bytes + 1);
	text_put_char(out, '\n');
	return lines.count;
}

void
compact_render(struct text *out, struct text *json, struct deflate_work *work, const struct report *report)
{
	unsigned lines = COMPACT_LINES_MAX + 1;

	for (unsigned detail = JSON_DETAILS; detail > 0 && lines > COMPACT_LINES_MAX; detail--) {
		text_init(json, json->bytes, json->size);
		json_render_compact(json, report, (enum json_detail)(detail - 1));
		lines = compress_json(out, json, work);
	}
}
