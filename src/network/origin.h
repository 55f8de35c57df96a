/*
 * Finds the server from which baretick was loaded in a network boot. It reads data of this boot that the firmware
 * keeps: device paths (UEFI 2.10, 10.3.4) and DHCP packets (RFC 2131).
 */
#ifndef BARETICK_ORIGIN_H
#define BARETICK_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/url.h"

struct text;

#define ORIGIN_MAC_SIZE     6
/* size of http://HOST:65535 with a final 0; the other 16 bytes of URL_SIZE are for a path */
#define ORIGIN_ADDRESS_SIZE (URL_SIZE - 16)

struct origin {
	bool has_mac;  /* true if the device path contains a network card, whose address is then in MAC */
	uint8_t mac[ORIGIN_MAC_SIZE];
	const char *uri; /* the URI of an HTTP boot in the device path; NULL if there is none */
	size_t uri_length;
};

/* Reads the device path PATH up to its end node, but at most 32 nodes. A node that is too short ends the path. */
struct origin origin_parse_device_path(const uint8_t *path);

/*
 * Writes the server in a URI to ADDRESS, in the form http://HOST[:PORT] without a final slash. Returns NULL on
 * success. If the server cannot be used, returns the reason as part of a sentence, and sets ADDRESS to "".
 */
const char *origin_copy_server_or_get_error(const char *uri, size_t length, char address[ORIGIN_ADDRESS_SIZE]);

/*
 * Finds the server of a PXE boot in a DHCP packet of LENGTH bytes. The packet is from the DHCP server, a proxy DHCP
 * server or the boot server. The result is the first of these addresses that exists: the field siaddr, option 66 if
 * it is an IPv4 address, option 54 (RFC 2132, 9.4 and 9.7). Returns false if there is none.
 */
bool origin_parse_dhcp(const uint8_t *packet, size_t length, uint8_t ipv4[4]);

/* Returns true if the DHCP packet names a boot file, in the field `file` or in option 67. */
bool origin_does_packet_name_file(const uint8_t *packet, size_t length);

/*
 * Writes the query part of a URL, which identifies this machine: mac=525400abcdef&serial=A%20B. If SERIAL is "",
 * there is only mac.
 */
void origin_put_url_query(struct text *out, const uint8_t mac[ORIGIN_MAC_SIZE], const char *serial);

#endif
