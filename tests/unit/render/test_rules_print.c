/*
 * Tests of the rule catalogue as text. The table in src/judge/README.md is generated from the catalogue. The help on
 * options must list every rule that has a limit.
 */
#include "test.h"
#include "golden.h"
#include "rules/rules.h"
#include "render/text/help.h"

#define BEGIN       "<!-- rules: from src/rules/catalogue.c -->\n"
#define END         "<!-- end of rules -->\n"

static void
print_markdown(struct text *out)
{
	text_put(out, "| rule | clock | verdict | beyond | means | known from |\n|---|---|---|---|---|---|\n");
	for (const struct rule *rule = rules; rule->id; rule++) {
		text_printf(out, "| `%s` | %s | %s%s | ", rule->id, rule->clock ? rule->clock : "machine",
			    verdict_words[rule->severity], rule->warns_in_guest ? "; in a guest warn" : "");
		if (rule->what)
			text_printf(out, "%lu %s: %s", rule->limit, rule->unit, rule->what);
		text_printf(out, " | %s | %s |\n", rule->sentence, rule->source);
	}
}

TEST(the_readme_has_the_table_of_rules)
{
	static char bytes[64 << 10];

	struct text table = text_start(bytes, sizeof(bytes));
	print_markdown(&table);
	golden_compare_part("../../src/judge/README.md", BEGIN, END, &table);
}

TEST(the_option_rules_shows_each_rule_with_its_present_limit_in_79_columns)
{
	static char bytes[64 << 10];
	struct options options = { .limit_count = 1, .limits = { { "rate-off", 7 } } };
	size_t column = 0;

	struct text text = text_start(bytes, sizeof(bytes));
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
