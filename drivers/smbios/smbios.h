/*
 * The machine's vendor, product and serial number, from its SMBIOS tables. Either entry point is accepted. The tables
 * are not trusted: every length is checked before a byte is read, and each fault becomes a sentence.
 */
#ifndef BARETICK_SMBIOS_H
#define BARETICK_SMBIOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMBIOS_STRING_SIZE  65u /* 64 characters (DSP0134 2.6, 3.1.3); longer strings are cut */
#define SMBIOS_PROBLEM_SIZE 128u

/*
 * Printable ASCII. "": there is none, or the firmware has words there that name nothing, as "To be filled by
 * O.E.M.".
 */
struct smbios_facts {
	bool found; /* an entry point with a good checksum, and a table behind it */
	char vendor[SMBIOS_STRING_SIZE], product[SMBIOS_STRING_SIZE], serial[SMBIOS_STRING_SIZE];
	char board_vendor[SMBIOS_STRING_SIZE], board_product[SMBIOS_STRING_SIZE];
	char bios_vendor[SMBIOS_STRING_SIZE], bios_version[SMBIOS_STRING_SIZE];
	char bios_date[SMBIOS_STRING_SIZE]; /* year-month-day; as it was found where it isn't a date */
	char problem[SMBIOS_PROBLEM_SIZE];  /* the first thing that is wrong, a sentence; or "" */
};

/* Physical memory as the reader may see it: LENGTH bytes at ADDRESS, or NULL where they can't be read. */
struct smbios_memory {
	const uint8_t *(*at)(void *context, uint64_t address, size_t length);
	void *context;
};

/*
 * Reads the tables behind the 64-bit entry point at AT_3 or, where there is none (0) or it is wrong, the 32-bit one
 * at AT_2, into FACTS. Never fails. Bounded by the table's length, at most 256 KiB of it.
 */
void smbios_read_facts(const struct smbios_memory *memory, uint64_t at_3, uint64_t at_2, struct smbios_facts *facts);

#endif
