/*
 * A series of boots (option boots=N): the number of boots in which a finding was seen, and the range of each figure.
 * Some faults appear in one boot of five only. The file of the series is on the boot volume. Each boot adds its
 * results.
 */
#ifndef BARETICK_BOOTS_H
#define BARETICK_BOOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOTS_MAX          1000 /* largest number of boots in a series */
#define BOOTS_STARTED_MAX  (2 * BOOTS_MAX) /* more than planned only if the last boot does not reach its end */
#define BOOTS_ENTRIES_MAX  48   /* further findings and rates are not counted */
#define BOOTS_NAME_SIZE    32
#define BOOTS_UNIT_SIZE    16
#define BOOTS_FILE_SIZE    8192 /* fixed, so that the file's place on the volume does not change */
#define BOOTS_NO_CORE      UINT32_MAX
#define BOOTS_VALUE_MAX    (INT64_C(1) << 60)
#define BOOTS_RATE         "rate"   /* in the place of a rule: the measured rate of a clock, in mHz */
#define BOOTS_OFFSET       "offset" /* in the place of a rule: a core's TSC minus the boot core's TSC, in ns */

/* A finding or a figure, and the boots in which it was seen. */
struct boots_entry {
	char rule[BOOTS_NAME_SIZE];  /* the finding's rule, or BOOTS_RATE or BOOTS_OFFSET */
	char clock[BOOTS_NAME_SIZE]; /* "" if there is none */
	uint32_t core;               /* APIC id, or BOOTS_NO_CORE */
	uint32_t boots;              /* number of boots in which it was seen */
	bool measured;               /* true if LOW and HIGH are known */
	int64_t low, high;           /* smallest and largest value of these boots, with their errors, in UNIT */
	char unit[BOOTS_UNIT_SIZE];
};

struct boots {
	uint32_t planned;  /* the option boots=; 0 if there is no series */
	uint32_t started;  /* boots that were started, with the present one */
	uint32_t died;     /* boots that did not reach their end */
	uint32_t failed, warned, incomplete; /* boots with these verdicts */
	size_t entry_count;
	struct boots_entry entries[BOOTS_ENTRIES_MAX];
	bool full;         /* true if an entry had no place */
};

/*
 * Writes the file of the series to BYTES: BOOTS_FILE_SIZE bytes of ASCII, and a final 0. RUNNING is true while a boot
 * measures. If that boot does not reach its end, the next boot finds this in the file.
 */
void boots_print(char bytes[BOOTS_FILE_SIZE + 1], const struct boots *boots, bool running);

/* Reads the file of a series. Returns false if the LENGTH bytes are not such a file. */
bool boots_parse(const char *bytes, size_t length, struct boots *boots, bool *running);

/*
 * Starts the next boot of the series in BOOTS, or the first boot of a new series of PLANNED boots. FOUND is true if
 * BOOTS is from a file. RUNNING is true if the boot before did not reach its end. If that was the last boot, one more
 * boot follows, which reports on the series.
 */
void boots_start_next(struct boots *boots, uint32_t planned, bool found, bool running);

/* Returns true if more boots follow the present one. */
bool boots_has_next(const struct boots *boots);

/* Returns true if A and B are the same finding or figure, perhaps with other values. */
bool boots_have_same_subject(const struct boots_entry *a, const struct boots_entry *b);

/*
 * Counts SEEN, a finding or a figure of the present boot, in BOOTS. The member SEEN->boots is not used. Sets
 * boots->full if there is no place for it.
 */
void boots_count_entry(struct boots *boots, const struct boots_entry *seen);

#endif
