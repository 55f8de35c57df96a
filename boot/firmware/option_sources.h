/*
 * Reads options from several sources. A later source overrides earlier sources. boot/uefi and boot/bare have different
 * sources.
 */
#ifndef BARETICK_OPTION_SOURCES_H
#define BARETICK_OPTION_SOURCES_H

#include "hw/cpu.h"
#include "report/report.h"

/*
 * Maximum number of bytes that are read from a source. A valid source is shorter. In a
 * longer source, only exit=, save= and serial= are searched for.
 */
#define OPTION_SOURCES_READ_SIZE (64u << 10)

struct option_sources {
	const struct options_names *names;
	struct report *report; /* the functions below store the options and notes in it */
	char *error; /* buffer of OPTIONS_ERROR_SIZE bytes for the first error */
	bool good;
};

/*
 * Sets REPORT's options to the built-in values. Returns a struct option_sources without an error, for the functions
 * below.
 */
struct option_sources option_sources_make_with_defaults(const struct options_names *names, struct report *report,
							char *error);

/*
 * Adds the options in TEXT, which has the first HELD_LENGTH bytes of a source of LENGTH bytes. Errors mention SOURCE,
 * the name of the source. If an option is wrong, the source's exit=, save= and serial= still count, because they
 * control how the run ends and where its error is reported.
 */
void option_sources_parse_text(struct option_sources *sources, const char *text, size_t held_length, size_t length,
			       const char *source);

/*
 * Does the same as option_sources_parse_text() for words that a loader passed. Removes words that are no options of
 * baretick from TEXT, and adds a note that lists them.
 */
void option_sources_parse_loader_text(struct option_sources *sources, char *text, size_t held, size_t length,
				      const char *source);

/* Adds the options in QEMU's fw_cfg, which is read in guests only. BUFFER has OPTION_SOURCES_READ_SIZE bytes. */
void option_sources_parse_fw_cfg(struct option_sources *sources, const struct cpu_facts *cpu, char *buffer);

/* Returns false and sets the error if a source was wrong, or if options contradict each other. */
bool option_sources_check_combination(struct option_sources *sources);

#endif
