/* Reads the options of this run from all sources. A later source overrides earlier sources. */
#ifndef BARETICK_SETTINGS_H
#define BARETICK_SETTINGS_H

#include "hw/cpu.h"
#include "report/report.h"
#include "uefi/firmware/uefi.h"

/* A source of options that replaces baretick.cfg. */
struct settings_other {
	/*
	 * Writes the first SIZE bytes of the options into BUFFER, and sets LENGTH to the options' length. Returns false
	 * if there are no options. The reason is already in the report's notes.
	 */
	bool (*read)(void *context, char *buffer, size_t size, size_t *length);
	void *context;
	const char *name; /* the source's name in errors */
};

/*
 * Reads the options in this order: the built-in values, baretick.cfg, the load options, QEMU's fw_cfg. If there is no
 * baretick.cfg, OTHER replaces it; OTHER may be NULL. fw_cfg is accessed only if CPUID or the ACPI tables show a guest.
 *
 * If a source is wrong, returns false with a sentence in ERROR (OPTIONS_ERROR_SIZE bytes). REPORT's options then hold
 * the values of the other sources. They also hold exit=, save= and serial= from the wrong source, so that the run ends
 * as requested. Load options without an option of baretick belong to the firmware, and REPORT gets a note about them.
 */
bool settings_read(const struct cpu_facts *cpu, const struct options_names *names, const struct settings_other *other,
		   struct report *report, char *error);

#endif
