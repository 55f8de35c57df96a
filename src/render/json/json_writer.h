/*
 * Writes JSON into a text: commas, indentation and escapes are its business, the order of calls is the
 * caller's. A key of NULL is a value in an array. ASCII only; no string is trusted.
 */
#ifndef BARETICK_JSON_WRITER_H
#define BARETICK_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct json {
	struct text *out;
	unsigned depth;
	unsigned flat_from; /* depth from which all stands on one line; 0: none so far */
	bool empty;         /* nothing stands in the innermost object or array yet */
	bool dense;         /* the caller's: no white space but in strings */
};

struct json json_writer(struct text *out);

/* BRACKET is '{' or '[', and json_close gets '}' or ']'. */
void json_open(struct json *json, const char *key, char bracket, bool on_one_line);
void json_close(struct json *json, char bracket);

void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_string(struct json *json, const char *key, const char *value);

/* NUMBER / 10^DIGITS, exact, without zeros at the end of a fraction; IS_SIGNED: NUMBER is an int64_t. */
void json_number(struct json *json, const char *key, uint64_t number, unsigned digits, bool is_signed);

#endif
