/* The TSC's rate that coreboot states in its table of time stamps. */
#ifndef BARETICK_COREBOOT_H
#define BARETICK_COREBOOT_H

#include "acpi/acpi.h"

/* Sets MHZ to the stated rate, which may be 0. Returns false if MEMORY has no table of time stamps from coreboot. */
bool coreboot_find_tsc_mhz(const struct acpi_memory *memory, uint64_t *mhz);

#endif
