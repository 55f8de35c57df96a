/* The table of options, with their defaults and the words that they accept. See options.h. */
#include "options/options_internal.h"

#define FIELD(name) { offsetof(struct options, name), sizeof(((struct options *)0)->name) }

/* options_get_number() finds the type of a field from its size. */
_Static_assert(sizeof(bool) == 1 && sizeof(enum options_exit) == sizeof(uint32_t), "sizes of bool and enum");

#define BOOTS_COUNT_MAX 1000
#define CORES_COUNT_MAX 4096 /* maximum number of cores that baretick reads from the ACPI table MADT */

const struct option_unit options_units[] = {
	{ "us", OPTIONS_NS_PER_US },
	{ "ms", OPTIONS_NS_PER_MS },
	{ "s", OPTIONS_NS_PER_S },
	{ "m", 60 * OPTIONS_NS_PER_S },
	{ "h", OPTIONS_NS_PER_H },
	{ NULL, 0 },
};

const char *const options_cores_words[] = {
	[CORES_SIPI] = "sipi", [CORES_MP] = "mp", [CORES_OFF] = "off", NULL,
};
const char *const options_profile_words[] = {
	[PROFILE_QUICK] = "quick", [PROFILE_STANDARD] = "standard", [PROFILE_SOAK] = "soak", NULL,
};
const char *const options_exit_words[] = {
	[EXIT_ASK] = "ask",	  [EXIT_REBOOT] = "reboot",	[EXIT_POWEROFF] = "poweroff",
	[EXIT_RETURN] = "return", [EXIT_DEBUG] = "debug-exit",	NULL,
};
static const char *const serial_words[] = {
	[SERIAL_OFF] = "off", [SERIAL_SUMMARY] = "summary", [SERIAL_COMPACT] = "compact",
	[SERIAL_FULL] = "full", NULL,
};
const char *const options_irq_words[] = {
	[IRQ_OFF] = "off", [IRQ_AUTO] = "auto", [IRQ_ALL] = "all", NULL,
};
const char *const options_sleep_words[] = {
	[SLEEP_OFF] = "off", [SLEEP_HALT] = "halt", [SLEEP_DEEP] = "deep", NULL,
};
static const char *const save_words[] = { "off", "auto", NULL };
static const char *const switch_words[] = { "off", "on", NULL };
static const char *const efi_words[] = { "on", "off", NULL }; /* the index is efi_off */
static const char *const deadline_words[] = { "auto", NULL };

const struct option options_table[] = {
	{ "duration", OPTION_TIME, .value = FIELD(duration_ns),
	  .min = 10 * OPTIONS_NS_PER_MS, .max = 24 * OPTIONS_NS_PER_H, .sample = "duration=3s",
	  .preset = "1s; 100ms with profile=quick, 10s with profile=soak",
	  .meaning = "The duration of one measurement, such as reading one clock. A run makes many, so it takes much longer. "
		     "A longer duration gives smaller errors. A standard run measures rates for ten times as long, but at "
		     "least for 1s, and at most for 10s or three times as long, whichever is longer." },
	{ "clocks", OPTION_CLOCKS, .sample = "clocks=tsc,hpet", .preset = "all",
	  .meaning = "The clocks to measure, each with its read method. The clock null is always measured." },
	{ "cores", OPTION_COUNT, options_cores_words, FIELD(cores.method), FIELD(cores.given), FIELD(cores.max),
	  .min = 1, .max = CORES_COUNT_MAX, .noun = "a number of cores", .sample = "cores=mp", .preset = "sipi",
	  .meaning = "How the other cores are started: by baretick (sipi), by the firmware (mp), or not at all (off). "
		     "A number means sipi with at most so many cores." },
	{ "profile", OPTION_WORDS, options_profile_words, FIELD(profile), .sample = "profile=quick", .preset = "standard",
	  .meaning = "The purpose of the run. quick gives a verdict in a few seconds, standard measures rates to about "
		     "0.1 ppm, soak finds rare events and drift." },
	{ "cutoff", OPTION_PERCENT, .value = FIELD(cutoff_millionths),
	  .max = 100000000, .sample = "cutoff=99.9", .preset = "99.99",
	  .meaning = "The report lists exact durations of reads, the shortest first, until they cover this percentage of all "
		     "reads." },
	{ "exit", OPTION_WORDS, options_exit_words, FIELD(exit), .sample = "exit=poweroff",
	  .preset = "ask; debug-exit under qemu/run",
	  .meaning = "The action at the end: ask for a key, or one of the other actions. "
		     "return needs cores=mp or cores=off." },
	{ "boots", OPTION_COUNT, .value = FIELD(save.boots), .min = 1, .max = BOOTS_COUNT_MAX, .noun = "a number of boots",
	  .sample = "boots=20", .preset = "1",
	  .meaning = "The number of boots that measure the machine. Each boot but the last restarts it, or with exit=poweroff "
		     "switches it off until the clock in the machine switches it on. The last report says in how many boots "
		     "each finding was seen. The boot volume must be writable, because it keeps the count." },
	{ "save", OPTION_URL, save_words, FIELD(save.on_volume), FIELD(save.given), FIELD(save.url), .sample = "save=off",
	  .preset = "auto; off under qemu/run --boot efi, where there is no volume to save on",
	  .meaning = "Whether the report is saved on the boot volume. With an http address it is saved, and the firmware's "
		     "network also sends report.json to this address. Without save= a machine that was booted over a network "
		     "sends it to its boot server." },
	{ "serial", OPTION_WORDS, serial_words, FIELD(serial), .sample = "serial=summary", .preset = "full",
	  .meaning = "The output on the firmware's serial lines: everything (full), the lines and tables for people "
		     "(summary), these and a report of 48 KiB (compact), or nothing (off)." },
	{ "label", OPTION_TEXT, .value = FIELD(label), .max = OPTIONS_LABEL_SIZE - 1,
	  .sample = "label=\"rack 7, left\"", .preset = "none",
	  .meaning = "A name for the machine or the run, which every report shows." },
	{ "identity", OPTION_WORDS, switch_words, FIELD(identity), .sample = "identity=off", .preset = "on",
	  .meaning = "Whether the report includes serial numbers. It never includes a UUID." },
	{ "irq", OPTION_WORDS, options_irq_words, FIELD(irq), .sample = "irq=off", .preset = "auto",
	  .meaning = "Whether baretick programs timers and takes their interrupts. all adds timers that replace another "
		     "device or use the SCI, and tests every timer in a quick run, too." },
	{ "sleep", OPTION_WORDS, options_sleep_words, FIELD(cores.sleep), .sample = "sleep=off", .preset = "halt",
	  .meaning = "The sleep states in which clocks are tested. halt lets cores execute HLT. deep also lets them enter "
		     "each deeper state that the CPU offers, in which a core may hang." },
	{ "pic", OPTION_WORDS, switch_words, FIELD(pic), .sample = "pic=on", .preset = "off",
	  .meaning = "Whether PIT and RTC are also tested through the two PICs. The PICs then stay masked and keep "
		     "baretick's vectors." },
	{ "efi", OPTION_WORDS, efi_words, FIELD(efi_off), .sample = "efi=off", .preset = "on",
	  .meaning = "Whether the firmware's own time is tested: its delays, timer events, time of day and counters." },
	{ "deadline", OPTION_TIME, deadline_words, .value = FIELD(deadline_ns),
	  .min = 10 * OPTIONS_NS_PER_MS, .max = 24 * OPTIONS_NS_PER_H, .sample = "deadline=10m",
	  .preset = "auto: three times the planned time plus a minute",
	  .meaning = "The latest end of the run. If the run reaches it, the report has the results up to then and is "
		     "marked as incomplete." },
	{ "tsc_hz", OPTION_COUNT, .value = FIELD(tsc_hz),
	  .min = 1000000, .max = UINT64_C(1000000000000), .noun = "a whole number of hertz",
	  .sample = "tsc_hz=2445424000", .preset = "the rate that CPUID claims",
	  .meaning = "The TSC's rate from a data sheet or the hypervisor's settings. It is compared with every clock." },
	{ "gap", OPTION_TIME, .value = FIELD(gap_ns),
	  .min = OPTIONS_NS_PER_US, .max = OPTIONS_NS_PER_S, .sample = "gap=1ms", .preset = "10us",
	  .meaning = "If a core is preempted for longer than this, the time counts as a gap (section Interference)." },
	{ "interval", OPTION_TIME, .value = FIELD(interval_ns),
	  .min = OPTIONS_NS_PER_S, .max = 24 * OPTIONS_NS_PER_H, .sample = "interval=10s", .preset = "1m",
	  .meaning = "The duration of each row in a soak's series. After 1440 rows, all rows are merged in pairs, "
		     "and new rows last twice as long." },
	{ "rules", OPTION_FLAG, .value = FIELD(prints.rules), .sample = "rules",
	  .meaning = "Prints the rules with their limits and measures nothing." },
	{ "help", OPTION_FLAG, .value = FIELD(prints.help), .sample = "help",
	  .meaning = "Prints this list and measures nothing." },
	/* 10^18, because the limit of a finding is stored as an int64_t */
	{ "limit.RULE", OPTION_LIMIT, .max = UINT64_C(1000000000000000000),
	  .noun = "a whole number in the rule's unit,", .sample = "limit.clock-slow=10000", .preset = "the rule's own limit",
	  .meaning = "The limit of a rule, in its unit: ns for clock-slow, ppm for rate-wrong. To print all limits with their "
		     "units, use the option rules." },
	{ .key = NULL },
};

void
options_set_defaults(struct options *options)
{
	*options = (struct options){
		.cores = { .method = CORES_SIPI, .max = UINT32_MAX, .sleep = SLEEP_HALT },
		.profile = PROFILE_STANDARD,
		.cutoff_millionths = 99990000, /* 99.99 percent, the default of pg_test_timing */
		.exit = EXIT_ASK,
		.save.on_volume = true,
		.serial = SERIAL_FULL,
		.identity = true,
		.irq = IRQ_AUTO,
		.interval_ns = 60 * OPTIONS_NS_PER_S,
		.gap_ns = 10 * OPTIONS_NS_PER_US, /* the default of Linux's hwlat tracer: kernel/trace/trace_hwlat.c */
	};
}

uint64_t
options_default_duration_ns(enum options_profile profile)
{
	static const uint64_t profile_ns[] = {
		[PROFILE_QUICK] = 100 * OPTIONS_NS_PER_MS,
		[PROFILE_STANDARD] = OPTIONS_NS_PER_S,
		[PROFILE_SOAK] = 10 * OPTIONS_NS_PER_S,
	};

	return profile_ns[profile];
}

uint64_t
options_duration_ns(const struct options *options)
{
	return options->duration_ns ? options->duration_ns : options_default_duration_ns(options->profile);
}

const char *
options_save_mode_or_url(const struct options *options)
{
	return options->save.url[0] ? options->save.url : save_words[options->save.on_volume];
}
