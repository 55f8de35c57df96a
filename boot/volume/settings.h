/* The options of this run, from every source there is; later ones win. */
#ifndef BARETICK_SETTINGS_H
#define BARETICK_SETTINGS_H

#include "cpu.h"
#include "firmware.h"
#include "options.h"

/*
 * Built-in values, then baretick.cfg, the load options, QEMU's fw_cfg (asked only where CPUID or the
 * ACPI tables say that the machine is a guest). False, and ERROR a sentence (OPTIONS_ERROR_SIZE bytes), where any
 * source is wrong: then OPTIONS holds what the others said, and an exit= and serial= that could be read, so that the
 * run ends, and is silent, as it was asked to.
 */
bool settings_read(const struct cpu_facts *cpu, const struct options_names *names,
		   struct options *options, char *error);

#endif
