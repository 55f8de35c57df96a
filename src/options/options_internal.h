/* What the reader of the options, its table and the parsers of values share. */
#ifndef BARETICK_OPTIONS_INTERNAL_H
#define BARETICK_OPTIONS_INTERNAL_H

#include "options.h"

#define OPTIONS_NS_PER_MS UINT64_C(1000000)
#define OPTIONS_NS_PER_S  UINT64_C(1000000000)
#define OPTIONS_LIMIT_MAX UINT64_C(1000000000000000000) /* fits the int64_t of a finding */

/* A piece of the text that is read; not ended by a 0. */
struct word {
	const char *bytes;
	size_t length;
};

bool options_word_is(struct word word, const char *string);

/* REST up to the first SEPARATOR, behind which REST then begins; all of REST where there is none. */
struct word options_take_until(struct word *rest, char separator);

const char *options_find_name(const char *const *names, struct word word); /* NULL: not among them */

/* The digits that WORD begins with, taken from it; false where there are none or VALUE would pass MAX. */
bool options_take_number(struct word *word, uint64_t max, uint64_t *value);

bool options_take_duration(struct word value, uint64_t *ns); /* a whole number and ms, s, m or h, 10 ms to 24 h */
bool options_take_interval(struct word value, uint64_t *ns); /* as a duration, 1 s to 24 h */
bool options_take_gap(struct word value, uint64_t *ns);      /* a whole number and us, ms or s, 1 us to 1 s */

/* VALUE as the limit of RULE; false as in struct option. */
bool options_parse_limit(const char *rule, struct word value, struct options *options);

#endif
