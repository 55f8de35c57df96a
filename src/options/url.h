/* Addresses http://HOST[:PORT]/PATH[?QUERY] in options, and the status line of an HTTP answer. */
#ifndef BARETICK_URL_H
#define BARETICK_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_SIZE      192 /* a whole address and a 0 */
#define URL_HOST_SIZE (URL_SIZE - 8) /* without http:// and a slash */

struct url {
	char host[URL_HOST_SIZE]; /* as written */
	bool has_ipv4;    /* true if HOST is an address, not a name */
	uint8_t ipv4[4];  /* the address if HAS_IPV4 */
	uint16_t port; /* 80 if the text has none */
	bool has_port; /* true if the text has a port */
	const char *path; /* points to the path in TEXT, which starts with a slash */
};

/*
 * Reads LENGTH bytes of TEXT, which need not end with 0. HOST is an IPv4 address or a DNS name (RFC 1123, 2.1) without
 * a final dot. Returns false, with URL undefined, if TEXT is no such address or too long. A user, a fragment, or a
 * character that must be escaped (RFC 3986, 2) is not allowed either.
 */
bool url_read(const char *text, size_t length, struct url *url);

/* Reads LENGTH bytes of TEXT as four numbers with dots in between. Returns false if it is anything else. */
bool url_read_ipv4(const char *text, size_t length, uint8_t ipv4[4]);

/* Returns true if LENGTH bytes begin with WORD, which is in small letters. Upper and lower case are equal. */
bool url_begins(const char *bytes, size_t length, const char *word);

/* Returns the status, 100 to 999, from LENGTH bytes of an answer; 0 if it is incomplete or not HTTP. RFC 9112, 4. */
unsigned url_status(const char *bytes, size_t length);

#endif
