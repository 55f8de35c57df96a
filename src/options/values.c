/* The table of options: what each key takes. See options_internal.h. */
#include "options_internal.h"

#include "text.h"

#define CORES_MAX         4096 /* as many as the MADT is read for */
#define CUTOFF_DECIMALS   6
#define TSC_HZ_MIN        UINT64_C(1000000)
#define TSC_HZ_MAX        UINT64_C(1000000000000)
#define CUTOFF_MILLIONTHS UINT32_C(100000000)

static bool
parse_duration(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	options->duration_given = true;
	return options_take_duration(value, &options->duration_ns);
}

static bool
parse_deadline(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	if (options_word_is(value, "auto")) {
		options->deadline_ns = 0;
		return true;
	}
	return options_take_duration(value, &options->deadline_ns);
}

static bool
parse_tsc_hz(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	return options_take_number(&value, TSC_HZ_MAX, &options->tsc_hz) && !value.length &&
	       options->tsc_hz >= TSC_HZ_MIN;
}

static bool
parse_interval(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	return options_take_interval(value, &options->interval_ns);
}

static bool
parse_gap(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	return options_take_gap(value, &options->gap_ns);
}

static bool
parse_rules(struct word value, const struct options_names *names, struct options *options)
{
	(void)value;
	(void)names;
	options->rules = true;
	return true;
}

static bool
parse_help(struct word value, const struct options_names *names, struct options *options)
{
	(void)value;
	(void)names;
	options->help = true;
	return true;
}

static void
copy_name(char out[OPTIONS_NAME_SIZE], const char *name)
{
	struct text text;

	text_init(&text, out, OPTIONS_NAME_SIZE);
	text_put(&text, name);
}

static bool
add_clock(struct word id, const struct options_names *names, struct options *options)
{
	const char *name = options_find_name(names->clocks, id);

	if (!name)
		return false;
	for (size_t i = 0; i < options->clock_count; i++)
		if (text_equal(options->clocks[i], name))
			return true;
	if (options->clock_count == OPTIONS_CLOCKS_MAX)
		return false;
	copy_name(options->clocks[options->clock_count++], name);
	return true;
}

static bool
parse_clocks(struct word value, const struct options_names *names, struct options *options)
{
	options->clock_count = 0;
	for (;;) {
		size_t length = value.length;
		struct word id = options_take_until(&value, ',');

		if (!add_clock(id, names, options))
			return false;
		if (id.length == length)
			return true; /* no comma behind it */
	}
}

/* The index of VALUE in the COUNT WORDS; COUNT where it is none of them. */
static size_t
choose(struct word value, const char *const *words, size_t count)
{
	size_t index = 0;

	while (index < count && !options_word_is(value, words[index]))
		index++;
	return index;
}

static const char *const cores_words[] = {
	[CORES_SIPI] = "sipi", [CORES_MP] = "mp", [CORES_OFF] = "off",
};
static const char *const profile_words[] = {
	[PROFILE_QUICK] = "quick", [PROFILE_STANDARD] = "standard", [PROFILE_SOAK] = "soak",
};
static const char *const exit_words[] = {
	[EXIT_ASK] = "ask",	  [EXIT_REBOOT] = "reboot",	[EXIT_POWEROFF] = "poweroff",
	[EXIT_RETURN] = "return", [EXIT_DEBUG] = "debug-exit",
};
static const char *const serial_words[] = {
	[SERIAL_OFF] = "off", [SERIAL_SUMMARY] = "summary", [SERIAL_FULL] = "full",
};
static const char *const save_words[] = { "off", "auto" };
static const char *const switch_words[] = { "off", "on" };
static const char *const irq_words[] = { "off", "auto", "all" };

#define CHOOSE(value, words) choose(value, words, sizeof(words) / sizeof(words[0]))

/* A number means sipi with at most so many cores, a word no limit: the later cores= wins as a whole. */
static bool
parse_cores(struct word value, const struct options_names *names, struct options *options)
{
	size_t index = CHOOSE(value, cores_words);
	uint64_t count;

	(void)names;
	if (index <= CORES_OFF) {
		options->cores = (enum options_cores)index;
		options->cores_max = UINT32_MAX;
		options->cores_given = true;
		return true;
	}
	if (!options_take_number(&value, CORES_MAX, &count) || value.length || count == 0)
		return false;
	options->cores = CORES_SIPI;
	options->cores_max = (uint32_t)count;
	options->cores_given = false;
	return true;
}

static bool
parse_profile(struct word value, const struct options_names *names, struct options *options)
{
	size_t index = CHOOSE(value, profile_words);

	(void)names;
	options->profile = (enum options_profile)index;
	return index <= PROFILE_SOAK;
}

static bool
parse_cutoff(struct word value, const struct options_names *names, struct options *options)
{
	struct word whole = options_take_until(&value, '.');
	bool has_point = whole.bytes + whole.length != value.bytes;
	size_t decimals = value.length;
	uint64_t percent, fraction = 0;

	(void)names;
	if (!options_take_number(&whole, 100, &percent) || whole.length || decimals > CUTOFF_DECIMALS)
		return false;
	if (has_point && (!options_take_number(&value, UINT32_MAX, &fraction) || value.length))
		return false;
	for (; decimals < CUTOFF_DECIMALS; decimals++)
		fraction *= 10;
	options->cutoff_millionths = (uint32_t)(percent * 1000000 + fraction);
	return options->cutoff_millionths <= CUTOFF_MILLIONTHS;
}

static bool
parse_exit(struct word value, const struct options_names *names, struct options *options)
{
	size_t index = CHOOSE(value, exit_words);

	(void)names;
	options->exit = (enum options_exit)index;
	return index <= EXIT_DEBUG;
}

/* WORDS: what stands for off, and for on. */
static bool
take_switch(struct word value, const char *const words[2], bool *on)
{
	size_t index = choose(value, words, 2);

	*on = index == 1;
	return index <= 1;
}

static bool
parse_save(struct word value, const struct options_names *names, struct options *options)
{
	struct url url;

	(void)names;
	options->save_given = true;
	options->save_url[0] = '\0';
	if (take_switch(value, save_words, &options->save))
		return true;
	options->save = true;
	if (!url_read(value.bytes, value.length, &url))
		return false;
	for (size_t i = 0; i < value.length; i++)
		options->save_url[i] = value.bytes[i];
	options->save_url[value.length] = '\0';
	return true;
}

static bool
parse_serial(struct word value, const struct options_names *names, struct options *options)
{
	size_t index = CHOOSE(value, serial_words);

	(void)names;
	options->serial = (enum options_serial)index;
	return index <= SERIAL_FULL;
}

static bool
parse_identity(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	return take_switch(value, switch_words, &options->identity);
}

static bool
parse_pic(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	return take_switch(value, switch_words, &options->pic);
}

static bool
parse_irq(struct word value, const struct options_names *names, struct options *options)
{
	size_t index = CHOOSE(value, irq_words);

	(void)names;
	options->irq = (enum options_irq)index;
	return index <= IRQ_ALL;
}

static bool
parse_label(struct word value, const struct options_names *names, struct options *options)
{
	(void)names;
	if (value.length >= 2 && value.bytes[0] == '"' && value.bytes[value.length - 1] == '"')
		value = (struct word){ value.bytes + 1, value.length - 2 };
	if (value.length >= OPTIONS_LABEL_SIZE)
		return false;
	for (size_t i = 0; i < value.length; i++) {
		if (value.bytes[i] < ' ' || value.bytes[i] > '~' || value.bytes[i] == '"')
			return false;
		options->label[i] = value.bytes[i];
	}
	options->label[value.length] = '\0';
	return true;
}

static const char *const *
list_clocks(const struct options_names *names)
{
	return names->clocks;
}

const struct option options_table[] = {
	{ "duration", parse_duration, "a whole number and ms, s, m or h, from 10ms to 24h", NULL, "duration=3s",
	  "1s; 100ms with profile=quick, 10s with profile=soak",
	  "The time per measurement: the longer, the smaller the errors. Rates are taken over ten times as long, "
	  "up to 10s, or over three times as long where that is more." },
	{ "clocks", parse_clocks, "one or more of these, separated by commas:", list_clocks, "clocks=tsc,hpet", "all",
	  "The clocks that are measured, each in its own way of reading; null always is." },
	{ "cores", parse_cores, "sipi, mp, off, or a number of cores from 1 to 4096", NULL, "cores=mp", "sipi",
	  "Who starts the other cores: baretick (sipi), the firmware (mp) or nobody (off); a number is sipi with at "
	  "most that many cores." },
	{ "profile", parse_profile, "quick, standard or soak", NULL, "profile=quick", "standard",
	  "What the run is for: a verdict in a few seconds, rates to some 0.1 ppm, or rare events and drift." },
	{ "cutoff", parse_cutoff, "a percentage from 0 to 100 with at most 6 decimals", NULL, "cutoff=99.9", "99.99",
	  "The percentage of the reads up to which exact durations are listed." },
	{ "exit", parse_exit, "ask, reboot, poweroff, return or debug-exit", NULL, "exit=poweroff",
	  "ask; debug-exit under qemu/run",
	  "What happens at the end: baretick asks for a key, or does one of these; "
	  "return goes with cores=mp or cores=off only." },
	{ "save", parse_save, "auto, off or http://HOST[:PORT]/PATH", NULL, "save=off",
	  "auto; off under qemu/run --boot efi, where there is no volume to save on",
	  "Whether the report is saved on the volume that was booted from; http: it is, and report.json is sent there as "
	  "well, by the firmware's network. Without save= a machine that was booted over a network sends it to the server "
	  "that it came from." },
	{ "serial", parse_serial, "full, summary or off", NULL, "serial=summary", "full",
	  "What is written to the firmware's serial lines: everything, the run's lines and tables, or nothing." },
	{ "label", parse_label, "a word, or text between quotes, of at most 64 printable ASCII characters", NULL,
	  "label=\"rack 7, left\"", "none", "A name of the machine or the run, for every report." },
	{ "identity", parse_identity, "on or off", NULL, "identity=off", "on",
	  "Whether the report has serial numbers; it never has a UUID." },
	{ "irq", parse_irq, "auto, all or off", NULL, "irq=off", "auto",
	  "Whether timers are programmed and their interrupts taken; all: also those that take another device's place or the "
	  "SCI, and in a quick run every source." },
	{ "pic", parse_pic, "on or off", NULL, "pic=on", "off",
	  "Whether PIT and RTC interrupt by the two PICs as well, which then stay masked, with vectors of baretick's." },
	{ "deadline", parse_deadline, "auto, or a whole number and ms, s, m or h, from 10ms to 24h", NULL, "deadline=10m",
	  "auto: three times the plan and a minute",
	  "When the run ends at the latest: what was measured by then is reported, as incomplete." },
	{ "tsc_hz", parse_tsc_hz, "a whole number of hertz from 1000000 to 1000000000000", NULL, "tsc_hz=2445424000",
	  "what CPUID claims",
	  "The TSC's rate by its data sheet or the hypervisor's settings, to check against every clock." },
	{ "gap", parse_gap, "a whole number and us, ms or s, from 1us to 1s", NULL, "gap=1ms", "10us",
	  "Time that is stolen from a core for longer than this is a gap (section Interference)." },
	{ "interval", parse_interval, "a whole number and ms, s, m or h, from 1s to 24h", NULL, "interval=10s", "1m",
	  "How long a row of a soak's series is; where 1440 are too few, rows become one with their neighbours." },
	{ "rules", parse_rules, NULL, NULL, "rules", NULL, "Prints the rules with their limits, and measures nothing." },
	{ "help", parse_help, NULL, NULL, "help", NULL, "Prints this, and measures nothing." },
	{ "limit.RULE", NULL, "a whole number from 0 to 10^18, in the rule's unit", NULL, "limit.clock-slow=10000",
	  "the catalogue's", "The limit of a rule: the word rules prints all of them." },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};

bool
options_parse_limit(const char *rule, struct word value, struct options *options)
{
	uint64_t limit;
	size_t i = 0;

	if (!options_take_number(&value, OPTIONS_LIMIT_MAX, &limit) || value.length)
		return false;
	while (i < options->limit_count && !text_equal(options->limits[i].rule, rule))
		i++;
	if (i == OPTIONS_LIMITS_MAX)
		return false;
	if (i == options->limit_count)
		copy_name(options->limits[options->limit_count++].rule, rule);
	options->limits[i].value = limit;
	return true;
}

const char *
options_profile_word(enum options_profile profile)
{
	return profile_words[profile];
}

const char *
options_cores_word(enum options_cores cores)
{
	return cores_words[cores];
}

const char *
options_exit_word(enum options_exit exit)
{
	return exit_words[exit];
}

const char *
options_serial_word(enum options_serial serial)
{
	return serial_words[serial];
}

const char *
options_irq_word(enum options_irq irq)
{
	return irq_words[irq];
}

const char *
options_save_word(const struct options *options)
{
	return options->save_url[0] ? options->save_url : options->save ? "auto" : "off";
}
