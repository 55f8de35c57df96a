/* Reads the value of an option according to its kind. See options_internal.h. */
#include "options/options_internal.h"

#include "base/text.h"

#define MILLIONTHS UINT64_C(1000000)
#define MICRO_MAX  UINT64_C(999999)

bool
options_is_word_equal(struct word word, const char *string)
{
	if (word.length != text_length(string))
		return false;
	for (size_t i = 0; i < word.length; i++)
		if (word.bytes[i] != string[i])
			return false;
	return true;
}

struct word
options_split_off_part_before(struct word *rest, char separator)
{
	struct word taken = { rest->bytes, 0 };

	while (taken.length < rest->length && rest->bytes[taken.length] != separator)
		taken.length++;
	rest->bytes += taken.length + (taken.length < rest->length);
	rest->length -= taken.length + (taken.length < rest->length);
	return taken;
}

const char *
options_find_name(const char *const *names, struct word word)
{
	for (; *names; names++)
		if (options_is_word_equal(word, *names))
			return *names;
	return NULL;
}

bool
options_read_number(struct word *word, uint64_t max, uint64_t *value)
{
	size_t at = 0;

	*value = 0;
	for (; at < word->length && word->bytes[at] >= '0' && word->bytes[at] <= '9'; at++) {
		unsigned digit = (unsigned)(word->bytes[at] - '0');

		if (digit > max || *value > (max - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	word->bytes += at;
	word->length -= at;
	return at > 0;
}

uint64_t
options_get_number(const struct options *options, struct option_field field)
{
	uint64_t number = 0;

	if (field.size <= sizeof(number))
		__builtin_memcpy(&number, (const unsigned char *)options + field.offset, field.size);
	return number;
}

/*
 * Stores NUMBER in FIELD, which is a bool, a uint32_t, an enum or a uint64_t. Does nothing if the option has no such
 * field.
 */
static void
store_number(struct options *options, struct option_field field, uint64_t number)
{
	if (field.size <= sizeof(number))
		__builtin_memcpy((unsigned char *)options + field.offset, &number, field.size);
}

static void
set_field_to_default(struct options *options, struct option_field field)
{
	struct options usual;

	options_set_defaults(&usual);
	for (size_t i = field.offset; i < (size_t)field.offset + field.size; i++)
		((unsigned char *)options)[i] = ((const unsigned char *)&usual)[i];
}

static void
set_string(struct options *options, struct option_field field, struct word string)
{
	char *at = (char *)options + field.offset;

	for (size_t i = 0; i < string.length; i++)
		at[i] = string.bytes[i];
	at[string.length] = '\0';
}

static bool
parse_count(struct word value, uint64_t max, uint64_t *number)
{
	return options_read_number(&value, max, number) && !value.length;
}

static bool
parse_time(struct word value, uint64_t max, uint64_t *ns)
{
	const struct option_unit *unit = options_units;
	uint64_t count;

	if (!options_read_number(&value, max, &count))
		return false;
	while (unit->word && !options_is_word_equal(value, unit->word))
		unit++;
	if (!unit->word || count > max / unit->ns)
		return false;
	*ns = count * unit->ns;
	return true;
}

static bool
parse_percent(struct word value, uint64_t max, uint64_t *millionths)
{
	struct word whole = options_split_off_part_before(&value, '.');
	bool has_point = whole.bytes + whole.length != value.bytes;
	size_t decimals = value.length;
	uint64_t percent, fraction = 0;

	if (!parse_count(whole, max / MILLIONTHS, &percent) || decimals > OPTIONS_DECIMALS ||
	    (has_point && !parse_count(value, MICRO_MAX, &fraction)))
		return false;
	for (; decimals < OPTIONS_DECIMALS; decimals++)
		fraction *= 10;
	*millionths = percent * MILLIONTHS + fraction;
	return *millionths <= max;
}

static bool
parse_number_option(const struct option *option, struct word value, struct options *options)
{
	uint64_t number;
	bool taken = option->kind == OPTION_COUNT  ? parse_count(value, option->max, &number)
		     : option->kind == OPTION_TIME ? parse_time(value, option->max, &number)
						   : parse_percent(value, option->max, &number);

	if (!taken || number < option->min)
		return false;
	store_number(options, option->value, number);
	return true;
}

static bool
parse_text_option(const struct option *option, struct word value, struct options *options)
{
	if (value.length >= 2 && value.bytes[0] == '"' && value.bytes[value.length - 1] == '"')
		value = (struct word){ value.bytes + 1, value.length - 2 };
	if (value.length > option->max)
		return false;
	for (size_t i = 0; i < value.length; i++)
		if (value.bytes[i] < ' ' || value.bytes[i] > '~' || value.bytes[i] == '"')
			return false;
	set_string(options, option->value, value);
	return true;
}

static bool
parse_url_option(const struct option *option, struct word value, struct options *options)
{
	struct url url;

	if (!url_parse(value.bytes, value.length, &url))
		return false;
	set_string(options, option->value, value);
	return true;
}

static bool
add_to_clocks_option(struct word id, const struct options_names *names, struct options *options)
{
	const char *name = options_find_name(names->clocks, id);

	if (!name)
		return false;
	for (size_t i = 0; i < options->clocks.count; i++)
		if (text_equal(options->clocks.ids[i], name))
			return true;
	if (options->clocks.count == OPTIONS_CLOCKS_MAX)
		return false;
	text_copy(options->clocks.ids[options->clocks.count++], OPTIONS_NAME_SIZE, name);
	return true;
}

static bool
parse_clocks_option(struct word value, const struct options_names *names, struct options *options)
{
	options->clocks.count = 0;
	for (;;) {
		size_t length = value.length;
		struct word id = options_split_off_part_before(&value, ',');

		if (!add_to_clocks_option(id, names, options))
			return false;
		if (id.length == length)
			return true; /* there is no comma after this name, so it was the last name */
	}
}

static bool
parse_word_option(const struct option *option, struct word value, struct options *options)
{
	size_t index = 0;

	while (option->words && option->words[index] && !options_is_word_equal(value, option->words[index]))
		index++;
	if (!option->words || !option->words[index])
		return false;
	set_field_to_default(options, option->value);
	store_number(options, option->word, index);
	store_number(options, option->given, true);
	return true;
}

static bool
parse_option_by_kind(const struct option *option, struct word value, const struct options_names *names,
		     struct options *options)
{
	switch (option->kind) {
	case OPTION_COUNT:
	case OPTION_TIME:
	case OPTION_PERCENT:
		return parse_number_option(option, value, options);
	case OPTION_TEXT:
		return parse_text_option(option, value, options);
	case OPTION_CLOCKS:
		return parse_clocks_option(value, names, options);
	case OPTION_URL:
		return parse_url_option(option, value, options);
	case OPTION_WORDS:
	case OPTION_FLAG:
	case OPTION_LIMIT:
		break;
	}
	return false;
}

bool
options_store_value(const struct option *option, struct word value, const struct options_names *names,
		   struct options *options)
{
	if (option->kind == OPTION_FLAG) {
		store_number(options, option->value, true);
		return true;
	}
	if (parse_word_option(option, value, options))
		return true;
	if (!parse_option_by_kind(option, value, names, options))
		return false;
	set_field_to_default(options, option->word);
	set_field_to_default(options, option->given);
	return true;
}

bool
options_store_limit(const struct option *option, const char *rule, struct word value, struct options *options)
{
	uint64_t limit;
	size_t i = 0;

	if (!parse_count(value, option->max, &limit))
		return false;
	while (i < options->limit_count && !text_equal(options->limits[i].rule, rule))
		i++;
	if (i == OPTIONS_LIMITS_MAX)
		return false;
	if (i == options->limit_count)
		text_copy(options->limits[options->limit_count++].rule, OPTIONS_NAME_SIZE, rule);
	options->limits[i].value = limit;
	return true;
}
