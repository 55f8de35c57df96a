/*
 * The entries `facts` of a record contain all fields of a report that are not calculated from other entries. These are
 * facts of the machine, the options, and statistics that were calculated during the measurements. facts.def lists the
 * fields. With these entries, the functions of analysis.h restore a run's report from its record.
 */
#ifndef BARETICK_FACTS_H
#define BARETICK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record_ranges.h"
#include "report/report.h"

/*
 * The lists of a report whose elements are in the record. These numbers are in the record, and are never used again for
 * another list.
 */
enum facts_list {
	FACTS_REPORT, /* the report itself, a list with one element; it is the first list in the record */
	FACTS_CLOCKS,
	FACTS_CLAIMS,
	FACTS_CORES,
	FACTS_INTERVALS,
	FACTS_CHECKS,
	FACTS_NOTES,
	FACTS_LOOPS,       /* the calibration loops of facts.calibrations */
	FACTS_LOOP_REASONS,
	FACTS_ROWS,        /* completed rows of a soak's series */
	FACTS_ROW_CLOCKS,  /* the clocks of all rows of the series, in the order of the rows */
	FACTS_ROW_OFFSETS, /* the cores' offsets in all rows of the series, in the order of the rows */
	FACTS_PROBLEMS,    /* faults of the firmware's tables */
	FACTS_LISTS
};

/*
 * Structs for arrays whose elements are plain texts in the report. Each struct has the same bytes as such an element.
 */
struct facts_name {
	char text[OPTIONS_NAME_SIZE];
};
struct facts_note {
	char text[REPORT_SENTENCE];
};
struct facts_words {
	const char *text;
};

/*
 * Largest values of facts, see facts.def. Each is far above what a run can find, and so small that code can add and
 * multiply facts.
 */
#define FACTS_NS_MAX        RECORD_NS_MAX
#define FACTS_MS_MAX        (FACTS_NS_MAX / 1000000)
#define FACTS_OPTION_NS_MIN 1000000 /* shorter than the options duration and deadline accept; unit tests use 1 ms */
#define FACTS_OPTION_NS_MAX (24 * UINT64_C(3600000000000)) /* the longest time that an option accepts */
#define FACTS_PS_MAX        (UINT64_C(1) << 45) /* mean duration of a read: 35 s */
#define FACTS_COUNT_MAX     RECORD_COUNT_MAX
#define FACTS_HZ_MAX        RECORD_HZ_MAX
#define FACTS_PERIOD_S_MAX  1000 /* longest period of a clock */
#define FACTS_MILLIHZ_MAX   (1000 * FACTS_HZ_MAX)
#define FACTS_PPB_MAX       UINT64_C(1000000000)
#define FACTS_LIMIT_MAX     UINT64_C(1000000000000000000) /* the largest limit that the option limit.RULE accepts */
#define FACTS_FIGURE_MAX    (INT64_C(1) << 61) /* a figure that is compared with a limit */

enum facts_kind { FACTS_NUMBER, FACTS_TEXT, FACTS_WORDS, FACTS_OPTIONAL, FACTS_STRUCTS };

enum facts_table {
#define TABLE(name, type) FACTS_OF_##name,
#include "analysis/facts.def"
	FACTS_TABLES
};

#define FACTS_NO_COUNT UINT32_MAX
#define FACTS_HEAD_BYTES 3u /* size of the field number and the length that precede each field in the record */

struct facts_field {
	uint8_t number;   /* number of the field in the file; it is never 0 */
	uint8_t kind;     /* a value of enum facts_kind */
	uint8_t table;    /* for FACTS_STRUCTS: the table of an element, a value of enum facts_table */
	bool is_signed;   /* for FACTS_NUMBER */
	uint16_t size;    /* size of the member in bytes, or of one of its elements */
	uint16_t max;     /* for FACTS_STRUCTS: number of elements in the array */
	uint32_t offset;  /* offset of the field in the struct */
	/* for FACTS_STRUCTS: offset of the member with the number of elements, or FACTS_NO_COUNT if all are in use */
	uint32_t count;
	int64_t least;    /* smallest value of a number, or smallest length of a text */
	bool may_be_0;    /* true if a number may also be 0 */
	char also;        /* the character that an id may have besides a-z and 0-9, or 0 if the text is no id */
	uint64_t most;    /* largest value of a number; for a signed number it is at most INT64_MAX */
	const char *words; /* the possible values of a text, separated by spaces; NULL if it may be any text */
};

/*
 * Returns the number at MEMBER, which FIELD describes. A negative number is returned in two's complement. If it is not
 * in the range of FIELD, returns the nearest number in the range.
 */
uint64_t facts_get_number(const struct facts_field *field, const void *member);
uint64_t facts_get_number_in_range(const struct facts_field *field, const void *member);

struct facts_shape {
	const struct facts_field *fields;
	size_t count;
};

/* Returns the fields of TABLE. */
struct facts_shape facts_get_table_shape(enum facts_table table);

struct facts_elements { /* the elements of a list in a report */
	enum facts_table table;
	void *first;
	size_t stride, count; /* distance of two elements in bytes, and number of elements */
};

/*
 * Returns the elements of LIST in REPORT. A report only has pointers to the calibration loops. Therefore LOOPS is the
 * caller's memory for a copy of them, with one element for each loop.
 */
struct facts_elements facts_get_list_elements(enum facts_list list, struct report *report,
					      struct calibration_loop *loops);

/*
 * Cells of the entry `latency`: one for each duration below LATENCY_EXACT_NS in ns, and then the histogram's buckets
 * with the longer durations.
 */
#define FACTS_CELLS (LATENCY_EXACT_NS + HISTOGRAM_BUCKETS)

/* Returns true if RATE is unknown or possible. A rate is divided by, so its divisor must not be 0. */
bool facts_is_rate_possible(const struct rate *rate);

/*
 * Replaces each number in REPORT that is outside of its range by the nearest number in the range, because a faulty
 * machine may give any number. Adds a note if there were any. To be called before facts_write().
 */
void facts_limit_numbers(struct report *report);

/*
 * Appends the entries `facts` of REPORT to RECORD, and the entries `latency`. To be called once, after all
 * measurements.
 */
void facts_write(struct record *record, const struct report *report);

/* Returns the maximum size of the entries that facts_write() appends, for CORES cores and ROWS rows of a series. */
size_t facts_max_bytes(size_t cores, size_t rows);

#endif
