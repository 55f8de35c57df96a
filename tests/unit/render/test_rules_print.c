/* The catalogue for people: the table in src/judge/README.md is the catalogue's, and the option shows every rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rules.h"
#include "rules_print.h"

#define README_SIZE (1u << 20)
#define BEGIN       "<!-- rules: from src/rules/catalogue.c -->\n"
#define END         "<!-- end of rules -->\n"

static char *
read_readme(char *path, size_t size)
{
	const char *tests = getenv("BARETICK_TESTS");
	char *bytes = calloc(1, README_SIZE);
	FILE *file;

	snprintf(path, size, "%s/../src/judge/README.md", tests ? tests : "tests");
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_in_range(fread(bytes, 1, README_SIZE - 1, file), 1, README_SIZE - 2);
	fclose(file);
	return bytes;
}

static void
print_markdown(struct text *out)
{
	text_put(out, "| rule | clock | verdict | beyond | means | known from |\n|---|---|---|---|---|---|\n");
	for (const struct rule *rule = rules; rule->id; rule++) {
		text_printf(out, "| `%s` | %s | %s | ", rule->id, rule->clock ? rule->clock : "machine",
			    verdict_word(rule->severity));
		if (rule->what)
			text_printf(out, "%lu %s: %s", rule->limit, rule->unit, rule->what);
		text_printf(out, " | %s | %s |\n", rule->sentence, rule->source);
	}
}

/* UPDATE_GOLDENS=1 writes the table there instead. */
static void
readme_has_the_table_of_the_catalogue(void **state)
{
	const char *update = getenv("UPDATE_GOLDENS");
	char path[512], *readme = read_readme(path, sizeof(path));
	char *begin = strstr(readme, BEGIN), *end = strstr(readme, END), *bytes = malloc(README_SIZE);
	struct text table;

	(void)state;
	assert_non_null(begin);
	assert_non_null(end);
	begin += strlen(BEGIN);
	assert_true(end >= begin);
	text_init(&table, bytes, README_SIZE);
	print_markdown(&table);
	assert_false(table.truncated);
	if (update && strcmp(update, "1") == 0) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		fprintf(file, "%.*s%s%s", (int)(begin - readme), readme, bytes, end);
		assert_int_equal(fclose(file), 0);
	} else {
		*end = '\0';
		assert_string_equal(begin, bytes);
	}
	free(bytes);
	free(readme);
}

static void
option_rules_shows_each_rule_with_the_limit_of_this_run_in_79_columns(void **state)
{
	static char bytes[64 << 10];
	struct options options = { .limit_count = 1, .limits = { { "rate-off", 7 } } };
	struct text text;
	size_t column = 0;

	(void)state;
	text_init(&text, bytes, sizeof(bytes));
	rules_print(&text, &options);
	assert_false(text.truncated);
	for (const struct rule *rule = rules; rule->id; rule++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "%s (%s, ", rule->id, rule->clock ? rule->clock : "machine");
		assert_non_null(strstr(bytes, heading));
	}
	assert_non_null(strstr(bytes, "limit.rate-off=7 (ppm)"));
	assert_non_null(strstr(bytes, "limit.rate-wrong=500"));
	for (const char *c = bytes; *c; c++) {
		column = *c == '\n' ? 0 : column + 1;
		assert_in_range(column, 0, 79);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readme_has_the_table_of_the_catalogue),
		cmocka_unit_test(option_rules_shows_each_rule_with_the_limit_of_this_run_in_79_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
