/* Parses valid and invalid HTTP addresses. */
#include "options/url.h"

#include <stdio.h>

#include "test.h"

/* Parses a copy of exactly this length, so that the sanitizer finds a read beyond its end. */
static bool
reads(const char *text, struct url *url)
{
	size_t length = strlen(text);
	char *copy = malloc(length ? length : 1);
	bool good;

	memcpy(copy, text, length);
	good = url_parse(copy, length, url);
	free(copy);
	return good;
}

TEST(an_address_has_a_host_and_a_port_with_default_80)
{
	struct url url;

	assert_true(reads("http://10.0.2.255:8080/reports", &url));
	assert_string_equal(url.host, "10.0.2.255");
	assert_true(url.has_port);
	assert_memory_equal(url.ipv4, "\x0a\0\x02\xff", 4);
	assert_int_equal(url.port, 8080);
	assert_true(reads("http://192.168.77.1/a%20b/c?d=e&f=~(g)", &url));
	assert_string_equal(url.host, "192.168.77.1");
	assert_false(url.has_port);
	assert_int_equal(url.port, 80);
	assert_true(reads("http://1.2.3.4:65535/", &url));
	assert_int_equal(url.port, 65535);
}

TEST(a_host_may_be_a_name)
{
	static const char *const names[] = { "lab.example", "h", "1.2.3.4.example", "A-1.b2.0c", "x--y.z", "10.0.2.2a" };
	char text[URL_SIZE];
	struct url url;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "http://%s:8080/r", names[i]);
		assert_true(reads(text, &url));
		assert_string_equal(url.host, names[i]);
		assert_false(url.has_ipv4);
		assert_int_equal(url.port, 8080);
	}
	assert_true(reads("http://1.2.3.4/", &url));
	assert_true(url.has_ipv4);
}

TEST(a_label_of_a_host_name_has_63_characters_at_most)
{
	char text[URL_SIZE] = "http://";
	struct url url;

	memset(text + 7, 'a', 64);
	strcpy(text + 7 + 63, ".b/");
	assert_true(reads(text, &url));
	strcpy(text + 7 + 63, "a.b/");
	assert_false(reads(text, &url));
}

TEST(the_path_starts_with_its_slash)
{
	static const char text[] = "http://1.2.3.4:80/a/b?c";
	struct url url;

	assert_true(url_parse(text, sizeof(text) - 1, &url));
	assert_string_equal(url.path, "/a/b?c");
}

TEST(invalid_addresses_are_refused)
{
	static const char *const bad[] = {
		"", "h", "http:", "http://", "http:///", "http:///x", "https://1.2.3.4/", "HTTP://1.2.3.4/", "http:/1.2.3.4/",
		"//1.2.3.4/", "http://1.2.3.4", "http://1.2.3.4:80", "http://1.2.3.4:/", "http://1.2.3.4:0/",
		"http://1.2.3.4:65536/", "http://1.2.3.4:-1/", "http://1.2.3.4:8o/", "http://1.2.3.4:80:81/",
		"http://1.2.3.4:18446744073709551696/", "http://u@1.2.3.4/", "http://u:p@1.2.3.4/", "http://[::1]/",
		"http://1.2.3.4?x", "http://1.2.3.4#x", "http://1.2.3.4/#x", "http://1.2.3.4/a b", "http://1.2.3.4/\"",
		"http://1.2.3.4/<", "http://1.2.3.4/\\", "http://1.2.3.4/\x7f", "http://1.2.3.4/\x80", "http://1.2.3.4/\n",
		"http://1.2.3.4/^", "http://lab.example./", "http://.h/", "http://a..b/", "http://-a.b/", "http://a.b-/",
		"http://a_b/", "http://lab.1/", "http://a%62/", "http://\xe9/", "http://256.0.0.1/", "http://1.2.3/",
		"http://1.2.3.4.5/",
		"http://1.2.3.4./", "http://1..2.3/", "http://0001.2.3.4/", "http://12/", "http://1.2.3.400:80/",
	};
	struct url url;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (reads(bad[i], &url))
			fail_msg("%s is read", bad[i]);
}

TEST(an_address_has_191_characters_at_most)
{
	char text[URL_SIZE + 1];
	struct url url;

	memset(text, 'p', sizeof(text));
	memcpy(text, "http://1.2.3.4/", 15);
	text[URL_SIZE - 1] = '\0';
	assert_true(reads(text, &url));
	text[URL_SIZE - 1] = 'p';
	text[URL_SIZE] = '\0';
	assert_false(reads(text, &url));
}

static unsigned
status(const char *text)
{
	size_t length = strlen(text);
	char *copy = malloc(length ? length : 1);
	unsigned is;

	memcpy(copy, text, length);
	is = url_parse_status_code(copy, length);
	free(copy);
	return is;
}

TEST(an_answer_has_a_status_of_three_digits)
{
	static const char *const none[] = {
		"", "H", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 201", "HTTP/1.1 2O1 x", "HTTP/1.1 2011 x", "HTTP/2 200 OK",
		"HTTP/1.1  201 x", "http/1.1 201 x", " HTTP/1.1 201 x", "HTTP/1.x 201 x", "HTTP/1.1 001 x", "HTTP/1.1\t201 x",
		"\0\1rubbish\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (status(none[i]))
			fail_msg("%s has a status", none[i]);
	assert_int_equal(status("HTTP/1.1 201 Cre"), 201);
	assert_int_equal(status("HTTP/1.0 422 \r\n"), 422);
	assert_int_equal(status("HTTP/1.1 507\r\n"), 507);
	assert_int_equal(status("HTTP/1.1 999 x"), 999);
}
