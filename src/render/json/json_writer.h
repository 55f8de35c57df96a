/*
 * Writes JSON into a text with commas, indentation and escapes. The caller is responsible for the order of
 * calls. A NULL key means an element of an array. ASCII only; strings are not trusted.
 */
#ifndef BARETICK_JSON_WRITER_H
#define BARETICK_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct json {
	struct text *out;
	unsigned depth;
	unsigned flat_from; /* everything below this depth is on one line; 0 if there is none */
	bool empty;         /* the innermost object or array is empty so far */
	bool dense;         /* set by the caller: no white space except in strings */
};

struct json json_writer(struct text *out);

/* BRACKET is '{' or '[' for json_open, and '}' or ']' for json_close. */
void json_open(struct json *json, const char *key, char bracket, bool on_one_line);
void json_close(struct json *json, char bracket);

void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_string(struct json *json, const char *key, const char *value);

/* Writes NUMBER / 10^DIGITS exactly, without trailing zeros. If IS_SIGNED, NUMBER is an int64_t. */
void json_number(struct json *json, const char *key, uint64_t number, unsigned digits, bool is_signed);

#endif
