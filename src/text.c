/* Text into a fixed buffer. See text.h. */
#include "text.h"

#define DIGITS_MAX 24 /* of a 64-bit number in base 10, and a sign */

void
text_init(struct text *text, char *bytes, size_t size)
{
	*text = (struct text){ bytes, size, 0, false };
	bytes[0] = '\0';
}

void
text_put_char(struct text *text, char c)
{
	if (text->length + 1 >= text->size) {
		text->truncated = true;
		return;
	}
	text->bytes[text->length++] = c;
	text->bytes[text->length] = '\0';
}

void
text_put(struct text *text, const char *string)
{
	while (*string)
		text_put_char(text, *string++);
}

size_t
text_length(const char *string)
{
	size_t length = 0;

	while (string[length])
		length++;
	return length;
}

bool
text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

struct conversion { /* one %... of a format */
	bool left, zero;
	unsigned width;
	bool has_precision;
	unsigned precision;
	unsigned longs; /* l and z: 64 bits */
};

static void
put_field(struct text *text, const struct conversion *how, const char *bytes, size_t length)
{
	size_t padding = how->width > length ? how->width - length : 0;
	bool negative = length > 0 && bytes[0] == '-';

	if (how->zero && !how->left && negative) {
		text_put_char(text, '-');
		bytes++, length--;
	}
	for (size_t i = 0; !how->left && i < padding; i++)
		text_put_char(text, how->zero ? '0' : ' ');
	for (size_t i = 0; i < length; i++)
		text_put_char(text, bytes[i]);
	for (size_t i = 0; how->left && i < padding; i++)
		text_put_char(text, ' ');
}

static void
put_number(struct text *text, const struct conversion *how, uint64_t value, bool negative, unsigned base)
{
	char bytes[DIGITS_MAX];
	size_t at = sizeof(bytes);

	do {
		bytes[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		bytes[--at] = '-';
	put_field(text, how, bytes + at, sizeof(bytes) - at);
}

static void
put_string(struct text *text, const struct conversion *how, const char *string)
{
	struct text part = *text;
	size_t length = 0;

	while (string[length] && !(how->has_precision && length >= how->precision))
		length++;
	put_field(&part, how, string, length);
	for (size_t i = text->length; i < part.length; i++)
		if (part.bytes[i] < 0x20 || part.bytes[i] > 0x7e)
			part.bytes[i] = '?';
	*text = part;
}

static unsigned
read_count(const char **at, va_list *arguments)
{
	unsigned count = 0;

	if (**at == '*') {
		int given = va_arg(*arguments, int);

		(*at)++;
		return given > 0 ? (unsigned)given : 0;
	}
	while (**at >= '0' && **at <= '9')
		count = count * 10 + (unsigned)(*(*at)++ - '0');
	return count;
}

static const char *
read_conversion(const char *at, struct conversion *how, va_list *arguments)
{
	*how = (struct conversion){ .left = false };
	for (; *at == '-' || *at == '0'; at++) {
		how->left |= *at == '-';
		how->zero |= *at == '0';
	}
	how->width = read_count(&at, arguments);
	if (*at == '.') {
		at++;
		how->has_precision = true;
		how->precision = read_count(&at, arguments);
	}
	for (; *at == 'l' || *at == 'z'; at++)
		how->longs++;
	return at;
}

void
text_vprintf(struct text *text, const char *format, va_list passed)
{
	struct conversion how;
	va_list arguments;

	va_copy(arguments, passed);
	for (const char *at = format; *at; at++) {
		const char *start = at;

		if (*at != '%') {
			text_put_char(text, *at);
			continue;
		}
		at = read_conversion(at + 1, &how, &arguments);
		if (*at == 's') {
			put_string(text, &how, va_arg(arguments, const char *));
		} else if (*at == 'c') {
			char c = (char)va_arg(arguments, int);

			put_field(text, &how, &c, 1);
		} else if (*at == 'u' || *at == 'x') {
			uint64_t value = how.longs ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned);

			put_number(text, &how, value, false, *at == 'x' ? 16 : 10);
		} else if (*at == 'd') {
			int64_t value = how.longs ? va_arg(arguments, int64_t) : va_arg(arguments, int);

			put_number(text, &how, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0, 10);
		} else if (*at == '%') {
			text_put_char(text, '%');
		} else {
			for (; start < at; start++)
				text_put_char(text, *start);
			if (!*at)
				break;
			text_put_char(text, *at);
		}
	}
	va_end(arguments);
}

void
text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_vprintf(text, format, arguments);
	va_end(arguments);
}

void
text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits)
{
	uint64_t one = 1, unit = 1, fraction;

	for (; scale > digits; scale--)
		unit *= 10;
	value = value / unit + (value % unit >= unit - unit / 2 && unit > 1);
	for (unsigned i = 0; i < scale; i++)
		one *= 10;
	fraction = value % one;
	text_printf(text, "%lu", value / one);
	if (digits == 0)
		return;
	text_put_char(text, '.');
	for (unsigned i = 0; i < digits; i++) {
		one = one > 1 ? one / 10 : 0;
		text_put_char(text, one ? (char)('0' + fraction / one % 10) : '0');
	}
}
