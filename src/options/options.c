/* Reads options from a text, for example a configuration file or a command line. See options.h. */
#include "options/options_internal.h"

#include "base/text.h"

#define SHOWN_MAX       48 /* maximum number of characters of a wrong word that an error message shows */
#define BYTES_LOOKED_AT 64 /* number of bytes that are examined to detect UTF-16 without a byte order mark */

#define LIMIT_PREFIX "limit."

static void
put_suggestion(struct text *error, const struct near *near)
{
	if (near->name)
		text_printf(error, " (did you mean %s?)", near->name);
}

/* Adds the name in NAMES that is most similar to WORD to an error message. NAMES may be NULL. */
static void
suggest_name(struct text *error, struct word word, const char *const *names)
{
	struct near near = { .word = word };

	for (; names && *names; names++)
		options_keep_name_if_nearer(&near, *names);
	put_suggestion(error, &near);
}

static void
suggest_key(struct text *error, struct word key)
{
	struct near near = { .word = key };

	for (const struct option *option = options_table; option->key; option++)
		options_keep_name_if_nearer(&near, option->key);
	put_suggestion(error, &near);
}

/*
 * Adds the valid value that is most similar to VALUE to an error message. For clocks=, VALUE is a list, and the
 * suggestion replaces the first name that is not a clock.
 */
static void
suggest_value(struct text *error, const struct option *option, struct word value, const struct options_names *names)
{
	struct word word = value;

	while (option->kind == OPTION_CLOCKS && value.length) {
		word = options_split_off_part_before(&value, ',');
		if (!options_find_name(names->clocks, word))
			break;
	}
	suggest_name(error, word, option->kind == OPTION_CLOCKS ? names->clocks : option->words);
}

static void
put_all_option_keys(struct text *error)
{
	for (const struct option *option = options_table; option->key; option++)
		text_printf(error, "%s%s", option == options_table ? "" : ", ", option->key);
}

/* Starts the first error message of a text with its SOURCE, which may be NULL. */
static void
put_source(struct text *error, const char *source)
{
	if (source)
		text_printf(error, "In %.60s: ", source);
}

/*
 * Starts an error message with WORD, which is cut if it is long. The first error message of a text also names its
 * SOURCE. Without a SOURCE, each error message is a line.
 */
static void
begin_error_message(struct text *error, const char *source, struct word word)
{
	bool cut = word.length > SHOWN_MAX;
	char shown[SHOWN_MAX + 1];
	size_t length = cut ? SHOWN_MAX : word.length;

	for (size_t i = 0; i < length; i++)
		shown[i] = word.bytes[i];
	shown[length] = '\0';
	if (error->length)
		text_put_char(error, source ? ' ' : '\n');
	else
		put_source(error, source);
	text_printf(error, "\"%s%s\" ", shown, cut ? "..." : "");
}

/*
 * Ends an error message. If it does not fit, it is cut after a word, and dots are added. Always returns false, so
 * that a caller can return the result.
 */
static bool
end_error_message(struct text *error)
{
	static const char dots[] = "...";

	text_put_char(error, '.');
	if (!error->truncated)
		return false;
	while (error->length && (error->bytes[error->length - 1] != ' ' || error->length + sizeof(dots) > error->size))
		error->length--;
	for (size_t i = 0; i < sizeof(dots); i++)
		error->bytes[error->length + i] = dots[i];
	error->length += sizeof(dots) - 1;
	return false;
}

struct reader {
	const char *source;
	const struct options_names *names;
	struct options *options;
	struct text *error;
};

static bool
end_error_with_valid_values(struct reader *reader, const struct option *option, struct word value, bool has_value)
{
	text_put(reader->error, has_value ? "is not valid" : "has no value");
	if (has_value)
		suggest_value(reader->error, option, value, reader->names);
	text_printf(reader->error, ": %s= takes ", option->key);
	options_put_valid_values(reader->error, option, reader->names);
	return end_error_message(reader->error);
}

/* Reads a word of the form limit.RULE=VALUE. */
static bool
read_limit_option(struct reader *reader, const struct option *option, struct word word, struct word rule,
		  struct word value, bool has_value)
{
	const char *name = options_find_name(reader->names->rules, rule);

	if (name && has_value && options_store_limit(option, name, value, reader->options))
		return true;
	begin_error_message(reader->error, reader->source, word);
	if (name)
		return end_error_with_valid_values(reader, option, value, has_value);
	text_put(reader->error, "names no rule that has a limit");
	suggest_name(reader->error, rule, reader->names->rules);
	text_put(reader->error, "; these have, with units that the option rules prints:");
	options_put_names(reader->error, reader->names->rules);
	return end_error_message(reader->error);
}

/*
 * Returns the row of options_table for KEY, or the last row (key NULL) if there is no such option. If KEY is
 * limit.RULE, KEY is set to RULE.
 */
static const struct option *
find_option_by_key(struct word *key)
{
	const struct option *option = options_table;
	struct word start = { key->bytes, sizeof(LIMIT_PREFIX) - 1 };
	bool is_limit = key->length >= start.length && options_is_word_equal(start, LIMIT_PREFIX);

	while (option->key && (is_limit ? option->kind != OPTION_LIMIT : !options_is_word_equal(*key, option->key)))
		option++;
	if (is_limit)
		options_split_off_part_before(key, '.');
	return option;
}

static bool
read_option(struct reader *reader, struct word word)
{
	struct word value = word;
	struct word key = options_split_off_part_before(&value, '=');
	bool has_value = key.length < word.length;
	const struct option *option = find_option_by_key(&key);

	if (option->kind == OPTION_LIMIT)
		return read_limit_option(reader, option, word, key, value, has_value);
	if (option->key && has_value == (option->kind != OPTION_FLAG) &&
	    options_store_value(option, value, reader->names, reader->options))
		return true;
	begin_error_message(reader->error, reader->source, word);
	if (!option->key) {
		text_put(reader->error, "is not an option");
		suggest_key(reader->error, key);
		text_put(reader->error, "; the options are ");
		put_all_option_keys(reader->error);
		return end_error_message(reader->error);
	}
	if (option->kind != OPTION_FLAG)
		return end_error_with_valid_values(reader, option, value, has_value);
	text_printf(reader->error, "is not valid: %s takes no value", option->key);
	return end_error_message(reader->error);
}

/*
 * Returns true if TEXT is UTF-16. Such a text starts with a byte order mark, or its first bytes alternate between 0 and
 * other values.
 */
static bool
is_utf16(struct word text)
{
	size_t looked_at = text.length < BYTES_LOOKED_AT ? text.length : BYTES_LOOKED_AT;
	struct word mark = { text.bytes, 2 };
	size_t zeros[2] = { 0, 0 };

	if (text.length < 2)
		return false;
	for (size_t i = 0; i < looked_at; i++)
		zeros[i & 1] += text.bytes[i] == '\0';
	return options_is_word_equal(mark, "\xff\xfe") || options_is_word_equal(mark, "\xfe\xff") ||
	       (zeros[0] == 0 && looked_at > 2 && zeros[1] == looked_at / 2) ||
	       (zeros[1] == 0 && zeros[0] == (looked_at + 1) / 2);
}

bool
options_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_control(char c)
{
	return ((unsigned char)c < 0x20 && !options_is_blank(c)) || c == 0x7f;
}

/* Returns false, with an error message, if TEXT is UTF-16 or contains control characters. */
static bool
check_for_valid_characters(struct reader *reader, struct word text)
{
	if (is_utf16(text)) {
		put_source(reader->error, reader->source);
		text_put(reader->error, "the text is UTF-16; save it as ASCII or UTF-8");
		return end_error_message(reader->error);
	}
	for (size_t i = 0; i < text.length; i++) {
		if (!is_control(text.bytes[i]))
			continue;
		put_source(reader->error, reader->source);
		text_printf(reader->error,
			    "the control character %02xh at byte %zu; options are key=value in printable ASCII",
			    (unsigned)(unsigned char)text.bytes[i], i + 1);
		return end_error_message(reader->error);
	}
	return true;
}

/*
 * Returns the length of the first word. A word ends before a space or a #, unless these are between quotes. If the
 * second quote is missing, the word extends to the end of the line.
 */
static size_t
get_first_word_length(const char *bytes, size_t length)
{
	bool quoted = false;
	size_t at = 0;

	for (; at < length && bytes[at] != '\n' && bytes[at] != '\r'; at++) {
		quoted ^= bytes[at] == '"';
		if (!quoted && (options_is_blank(bytes[at]) || bytes[at] == '#'))
			break;
	}
	return at;
}

static size_t
get_first_line_length(const char *bytes, size_t length)
{
	size_t at = 0;

	while (at < length && bytes[at] != '\n' && bytes[at] != '\r')
		at++;
	return at;
}

bool
options_read_next_word(struct word *rest, struct word *word)
{
	size_t at = 0, length = 0;

	while (at < rest->length && !length) {
		const char *bytes = rest->bytes + at;
		size_t left = rest->length - at;

		length = get_first_word_length(bytes, left);
		*word = (struct word){ bytes, length };
		at += length ? length : bytes[0] == '#' ? get_first_line_length(bytes, left) : 1;
	}
	*rest = (struct word){ rest->bytes + at, rest->length - at };
	return length > 0;
}

/*
 * Reads all words of TEXT. Continues after a wrong word, so that the error message lists all wrong words, as far as
 * there is space.
 */
static bool
read_all_options(struct reader *reader, struct word text)
{
	bool good = true;
	struct word word;

	while (!reader->error->truncated && options_read_next_word(&text, &word))
		if (!read_option(reader, word))
			good = false;
	return good;
}

struct word
options_trim_text(const char *bytes, size_t length)
{
	struct word text = { bytes, length };
	const struct word mark = { bytes, 3 };

	if (length >= 3 && options_is_word_equal(mark, "\xef\xbb\xbf"))
		text = (struct word){ bytes + 3, length - 3 };
	while (text.length && text.bytes[text.length - 1] == '\0')
		text.length--; /* the final 0 of a string is not part of the text, even if LENGTH includes it */
	return text;
}

bool
options_parse(const char *text, size_t length, const char *source, const struct options_names *names,
	      struct options *options, struct text *error)
{
	struct options changed = *options;
	struct reader reader = { source, names, &changed, error };
	struct word rest = options_trim_text(text, length);

	if (!check_for_valid_characters(&reader, rest) || !read_all_options(&reader, rest))
		return false;
	*options = changed;
	return true;
}

bool
options_are_exit_and_cores_compatible(const struct options *options, char *error)
{
	struct text text = text_start(error, OPTIONS_ERROR_SIZE);

	if (options->exit != EXIT_RETURN || options->cores.method != CORES_SIPI)
		return true;
	text_put(&text, "exit=return needs cores=mp or cores=off, because the firmware cannot use cores that baretick "
			"started itself. The other values are ask, reboot, poweroff and debug-exit.");
	return false;
}
