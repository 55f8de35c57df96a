/*
 * The options of a run. Options are words of the form key=value or key in a text, separated by spaces or newlines. A
 * # starts a comment up to the end of the line. Between quotes, spaces and # are part of a word. The configuration
 * file, the load options and all other sources have this syntax. An option in a later source overrides an earlier
 * one.
 */
#ifndef BARETICK_OPTIONS_H
#define BARETICK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/url.h"

#define OPTIONS_CLOCKS_MAX 16
#define OPTIONS_LIMITS_MAX 72
#define OPTIONS_NAME_SIZE  32
#define OPTIONS_LABEL_SIZE 65
#define OPTIONS_GIVEN_SIZE 6144 /* size in bytes of a text that has all options and a limit of each rule */
/*
 * Size of an error message in bytes. The message on an unknown rule needs half of it, because it lists all rules that
 * have a limit.
 */
#define OPTIONS_ERROR_SIZE 1024

enum options_cores { CORES_SIPI, CORES_MP, CORES_OFF };
enum options_profile { PROFILE_QUICK, PROFILE_STANDARD, PROFILE_SOAK };
enum options_serial { SERIAL_OFF, SERIAL_SUMMARY, SERIAL_COMPACT, SERIAL_FULL };
enum options_irq { IRQ_OFF, IRQ_AUTO, IRQ_ALL };
enum options_sleep { SLEEP_OFF, SLEEP_HALT, SLEEP_DEEP };
enum options_exit { EXIT_ASK, EXIT_REBOOT, EXIT_POWEROFF, EXIT_RETURN, EXIT_DEBUG };

struct options_limit {
	char rule[OPTIONS_NAME_SIZE];
	uint64_t value; /* the limit, in the unit of the rule */
};

/* the clocks to measure */
struct options_clock_list {
	size_t count;         /* 0: all clocks */
	char ids[OPTIONS_CLOCKS_MAX][OPTIONS_NAME_SIZE];
};

/* how the other cores are started, and how many of them */
struct options_core_start {
	enum options_cores method;
	bool given;           /* true if the user gave METHOD; it is then used, even if an earlier run with it hung */
	uint32_t max;         /* maximum number of cores to use, including the boot core; UINT32_MAX means no limit */
	enum options_sleep sleep;   /* the sleep states in which clocks are tested */
};

/* the places that get the report */
struct options_saving {
	bool on_volume;       /* true if the report is saved on the boot volume */
	/* true if the user gave save=auto or save=off; the report is then not sent to a boot server */
	bool given;
	char url[URL_SIZE];   /* URL of the server that gets the report, or "" */
	uint32_t boots;       /* number of boots in the series that the boot volume counts; 0 if there is no series */
};

struct options_prints { /* true if only the rule catalogue, or only the options, are printed */
	bool rules, help;
};

struct options {
	uint64_t duration_ns; /* duration of each long measurement, 10 ms to 24 h; 0 if the profile sets it */
	struct options_clock_list clocks;
	struct options_core_start cores;
	enum options_profile profile;
	/* percentage of all reads that the exact durations in the report must cover, multiplied by 1,000,000 */
	uint32_t cutoff_millionths;
	enum options_exit exit;
	struct options_saving save;
	enum options_serial serial; /* how much text is sent to serial lines */
	bool identity;        /* true if the report may contain serial numbers */
	enum options_irq irq; /* which timers' interrupts are tested */
	bool pic;             /* true if the user wants to test interrupts through the PICs */
	bool efi_off;         /* true if the time services of UEFI's firmware are not called */
	char label[OPTIONS_LABEL_SIZE]; /* name of this machine or run in printable ASCII, or "" */
	/*
	 * maximum duration of the whole run, 10 ms to 24 h; 0 means that it is calculated from the planned duration
	 */
	uint64_t deadline_ns;
	/* TSC frequency that the user gave, or 0. It is compared with measurements, like a frequency from CPUID. */
	uint64_t tsc_hz;
	uint64_t interval_ns; /* duration of a row in the series of a soak, 1 s to 24 h */
	/* shortest gap (time in which a core does not execute baretick) that is counted, 1 us to 1 s */
	uint64_t gap_ns;
	struct options_prints prints;
	size_t limit_count;
	struct options_limit limits[OPTIONS_LIMITS_MAX];
};

/* Names that are valid as values. The lists end with NULL, and belong to the caller. */
struct options_names {
	const char *const *clocks; /* clock ids for the option clocks= */
	const char *const *rules;  /* rule ids for the option limit.RULE= */
};

struct text;

/* Kind of an option's value. In addition, most options accept the words in their row of options_table. */
enum option_kind {
	OPTION_WORDS,   /* only the words in the option's row of options_table */
	OPTION_FLAG,    /* there is no value, only the key */
	OPTION_COUNT,   /* a whole number */
	OPTION_TIME,    /* a whole number with a unit from options_units; it is stored in ns */
	/* a percentage with at most OPTIONS_DECIMALS decimals; it is stored in millionths of a percent */
	OPTION_PERCENT,
	OPTION_TEXT,    /* printable ASCII, between quotes if it contains spaces */
	OPTION_CLOCKS,  /* clock ids, separated by commas */
	OPTION_URL,     /* a URL of the form that url.h describes */
	OPTION_LIMIT,   /* a whole number: the limit of the rule in the key */
};

#define OPTIONS_DECIMALS 6

/* Offset and size of a field of struct options. SIZE is 0 if there is no field. */
struct option_field {
	uint16_t offset, size;
};

/*
 * A row of options_table: one option. The parser, the formatter, the help text, the README and the configuration file
 * on the stick are all made from these rows.
 */
struct option {
	const char *key;
	enum option_kind kind;
	/* words that the option accepts as values, followed by NULL; NULL if there are none */
	const char *const *words;
	/*
	 * The field (an enum or a bool) that gets the index of the user's word in WORDS. Any other value of the option
	 * sets the field to its default.
	 */
	struct option_field word;
	struct option_field given;  /* A bool that is set to true if the user gives one of WORDS. */
	/* the field that gets the user's number or text; one of WORDS sets the field to its default */
	struct option_field value;
	uint64_t min, max;          /* limits of the number; for a text, MAX is its maximum length */
	const char *noun;           /* name of the value in error messages; NULL means the usual name for KIND */
	const char *sample;         /* an example as a user types it */
	const char *preset;         /* the default value in words; NULL for a key without a value */
	const char *meaning;        /* one sentence that explains the option */
};

/*
 * The table of options, in the order of the help text. The key of the last row is NULL. The row limit.RULE stands for
 * all rules.
 */
extern const struct option options_table[];

struct option_unit {
	const char *word;
	uint64_t ns;
};

extern const struct option_unit options_units[]; /* units in ascending order; the word of the last row is NULL */

void options_set_defaults(struct options *options); /* sets all options to their defaults */

/*
 * Reads LENGTH bytes of TEXT, which need not end with 0, into OPTIONS. SOURCE names the text in error messages:
 * "baretick.cfg", "the load options", ... Returns false if there is a wrong word. OPTIONS is then unchanged, and
 * ERROR, an empty text of at least 4 bytes, gets a sentence for each wrong word, as far as there is space. The sentence
 * states the word and the valid values. If SOURCE is NULL, no source is named, and each sentence is a line. A UTF-8
 * byte order mark and carriage returns are ignored. UTF-16 and control characters are errors.
 */
bool options_parse(const char *text, size_t length, const char *source,
		   const struct options_names *names, struct options *options, struct text *error);

bool options_is_blank(char c); /* true if C separates words */

/*
 * Moves words that are meant for other programs from TEXT to FOREIGN, and replaces them with spaces in TEXT. Firmware
 * and loaders add such words: U-Boot adds Linux's root=, and QEMU adds virtio_mmio.device=.
 *
 * A word whose key is a baretick option, even a misspelled one, is never moved. All other words are moved if
 * one of them is a path or is typical for Linux. They are also moved if no word of TEXT looks like an option.
 */
void options_remove_foreign_words(char *text, size_t length, struct text *foreign);

/*
 * Returns false if two options exclude each other, and writes a sentence to ERROR. For example, exit=return needs
 * cores=mp or cores=off. Call it after all sources have been read.
 */
bool options_are_exit_and_cores_compatible(const struct options *options, char *error);

/* Writes the values that OPTION accepts: "auto, or a whole number of ... from 1 to 9". OPTION must accept a value. */
void options_put_valid_values(struct text *out, const struct option *option, const struct options_names *names);

/*
 * Returns the duration of each long measurement. options_default_duration_ns() returns the duration for PROFILE:
 * quick 100 ms, standard 1 s, soak 10 s. options_duration_ns() returns the duration that the user gave, or else the
 * duration for the profile.
 */
uint64_t options_default_duration_ns(enum options_profile profile);
uint64_t options_duration_ns(const struct options *options);

/*
 * Writes the options that differ from their defaults, in a form that options_parse() can read. Keys without a value
 * are omitted, because a run with such a key makes no measurements.
 */
void options_put_changed_options(struct text *out, const struct options *options);

/* The words that select the values of enums, which are the indexes. report.json contains the same words. */
extern const char *const options_profile_words[], *const options_cores_words[], *const options_exit_words[];
extern const char *const options_irq_words[], *const options_sleep_words[];

/* Returns the URL that receives the report. Without a URL, returns the word of the option save. */
const char *options_save_mode_or_url(const struct options *options);

#endif
