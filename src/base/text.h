/*
 * Text into a buffer that the caller owns. What does not fit is left out and remembered, never written past
 * the end; the text always ends with 0. ASCII only: a byte outside 20h..7Eh in a %s becomes '?'.
 */
#ifndef BARETICK_TEXT_H
#define BARETICK_TEXT_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* What a screen shows a byte in; files and serial lines know none of it, and the words alone say all. */
enum text_ink {
	INK_PLAIN,
	INK_PASS,
	INK_WARN,
	INK_FAIL,
	INK_DIM,     /* absent, not checked */
	INK_HEADING,
	INK_BAR,     /* the title and the keys, inverse */
	INK_BAR_HERE, /* in the key bar: the page that is shown */
	INK_BAR_PASS,
	INK_BAR_WARN,
	INK_BAR_FAIL,
	INKS
};

struct text {
	char *bytes;
	size_t size;   /* of the buffer, at least 1 */
	size_t length; /* without the final 0 */
	bool truncated;
	uint8_t *inks;      /* of each byte, SIZE of them; NULL, as after text_init: not kept */
	enum text_ink ink;  /* of what is put next */
	size_t columns;     /* that lines may have, for what wraps them; 0: as many as in a file */
};

void text_init(struct text *text, char *bytes, size_t size);

void text_put_char(struct text *text, char c);
void text_put_inked(struct text *text, enum text_ink ink, const char *string);
void text_put(struct text *text, const char *string); /* as it is, newlines included */

/*
 * The part of printf that baretick needs: %s %c %% and, for integers, %u %d %x with l or z; a width
 * with - or 0 before it, * for both width and precision, and .precision of a %s. Anything else is written
 * out as it is.
 */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* VALUE / 10^SCALE as a decimal with just DIGITS digits behind the point, rounded half up; no point if 0. */
void text_put_decimal(struct text *text, uint64_t value, unsigned scale, unsigned digits);

bool text_equal(const char *a, const char *b);
bool text_begins(const char *string, const char *begin); /* with all of BEGIN */
size_t text_length(const char *string);

#endif
