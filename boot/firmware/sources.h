/* Reads options from several sources. A later source overrides earlier ones. Each boot has its own sources. */
#ifndef BARETICK_SOURCES_H
#define BARETICK_SOURCES_H

#include "hw/cpu.h"
#include "report/report.h"

#define SOURCES_READ_SIZE (64u << 10) /* enough for exit=, save= and serial= if a source is too long */

struct sources {
	const struct options_names *names;
	struct report *report; /* receives the options, and notes */
	char *error; /* buffer of OPTIONS_ERROR_SIZE bytes for the first error */
	bool good;
};

/* Starts with the built-in options. */
struct sources sources_begin(const struct options_names *names, struct report *report, char *error);

/*
 * Takes the options in TEXT, which has the first HELD bytes of a source of LENGTH bytes. SOURCE is its name for errors.
 * If an option is wrong, exit=, save= and serial= are still taken, because they say how the run ends and where its
 * error goes.
 */
void sources_take(struct sources *sources, const char *text, size_t held, size_t length, const char *source);

/*
 * As sources_take(), for words from a loader. Words of the loader itself are removed from TEXT, and a note names them.
 */
void sources_take_handed(struct sources *sources, char *text, size_t held, size_t length, const char *source);

/* Takes the options in QEMU's fw_cfg, which only a guest has. BUFFER has SOURCES_READ_SIZE bytes. */
void sources_take_fw_cfg(struct sources *sources, const struct cpu_facts *cpu, char *buffer);

/* Returns false and sets the error if a source was wrong, or if the options contradict each other. */
bool sources_end(struct sources *sources);

bool sources_is_blank(char c);

#endif
