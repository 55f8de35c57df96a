/* Declarations for the files of src/options only. */
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

bool options_is_word_equal(struct word word, const char *string);

/*
 * Removes the part of REST up to and including the first SEPARATOR, and returns this part without SEPARATOR. If there
 * is no SEPARATOR, removes and returns all of REST.
 */
struct word options_split_off_part_before(struct word *rest, char separator);

/* Returns the text in BYTES, without a UTF-8 byte order mark and without zeros at its end. */
struct word options_trim_text(const char *bytes, size_t length);

/*
 * Removes the next word from REST and stores it in WORD. Skips spaces and comments before it. Returns false if there
 * are no more words.
 */
bool options_read_next_word(struct word *rest, struct word *word);

const char *options_find_name(const char *const *names, struct word word); /* returns NULL if WORD is not in NAMES */

/* Adds the NAMES to OUT, each after a blank, with commas between them. */
void options_put_names(struct text *out, const char *const *names);

/* The valid name that is most similar to a misspelled word. */
struct near {
	struct word word;
	const char *name; /* NULL if no name is similar */
	unsigned edits;   /* number of letters that must be changed to get from WORD to NAME */
};

/* Stores NAME in NEAR if it is more similar to near->word than near->name is. */
void options_keep_name_if_nearer(struct near *near, const char *name);

/*
 * Removes the digits at the start of WORD, and stores the number that they form in VALUE. Returns false if there are
 * no digits, or if the number is above MAX.
 */
bool options_read_number(struct word *word, uint64_t max, uint64_t *value);

/* returns the value of FIELD in OPTIONS; 0 if the option has no such field */
uint64_t options_get_number(const struct options *options, struct option_field field);

/* Stores VALUE in the fields of OPTION. Returns false if VALUE is not valid; OPTIONS may then be partly changed. */
bool options_store_value(const struct option *option, struct word value, const struct options_names *names,
			struct options *options);

/* Stores VALUE as the limit of RULE. Returns false if VALUE is not valid. */
bool options_store_limit(const struct option *option, const char *rule, struct word value, struct options *options);

#endif
