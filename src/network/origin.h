/*
 * Finds the server that an application came from, by data that the firmware keeps of a network boot: device
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
#define ORIGIN_ADDRESS_SIZE (URL_SIZE - 16) /* for http://HOST:65535 and a 0, with space for a path after it */

struct origin {
	bool has_mac;  /* true if the path contains a network card, whose address is MAC */
	uint8_t mac[ORIGIN_MAC_SIZE];
	const char *uri; /* URI of an HTTP boot in the path; NULL if there is none */
	size_t uri_length;
};

/* Reads PATH, at most 32 nodes up to its end node. Stops at a node that is too short. */
struct origin origin_of_path(const uint8_t *path);

/*
 * Writes into ADDRESS the server of a URI that HTTP boot loaded: http://HOST[:PORT], without a final slash. Returns
 * NULL if it can be used. Otherwise returns the reason as a clause, and ADDRESS is "".
 */
const char *origin_of_uri(const char *uri, size_t length, char address[ORIGIN_ADDRESS_SIZE]);

/*
 * Finds the server of a PXE boot in a packet of LENGTH bytes from the DHCP server, its proxy or the boot server. It is
 * the field siaddr, or else option 66 if that is an IPv4 address, or else option 54 (RFC 2132, 9.4 and 9.7). Returns
 * false if there is none.
 */
bool origin_of_dhcp(const uint8_t *packet, size_t length, uint8_t ipv4[4]);

/* Returns true if the field `file` or option 67 names a boot file. */
bool origin_names_a_file(const uint8_t *packet, size_t length);

/* Writes the query that identifies this machine: mac=525400abcdef&serial=A%20B, without serial if SERIAL is "". */
void origin_put_query(struct text *out, const uint8_t mac[ORIGIN_MAC_SIZE], const char *serial);

#endif
