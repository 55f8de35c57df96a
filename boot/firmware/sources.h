/* Options from one source after the other; later ones win. Which sources there are depends on the boot. */
#ifndef BARETICK_SOURCES_H
#define BARETICK_SOURCES_H

#include "hw/cpu.h"
#include "report/report.h"

#define SOURCES_READ_SIZE (64u << 10) /* enough for exit=, save= and serial= if a source is too long */

struct sources {
	const struct options_names *names;
	struct report *report; /* gets the options, and notes */
	char *error; /* OPTIONS_ERROR_SIZE bytes: the first that was wrong */
	bool good;
};

/* Begins with the built-in options. */
struct sources sources_begin(const struct options_names *names, struct report *report, char *error);

/*
 * Takes the options of SOURCE, a name for errors. SOURCE has LENGTH bytes, and TEXT the first HELD of them. If one is
 * wrong, exit=, save= and serial= are still taken: they say how the run ends and where its error goes.
 */
void sources_take(struct sources *sources, const char *text, size_t held, size_t length, const char *source);

/* As sources_take(), for words that a loader handed over. Its own words are removed from TEXT and noted. */
void sources_take_handed(struct sources *sources, char *text, size_t held, size_t length, const char *source);

/* Takes the options in QEMU's fw_cfg, which only a guest has. BUFFER has SOURCES_READ_SIZE bytes. */
void sources_take_fw_cfg(struct sources *sources, const struct cpu_facts *cpu, char *buffer);

/* False, and an error, where a source was wrong, or they do not go together. */
bool sources_end(struct sources *sources);

bool sources_is_blank(char c);

#endif
