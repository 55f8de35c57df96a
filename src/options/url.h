/* Reads addresses of the form http://HOST[:PORT]/PATH[?QUERY] in options, and the status line of HTTP answers. */
#ifndef BARETICK_URL_H
#define BARETICK_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_SIZE      192 /* maximum length of an address, with the final 0 */
#define URL_HOST_SIZE (URL_SIZE - 8) /* maximum length of a host: an address without http:// and a slash */

struct url {
	char host[URL_HOST_SIZE]; /* the host as the text has it */
	bool has_ipv4;    /* true if HOST is an IPv4 address, false if it is a name */
	uint8_t ipv4[4];  /* the IPv4 address of HOST, if has_ipv4 is true */
	uint16_t port; /* 80 if the text has no port */
	bool has_port; /* true if the text has a port */
	const char *path; /* points to the path in TEXT, which starts with a slash */
};

/*
 * Reads an address from LENGTH bytes of TEXT, which need not end with 0. HOST is an IPv4 address or a DNS name (RFC
 * 1123, 2.1) without a final dot. Returns false, with URL undefined, if TEXT has another form or is too long. A user, a
 * fragment, or a character that must be escaped (RFC 3986, 2) is not allowed either.
 */
bool url_read(const char *text, size_t length, struct url *url);

/*
 * Reads an IPv4 address (four numbers with dots in between) from LENGTH bytes of TEXT. Returns false if TEXT has
 * another form.
 */
bool url_read_ipv4(const char *text, size_t length, uint8_t ipv4[4]);

/*
 * Returns true if the LENGTH bytes begin with WORD. WORD is in small letters, but capital letters in BYTES are equal to
 * small ones.
 */
bool url_begins(const char *bytes, size_t length, const char *word);

/*
 * Returns the status, 100 to 999, of an HTTP answer (RFC 9112, 4) from its first LENGTH bytes. Returns 0 if the status
 * line is incomplete, or the answer is not HTTP.
 */
unsigned url_status(const char *bytes, size_t length);

#endif
