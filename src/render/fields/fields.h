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
	FIELD_MIDDLE,   /* an interval: only its middle in the JSON, the whole interval in the CSV */
	FIELD_INTERVAL, /* {value, low, high} */
	FIELD_PAIR,     /* an array of two numbers */
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_BARS,     /* a histogram: a list of uint64_t, in which zeros are left out */
	FIELD_MAP,      /* an object whose keys are the ids of clocks, or the rules that limits belong to */
	FIELD_EXACT,    /* all durations of a struct latency with their counts */
	FIELD_MATRIX,   /* a struct offsets: how far each core's TSC is from every other TSC */
};

#define FIELD_KEY_SIZE 18

struct field {
	char key[FIELD_KEY_SIZE]; /* "": the element of a list or map is this value, not an object */
	uint8_t shape;  /* enum field_shape */
	uint8_t digits; /* decimals: a figure is printed divided by 10^digits */
	bool is_signed; /* true: figures are int64_t */
	struct {
		char metric[16], unit[11]; /* "" if the CSV has no row; a map's metric is a prefix */
	} csv;
	const struct field_table *table; /* table of the object or of each element */
};

struct field_value {
	bool known; /* false: null in the JSON, no row in the CSV */
	union {
		const char *word;
		uint64_t numbers[3]; /* value, low and high, the two numbers of a pair, a flag, or a verdict */
		struct {
			const void *first;    /* first element, or the object */
			size_t count, stride; /* number of elements, and bytes from one to the next */
		};
	};
};

struct field_table {
	const struct field *fields;
	size_t count;
	bool on_one_line; /* true: the JSON has each object of this table on one line */
	/* Gets the value of FIELDS[ROW] of OBJECT, which is element I of its list. */
	void (*get)(const struct report *report, const void *object, size_t i, size_t row, struct field_value *value);
};

/* The root, and the lists whose elements give the CSV's rows a clock or a core. */
extern const struct field_table field_report, field_clock, field_rate, field_core, field_finding, field_interval,
	field_calibration, field_claim;

/* Tables that JSON or CSV treat as exceptions. */
extern const struct field_table field_by_clock, field_series_row, field_series_clock, field_exact;

#endif
