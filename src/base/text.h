/*
 * Builds text in a buffer that the caller owns. If text does not fit, it is cut, and TRUNCATED is set. The text
 * always ends with a 0 byte. It is ASCII only: if a string for %s contains a byte outside of 20h..7Eh, '?' is written
 * instead.
 */
#ifndef BARETICK_TEXT_H
#define BARETICK_TEXT_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Colours of the text on a screen. Files and serial lines have no colours, so no information may depend on them. */
enum text_ink {
	INK_PLAIN,
	INK_PASS,
	INK_WARN,
	INK_FAIL,
	INK_DIM,     /* for absent clocks and rules that were not checked */
	INK_HEADING,
	INK_BAR,     /* title and key bar in inverse colours */
	INK_BAR_HERE, /* the current page in the key bar */
	INK_BAR_PASS,
	INK_BAR_WARN,
	INK_BAR_FAIL,
	INKS
};

struct text {
	char *bytes;
	size_t size;   /* size of the buffer, at least 1 */
	size_t length; /* number of bytes without the final 0 */
	bool truncated;
	/* Colour of each byte in BYTES. NULL if colours are not recorded, as after text_init(). */
	uint8_t *inks;
	enum text_ink ink;  /* colour of the text that is added next */
	size_t columns;     /* width at which lines are wrapped; 0 means the line width of files */
};

void text_init(struct text *text, char *bytes, size_t size);

/* Returns an empty text in BYTES. */
static inline struct text
text_start(char *bytes, size_t size)
{
	struct text text;

	text_init(&text, bytes, size);
	return text;
}

/* Returns a text that continues the string in BYTES. */
struct text text_continue(char *bytes, size_t size);

void text_put_char(struct text *text, char c);
void text_put(struct text *text, const char *string); /* adds STRING unchanged, including newlines */

/*
 * Formats text as printf() does, but supports only %s, %c, %% and the integers %u, %d and %x, with l or z before
 * them. Supported are the flags - and 0, a width or precision of *, and a precision for %s. Other conversions are
 * copied to the output unchanged.
 */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_printf_coloured(struct text *text, enum text_ink ink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/*
 * Writes VALUE / 10^SCALE, rounded to exactly DIGITS decimals. A half is rounded up. If DIGITS is 0, there is no
 * decimal point.
 */
void text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits);

/*
 * Writes text into BYTES as text_printf() does, with a final 0. A text that is too long for SIZE bytes is cut. The
 * arguments must not be in BYTES.
 */
void text_format(char *bytes, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Copies STRING to BYTES, which gets a final 0. A string that is too long for SIZE is cut. */
void text_copy(char *bytes, size_t size, const char *string);

bool text_equal(const char *a, const char *b);
bool text_begins_with(const char *string, const char *begin); /* returns true if STRING starts with BEGIN */
size_t text_length(const char *string);

#endif
