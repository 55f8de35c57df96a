/*
 * The largest values of numbers in a record. The writer limits each number to its range, because a faulty machine may
 * give any value: for example, its TSC may jump by 2^62 ticks. A replay rejects a record with a larger number, because
 * only a damaged record has one. All other code adds and multiplies these numbers without an overflow.
 */
#ifndef BARETICK_RECORD_RANGES_H
#define BARETICK_RECORD_RANGES_H

#include "record/record.h"

/* Each value is far above what a machine without faults gives. */
#define RECORD_NS_MAX      (UINT64_C(1) << 53) /* 104 days */
#define RECORD_COUNT_MAX   (UINT64_C(1) << 53)
#define RECORD_HZ_MAX      UINT64_C(1000000000000)
#define RECORD_MICROHZ_MAX (1000000 * RECORD_HZ_MAX)
#define RECORD_TICKS_MAX   (UINT64_C(1) << 60) /* the most ticks that scale_ns() converts: 3.6 years at 10 GHz */
#define RECORD_STEP_MAX    (UINT64_C(1) << 40) /* resolution of a counter */

struct record_range {
	uint16_t kind;       /* a value of enum record_kind */
	bool is_item;        /* true if the number is in the items of the entry */
	uint8_t offset, size; /* position of the number in the entry or item */
	uint64_t most;       /* largest value */
	const char *name;    /* name of the member, such as "step_ticks" */
};

/*
 * The numbers that code adds or multiplies. A number that is not in this table may have any value, because it is only
 * compared or subtracted modulo 2^64. The last row has the kind 0.
 */
extern const struct record_range record_ranges[];

#endif
