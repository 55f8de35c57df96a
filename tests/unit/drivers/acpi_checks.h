/* Conditions that acpi_facts must meet for any input, for the unit tests and the fuzz target. */
#ifndef BARETICK_TESTS_ACPI_CHECKS_H
#define BARETICK_TESTS_ACPI_CHECKS_H

#include <string.h>

#include "acpi/acpi.h"

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

#endif
