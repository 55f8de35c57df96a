/*
 * The options of a run: words key=value or a key alone, separated by blanks or newlines. # starts a comment up to the
 * end of the line. Between quotes, blanks and # are part of the word. All sources have this syntax, and a later source
 * overrides an earlier one.
 */
#ifndef BARETICK_OPTIONS_H
#define BARETICK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/url.h"

#define OPTIONS_CLOCKS_MAX 16
#define OPTIONS_LIMITS_MAX 64
#define OPTIONS_NAME_SIZE  32
#define OPTIONS_LABEL_SIZE 65
#define OPTIONS_GIVEN_SIZE 6144 /* every option, and a limit for each rule */
/* Bytes of an error. An unknown rule needs half of them, because the error lists all rules with a limit. */
#define OPTIONS_ERROR_SIZE 1024

enum options_cores { CORES_SIPI, CORES_MP, CORES_OFF };
enum options_profile { PROFILE_QUICK, PROFILE_STANDARD, PROFILE_SOAK };
enum options_serial { SERIAL_OFF, SERIAL_SUMMARY, SERIAL_COMPACT, SERIAL_FULL };
enum options_irq { IRQ_OFF, IRQ_AUTO, IRQ_ALL };
enum options_exit { EXIT_ASK, EXIT_REBOOT, EXIT_POWEROFF, EXIT_RETURN, EXIT_DEBUG };

struct options_limit {
	char rule[OPTIONS_NAME_SIZE];
	uint64_t value; /* in the rule's unit */
};

struct options {
	uint64_t duration_ns; /* 10 ms to 24 h, or 0 if the profile sets it */
	size_t clock_count;   /* 0: all */
	char clocks[OPTIONS_CLOCKS_MAX][OPTIONS_NAME_SIZE];
	enum options_cores cores;
	bool cores_given;     /* true if the user gave cores=, so that results of earlier runs do not change it */
	uint32_t cores_max; /* maximum number of cores to use, with the boot core; UINT32_MAX for no limit */
	enum options_profile profile;
	uint32_t cutoff_millionths; /* 0 to 100,000,000: millionths of a percent */
	enum options_exit exit;
	bool save;            /* true: save the report on the boot volume */
	bool save_given;      /* true if the user gave save=auto or save=off: no report is sent to a boot server */
	char save_url[URL_SIZE]; /* URL that the report is also sent to, or "" */
	enum options_serial serial; /* how much is written to the serial lines */
	bool identity;        /* true: the report may have serial numbers */
	enum options_irq irq; /* which timers' interrupts are tested */
	bool pic;             /* true: interrupts through the PICs are tested, too */
	char label[OPTIONS_LABEL_SIZE]; /* name of this machine or run, printable ASCII; "" if none */
	uint64_t deadline_ns; /* most time for the whole run, 10 ms to 24 h; 0 if it follows from the plan */
	uint64_t tsc_hz;      /* the TSC's frequency from the user, checked like a frequency from CPUID; 0 if none */
	uint64_t interval_ns; /* duration of a row of a soak's series: 1 s to 24 h */
	uint64_t gap_ns;      /* shortest stolen time that counts as a gap: 1 us to 1 s */
	bool rules;           /* true: print the rule catalogue and end */
	bool help;            /* true: print the options and end */
	size_t limit_count;
	struct options_limit limits[OPTIONS_LIMITS_MAX];
};

/* The names that a value may have; all owned by the caller, lists end with NULL. */
struct options_names {
	const char *const *clocks; /* clocks that clocks= accepts */
	const char *const *rules;  /* rules that limit.RULE= accepts */
};

struct text;

/* The kind of value that a key takes, in addition to its words. */
enum option_kind {
	OPTION_WORDS,   /* nothing else */
	OPTION_FLAG,    /* there is no value: the key stands by itself */
	OPTION_COUNT,   /* a whole number */
	OPTION_TIME,    /* a whole number and one of options_units; stored in ns */
	OPTION_PERCENT, /* with at most OPTIONS_DECIMALS decimals; stored in millionths */
	OPTION_TEXT,    /* printable ASCII, between quotes if it has blanks */
	OPTION_CLOCKS,  /* names of clocks, separated by commas */
	OPTION_URL,     /* see url.h */
	OPTION_LIMIT,   /* a whole number, for the rule that the key names */
};

#define OPTIONS_DECIMALS 6

/* The place of a member of struct options; SIZE is 0 if there is none. */
struct option_field {
	uint16_t offset, size;
};

/*
 * A key. The parser, the formatter, the help, the README, the stick's file and the runner's grammar
 * (qemu/runner/options.json) are all made from these rows.
 */
struct option {
	const char *key;
	enum option_kind kind;
	const char *const *words;   /* valid values, NULL at the end; the index is stored in WORD. NULL: none */
	struct option_field word;   /* a bool or an enum; its default if the value is not in WORDS */
	struct option_field given;  /* a bool: true if the value is in WORDS */
	struct option_field value;  /* a number or a string; its default if the value is in WORDS */
	uint64_t min, max;          /* limits of the stored number; MAX of a text is its length */
	const char *noun;           /* name of the value in an error; NULL if the name of the kind fits */
	const char *sample;         /* an example as a user types it */
	const char *preset;         /* the default in words; NULL for a flag */
	const char *meaning;        /* one sentence */
};

/* The rows have the order of the help text. A row with key NULL ends the table. The row limit.RULE is for all rules. */
extern const struct option options_table[];

struct option_unit {
	const char *word;
	uint64_t ns;
};

extern const struct option_unit options_units[]; /* ascending; a row with word NULL ends the table */

void options_default(struct options *options); /* sets all options to their defaults */

/*
 * Reads LENGTH bytes of TEXT, which need not end with 0, into OPTIONS. An error names SOURCE ("baretick.cfg",
 * "the load options", ...). Returns true on success. Otherwise OPTIONS is unchanged, and ERROR
 * (OPTIONS_ERROR_SIZE bytes) has an ASCII sentence for each wrong word, as far as they fit. It names the word
 * and the valid values. A UTF-8 byte order mark and carriage returns are skipped. UTF-16 and control characters
 * are reported as such.
 */
bool options_parse(const char *text, size_t length, const char *source,
		   const struct options_names *names, struct options *options, char *error);

/*
 * Moves the words of another program from TEXT to FOREIGN, separated by blanks, and leaves blanks in TEXT. Firmware
 * and loaders hand such words over: U-Boot has Linux's root= by default, and QEMU appends virtio_mmio.device=. A word
 * with a key of ours, even a misspelled key, stays. Other words are moved if one of them has a mark of Linux or is a
 * path, or if none of them looks like an option. Otherwise all words stay.
 */
void options_remove_foreign(char *text, size_t length, struct text *foreign);

/*
 * Returns false, with a sentence in ERROR, if options exclude each other: exit=return needs cores=mp or off. Call it
 * after the last source.
 */
bool options_check(const struct options *options, char *error);

/* Writes the values that OPTION, which is no flag, takes: "auto, or a whole number of ... from 1 to 9". */
void options_put_valid(struct text *out, const struct option *option, const struct options_names *names);

/*
 * Return the duration of one measurement: quick 100 ms, standard 1 s, soak 10 s. The second function returns the
 * duration in OPTIONS if the user gave one.
 */
uint64_t options_profile_ns(enum options_profile profile);
uint64_t options_duration_ns(const struct options *options);

/*
 * Writes the options that differ from the default, as words that options_parse() reads back. Flags are left out,
 * because a run with a flag measures nothing.
 */
void options_put_given(struct text *out, const struct options *options);

/* Return the word that a user types for a value, which is also the word in report.json. */
const char *options_profile_word(enum options_profile profile);
const char *options_cores_word(enum options_cores cores);
const char *options_exit_word(enum options_exit exit);
const char *options_serial_word(enum options_serial serial);
const char *options_irq_word(enum options_irq irq);
const char *options_save_word(const struct options *options);

#endif
