/*
 * Writes JSON into a text with commas, indentation and escapes. The caller must open and close objects and arrays in a
 * valid order. KEY is NULL for elements of an array. The output is ASCII even if a string is not.
 */
#ifndef BARETICK_JSON_WRITER_H
#define BARETICK_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct json {
	struct text *out;
	unsigned depth;
	/* values at this depth or deeper are on one line with their object or array; 0 if no values are */
	unsigned flat_from;
	bool empty;         /* true if nothing was written into the innermost object or array */
	bool dense;         /* set by the caller: true if there is no white space outside strings */
};

struct json json_start_writer(struct text *out);

/* Start and end an object or an array. BRACKET is '{' or '[' for json_open, and '}' or ']' for json_close. */
void json_open(struct json *json, const char *key, char bracket, bool on_one_line);
void json_close(struct json *json, char bracket);

void json_put_null(struct json *json, const char *key);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_string(struct json *json, const char *key, const char *value);

/* Writes NUMBER / 10^DIGITS exactly, without trailing zeros. If IS_SIGNED, NUMBER is an int64_t. */
void json_put_number(struct json *json, const char *key, uint64_t number, unsigned digits, bool is_signed);

#endif
