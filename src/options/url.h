/* Addresses http://HOST[:PORT]/PATH[?QUERY], as options have them. */
#ifndef BARETICK_URL_H
#define BARETICK_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_SIZE      192 /* a whole one, and a 0 */
#define URL_HOST_SIZE 64

struct url {
	char host[URL_HOST_SIZE]; /* a name, or an IPv4 address in decimals */
	bool is_ipv4;
	uint8_t ipv4[4];
	uint16_t port; /* 80 where none is said */
	bool has_port; /* it is said */
};

/*
 * Reads LENGTH bytes of TEXT, which need not end with 0. False, and URL is undefined: it is no such address, has a
 * user, a fragment, an IPv6 address, or a character that has to be escaped (RFC 3986, 2), or is too long for the
 * sizes above.
 */
bool url_read(const char *text, size_t length, struct url *url);

#endif
