/* Internals of the SMBIOS reader. */
#ifndef BARETICK_SMBIOS_INTERNAL_H
#define BARETICK_SMBIOS_INTERNAL_H

#include "smbios/smbios.h"

struct smbios_bytes {
	const uint8_t *bytes;
	size_t length; /* number of readable bytes */
};

/* Returns the little-endian number of SIZE bytes (at most 8) at OFFSET, or 0 if FROM is too short. */
uint64_t smbios_read_field(struct smbios_bytes from, size_t offset, size_t size);

/* Reads at most COUNT structures of TABLE into FACTS. */
void smbios_read_table(struct smbios_bytes table, size_t count, struct smbios_facts *facts);

/* Sets facts->problem, unless it already has an earlier problem. Returns false. */
bool smbios_set_problem(struct smbios_facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
