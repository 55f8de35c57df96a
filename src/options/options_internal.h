/* Shared by the files of src/options. */
#ifndef BARETICK_OPTIONS_INTERNAL_H
#define BARETICK_OPTIONS_INTERNAL_H

#include "options/options.h"

#define OPTIONS_NS_PER_US UINT64_C(1000)
#define OPTIONS_NS_PER_MS UINT64_C(1000000)
#define OPTIONS_NS_PER_S  UINT64_C(1000000000)
#define OPTIONS_NS_PER_H  (3600 * OPTIONS_NS_PER_S)

/* A part of a text, without a final 0. */
struct word {
	const char *bytes;
	size_t length;
};

bool options_word_is(struct word word, const char *string);

/* Returns REST up to the first SEPARATOR, and moves REST after it. Returns all of REST if it has no SEPARATOR. */
struct word options_take_until(struct word *rest, char separator);

/* Returns BYTES without a UTF-8 byte order mark and final zeros. */
struct word options_text(const char *bytes, size_t length);

/* Takes the next WORD from REST, without blanks and comments. Returns false if there is none. */
bool options_next_word(struct word *rest, struct word *word);

const char *options_find_name(const char *const *names, struct word word); /* NULL if WORD is not in NAMES */

/* The name most like a misspelled word. */
struct near {
	struct word word;
	const char *name; /* NULL if no name is like it */
	unsigned edits;   /* letters to change in WORD to get NAME */
};

void options_try_near(struct near *near, const char *name); /* uses NAME if it is more like the word */

/* Takes the digits at the start of WORD. Returns false if there are none or if VALUE would exceed MAX. */
bool options_take_number(struct word *word, uint64_t max, uint64_t *value);

uint64_t options_get(const struct options *options, struct option_field field); /* 0 if there is no field */

/* Stores VALUE. Returns false if it is not valid for OPTION. OPTIONS may be partly changed then. */
bool options_take_value(const struct option *option, struct word value, const struct options_names *names,
			struct options *options);

/* Stores VALUE as the limit of RULE. Returns false if VALUE is not valid. */
bool options_take_limit(const struct option *option, const char *rule, struct word value, struct options *options);

#endif
