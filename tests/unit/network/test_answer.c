/* Tests of the parser for the start of an HTTP answer. The answer is complete, or comes in parts. */
#include "network/answer.h"

#include "test.h"

static bool
reads(const char *text, size_t length, struct answer *answer)
{
	char *copy = malloc(length ? length : 1);
	bool whole;

	memcpy(copy, text, length);
	whole = answer_parse_header(copy, length, answer);
	free(copy);
	return whole;
}

static struct answer
answer_of(const char *text)
{
	struct answer answer;

	assert_true(reads(text, strlen(text), &answer));
	return answer;
}

TEST(the_headers_end_at_an_empty_line)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 12\r\n\r\nexit=reboot\n";
	struct answer answer;

	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		bool whole = reads(text, length, &answer);

		assert_int_equal(whole, length >= 50);
		assert_int_equal(answer.status, length >= 13 ? 200 : 0);
		assert_int_equal(answer.body_at, whole ? 50 : 0);
		assert_int_equal(answer.length, length >= 48 ? 12 : 0);
	}
	assert_true(answer.has_length);
	assert_null(answer.refused);
	answer = answer_of("HTTP/1.0 404 Not Found\n\nx");
	assert_int_equal(answer.status, 404);
	assert_int_equal(answer.body_at, 24);
	assert_false(answer.has_length);
}

TEST(a_header_may_be_in_capitals_and_have_blanks)
{
	struct answer answer = answer_of("HTTP/1.1 200 OK\r\nCONTENT-LENGTH:  \t7 \t\r\ncontent-length:7\r\n"
					 "Content-Length2: x\r\n\r\n");

	assert_true(answer.has_length && !answer.refused);
	assert_int_equal(answer.length, 7);
	assert_int_equal(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n").length, 999999999999999);
}

TEST(invalid_headers_are_refused)
{
	static const char *const cases[][2] = {
		{ "Content-Length: ", "the answer's Content-Length is not a single number" },
		{ "Content-Length: -1", "the answer's Content-Length is not a single number" },
		{ "Content-Length: 1 2", "the answer's Content-Length is not a single number" },
		{ "Content-Length: 1\r\nContent-Length: 2", "the answer's Content-Length is not a single number" },
		{ "Content-Length: 18446744073709551617", "the answer's Content-Length is not a single number" },
		{ "Transfer-Encoding: chunked", "the server's answer is encoded" },
		{ "content-encoding: gzip", "the server's answer is encoded" },
		{ "Content-Type: Text/HTML; charset=utf-8", "the server's answer is a web page" },
		{ "Content-Type: text/plain", NULL },
		{ "Content-Type: text/ht", NULL },
		{ "X: Content-Length: x", NULL },
	};
	char text[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, "HTTP/1.1 200 OK\r\n");
		strcat(strcat(text, cases[i][0]), "\r\n\r\n");
		if (cases[i][1])
			assert_string_equal(answer_of(text).refused, cases[i][1]);
		else
			assert_null(answer_of(text).refused);
	}
}

TEST(text_that_is_no_http_answer_has_neither_status_nor_body)
{
	struct answer answer;

	assert_false(reads("rubbish\r\n\r\nmore", 15, &answer));
	assert_int_equal(answer.status, 0);
	assert_false(reads("\n\n", 2, &answer));
	assert_int_equal(answer.body_at, 0);
}
