/* The options of this run, from every source there is; later ones win. */
#ifndef BARETICK_SETTINGS_H
#define BARETICK_SETTINGS_H

#include "hw/cpu.h"
#include "report/report.h"
#include "uefi/firmware/uefi.h"

/* Where options stand in place of a baretick.cfg. */
struct settings_other {
	/*
	 * Puts the first SIZE bytes of them into BUFFER, and how long they are into LENGTH; false: there are none, and
	 * whatever is to be said of that was said.
	 */
	bool (*read)(void *context, char *buffer, size_t size, size_t *length);
	void *context;
	const char *name; /* what an error calls it */
};

/*
 * Built-in values, then baretick.cfg, or OTHER where the volume has none (NULL: there is nothing else), the load
 * options, QEMU's fw_cfg (asked only where CPUID or the ACPI tables say that the machine is a guest). False, and ERROR
 * a sentence (OPTIONS_ERROR_SIZE bytes), where any source is wrong: then REPORT's options hold what the others said,
 * and an exit=, save= and serial= that could be read, so that the run ends as it was asked to. Load options
 * without an option of baretick belong to the firmware: REPORT gets a note.
 */
bool settings_read(const struct cpu_facts *cpu, const struct options_names *names, const struct settings_other *other,
		   struct report *report, char *error);

#endif
