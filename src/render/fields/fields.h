/*
 * The report as tables of fields, made from report.def. The code that writes JSON and CSV goes through these tables,
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
	FIELD_VERDICT,  /* a verdict: a word in the JSON, a number in the CSV */
	FIELD_NUMBER,
	FIELD_MIDDLE,   /* an interval: the JSON has only its middle, and the CSV the whole interval */
	FIELD_INTERVAL, /* an interval: an object {value, low, high} in the JSON */
	FIELD_PAIR,     /* an array of two numbers */
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_BARS,     /* a histogram: a list made from uint64_t counts; counts of 0 are left out */
	FIELD_MAP,      /* an object whose keys are ids of clocks, or ids of rules with a limit */
	FIELD_EXACT,    /* all durations of a struct latency with their counts */
	FIELD_MATRIX,   /* a struct offsets: how far each core's TSC is from every other TSC */
};

#define FIELD_KEY_SIZE 18
#define FIELD_PHRASE_SIZE 24

struct field {
	/* key in the JSON; "" if the elements of a list or map are values instead of objects */
	char key[FIELD_KEY_SIZE];
	uint8_t shape;  /* enum field_shape */
	uint8_t digits; /* decimals: a figure is printed divided by 10^digits */
	bool is_signed; /* true: figures are int64_t */
	struct {
		/* metric ("" if the CSV has no row) and unit in the CSV; a map's metric is a prefix for its elements */
		char metric[16], unit[11];
	} csv;
	const struct field_table *table; /* fields of the value, if it is an object, or of each element of a list or map */
};

struct field_value {
	bool known; /* false: the value is not known, so it is null in the JSON and has no row in the CSV */
	union {
		struct {
			const char *word;
			char phrase[FIELD_PHRASE_SIZE]; /* WORD itself, if it is not a constant */
		};
		/* value, low and high of an interval, or the numbers of a pair, or one number, flag or verdict */
		uint64_t numbers[3];
		struct {
			const void *first;    /* first element of a list or map, or the object */
			size_t count, stride; /* number of elements, and size of an element in bytes */
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

/* The table of the whole report, and the tables whose CSV rows name a clock or a core. */
extern const struct field_table field_report, field_clock, field_rate, field_core, field_finding, field_interval,
	field_calibration, field_claim;

/* Maps with a key for each clock (field_by_clock, field_series_clock), and parts that short reports leave out. */
extern const struct field_table field_by_clock, field_series_row, field_series_clock, field_exact;

#endif
