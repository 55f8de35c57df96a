/* Internals of the SMBIOS reader: a structure with its strings, and the sentence about its problem. */
#ifndef BARETICK_SMBIOS_INTERNAL_H
#define BARETICK_SMBIOS_INTERNAL_H

#include "smbios/smbios.h"

struct smbios_bytes {
	const uint8_t *bytes;
	size_t length; /* all of it can be read */
};

/* The SIZE bytes (at most 8) at OFFSET, the lowest first; 0 where they are not all there. */
uint64_t smbios_field(struct smbios_bytes from, size_t offset, size_t size);

/* The structures of TABLE, at most COUNT of them, into FACTS. */
void smbios_read_table(struct smbios_bytes table, size_t count, struct smbios_facts *facts);

/* Only the first is kept. */
void smbios_problem(struct smbios_facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
