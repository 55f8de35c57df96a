/* Internals of the ACPI reader: a table of known length, and the sentences about its problems. */
#ifndef BARETICK_ACPI_INTERNAL_H
#define BARETICK_ACPI_INTERNAL_H

#include "acpi/acpi.h"

#define ACPI_HEADER_SIZE      36u          /* ACPI 6.5, 5.2.6, table 5.4 */
#define ACPI_HEADER_LENGTH    4u           /* offset of the table's length, 32 bits */
#define ACPI_HEADER_OEM_ID    10u          /* 6 characters, */
#define ACPI_HEADER_OEM_TABLE 16u          /* and 8 of the table id: in an XSDT the machine's model (5.2.8) */
#define ACPI_HEADER_OEM_END   24u
#define ACPI_TABLE_LENGTH_MAX (1024u * 1024) /* ours: a longer one is taken for garbage */

struct acpi_table {
	const uint8_t *bytes;
	size_t length; /* all of it can be read */
};

/* The SIZE bytes (at most 8) at OFFSET, the lowest first; 0 where they are not all in the table. */
uint64_t acpi_field(const struct acpi_table *table, size_t offset, size_t size);

/* The sum of all bytes modulo 256: 0 where the checksum is right. */
uint8_t acpi_sum(const struct acpi_table *table);

bool acpi_has_signature(const struct acpi_table *table, const char *signature);

/*
 * Whether AVAILABLE holds a table of SIGNATURE, whole and with a good checksum; TABLE is then as long as
 * its header says. Else there is one problem more, which begins with NAME, the table's name for people.
 */
bool acpi_open_table(const struct acpi_table *available, const char *signature, const char *name,
		     struct acpi_table *table, struct acpi_facts *facts);

/* Adds a sentence where there is space, cut where it is too long. */
void acpi_problem(struct acpi_facts *facts, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
