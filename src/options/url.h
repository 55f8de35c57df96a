/* Reads addresses of the form http://HOST[:PORT]/PATH[?QUERY] in options, and the status line of HTTP answers. */
#ifndef BARETICK_URL_H
#define BARETICK_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_SIZE      192 /* maximum size of a URL with its final 0 */
#define URL_HOST_SIZE (URL_SIZE - 8) /* maximum size of the host with its final 0; the rest is http:// and a slash */

struct url {
	char host[URL_HOST_SIZE]; /* the host as in the text */
	bool has_ipv4;    /* true if HOST is an IPv4 address, false if it is a name */
	uint8_t ipv4[4];  /* the IPv4 address; valid only if has_ipv4 is true */
	uint16_t port; /* the port; 80 if the text has none */
	bool has_port; /* true if the text has a port */
	const char *path; /* points into TEXT, to the path with its first slash */
};

/*
 * Reads a URL from LENGTH bytes of TEXT, which need not end with 0. HOST is an IPv4 address or a DNS name (RFC 1123,
 * 2.1) without a final dot. Returns false, with undefined contents of URL, if TEXT has another form or is too long. A
 * user name, a fragment, and characters that must be escaped (RFC 3986, 2) are not allowed.
 */
bool url_parse(const char *text, size_t length, struct url *url);

/* Reads an IPv4 address such as 192.0.2.1 from LENGTH bytes of TEXT. Returns false if TEXT is not such an address. */
bool url_parse_ipv4(const char *text, size_t length, uint8_t ipv4[4]);

/* Returns true if the LENGTH bytes begin with WORD, in upper or lower case. WORD must be in lower case. */
bool url_begins_with(const char *bytes, size_t length, const char *word);

/*
 * Returns the status code, 100 to 999, of an HTTP response (RFC 9112, 4), from its first LENGTH bytes. Returns 0 if
 * the status line is incomplete, or if this is no HTTP response.
 */
unsigned url_parse_status_code(const char *bytes, size_t length);

#endif
