/* Reads URLs, and the status line of HTTP responses. See url.h. */
#include "options/url.h"

#include "base/text.h"
#include "options/options_internal.h"

#define SCHEME    "http://"
#define HTTP_PORT 80
#define PORT_MAX  65535
#define BYTE_MAX  255
#define LABEL_MAX 63 /* RFC 1035, 2.3.4 */
/* start of an HTTP status line; a digit, a space and the status code (three digits) follow */
#define VERSION   "HTTP/1."

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_alphanumeric(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Returns true if C may occur in a path or a query (RFC 3986, 3.3 and 3.4). */
static bool
is_path_character(char c)
{
	static const char others[] = "-._~!$&'()*+,;=:@/?%";

	for (size_t i = 0; i + 1 < sizeof(others); i++)
		if (c == others[i])
			return true;
	return is_alphanumeric(c);
}

bool
url_parse_ipv4(const char *text, size_t length, uint8_t ipv4[4])
{
	struct word host = { text, length };

	if (!length || text[length - 1] == '.')
		return false;
	for (size_t i = 0; i < 4; i++) {
		struct word part = options_split_off_part_before(&host, '.');
		uint64_t value;

		if (!part.length || part.length > 3 || !options_read_number(&part, BYTE_MAX, &value) || part.length)
			return false;
		ipv4[i] = (uint8_t)value;
	}
	return !host.length;
}

static bool
is_dns_label(struct word label)
{
	if (!label.length || label.length > LABEL_MAX || label.bytes[0] == '-' || label.bytes[label.length - 1] == '-')
		return false;
	for (size_t i = 0; i < label.length; i++)
		if (!is_alphanumeric(label.bytes[i]) && label.bytes[i] != '-')
			return false;
	return true;
}

/*
 * Returns true if HOST is a DNS name. The last part of a DNS name is never a number, so it cannot be mistaken for an
 * IPv4 address (RFC 1123, 2.1).
 */
static bool
is_dns_name(struct word host)
{
	bool is_number = true;

	if (!host.length || host.bytes[host.length - 1] == '.')
		return false;
	while (host.length) {
		struct word label = options_split_off_part_before(&host, '.');

		if (!is_dns_label(label))
			return false;
		is_number = true;
		for (size_t i = 0; i < label.length; i++)
			is_number &= is_digit(label.bytes[i]);
	}
	return !is_number;
}

static bool
parse_host(struct word host, struct url *url)
{
	if (host.length >= URL_HOST_SIZE)
		return false;
	for (size_t i = 0; i < host.length; i++)
		url->host[i] = host.bytes[i];
	url->host[host.length] = '\0';
	url->has_ipv4 = url_parse_ipv4(host.bytes, host.length, url->ipv4);
	return url->has_ipv4 || is_dns_name(host);
}

static bool
parse_port(struct word digits, struct url *url)
{
	uint64_t port;

	if (!options_read_number(&digits, PORT_MAX, &port) || digits.length || !port)
		return false;
	url->port = (uint16_t)port;
	return true;
}

bool
url_parse(const char *text, size_t length, struct url *url)
{
	const size_t skipped = sizeof(SCHEME) - 1;
	struct word start = { text, skipped };

	if (length <= skipped || length >= URL_SIZE || !options_is_word_equal(start, SCHEME))
		return false;
	struct word path = { text + skipped, length - skipped };
	struct word server = options_split_off_part_before(&path, '/');

	if (server.length + skipped == length)
		return false; /* the URL ends after the host, without a slash */
	for (size_t i = 0; i < path.length; i++)
		if (!is_path_character(path.bytes[i]))
			return false;
	struct word port = server;
	struct word host = options_split_off_part_before(&port, ':');

	url->path = text + skipped + server.length;
	url->has_port = host.length < server.length;
	url->port = HTTP_PORT;
	return parse_host(host, url) && (!url->has_port || parse_port(port, url));
}

bool
url_begins_with(const char *bytes, size_t length, const char *word)
{
	size_t at = 0;

	while (at < length && word[at] && (bytes[at] >= 'A' && bytes[at] <= 'Z' ? (bytes[at] | 0x20) : bytes[at]) == word[at])
		at++;
	return !word[at];
}

unsigned
url_parse_status_code(const char *bytes, size_t length)
{
	const size_t skipped = sizeof(VERSION) - 1;
	struct word start = { bytes, skipped };
	const char *line = bytes + skipped;

	if (length < skipped + 6 || !options_is_word_equal(start, VERSION) || !is_digit(line[0]) || line[1] != ' ' ||
	    line[2] < '1' || !is_digit(line[2]) || !is_digit(line[3]) || !is_digit(line[4]) ||
	    (line[5] != ' ' && line[5] != '\r'))
		return 0;
	return (unsigned)(line[2] - '0') * 100 + (unsigned)(line[3] - '0') * 10 + (unsigned)(line[4] - '0');
}
