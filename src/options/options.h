/*
 * The options of a run. A text has options of the form key=value or key, separated by blanks or newlines. # starts a
 * comment up to the end of the line. Between quotes, blanks and # are part of the word. All sources have this syntax,
 * and a later source overrides an earlier one.
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
#define OPTIONS_GIVEN_SIZE 6144 /* enough for every option, and for a limit of each rule */
/*
 * Size of an error in bytes. An error about an unknown rule needs half of it, because it lists all rules with a limit.
 */
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
	uint64_t duration_ns; /* duration of one measurement: 10 ms to 24 h, or 0 if the profile sets it */
	size_t clock_count;   /* 0: all */
	char clocks[OPTIONS_CLOCKS_MAX][OPTIONS_NAME_SIZE];
	enum options_cores cores;
	bool cores_given;     /* true if the user gave cores=, so that results of earlier runs do not change it */
	uint32_t cores_max; /* maximum number of cores to use, with the boot core; UINT32_MAX for no limit */
	enum options_profile profile;
	uint32_t cutoff_millionths; /* a percentage in millionths of a percent: 0 to 100,000,000 */
	enum options_exit exit;
	bool save;            /* true if the report is saved on the boot volume */
	bool save_given;      /* true if the user gave save=auto or save=off; then no report is sent to a boot server */
	char save_url[URL_SIZE]; /* the report is also sent to this URL; "" for none */
	enum options_serial serial; /* amount of text on the serial lines */
	bool identity;        /* true if the report may have serial numbers */
	enum options_irq irq; /* choice of the timers with tested interrupts */
	bool pic;             /* true if interrupts through the PICs are tested, too */
	char label[OPTIONS_LABEL_SIZE]; /* name of this machine or run in printable ASCII; "" if it has none */
	uint64_t deadline_ns; /* longest duration of the whole run, 10 ms to 24 h; 0 if it follows from the plan */
	/* the TSC's frequency as given by the user, which is checked like a frequency from CPUID; 0 if none was given */
	uint64_t tsc_hz;
	uint64_t interval_ns; /* duration of a row in a soak's series: 1 s to 24 h */
	uint64_t gap_ns;      /* shortest stolen time that counts as a gap: 1 us to 1 s */
	bool rules;           /* true if the rule catalogue is printed and nothing is measured */
	bool help;            /* true if the options are printed and nothing is measured */
	size_t limit_count;
	struct options_limit limits[OPTIONS_LIMITS_MAX];
};

/* The names that are valid in values. The lists end with NULL and belong to the caller. */
struct options_names {
	const char *const *clocks; /* clocks that are valid in clocks= */
	const char *const *rules;  /* rules that are valid in limit.RULE= */
};

struct text;

/* The kind of value that a key takes. Most keys also take the words in their row. */
enum option_kind {
	OPTION_WORDS,   /* only the words in the row */
	OPTION_FLAG,    /* no value: the key stands alone */
	OPTION_COUNT,   /* a whole number */
	OPTION_TIME,    /* a whole number and one of options_units; stored in ns */
	OPTION_PERCENT, /* a percentage with at most OPTIONS_DECIMALS decimals; stored in millionths */
	OPTION_TEXT,    /* printable ASCII, between quotes if it has blanks */
	OPTION_CLOCKS,  /* names of clocks, separated by commas */
	OPTION_URL,     /* an address as in url.h */
	OPTION_LIMIT,   /* a whole number as the limit of the rule that the key names */
};

#define OPTIONS_DECIMALS 6

/* Position and size of a member in struct options. SIZE is 0 if there is no such member. */
struct option_field {
	uint16_t offset, size;
};

/*
 * One option. The parser, the formatter, the help, the README, the stick's configuration file and the runner's grammar
 * (qemu/runner/options.json) are all made from these rows.
 */
struct option {
	const char *key;
	enum option_kind kind;
	const char *const *words;   /* words that are valid values, with NULL at the end; NULL if there are none */
	/* a bool or an enum for the index of the user's word in WORDS; set to its default by any other value */
	struct option_field word;
	struct option_field given;  /* a bool that is set to true if the user gives one of WORDS */
	struct option_field value;  /* a number or a string for the user's value; set to its default by one of WORDS */
	uint64_t min, max;          /* limits of the stored number; for a text, MAX is its maximum length */
	const char *noun;           /* noun for the value in an error; NULL if the noun of KIND fits */
	const char *sample;         /* an example as a user types it */
	const char *preset;         /* the default in words; NULL for a key without a value */
	const char *meaning;        /* one sentence that explains the option */
};

/*
 * The table of options, in the order of the help text. A row with key NULL ends it. The row limit.RULE is for all
 * rules.
 */
extern const struct option options_table[];

struct option_unit {
	const char *word;
	uint64_t ns;
};

extern const struct option_unit options_units[]; /* units in ascending order; a row with word NULL ends the table */

void options_default(struct options *options); /* sets all options to their defaults */

/*
 * Reads LENGTH bytes of TEXT into OPTIONS. TEXT need not end with 0. SOURCE is the text's name in errors:
 * "baretick.cfg", "the load options", ... Returns true on success. Otherwise OPTIONS is unchanged, and ERROR
 * (OPTIONS_ERROR_SIZE bytes) has an ASCII sentence for each wrong word, as far as they fit. A sentence names the word
 * and the valid values. A UTF-8 byte order mark and carriage returns are skipped. UTF-16 and control characters are
 * errors.
 */
bool options_parse(const char *text, size_t length, const char *source,
		   const struct options_names *names, struct options *options, char *error);

/*
 * Moves words that are meant for other programs from TEXT to FOREIGN, separated by blanks. They become blanks in TEXT.
 * Firmware and loaders pass such words on: U-Boot has Linux's root= by default, and QEMU appends virtio_mmio.device=. A
 * word with a key of baretick, even a misspelled key, always stays. The other words are moved in two cases: one of them
 * is typical for Linux or is a path, or none of them looks like an option. Otherwise all words stay.
 */
void options_remove_foreign(char *text, size_t length, struct text *foreign);

/*
 * Returns false if two options exclude each other, with a sentence in ERROR. For example, exit=return needs cores=mp or
 * cores=off. Call it after the last source has been read.
 */
bool options_check(const struct options *options, char *error);

/* Writes the values that OPTION takes: "auto, or a whole number of ... from 1 to 9". OPTION must take a value. */
void options_put_valid(struct text *out, const struct option *option, const struct options_names *names);

/*
 * Return the duration of one measurement. The first function returns the duration of PROFILE: quick 100 ms, standard 1
 * s, soak 10 s. The second function returns the duration in OPTIONS if the user gave one.
 */
uint64_t options_profile_ns(enum options_profile profile);
uint64_t options_duration_ns(const struct options *options);

/*
 * Writes the options that differ from their defaults, as words that options_parse() can read. Keys without a value are
 * left out, because a run with such a key measures nothing.
 */
void options_put_given(struct text *out, const struct options *options);

/* Return the user's word for a value of an enum. report.json has the same word. */
const char *options_profile_word(enum options_profile profile);
const char *options_cores_word(enum options_cores cores);
const char *options_exit_word(enum options_exit exit);
const char *options_serial_word(enum options_serial serial);
const char *options_irq_word(enum options_irq irq);
const char *options_save_word(const struct options *options);

#endif
