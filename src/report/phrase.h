/* Short texts that are passed by value, as parts of sentences: text_printf(text, "...%s", phrase("...", ...).bytes). */
#ifndef BARETICK_PHRASE_H
#define BARETICK_PHRASE_H

#include "report/report.h"

struct phrase {
	char bytes[REPORT_SENTENCE];
};

struct phrase phrase(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends to PHRASE. Text that does not fit is cut. */
void phrase_add(struct phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the words before item I of a list of COUNT: "", ", " or " and ". */
const char *phrase_joint(size_t i, size_t count);

/* Returns the time in the run at which the TSC read TSC, as "3.1 s" or "312 ms". */
struct phrase phrase_tsc_time(const struct report *report, uint64_t tsc);

/* Returns the time interval MOMENT: "at 3.1 s", or "between 3.1 s and 3.4 s" if it lasts 100 ms or more. */
struct phrase phrase_moment(const struct report *report, struct moment moment);

/* The same as "3.1 s" or "3.1 s to 3.4 s". */
struct phrase phrase_span(const struct report *report, struct moment moment);

#endif
