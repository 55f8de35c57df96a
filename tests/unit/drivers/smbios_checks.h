/* Conditions that smbios_facts must meet for any input, for the unit tests and the fuzz target. */
#ifndef BARETICK_TESTS_SMBIOS_CHECKS_H
#define BARETICK_TESTS_SMBIOS_CHECKS_H

#include <string.h>

#include "smbios/smbios.h"

static inline int
smbios_string_is_good(const char *string, size_t size)
{
	size_t length = strnlen(string, size);

	if (length == size || string[0] == ' ' || (length && string[length - 1] == ' '))
		return 0;
	for (size_t i = 0; i < length; i++)
		if (string[i] < ' ' || string[i] > '~')
			return 0;
	return 1;
}

/* Returns NULL, or a description of the condition that FACTS breaks. */
static inline const char *
smbios_broken_invariant(const struct smbios_facts *facts)
{
	const char *const strings[] = {
		facts->vendor, facts->product, facts->serial, facts->board_vendor, facts->board_product,
		facts->bios_vendor, facts->bios_version, facts->bios_date,
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		if (!smbios_string_is_good(strings[i], SMBIOS_STRING_SIZE))
			return "a string that is not printable, trimmed and ended";
		if (strings[i][0] && !facts->found)
			return "a string of no table";
	}
	if (!smbios_string_is_good(facts->problem, SMBIOS_PROBLEM_SIZE))
		return "a problem that is no printable sentence with an end";
	return NULL;
}

#endif
