/* Addresses of HTTP, and what is none. */
#include "url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* From a copy of exactly its bytes: what is read behind them is an error of the sanitizer's. */
static bool
reads(const char *text, struct url *url)
{
	size_t length = strlen(text);
	char *copy = malloc(length ? length : 1);
	bool good;

	memcpy(copy, text, length);
	good = url_read(copy, length, url);
	free(copy);
	return good;
}

static void
an_address_has_a_host_and_a_port_that_is_80_unless_said(void **state)
{
	struct url url;

	(void)state;
	assert_true(reads("http://10.0.2.255:8080/reports", &url));
	assert_string_equal(url.host, "10.0.2.255");
	assert_true(url.is_ipv4 && url.has_port);
	assert_memory_equal(url.ipv4, "\x0a\0\x02\xff", 4);
	assert_int_equal(url.port, 8080);
	assert_true(reads("http://lab-1.example/a%20b/c?d=e&f=~(g)", &url));
	assert_string_equal(url.host, "lab-1.example");
	assert_false(url.is_ipv4 || url.has_port);
	assert_int_equal(url.port, 80);
	assert_true(reads("http://h:65535/", &url));
	assert_int_equal(url.port, 65535);
}

static void
what_is_no_such_address_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "h", "http:", "http://", "http:///", "http:///x", "https://h/", "HTTP://h/", "http:/h/", "//h/", "http://h",
		"http://h:80", "http://h:/", "http://h:0/", "http://h:65536/", "http://h:-1/", "http://h:8o/", "http://h:80:81/",
		"http://h:18446744073709551696/", "http://u@h/", "http://u:p@h/", "http://[::1]/", "http://h?x", "http://h#x",
		"http://h/#x", "http://h/a b", "http://h/\"", "http://h/<", "http://h/\\", "http://h/\x7f", "http://h/\x80",
		"http://h/\n", "http://h/^", "http://-h/", "http://h-/", "http://.h/", "http://h./", "http://h_1/",
		"http://256.0.0.1/",
		"http://1.2.3/", "http://1.2.3.4.5/", "http://1.2.3.4./", "http://1..2.3/", "http://0001.2.3.4/", "http://12/",
		"http://1.2.3.400:80/",
	};
	struct url url;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (reads(bad[i], &url))
			fail_msg("%s is read", bad[i]);
}

static void
a_host_has_63_characters_at_most_and_the_whole_191(void **state)
{
	char text[URL_SIZE + 1];
	struct url url;

	(void)state;
	memset(text, 'h', sizeof(text));
	memcpy(text, "http://", 7);
	strcpy(text + 7 + URL_HOST_SIZE - 1, "/");
	assert_true(reads(text, &url));
	strcpy(text + 7 + URL_HOST_SIZE - 1, "h/");
	assert_false(reads(text, &url));
	memset(text, 'p', sizeof(text));
	memcpy(text, "http://h/", 9);
	text[URL_SIZE - 1] = '\0';
	assert_true(reads(text, &url));
	text[URL_SIZE - 1] = 'p';
	text[URL_SIZE] = '\0';
	assert_false(reads(text, &url));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_a_host_and_a_port_that_is_80_unless_said),
		cmocka_unit_test(what_is_no_such_address_is_refused),
		cmocka_unit_test(a_host_has_63_characters_at_most_and_the_whole_191),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
