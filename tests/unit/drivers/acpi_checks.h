/*
 * For the unit tests and the fuzz target: conditions that acpi_facts must meet for any input, and the checksums of
 * coreboot's tables.
 */
#ifndef BARETICK_TESTS_ACPI_CHECKS_H
#define BARETICK_TESTS_ACPI_CHECKS_H

#include <string.h>

#include "acpi/acpi.h"

#define COREBOOT_HEADER 24 /* size of a header in coreboot's coreboot_tables.h */

static inline int
acpi_sentence_is_good(const char *sentence)
{
	size_t length = strnlen(sentence, ACPI_PROBLEM_SIZE);

	if (length == 0 || length == ACPI_PROBLEM_SIZE)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (sentence[i] < ' ' || sentence[i] > '~')
			return 0;
	return 1;
}

/* Returns NULL, or a description of the condition that FACTS breaks. */
static inline const char *
acpi_broken_invariant(const struct acpi_facts *facts)
{
	const struct acpi_madt *madt = &facts->madt;

	if (madt->core_count > madt->core_max || madt->core_count > madt->enabled)
		return "more cores than there is room for, or than are enabled";
	if (madt->enabled > ACPI_CORES_MAX)
		return "more enabled processors than can be";
	if (madt->core_count < madt->enabled && madt->core_count < madt->core_max)
		return "an enabled processor is missing though there was room";
	for (size_t i = 0; i < madt->core_count; i++)
		for (size_t j = 0; j < i; j++)
			if (madt->apic_ids[i] == madt->apic_ids[j])
				return "an APIC id that stands twice";
	if (facts->problem_count > ACPI_PROBLEMS_MAX)
		return "more problems than there is room for";
	for (size_t i = 0; i < facts->problem_count; i++)
		if (!acpi_sentence_is_good(facts->problems[i]))
			return "a problem that is no printable sentence with an end";
	return NULL;
}

/* Returns the Internet checksum (RFC 1071) of LENGTH bytes, with each word's low byte first. */
static inline uint16_t
coreboot_checksum(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i++) {
		sum += (uint32_t)bytes[i] << (8 * (i % 2));
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)~sum;
}

/* Corrects the checksums in the header at BYTES: of the records, if they follow it, and of the header itself. */
static inline void
coreboot_seal(uint8_t *bytes, size_t length)
{
	uint16_t sum;

	if (length < COREBOOT_HEADER)
		return;
	if (length > COREBOOT_HEADER) {
		sum = coreboot_checksum(bytes + COREBOOT_HEADER, length - COREBOOT_HEADER);
		memcpy(bytes + 16, &sum, sizeof(sum));
	}
	memset(bytes + 8, 0, 4);
	sum = coreboot_checksum(bytes, COREBOOT_HEADER);
	memcpy(bytes + 8, &sum, sizeof(sum));
}

#endif
