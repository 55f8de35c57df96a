/* What the parts of csv.c share: a row of the table, and a figure in it. */
#ifndef BARETICK_CSV_INTERNAL_H
#define BARETICK_CSV_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"
#include "text.h"

#define CSV_MILLI 3 /* digits behind the point of what is kept in thousandths */

struct csv {
	struct text *out;
	const struct report *report;
};

struct subject {
	const char *clock; /* NULL: of no clock alone */
	uint32_t core;     /* APIC id, or REPORT_NO_CORE */
};

struct figure { /* each divided by 10^digits; wide enough for what is signed and what is not */
	unsigned digits;
	bool known, is_interval;
	__int128 value, low, high;
};

/* UNIT may be NULL. Of a figure that is not known the fields are empty. */
void csv_row(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit);

/* The row of what was measured; no row for the rest. */
void csv_known(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit);

struct figure csv_number(bool known, uint64_t value, unsigned digits);
struct figure csv_ppm(const struct interval_ppb *ppb);
struct figure csv_hertz(const struct interval_millihz *millihz);
struct figure csv_rate(const struct rate *rate);
struct figure csv_ns(struct interval_ns ns);

#endif
