/* Writes options as users type them, and the values that an option accepts. See options.h. */
#include "options/options_internal.h"

#include "base/text.h"

static void
put_key_of_option(struct text *out, const char *key)
{
	text_printf(out, "%s%s=", out->length ? " " : "", key);
}

/* Writes a time in the largest unit in which it is a whole number. */
static void
put_duration(struct text *out, uint64_t ns)
{
	const struct option_unit *best = options_units;

	for (const struct option_unit *unit = best; unit->word; unit++)
		if (ns % unit->ns == 0)
			best = unit;
	text_printf(out, "%lu%s", ns / best->ns, best->word);
}

/* Writes a percentage without trailing zeros. */
static void
put_percent(struct text *out, uint64_t millionths)
{
	unsigned digits = OPTIONS_DECIMALS;

	for (uint64_t rest = millionths; digits && rest % 10 == 0; rest /= 10)
		digits--;
	text_put_decimal(out, millionths, OPTIONS_DECIMALS, digits);
}

static void
put_number(struct text *out, enum option_kind kind, uint64_t number)
{
	if (kind == OPTION_TIME)
		put_duration(out, number);
	else if (kind == OPTION_PERCENT)
		put_percent(out, number);
	else
		text_printf(out, "%lu", number);
}

void
options_put_names(struct text *out, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		text_printf(out, "%s%s", i ? ", " : " ", names[i]);
}

void
options_put_valid_values(struct text *out, const struct option *option, const struct options_names *names)
{
	static const char *const nouns[] = {
		[OPTION_COUNT] = "a whole number",
		[OPTION_TIME] = "a whole number and us, ms, s, m or h,",
		[OPTION_PERCENT] = "a percentage with at most 6 decimals",
		[OPTION_TEXT] = "a word, or text between quotes, of printable ASCII and at most",
		[OPTION_CLOCKS] = "one or more of these, separated by commas:",
		[OPTION_URL] = "http://HOST[:PORT]/PATH",
	};
	bool words_only = option->kind == OPTION_WORDS;

	for (size_t i = 0; option->words && option->words[i]; i++)
		text_printf(out, "%s%s", !i ? "" : words_only && !option->words[i + 1] ? " or " : ", ", option->words[i]);
	if (words_only)
		return;
	text_printf(out, "%s%s", option->words ? ", or " : "", option->noun ? option->noun : nouns[option->kind]);
	if (option->kind == OPTION_CLOCKS)
		options_put_names(out, names->clocks);
	else if (option->kind == OPTION_TEXT)
		text_printf(out, " %lu characters", option->max);
	else if (option->kind != OPTION_URL) {
		text_put(out, " from ");
		put_number(out, option->kind, option->min);
		text_put(out, " to ");
		put_number(out, option->kind, option->max);
	}
}

static void
put_clocks_option(struct text *out, const struct option *option, const struct options *options)
{
	for (size_t i = 0; i < options->clocks.count; i++) {
		if (!i)
			put_key_of_option(out, option->key);
		text_printf(out, "%s%s", i ? "," : "", options->clocks.ids[i]);
	}
}

static void
put_string_option(struct text *out, const struct option *option, const char *string)
{
	const char *quote = option->kind == OPTION_TEXT ? "\"" : "";

	put_key_of_option(out, option->key);
	text_printf(out, "%s%s%s", quote, string, quote);
}

/* Writes OPTION with its value if the value differs from the default in USUAL. */
static void
put_option_if_changed(struct text *out, const struct option *option, const struct options *options,
		      const struct options *usual)
{
	const char *string = (const char *)options + option->value.offset;
	uint64_t number = options_get_number(options, option->value), word = options_get_number(options, option->word);

	if ((option->kind == OPTION_TEXT || option->kind == OPTION_URL) && string[0]) {
		put_string_option(out, option, string);
	} else if (number != options_get_number(usual, option->value)) {
		put_key_of_option(out, option->key);
		put_number(out, option->kind, number);
	} else if (word != options_get_number(usual, option->word)) {
		put_key_of_option(out, option->key);
		text_put(out, option->words[word]);
	}
}

void
options_put_changed_options(struct text *out, const struct options *options)
{
	struct options usual;

	options_set_defaults(&usual);
	for (const struct option *option = options_table; option->key; option++) {
		if (option->kind == OPTION_CLOCKS)
			put_clocks_option(out, option, options);
		else if (option->kind != OPTION_FLAG && option->kind != OPTION_LIMIT)
			put_option_if_changed(out, option, options, &usual);
	}
	for (size_t i = 0; i < options->limit_count; i++)
		text_printf(out, "%slimit.%s=%lu", out->length ? " " : "", options->limits[i].rule,
			    options->limits[i].value);
}
