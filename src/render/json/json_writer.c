/* Writes JSON into a text. See json_writer.h. */
#include "render/json/json_writer.h"

#define INDENT_COLUMNS  2
#define FIRST_PRINTABLE 0x20
#define LAST_PRINTABLE  0x7e

struct json
json_start_writer(struct text *out)
{
	return (struct json){ .out = out, .empty = true };
}

static bool
is_written_on_one_line(const struct json *json)
{
	return json->flat_from && json->depth >= json->flat_from;
}

static void
begin_line(struct json *json)
{
	if (!json->dense)
		text_printf(json->out, "\n%*s", (int)(json->depth * INDENT_COLUMNS), "");
}

/*
 * Writes STRING with quotes and escapes. Escapes '<' too, so that STRING cannot end a <script> that contains the
 * JSON.
 */
static void
put_quoted(struct json *json, const char *string)
{
	text_put_char(json->out, '"');
	for (; *string; string++) {
		unsigned char byte = (unsigned char)*string;

		if (byte == '"' || byte == '\\')
			text_printf(json->out, "\\%c", *string);
		else if (byte < FIRST_PRINTABLE || byte > LAST_PRINTABLE || byte == '<')
			text_printf(json->out, "\\u%04x", (unsigned)byte);
		else
			text_put_char(json->out, *string);
	}
	text_put_char(json->out, '"');
}

static void
begin_value(struct json *json, const char *key)
{
	if (!json->empty)
		text_put_char(json->out, ',');
	if (json->depth && !is_written_on_one_line(json))
		begin_line(json);
	else if (!json->empty && !json->dense)
		text_put_char(json->out, ' ');
	json->empty = false;
	if (!key)
		return;
	put_quoted(json, key);
	text_put(json->out, json->dense ? ":" : ": ");
}

void
json_open(struct json *json, const char *key, char bracket, bool on_one_line)
{
	begin_value(json, key);
	text_put_char(json->out, bracket);
	json->depth++;
	json->empty = true;
	if (on_one_line && !json->flat_from)
		json->flat_from = json->depth;
}

void
json_close(struct json *json, char bracket)
{
	bool flat = is_written_on_one_line(json);

	if (flat && json->flat_from == json->depth)
		json->flat_from = 0;
	json->depth--;
	if (!flat && !json->empty)
		begin_line(json);
	text_put_char(json->out, bracket);
	json->empty = false;
}

void
json_put_null(struct json *json, const char *key)
{
	begin_value(json, key);
	text_put(json->out, "null");
}

void
json_put_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	text_put(json->out, value ? "true" : "false");
}

void
json_put_number(struct json *json, const char *key, uint64_t number, unsigned digits, bool is_signed)
{
	bool is_negative = is_signed && (int64_t)number < 0;

	begin_value(json, key);
	if (is_negative) {
		text_put_char(json->out, '-');
		number = -number;
	}
	for (; digits && number % 10 == 0; digits--)
		number /= 10;
	text_put_decimal(json->out, number, digits, digits);
}

void
json_put_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	put_quoted(json, value);
}
