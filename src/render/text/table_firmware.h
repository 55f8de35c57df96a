/* Writes the section on the firmware's own time. */
#ifndef BARETICK_TABLE_FIRMWARE_H
#define BARETICK_TABLE_FIRMWARE_H

#include "render/sections/table_sections.h"

/* Writes a row for each time service of the firmware, and the source of its tick, or nothing without UEFI. */
void table_put_firmware_times(struct text *out, const struct report *report);

#endif
