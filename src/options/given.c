/* Options back into the words that they were given by. */
#include "options_internal.h"

#include "text.h"

#define NS_PER_US UINT64_C(1000)

static void
begin(struct text *out, const char *key)
{
	text_printf(out, "%s%s=", out->length ? " " : "", key);
}

/* A word of its own; nothing where it is what OTHER, the default, is. */
static void
put_word(struct text *out, const char *key, const char *word, const char *other)
{
	if (text_equal(word, other))
		return;
	begin(out, key);
	text_put(out, word);
}

/* In the largest unit of which it is a whole number. */
static void
put_time(struct text *out, const char *key, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *word;
	} units[] = { { OPTIONS_NS_PER_S, "s" }, { OPTIONS_NS_PER_MS, "ms" }, { NS_PER_US, "us" } };
	size_t unit = 0;

	while (unit < 2 && ns % units[unit].ns)
		unit++;
	begin(out, key);
	text_printf(out, "%lu%s", ns / units[unit].ns, units[unit].word);
}

static void
put_cores(struct text *out, const struct options *options)
{
	if (options->cores_max == UINT32_MAX) {
		put_word(out, "cores", options_cores_word(options->cores), options_cores_word(CORES_SIPI));
		return;
	}
	begin(out, "cores");
	text_printf(out, "%u", options->cores_max);
}

/* A percentage, without the zeros that its decimals would end in. */
static void
put_cutoff(struct text *out, uint32_t millionths)
{
	unsigned digits = 6;

	for (uint32_t rest = millionths; digits && rest % 10 == 0; rest /= 10)
		digits--;
	begin(out, "cutoff");
	text_put_decimal(out, millionths, 6, digits);
}

static void
put_lists(struct text *out, const struct options *options)
{
	for (size_t i = 0; i < options->limit_count; i++)
		text_printf(out, "%slimit.%s=%lu", out->length ? " " : "", options->limits[i].rule,
			    options->limits[i].value);
	for (size_t i = 0; i < options->clock_count; i++) {
		if (!i)
			begin(out, "clocks");
		text_printf(out, "%s%s", i ? "," : "", options->clocks[i]);
	}
}

void
options_put_given(struct text *out, const struct options *options)
{
	struct options usual;

	options_default(&usual);
	put_word(out, "profile", options_profile_word(options->profile), options_profile_word(usual.profile));
	if (options->duration_given)
		put_time(out, "duration", options->duration_ns);
	put_cores(out, options);
	if (options->cutoff_millionths != usual.cutoff_millionths)
		put_cutoff(out, options->cutoff_millionths);
	if (options->deadline_ns)
		put_time(out, "deadline", options->deadline_ns);
	if (options->tsc_hz) {
		begin(out, "tsc_hz");
		text_printf(out, "%lu", options->tsc_hz);
	}
	if (options->interval_ns != usual.interval_ns)
		put_time(out, "interval", options->interval_ns);
	if (options->gap_ns != usual.gap_ns)
		put_time(out, "gap", options->gap_ns);
	put_word(out, "exit", options_exit_word(options->exit), options_exit_word(usual.exit));
	put_word(out, "save", options_save_word(options), "auto");
	put_word(out, "serial", options_serial_word(options->serial), options_serial_word(usual.serial));
	put_word(out, "identity", options->identity ? "on" : "off", "on");
	put_word(out, "irq", options_irq_word(options->irq), "auto");
	put_word(out, "pic", options->pic ? "on" : "off", "off");
	if (options->label[0]) {
		begin(out, "label");
		text_printf(out, "\"%s\"", options->label);
	}
	put_lists(out, options);
}
