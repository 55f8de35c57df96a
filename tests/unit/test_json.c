/* The JSON report against its goldens; that they meet the schema is checked by tests/test_schema.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "json.h"
#include "json_writer.h"
#include "report_literal.h"

#define TEXT_SIZE (1 << 20)

static char buffer[TEXT_SIZE];

static void
compare(struct report *(*literal)(void), const char *golden)
{
	struct report *report = literal();
	struct text text;

	rules_judge(report);
	text_init(&text, buffer, sizeof(buffer));
	json_render(&text, report);
	for (size_t i = 0; i < text.length; i++)
		assert_true(buffer[i] == '\n' || (buffer[i] >= 0x20 && buffer[i] <= 0x7e));
	golden_compare(golden, &text);
	literal_free(report);
}

static void
clean_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(literal_clean, "clean.json");
}

static void
sick_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(literal_sick, "sick.json");
}

static void
unmeasured_machine_renders_as_its_golden(void **state)
{
	(void)state;
	compare(literal_empty, "empty.json");
}

static struct json
writer(struct text *text)
{
	text_init(text, buffer, sizeof(buffer));
	return json_writer(text);
}

static void
strings_are_escaped_to_ascii(void **state)
{
	struct text text;
	struct json json = writer(&text);

	(void)state;
	json_string(&json, NULL, "a\"b\\c</script>\n\x7f\xe9");
	assert_string_equal(text.bytes, "\"a\\\"b\\\\c\\u003c/script>\\u000a\\u007f\\u00e9\"");
}

static void
key_is_escaped_like_any_string(void **state)
{
	struct text text;
	struct json json = writer(&text);

	(void)state;
	json_open_flat(&json, NULL, '{');
	json_null(&json, "<\"");
	json_close(&json, '}');
	assert_string_equal(text.bytes, "{\"\\u003c\\\"\": null}");
}

static void
decimals_are_exact_and_lose_zeros_at_their_end(void **state)
{
	struct text text;
	struct json json = writer(&text);

	(void)state;
	json_open_flat(&json, NULL, '[');
	json_decimal(&json, NULL, 1193181667, 3);
	json_decimal(&json, NULL, 2000, 3);
	json_decimal(&json, NULL, 1, 3);
	json_decimal(&json, NULL, 99990000, 6);
	json_decimal(&json, NULL, 100, 0);
	json_decimal(&json, NULL, UINT64_MAX, 3);
	json_signed_decimal(&json, NULL, -1524, 3);
	json_signed_decimal(&json, NULL, -1, 3);
	json_signed_decimal(&json, NULL, INT64_MIN, 3);
	json_signed_decimal(&json, NULL, 0, 3);
	json_close(&json, ']');
	assert_string_equal(text.bytes, "[1193181.667, 2, 0.001, 99.99, 100, 18446744073709551.615, -1.524, -0.001, "
					"-9223372036854775.808, 0]");
}

static void
empty_and_nested_brackets_need_no_comma(void **state)
{
	struct text text;
	struct json json = writer(&text);

	(void)state;
	json_open(&json, NULL, '{');
	json_open(&json, "none", '[');
	json_close(&json, ']');
	json_open(&json, "some", '[');
	json_open_flat(&json, NULL, '{');
	json_open_flat(&json, "a", '[');
	json_unsigned(&json, NULL, 1);
	json_unsigned(&json, NULL, 2);
	json_close(&json, ']');
	json_bool(&json, "b", true);
	json_close(&json, '}');
	json_open_flat(&json, NULL, '{');
	json_close(&json, '}');
	json_close(&json, ']');
	json_signed(&json, "last", -3);
	json_close(&json, '}');
	assert_string_equal(text.bytes, "{\n  \"none\": [],\n  \"some\": [\n    {\"a\": [1, 2], \"b\": true},\n    {}\n"
					"  ],\n  \"last\": -3\n}");
}

static void
report_that_does_not_fit_is_truncated_and_says_so(void **state)
{
	struct report *report = literal_clean();
	struct text text;

	(void)state;
	for (size_t size = 1; size < 5000; size += 97) {
		text_init(&text, buffer, size);
		json_render(&text, report);
		assert_true(text.truncated);
		assert_int_equal(text.length, size - 1);
	}
	literal_free(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_machine_renders_as_its_golden),
		cmocka_unit_test(sick_machine_renders_as_its_golden),
		cmocka_unit_test(unmeasured_machine_renders_as_its_golden),
		cmocka_unit_test(strings_are_escaped_to_ascii),
		cmocka_unit_test(key_is_escaped_like_any_string),
		cmocka_unit_test(decimals_are_exact_and_lose_zeros_at_their_end),
		cmocka_unit_test(empty_and_nested_brackets_need_no_comma),
		cmocka_unit_test(report_that_does_not_fit_is_truncated_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
