/*
 * Text in a buffer that the caller owns. Text that does not fit is left out, and TRUNCATED is set. The text
 * always ends with 0. ASCII only: a byte outside 20h..7Eh in a %s becomes '?'.
 */
#ifndef BARETICK_TEXT_H
#define BARETICK_TEXT_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Colours of bytes on a screen. Files and serial lines have none, so the words alone must carry all
 * information.
 */
enum text_ink {
	INK_PLAIN,
	INK_PASS,
	INK_WARN,
	INK_FAIL,
	INK_DIM,     /* absent, not checked */
	INK_HEADING,
	INK_BAR,     /* title and keys, inverse */
	INK_BAR_HERE, /* in the key bar: the current page */
	INK_BAR_PASS,
	INK_BAR_WARN,
	INK_BAR_FAIL,
	INKS
};

struct text {
	char *bytes;
	size_t size;   /* size of the buffer, at least 1 */
	size_t length; /* without the final 0 */
	bool truncated;
	/* Colour of each byte, SIZE of them. NULL, as after text_init(), if colours are not kept. */
	uint8_t *inks;
	enum text_ink ink;  /* colour of the next bytes */
	size_t columns;     /* Line width for text that is wrapped. 0: the width of a file. */
};

void text_init(struct text *text, char *bytes, size_t size);

void text_put_char(struct text *text, char c);
void text_put_inked(struct text *text, enum text_ink ink, const char *string);
void text_put(struct text *text, const char *string); /* unchanged, newlines included */

/*
 * The part of printf that baretick needs: %s %c %% and, for integers, %u %d %x with l or z. Supports a width
 * with - or 0 before it, * for width and precision, and .precision for %s. Other conversions are copied
 * unchanged.
 */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* VALUE / 10^SCALE with exactly DIGITS decimals, rounded half up. No point if DIGITS is 0. */
void text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits);

bool text_equal(const char *a, const char *b);
bool text_begins(const char *string, const char *begin); /* true if STRING starts with all of BEGIN */
size_t text_length(const char *string);

#endif
