/* Internals of the ACPI reader: access to a table's fields, and its list of problems. */
#ifndef BARETICK_ACPI_INTERNAL_H
#define BARETICK_ACPI_INTERNAL_H

#include "acpi/acpi.h"

#define ACPI_HEADER_SIZE      36u          /* size of a table's header: ACPI 6.5, 5.2.6, table 5.4 */
#define ACPI_HEADER_LENGTH    4u           /* offset of the table's length (32 bits) */
#define ACPI_HEADER_OEM_ID    10u          /* offset of the OEM id, 6 characters */
/* offset of the OEM table id, 8 characters; in an XSDT it is the machine's model (ACPI 6.5, 5.2.8) */
#define ACPI_HEADER_OEM_TABLE 16u
#define ACPI_HEADER_OEM_END   24u
/* our limit of the length that a table states; a longer table is treated as invalid */
#define ACPI_TABLE_LENGTH_MAX (1024u * 1024)

struct acpi_table {
	const uint8_t *bytes;
	size_t length; /* number of bytes of the table that can be read */
};

/* Returns the little-endian number of SIZE bytes (at most 8) at OFFSET, or 0 if the table is too short. */
uint64_t acpi_read_field(const struct acpi_table *table, size_t offset, size_t size);

/* Returns the sum of all bytes modulo 256, which is 0 if the checksum is valid. */
uint8_t acpi_sum_bytes(const struct acpi_table *table);

bool acpi_has_signature(const struct acpi_table *table, const char *signature);

/*
 * Checks that AVAILABLE is a complete table with SIGNATURE and a valid checksum. If so, returns true, and sets TABLE to
 * the table with the length that the table's header states. Otherwise returns false, and adds a problem that starts
 * with NAME, the table's name in reports.
 */
bool acpi_validate_table(const struct acpi_table *available, const char *signature, const char *name,
			 struct acpi_table *table, struct acpi_facts *facts);

/* Adds a sentence to facts->problems if there is space. A sentence that is too long is cut. Returns false. */
bool acpi_add_problem(struct acpi_facts *facts, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
