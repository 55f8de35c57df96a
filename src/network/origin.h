/*
 * The server that an application came from, by what firmware keeps of a network boot: device paths (UEFI 2.10, 10.3.4)
 * and DHCP packets (RFC 2131).
 */
#ifndef BARETICK_ORIGIN_H
#define BARETICK_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/url.h"

struct text;

#define ORIGIN_MAC_SIZE     6
#define ORIGIN_ADDRESS_SIZE (URL_SIZE - 16) /* of http://HOST:65535 and a 0, and room for a path behind it */

struct origin {
	bool has_mac;  /* a network card is in the path */
	uint8_t mac[ORIGIN_MAC_SIZE];
	const char *uri; /* in the path: of HTTP boot; NULL: none that says anything */
	size_t uri_length;
};

/* Of PATH, nodes up to the one that ends it, 32 at most: what is behind them or a node that is too short isn't read. */
struct origin origin_of_path(const uint8_t *path);

/*
 * The server of a URI that HTTP boot has loaded: http://HOST[:PORT], without a slash behind it. NULL, or why it can't
 * be asked, as a clause; ADDRESS is "" then.
 */
const char *origin_of_uri(const char *uri, size_t length, char address[ORIGIN_ADDRESS_SIZE]);

/*
 * The server of a PXE boot in a packet of LENGTH bytes, which the DHCP server, its proxy or the boot server sent: the
 * next server, else option 66 where that is an IPv4 address, else option 54 (RFC 2132, 9.4 and 9.7). False: none.
 */
bool origin_of_dhcp(const uint8_t *packet, size_t length, uint8_t ipv4[4]);

bool origin_names_a_file(const uint8_t *packet, size_t length); /* in its field or option 67: what to boot */

/* Which machine asks: mac=525400abcdef&serial=A%20B; no serial where SERIAL is "". */
void origin_put_query(struct text *out, const uint8_t mac[ORIGIN_MAC_SIZE], const char *serial);

#endif
