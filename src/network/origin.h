/*
 * Finds the server that an application was loaded from in a network boot. The firmware keeps data of the boot: device
 * paths (UEFI 2.10, 10.3.4) and DHCP packets (RFC 2131).
 */
#ifndef BARETICK_ORIGIN_H
#define BARETICK_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/url.h"

struct text;

#define ORIGIN_MAC_SIZE     6
#define ORIGIN_ADDRESS_SIZE (URL_SIZE - 16) /* enough for http://HOST:65535 and a 0, with space for a path after them */

struct origin {
	bool has_mac;  /* true if the device path contains a network card; MAC is the card's address */
	uint8_t mac[ORIGIN_MAC_SIZE];
	const char *uri; /* URI of an HTTP boot in the device path; NULL if it has none */
	size_t uri_length;
};

/* Reads the device path PATH up to its end node, but at most 32 nodes. Stops at a node that is too short. */
struct origin origin_parse_path(const uint8_t *path);

/*
 * Takes the server from a URI that HTTP boot loaded. Writes it into ADDRESS as http://HOST[:PORT], without a final
 * slash. Returns NULL if the server can be used. Otherwise returns the reason as a clause, and ADDRESS is "".
 */
const char *origin_parse_uri(const char *uri, size_t length, char address[ORIGIN_ADDRESS_SIZE]);

/*
 * Finds the server of a PXE boot in a packet of LENGTH bytes. The packet comes from the DHCP server, its proxy or the
 * boot server. Takes the first address of these three: the field siaddr, option 66 if it is an IPv4 address, and option
 * 54 (RFC 2132, 9.4 and 9.7). Returns false if there is none.
 */
bool origin_parse_dhcp(const uint8_t *packet, size_t length, uint8_t ipv4[4]);

/* Returns true if the field `file` or option 67 names a boot file. */
bool origin_names_a_file(const uint8_t *packet, size_t length);

/*
 * Writes a URL's query that identifies this machine: mac=525400abcdef&serial=A%20B. If SERIAL is "", the query has no
 * serial.
 */
void origin_put_query(struct text *out, const uint8_t mac[ORIGIN_MAC_SIZE], const char *serial);

#endif
