/* Builds text in a buffer of the caller. See text.h. */
#include "base/text.h"

/* maximum width of a column; a conversion with a larger width is copied to the output unchanged */
#define WIDTH_MAX       4096u
#define DIGITS_MAX      20    /* decimal digits of UINT64_MAX, 18,446,744,073,709,551,615 */
#define DECIMAL         10u
#define HEXADECIMAL     16u
#define PRINTABLE_FIRST 0x20
#define PRINTABLE_LAST  0x7e

struct conversion {
	bool left, zero;
	bool width_given_by_argument;
	bool has_precision, precision_given_by_argument;
	unsigned width, precision;
	bool is_long; /* true if the argument has 64 bits, because of l or z */
	char letter;
};

/*
 * A va_list in a struct. A function that gets a pointer to this struct can take the next argument for its caller.
 * (va_list itself may be an array type.)
 */
struct arguments {
	va_list list;
};

void
text_init(struct text *text, char *bytes, size_t size)
{
	*text = (struct text){ .bytes = bytes, .size = size };
	bytes[0] = '\0';
}

struct text
text_continue(char *bytes, size_t size)
{
	return (struct text){ .bytes = bytes, .size = size, .length = text_length(bytes) };
}

void
text_put_char(struct text *text, char c)
{
	if (text->length + 1 >= text->size) {
		text->truncated = true;
		return;
	}
	if (text->inks)
		text->inks[text->length] = (uint8_t)text->ink;
	text->bytes[text->length++] = c;
	text->bytes[text->length] = '\0';
}

void
text_put(struct text *text, const char *string)
{
	for (; *string && !text->truncated; string++)
		text_put_char(text, *string);
}

static void
put_repeated(struct text *text, char c, size_t count)
{
	for (size_t i = 0; i < count && !text->truncated; i++)
		text_put_char(text, c);
}

static char
replace_unprintable(char c)
{
	return c >= PRINTABLE_FIRST && c <= PRINTABLE_LAST ? c : '?';
}

static void
put_string(struct text *text, const struct conversion *conversion, const char *string)
{
	size_t length = 0;

	while ((!conversion->has_precision || length < conversion->precision) && string[length])
		length++;

	size_t pad = conversion->width > length ? conversion->width - length : 0;

	put_repeated(text, ' ', conversion->left ? 0 : pad);
	for (size_t i = 0; i < length && !text->truncated; i++)
		text_put_char(text, replace_unprintable(string[i]));
	put_repeated(text, ' ', conversion->left ? pad : 0);
}

/* Writes the digits of VALUE, least significant first. Returns their number, at least 1. */
static size_t
write_digits(uint64_t value, unsigned base, char digits[DIGITS_MAX])
{
	size_t count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return count;
}

static void
put_integer(struct text *text, const struct conversion *conversion, bool negative,
	    uint64_t magnitude)
{
	char digits[DIGITS_MAX];
	size_t count = write_digits(magnitude, conversion->letter == 'x' ? HEXADECIMAL : DECIMAL, digits);
	size_t length = count + negative;
	size_t pad = conversion->width > length ? conversion->width - length : 0;
	bool zeros = conversion->zero && !conversion->left;

	put_repeated(text, ' ', conversion->left || zeros ? 0 : pad);
	if (negative)
		text_put_char(text, '-');
	put_repeated(text, '0', zeros ? pad : 0);
	while (count)
		text_put_char(text, digits[--count]);
	put_repeated(text, ' ', conversion->left ? pad : 0);
}

/* Reads a decimal number. If it is larger than WIDTH_MAX, NUMBER is set to any value above WIDTH_MAX. */
static const char *
parse_number(const char *at, unsigned *number)
{
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (*number <= WIDTH_MAX)
			*number = *number * DECIMAL + (unsigned)(*at - '0');
	return at;
}

static const char *
parse_flags_and_width(const char *at, struct conversion *conversion)
{
	for (; *at == '-' || *at == '0'; at++) {
		conversion->left |= *at == '-';
		conversion->zero |= *at == '0';
	}
	conversion->width_given_by_argument = *at == '*';
	return *at == '*' ? at + 1 : parse_number(at, &conversion->width);
}

static const char *
parse_precision(const char *at, struct conversion *conversion)
{
	if (*at != '.')
		return at;
	at++;
	conversion->has_precision = true;
	conversion->precision_given_by_argument = *at == '*';
	return *at == '*' ? at + 1 : parse_number(at, &conversion->precision);
}

static const char *
parse_length_modifier(const char *at, struct conversion *conversion)
{
	conversion->is_long = *at == 'l' || *at == 'z';
	return at + conversion->is_long;
}

static bool
is_conversion_supported(const struct conversion *conversion)
{
	if (conversion->width > WIDTH_MAX || conversion->precision > WIDTH_MAX)
		return false;
	switch (conversion->letter) {
	case 'u':
	case 'd':
	case 'x':
		return !conversion->has_precision;
	case 'c':
		return !conversion->has_precision && !conversion->is_long;
	case 's':
		return !conversion->is_long;
	default:
		return false;
	}
}

/* Parses a conversion after the %. Returns the address after it, or NULL if the conversion is not supported. */
static const char *
parse_conversion(const char *at, struct conversion *conversion)
{
	*conversion = (struct conversion){ .left = false };
	at = parse_flags_and_width(at, conversion);
	at = parse_precision(at, conversion);
	at = parse_length_modifier(at, conversion);
	conversion->letter = *at;
	return is_conversion_supported(conversion) ? at + 1 : NULL;
}

/*
 * Reads width and precision of a conversion, or takes them from ARGUMENTS if they are *. As in C, a negative width
 * means the flag "-" and the positive width. A negative precision is ignored.
 */
static void
read_width_and_precision(struct conversion *conversion, struct arguments *arguments)
{
	if (conversion->width_given_by_argument) {
		int width = va_arg(arguments->list, int);

		conversion->left |= width < 0;
		conversion->width = width < 0 ? 0u - (unsigned)width : (unsigned)width;
		if (conversion->width > WIDTH_MAX)
			conversion->width = WIDTH_MAX;
	}
	if (conversion->precision_given_by_argument) {
		int precision = va_arg(arguments->list, int);

		conversion->has_precision = precision >= 0;
		conversion->precision = precision >= 0 ? (unsigned)precision : 0;
	}
}

static void
put_conversion(struct text *text, struct conversion *conversion, struct arguments *arguments)
{
	read_width_and_precision(conversion, arguments);
	if (conversion->letter == 's') {
		const char *string = va_arg(arguments->list, const char *);

		put_string(text, conversion, string ? string : "(null)");
	} else if (conversion->letter == 'c') {
		char c[2] = { replace_unprintable((char)va_arg(arguments->list, int)), '\0' };

		put_string(text, conversion, c);
	} else if (conversion->letter == 'd') {
		int64_t value = conversion->is_long ? va_arg(arguments->list, long) :
						    va_arg(arguments->list, int);

		put_integer(text, conversion, value < 0,
			    value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value);
	} else {
		put_integer(text, conversion, false,
			    conversion->is_long ? va_arg(arguments->list, unsigned long) :
						va_arg(arguments->list, unsigned));
	}
}

_Static_assert(sizeof(long) == sizeof(uint64_t) && sizeof(size_t) == sizeof(uint64_t), "the format letters l and z "
	       "mean 64 bits");

void
text_vprintf(struct text *text, const char *format, va_list list)
{
	struct arguments arguments;
	struct conversion conversion;

	va_copy(arguments.list, list);
	while (*format) {
		const char *behind = *format == '%' ? parse_conversion(format + 1, &conversion) : NULL;

		if (behind) {
			put_conversion(text, &conversion, &arguments);
			format = behind;
			continue;
		}
		text_put_char(text, *format);
		format += format[0] == '%' && format[1] == '%' ? 2 : 1;
	}
	va_end(arguments.list);
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
text_printf_coloured(struct text *text, enum text_ink ink, const char *format, ...)
{
	enum text_ink before = text->ink;
	va_list arguments;

	text->ink = ink;
	va_start(arguments, format);
	text_vprintf(text, format, arguments);
	va_end(arguments);
	text->ink = before;
}

/* Returns VALUE / 10^POWER. A half is rounded up. */
static uint64_t
divide_by_power_of_ten(uint64_t value, unsigned power)
{
	uint64_t divisor = 1;

	if (power >= DIGITS_MAX) /* the result is 0, because half of 10^20 is more than any VALUE */
		return 0;
	for (unsigned i = 0; i < power; i++)
		divisor *= DECIMAL;

	uint64_t rest = value % divisor;

	return value / divisor + (rest && rest >= divisor - rest);
}

void
text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits)
{
	char known[DIGITS_MAX];
	/* number of decimals that are digits of VALUE; the other decimals up to DIGITS are 0 */
	unsigned fraction = scale < digits ? scale : digits;
	size_t count = write_digits(divide_by_power_of_ten(value, scale - fraction), DECIMAL, known);
	size_t places = count > fraction ? count : (size_t)fraction + 1;

	for (size_t place = places; place-- > 0 && !text->truncated;) {
		text_put_char(text, place < count ? known[place] : '0');
		if (place == fraction && digits)
			text_put_char(text, '.');
	}
	put_repeated(text, '0', digits - fraction);
}

void
text_format(char *bytes, size_t size, const char *format, ...)
{
	struct text text;
	va_list arguments;

	text_init(&text, bytes, size);
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
}

void
text_copy(char *bytes, size_t size, const char *string)
{
	struct text text;

	text_init(&text, bytes, size);
	text_put(&text, string);
}

bool
text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool
text_begins_with(const char *string, const char *begin)
{
	while (*begin && *string == *begin) {
		string++;
		begin++;
	}
	return *begin == '\0';
}

size_t
text_length(const char *string)
{
	size_t length = 0;

	while (string[length])
		length++;
	return length;
}
