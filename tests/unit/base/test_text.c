/* The formatter: it implements a part of printf exactly, and never writes beyond the end of the buffer. */
#include <stdio.h>

#include "base/text.h"
#include "random.h"
#include "test.h"

#define ROOM 256

/* Checks the output of text_printf(). Has no format attribute, so that the compiler accepts invalid formats. */
static void
check(const char *expected, const char *format, ...)
{
	char bytes[ROOM];
	va_list arguments;

	struct text text = text_start(bytes, sizeof(bytes));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	assert_string_equal(bytes, expected);
	assert_int_equal(text.length, strlen(expected));
	assert_false(text.truncated);
}

TEST(integers_are_written_to_the_ends_of_their_types)
{
	check("0 4294967295 18446744073709551615", "%u %u %lu", 0u, UINT32_MAX, UINT64_MAX);
	check("-2147483648 2147483647", "%d %d", INT32_MIN, INT32_MAX);
	check("-9223372036854775808 9223372036854775807", "%ld %ld", INT64_MIN, INT64_MAX);
	check("ffffffff ffffffffffffffff 0", "%x %lx %zx", UINT32_MAX, UINT64_MAX, (size_t)0);
	check("18446744073709551615 -1 ff", "%zu %zd %zx", SIZE_MAX, (ptrdiff_t)-1, (size_t)255);
}

TEST(a_width_pads_with_blanks_or_zeros_and_never_cuts)
{
	check("[   42][42   ][00042][-0042]", "[%5u][%-5u][%05u][%05d]", 42u, 42u, 42u, -42);
	check("[  -42][-42  ][123456]", "[%5d][%-5d][%3u]", -42, -42, 123456u);
	check("[42   ]", "[%-05u]", 42u);
	check("[  ab][ab  ][ c][c ]", "[%4s][%-4s][%2c][%-2c]", "ab", "ab", 'c', 'c');
	check("[  42][42  ]", "[%*u][%*u]", 4, 42u, -4, 42u);
}

TEST(a_precision_cuts_a_string_and_reads_no_further)
{
	const char unterminated[3] = { 'a', 'b', 'c' };

	check("[ab][][ ab][abc]", "[%.2s][%.s][%*.*s][%.3s]", unterminated, unterminated, 3, 2,
	      unterminated, unterminated);
	check("[abc]", "[%.*s]", -1, "abc");
	check("[(null)]", "[%s]", (char *)NULL);
}

TEST(bytes_that_are_not_ascii_become_question_marks_in_strings)
{
	check("a?b??~ ?\n", "%s%c\n", "a\nb\x7f\xff~ ", '\x01');
}

TEST(conversions_that_are_not_supported_are_printed_unchanged)
{
	check("%", "%%");
	check("%f %5q %.2u %lc %ls %llu", "%f %5q %.2u %lc %ls %llu");
	check("100%", "100%");
	check("%-", "%-");
	check("%*", "%*");
	check("%9999999999999999999u", "%9999999999999999999u");
	check("%*q 7", "%*q %u", 7u);
}

TEST(a_text_is_cut_to_the_buffer_for_every_buffer_size)
{
	static const char whole[] = "ab   7|-0012|cd  ";
	char bytes[sizeof(whole) + 8];

	for (size_t size = 1; size <= sizeof(whole) + 1; size++) {
		struct text text;

		memset(bytes, 'Z', sizeof(bytes));
		text_init(&text, bytes, size);
		text_printf(&text, "%s%4u|%05d|%-4s", "ab", 7u, -12, "cd");
		size_t fits = size - 1 < strlen(whole) ? size - 1 : strlen(whole);

		assert_int_equal(text.length, fits);
		assert_memory_equal(bytes, whole, fits);
		assert_int_equal(bytes[fits], '\0');
		for (size_t i = size; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], 'Z');
		assert_int_equal(text.truncated, fits < strlen(whole));
		text_put_char(&text, '!');
		assert_int_equal(text.truncated, fits + 1 >= size);
	}
}

TEST(all_supported_formats_agree_with_snprintf)
{
	static const char *const formats[] = { "%u",  "%7u",  "%-7u", "%07u", "%x",   "%012x",
					       "%d",  "%9d",  "%-9d", "%09d", "%-09d", "%1d" };
	uint64_t seed = 88172645463325252u;

	for (unsigned turn = 0; turn < 2000; turn++) {
		char expected[ROOM];
		uint64_t random = random_next(&seed);
		unsigned value = (unsigned)(random >> (random & 31));

		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(expected, sizeof(expected), formats[i], value);
#pragma GCC diagnostic pop
			check(expected, formats[i], value);
		}
	}
}

static void
check_decimal(const char *expected, uint64_t value, unsigned scale, unsigned digits)
{
	char bytes[ROOM];

	struct text text = text_start(bytes, sizeof(bytes));
	text_put_decimal(&text, value, scale, digits);
	assert_string_equal(bytes, expected);
}

TEST(decimals_are_rounded_half_up_and_have_the_requested_digits)
{
	check_decimal("1.23", 1234, 3, 2);
	check_decimal("1.24", 1235, 3, 2);
	check_decimal("10.0", 9999, 3, 1);
	check_decimal("10", 9999, 3, 0);
	check_decimal("0", 499, 3, 0);
	check_decimal("1", 500, 3, 0);
	check_decimal("0.007", 7, 3, 3);
	check_decimal("7.00", 7, 0, 2);
	check_decimal("7", 7, 0, 0);
	check_decimal("0.00700", 7, 3, 5);
	check_decimal("0.0", 0, 6, 1);
	check_decimal("18446744073709551615", UINT64_MAX, 0, 0);
	check_decimal("1.8446744073709551615", UINT64_MAX, 19, 19);
	check_decimal("2", UINT64_MAX, 19, 0);
	check_decimal("0", UINT64_MAX, 20, 0);
	check_decimal("0.2", UINT64_MAX, 20, 1);
	check_decimal("0.0", UINT64_MAX, 4000000000u, 1);
}

TEST(a_decimal_of_four_billion_digits_ends_with_the_buffer)
{
	char bytes[8];

	struct text text = text_start(bytes, sizeof(bytes));
	text_put_decimal(&text, 5, 0, 4000000000u);
	assert_string_equal(bytes, "5.00000");
	assert_true(text.truncated);
}

TEST(a_formatted_text_is_cut_at_the_buffers_size)
{
	char bytes[8];

	text_format(bytes, sizeof(bytes), "%s %u", "core", 12);
	assert_string_equal(bytes, "core 12");
	text_format(bytes, sizeof(bytes), "%s %u", "cores", 12);
	assert_string_equal(bytes, "cores 1");
}

TEST(a_copy_is_cut_to_the_buffer)
{
	char bytes[6] = "......";

	text_copy(bytes, 4, "tsc");
	assert_string_equal(bytes, "tsc");
	text_copy(bytes, 4, "hpet");
	assert_string_equal(bytes, "hpe");
	assert_int_equal(bytes[4], '.');
	text_copy(bytes, 4, "");
	assert_string_equal(bytes, "");
}

TEST(strings_are_equal_only_if_they_are_equal_to_the_end)
{
	assert_true(text_equal("", ""));
	assert_true(text_equal("hpet", "hpet"));
	assert_false(text_equal("hpet", "hpe"));
	assert_false(text_equal("hpe", "hpet"));
	assert_false(text_equal("hpet", "hpeu"));
	assert_int_equal(text_length(""), 0);
	assert_int_equal(text_length("acpi_pm"), 7);
}

TEST(a_string_starts_with_another_only_if_it_has_all_of_it)
{
	assert_true(text_begins_with("hpet_fsb", "hpet"));
	assert_true(text_begins_with("hpet", "hpet"));
	assert_true(text_begins_with("hpet", ""));
	assert_false(text_begins_with("hpe", "hpet"));
	assert_false(text_begins_with("rtc", "hpet"));
	assert_false(text_begins_with("", "hpet"));
}
