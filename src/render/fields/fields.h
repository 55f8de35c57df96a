/*
 * The report as tables of fields from report.def, used by all exporters. JSON and CSV walk the same tables,
 * starting at field_report.
 */
#ifndef BARETICK_FIELDS_H
#define BARETICK_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

enum field_shape {
	FIELD_WORD,
	FIELD_FLAG,
	FIELD_VERDICT,  /* a word in the JSON, its number in the CSV */
	FIELD_NUMBER,
	FIELD_MIDDLE,   /* the middle of an interval: a number in the JSON, the whole interval in the CSV */
	FIELD_INTERVAL, /* {value, low, high} */
	FIELD_PAIR,
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_BARS,     /* a list of uint64_t, without zeros */
	FIELD_MAP,      /* an object with a key for each element, by limit or by clock */
	FIELD_EXACT,    /* the list of exact durations of a struct latency */
	FIELD_MATRIX,   /* the offset of each core's TSC against each other core, of a struct offsets */
};

#define FIELD_KEY_SIZE 18

struct field {
	char key[FIELD_KEY_SIZE]; /* "": the element of a list or map is this value itself */
	uint8_t shape, digits; /* DIGITS: numbers are divided by 10^digits */
	bool is_signed;
	struct {
		char metric[16], unit[11]; /* "": no row in the CSV. For a map, the prefix of its metrics. */
	} csv;
	const struct field_table *table; /* table of the object or of each element */
};

struct field_value {
	bool known;
	union {
		const char *word;
		uint64_t numbers[3]; /* value, low and high, the two numbers of a pair, a flag, or a verdict */
		struct {
			const void *first; /* first element, or the object */
			size_t count, stride;
		};
	};
};

struct field_table {
	const struct field *fields;
	size_t count;
	bool on_one_line;
	/* Gets the value of FIELDS[ROW] of OBJECT, which is element I of its list. */
	void (*get)(const struct report *report, const void *object, size_t i, size_t row, struct field_value *value);
};

/* The root, and the tables whose rows in the CSV name a clock or core. */
extern const struct field_table field_report, field_clock, field_rate, field_core, field_finding, field_interval;

extern const struct field_table field_by_clock, field_series_row, field_series_clock, field_exact;

#endif
