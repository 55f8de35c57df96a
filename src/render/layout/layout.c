/* Lines, columns and words of tables. See layout.h. */
#include "render/layout/layout.h"

#define CUT_DOTS        3
#define SENTENCE_INDENT 2

enum text_ink
table_colour_of_verdict(enum verdict verdict)
{
	static const enum text_ink inks[] = {
		[VERDICT_PASS] = INK_PASS,	 [VERDICT_WARN] = INK_WARN,  [VERDICT_FAIL] = INK_FAIL,
		[VERDICT_INCOMPLETE] = INK_WARN, [VERDICT_ABSENT] = INK_DIM,
	};

	return inks[verdict];
}

const char *const verdict_words_in_capitals[] = {
	[VERDICT_PASS] = "PASS", [VERDICT_WARN] = "WARN", [VERDICT_FAIL] = "FAIL", [VERDICT_INCOMPLETE] = "INCOMPLETE",
	[VERDICT_ABSENT] = "ABSENT",
};

void
table_end_line(struct text *out)
{
	while (out->length && out->bytes[out->length - 1] == ' ')
		out->bytes[--out->length] = '\0';
	text_put_char(out, '\n');
}

void
table_pad_to_column(struct text *out, size_t line_start, size_t column)
{
	while (out->length < line_start + column && !out->truncated)
		text_put_char(out, ' ');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns true if TEXT starts with a unit, so that no line break may part it from the number before it. */
static bool
begins_with_unit(const char *text)
{
	static const char *const units[] = { "%", "ps", "ns", "us", "ms", "s", "min", "h", "Hz", "kHz", "MHz", "GHz",
					     "ppm", "ppb", "KiB", "MiB" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text_begins_with(text, units[i]) && !is_letter(text[text_length(units[i])]))
			return true;
	return false;
}

/* Returns true if SENTENCE may have a line break in place of the character at AT. */
static bool
can_break_line_at(const char *sentence, size_t at)
{
	return sentence[at] == ' ' && !(at && is_digit(sentence[at - 1]) && begins_with_unit(sentence + at + 1));
}

size_t
table_bytes_that_fit(const char *sentence, size_t width)
{
	size_t length = 0, fit = 0;

	for (; length <= width && sentence[length]; length++)
		if (can_break_line_at(sentence, length))
			fit = length;
	if (length <= width && !sentence[length])
		return length;
	return fit ? fit : width; /* a word that is longer than a line is cut */
}

size_t
table_get_max_line_width(const struct text *out)
{
	return out->columns ? out->columns : TABLE_COLUMNS;
}

void
table_put_wrapped(struct text *out, size_t line_start, size_t indent, const char *sentence)
{
	size_t columns = table_get_max_line_width(out), column = out->length - line_start;

	if (columns > TABLE_SENTENCE_COLUMNS)
		columns = TABLE_SENTENCE_COLUMNS;
	while (text_length(sentence)) {
		size_t length = table_bytes_that_fit(sentence, column < columns ? columns - column : 1);

		text_printf(out, "%.*s", (int)length, sentence);
		sentence += length;
		while (*sentence == ' ')
			sentence++;
		if (*sentence) {
			table_end_line(out);
			text_printf(out, "%*s", (int)indent, "");
			column = indent;
		}
	}
	table_end_line(out);
}

/* If TEXT did not fit its buffer, replaces its last characters by dots, to show that it was cut off. */
static void
end_cut_text_with_dots(struct text *text)
{
	for (size_t i = 1; text->truncated && i <= CUT_DOTS && i <= text->length; i++)
		text->bytes[text->length - i] = '.';
}

/* Writes LABEL, padded to INDENT columns, and then the formatted text. All lines of the text start at column INDENT. */
static void
put_label_and_wrapped_text(struct text *out, const char *label, size_t indent, const char *format, va_list arguments)
{
	size_t line_start = out->length;
	char bytes[TABLE_SENTENCE_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_vprintf(&text, format, arguments);
	end_cut_text_with_dots(&text);
	text_printf(out, "%-*s", (int)indent, label);
	table_put_wrapped(out, line_start, indent, bytes);
}

void
table_put_labelled_line(struct text *out, const char *label, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_label_and_wrapped_text(out, label, TABLE_LABEL_COLUMNS, format, arguments);
	va_end(arguments);
}

void
table_put_paragraph(struct text *out, size_t indent, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_label_and_wrapped_text(out, "", indent, format, arguments);
	va_end(arguments);
}

struct text *
table_begin_sentence(struct table_sentence *sentence)
{
	text_init(&sentence->text, sentence->bytes, sizeof(sentence->bytes));
	return &sentence->text;
}

void
table_end_sentence(struct text *out, struct table_sentence *sentence)
{
	char *first = &sentence->bytes[0];
	size_t line_start = out->length;

	while (line_start > 0 && out->bytes[line_start - 1] != '\n')
		line_start--;
	end_cut_text_with_dots(&sentence->text);
	if (*first >= 'a' && *first <= 'z')
		*first = (char)(*first - 'a' + 'A');
	table_put_wrapped(out, line_start, SENTENCE_INDENT, sentence->bytes);
}

void
table_put_sentence(struct text *out, const char *format, ...)
{
	struct table_sentence sentence;
	va_list arguments;

	va_start(arguments, format);
	text_vprintf(table_begin_sentence(&sentence), format, arguments);
	va_end(arguments);
	table_end_sentence(out, &sentence);
}

const char *
table_plural_ending(uint64_t count)
{
	return count == 1 ? "" : "s";
}

const char *
table_singular_verb_ending(uint64_t count)
{
	return count == 1 ? "s" : "";
}

void
table_put_label(struct text *out, const char *label, size_t width)
{
	size_t line_start = out->length;

	text_printf(out, "%s", label);
	if (out->length - line_start > width) {
		table_end_line(out);
		line_start = out->length;
	}
	table_pad_to_column(out, line_start, width);
}

size_t
table_find_clocks_with_reads(const struct report *report, bool main, size_t picked[REPORT_CLOCKS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (entry->latency && entry->latency->count && report_clock_is_main_of_device(entry) == main)
			picked[count++] = i;
	}
	return count;
}
