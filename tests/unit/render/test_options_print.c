/*
 * Tests of the texts that list the options: in the README, in the stick's baretick.cfg and in the help. All are
 * generated from one table.
 */
#include "test.h"
#include "clocks/drivers.h"
#include "golden.h"
#include "render/layout/layout.h"
#include "render/text/help.h"
#include "rules/rules.h"

#define BEGIN "<!-- options: from src/options/options_table.c -->\n"
#define END   "<!-- end of options -->\n"

static char bytes[64 << 10];

/* Returns the names of the application's clocks and rules. */
static struct options_names
names_of_all(void)
{
	static const char *clocks[REPORT_CLOCKS_MAX + 1], *rule_ids[RULES_MAX + 1];

	drivers_list_clock_ids(clocks, REPORT_CLOCKS_MAX);
	rules_list_ids_with_limit(rule_ids);
	return (struct options_names){ clocks, rule_ids };
}

static struct text
empty_text(void)
{
	struct text text = text_start(bytes, sizeof(bytes));
	return text;
}

TEST(each_option_has_a_sentence_a_default_and_a_sample)
{
	size_t count = 0;

	for (const struct option *option = options_table; option->key; option++, count++) {
		size_t length = strlen(option->meaning);

		assert_true(option->meaning[0] >= 'A' && option->meaning[0] <= 'Z' && option->meaning[length - 1] == '.');
		assert_true((option->kind == OPTION_FLAG) == (option->preset == NULL));
		assert_int_equal(strncmp(option->sample, option->key, strcspn(option->key, "R")), 0);
		assert_non_null(strstr(option->kind == OPTION_FLAG ? "=" : option->sample, "="));
	}
	assert_true(count >= 13);
}

TEST(the_units_in_the_sentence_on_limits_are_those_of_the_rules)
{
	const struct option *option = options_table;
	char words[100];

	while (option->kind != OPTION_LIMIT)
		option++;
	snprintf(words, sizeof(words), "%s for clock-slow, %s for rate-wrong", rules_find("clock-slow")->unit,
		 rules_find("rate-wrong")->unit);
	assert_non_null(strstr(option->meaning, words));
}

TEST(each_sample_is_valid)
{
	const struct options_names names = names_of_all();
	char error[OPTIONS_ERROR_SIZE];
	struct options options;

	struct text text = text_start(error, sizeof(error));

	for (const struct option *option = options_table; option->key; option++) {
		options_set_defaults(&options);
		if (!options_parse(option->sample, strlen(option->sample), option->key, &names, &options, &text))
			fail_msg("%s", error);
	}
}

TEST(help_shows_each_option_in_79_columns)
{
	const struct options_names names = names_of_all();
	struct text text = empty_text();
	size_t column = 0;

	options_print_help(&text, &names);
	for (const char *c = bytes; *c; c++) {
		column = *c == '\n' ? 0 : column + 1;
		assert_in_range(column, 0, 79);
	}
	golden_compare("../../qemu/options.txt", &text);
}

TEST(the_readme_has_the_table_of_options)
{
	const struct options_names names = names_of_all();
	struct text text = empty_text();

	text_put(&text, "| key | takes | default | means |\n|---|---|---|---|\n");
	for (const struct option *option = options_table; option->key; option++) {
		text_printf(&text, "| `%s` | ", option->key);
		if (option->kind != OPTION_FLAG)
			options_put_valid_values(&text, option, &names);
		else
			text_put(&text, "nothing: a word by itself");
		text_printf(&text, " | %s | %s |\n", option->preset ? option->preset : "", option->meaning);
	}
	golden_compare_part("../../src/options/README.md", BEGIN, END, &text);
}

/* Prints SENTENCES as comment lines, each of which starts with #. */
static void
put_comment(struct text *out, const char *sentences)
{
	char wrapped_bytes[1024], *line = wrapped_bytes;

	struct text wrapped = text_start(wrapped_bytes, sizeof(wrapped_bytes));
	table_put_wrapped(&wrapped, 0, 0, sentences);
	for (char *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n'))
		text_printf(out, "# %.*s\n", (int)(end - line), line);
}

TEST(the_file_on_the_stick_has_each_option_as_a_comment)
{
	const struct options_names names = names_of_all();
	struct text text = empty_text();

	text_put(&text, "# Options of baretick: words key=value. Take the # away from what you want.\n");
	for (const struct option *option = options_table; option->key; option++) {
		char sentence_bytes[1024];

		struct text sentences = text_start(sentence_bytes, sizeof(sentence_bytes));
		text_put(&sentences, option->meaning);
		if (option->kind != OPTION_FLAG) {
			text_put(&sentences, " Takes ");
			options_put_valid_values(&sentences, option, &names);
			text_printf(&sentences, ". Default: %s.", option->preset);
		}
		text_put(&text, "\n");
		put_comment(&text, sentence_bytes);
		text_printf(&text, "#%s\n", option->sample);
	}
	golden_compare("../../qemu/baretick.cfg", &text);
}
