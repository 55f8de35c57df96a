/*
 * Text in a buffer that the caller owns. Text that does not fit is left out, and TRUNCATED is set. The text always ends
 * with 0. Only ASCII: a byte outside of 20h..7Eh in a %s becomes '?'.
 */
#ifndef BARETICK_TEXT_H
#define BARETICK_TEXT_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Colours of bytes on a screen. Files and serial lines have no colours, so no information may depend on them. */
enum text_ink {
	INK_PLAIN,
	INK_PASS,
	INK_WARN,
	INK_FAIL,
	INK_DIM,     /* for absent clocks and rules that were not checked */
	INK_HEADING,
	INK_BAR,     /* title and key bar, inverse */
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
	/* Colour of each byte (SIZE bytes). NULL, as after text_init(), if colours are not recorded. */
	uint8_t *inks;
	enum text_ink ink;  /* colour of the bytes that are added next */
	size_t columns;     /* line width for wrapped text; 0 selects the width for files */
};

void text_init(struct text *text, char *bytes, size_t size);

void text_put_char(struct text *text, char c);
void text_put_inked(struct text *text, enum text_ink ink, const char *string);
void text_put(struct text *text, const char *string); /* copied unchanged, with its newlines */

/*
 * Formats text as printf() does, but supports only %s %c %% and, for integers, %u %d %x with l or z. A width may have -
 * or 0 before it, width and precision may be *, and a precision is supported for %s. Other conversions are copied
 * unchanged.
 */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/*
 * Writes VALUE / 10^SCALE with exactly DIGITS decimals. A half is rounded up. There is no decimal point if DIGITS is 0.
 */
void text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits);

bool text_equal(const char *a, const char *b);
bool text_begins(const char *string, const char *begin); /* returns true if STRING starts with BEGIN */
size_t text_length(const char *string);

#endif
