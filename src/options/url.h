/* Addresses http://HOST[:PORT]/PATH[?QUERY], as options have them, and the first line that HTTP answers with. */
#ifndef BARETICK_URL_H
#define BARETICK_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_SIZE      192 /* a whole one, and a 0 */
#define URL_HOST_SIZE (URL_SIZE - 8) /* without http:// and a slash */

struct url {
	char host[URL_HOST_SIZE]; /* as it is written */
	bool has_ipv4;    /* it is an address, */
	uint8_t ipv4[4];  /* this one; else it is a name */
	uint16_t port; /* 80 where none is said */
	bool has_port; /* it is said */
	const char *path; /* in TEXT, from its slash on */
};

/*
 * Reads LENGTH bytes of TEXT, which need not end with 0. HOST is an IPv4 address or a name of DNS (RFC 1123, 2.1),
 * without a dot at its end. False, and URL is undefined: it is no such address, has a user, a fragment, or a character
 * that has to be escaped (RFC 3986, 2), or is too long.
 */
bool url_read(const char *text, size_t length, struct url *url);

/* LENGTH bytes of TEXT as four numbers with dots between them; false: they are something else. */
bool url_read_ipv4(const char *text, size_t length, uint8_t ipv4[4]);

/* Whether LENGTH bytes begin with WORD, which is in small letters, be theirs small or capital. */
bool url_begins(const char *bytes, size_t length, const char *word);

/* The status in LENGTH bytes of an answer, 100 to 999; 0: it is not there yet, or they are no answer. RFC 9112, 4. */
unsigned url_status(const char *bytes, size_t length);

#endif
