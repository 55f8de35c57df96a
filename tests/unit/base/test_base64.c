/* Tests Base64 with the examples of RFC 4648, and the length of its lines. */
#include "test.h"
#include "base/base64.h"

static char bytes[512];

static const char *
encoded(const char *from, size_t length)
{
	struct text text;

	text_init(&text, bytes, base64_encoded_size(length));
	base64_put(&text, from, length);
	assert_false(text.truncated);
	assert_int_equal(text.length + 1, base64_encoded_size(length));
	return bytes;
}

TEST(the_examples_of_rfc_4648_have_the_right_results)
{
	assert_string_equal(encoded("", 0), "");
	assert_string_equal(encoded("f", 1), "Zg==\n");
	assert_string_equal(encoded("fo", 2), "Zm8=\n");
	assert_string_equal(encoded("foo", 3), "Zm9v\n");
	assert_string_equal(encoded("foob", 4), "Zm9vYg==\n");
	assert_string_equal(encoded("foobar", 6), "Zm9vYmFy\n");
	assert_string_equal(encoded("\xff\xef\xbe", 3), "/+++\n");
}

TEST(a_line_has_76_characters)
{
	static const char zeros[115];

	assert_int_equal(strcspn(encoded(zeros, 57), "\n"), 76);
	assert_int_equal(strlen(bytes), 77);
	assert_int_equal(strcspn(encoded(zeros, 58), "\n"), 76);
	assert_string_equal(bytes + 77, "AA==\n");
	assert_int_equal(strlen(encoded(zeros, 115)), 77 + 77 + 5);
}
