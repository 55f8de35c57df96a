/*
 * Reads the machine's vendor, product and serial number from its SMBIOS tables, from a 32-bit or a 64-bit entry point.
 * The tables are not trusted: every length is checked before a byte is read, and the first fault is reported as a
 * sentence.
 */
#ifndef BARETICK_SMBIOS_H
#define BARETICK_SMBIOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string has at most 64 characters (DSP0134 2.6, 3.1.3) and a final 0. Longer strings are cut. */
#define SMBIOS_STRING_SIZE  65u
#define SMBIOS_PROBLEM_SIZE 128u

/*
 * All strings are printable ASCII. A string is "" if the firmware has none, or only a placeholder like "To be filled by
 * O.E.M.".
 */
struct smbios_facts {
	bool found; /* true if there is an entry point with a valid checksum, and its table can be read */
	char vendor[SMBIOS_STRING_SIZE], product[SMBIOS_STRING_SIZE], serial[SMBIOS_STRING_SIZE];
	char board_vendor[SMBIOS_STRING_SIZE], board_product[SMBIOS_STRING_SIZE];
	char bios_vendor[SMBIOS_STRING_SIZE], bios_version[SMBIOS_STRING_SIZE];
	char bios_date[SMBIOS_STRING_SIZE]; /* year-month-day if the date is valid, otherwise the firmware's text */
	char problem[SMBIOS_PROBLEM_SIZE];  /* the first problem as a sentence, or "" */
};

/* Access to physical memory. Returns LENGTH bytes at ADDRESS, or NULL if they cannot be read. */
struct smbios_memory {
	const uint8_t *(*at)(void *context, uint64_t address, size_t length);
	void *context;
};

/*
 * Reads the table of the 64-bit entry point at AT_3 into FACTS. If this entry point is missing (AT_3 is 0) or invalid,
 * uses the 32-bit entry point at AT_2. Never fails. At most 256 KiB of the table are read.
 */
void smbios_read_facts(const struct smbios_memory *memory, uint64_t at_3, uint64_t at_2, struct smbios_facts *facts);

#endif
