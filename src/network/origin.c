/* Finds the server of a network boot in data that the firmware keeps. See origin.h. */
#include "network/origin.h"

#include "base/text.h"
#include "options/url.h"

#define SCHEME        "http://"
#define NODES_MAX     32
/* size of the type, subtype and length at the start of a device path node (UEFI 2.10, 10.3.1) */
#define NODE_HEAD     4
#define TYPE_END      0x7f
#define TYPE_MESSAGE  0x03
#define SUBTYPE_MAC   0x0b
#define SUBTYPE_URI   0x18
#define DHCP_NEXT_AT  20   /* offset of the field `siaddr`, the next server (RFC 2131, 2) */
#define DHCP_FILE_AT  108  /* offset of the field `file`, the name of the boot file */
#define DHCP_MAGIC_AT 236  /* offset of the magic cookie, which is followed by the options */
#define DHCP_HEAD     240
#define OPTION_PAD    0
#define OPTION_SERVER 54
#define OPTION_TFTP   66
#define OPTION_FILE   67
#define OPTION_END    255

struct origin
origin_parse_device_path(const uint8_t *path)
{
	struct origin origin = { .has_mac = false };

	for (size_t i = 0; path && i < NODES_MAX && path[0] != TYPE_END; i++) {
		size_t length = path[2] | (size_t)path[3] << 8;

		if (length < NODE_HEAD)
			break;
		if (path[0] == TYPE_MESSAGE && path[1] == SUBTYPE_MAC && length >= NODE_HEAD + ORIGIN_MAC_SIZE) {
			origin.has_mac = true;
			__builtin_memcpy(origin.mac, path + NODE_HEAD, ORIGIN_MAC_SIZE);
		}
		if (path[0] == TYPE_MESSAGE && path[1] == SUBTYPE_URI) {
			origin.uri = length > NODE_HEAD && path[NODE_HEAD] ? (const char *)path + NODE_HEAD : NULL;
			origin.uri_length = origin.uri ? length - NODE_HEAD : 0;
		}
		path += length;
	}
	return origin;
}

const char *
origin_copy_server_or_get_error(const char *uri, size_t length, char address[ORIGIN_ADDRESS_SIZE])
{
	const size_t skipped = sizeof(SCHEME) - 1;
	char whole[ORIGIN_ADDRESS_SIZE + 1];
	struct url url;

	address[0] = '\0';
	if (!url_begins_with(uri, length, SCHEME)) /* the scheme may also be in upper case (RFC 3986, 3.1) */
		return "the server's address does not begin with http://";
	struct text text = text_start(whole, sizeof(whole));
	text_put(&text, SCHEME);
	for (size_t i = skipped; i < length && uri[i] && uri[i] != '/' && uri[i] != '?' && uri[i] != '#'; i++)
		text_put_char(&text, uri[i]);
	text_put_char(&text, '/');
	if (text.truncated || !url_parse(whole, text.length, &url))
		return "the server's host is neither an IPv4 address nor a name";
	text_init(&text, address, ORIGIN_ADDRESS_SIZE);
	text_printf(&text, SCHEME "%s", url.host);
	if (url.has_port)
		text_printf(&text, ":%u", url.port);
	return NULL;
}

/*
 * Returns the value of the DHCP option OPTION, and stores its length in SIZE. Returns NULL if the packet does not
 * contain the option.
 */
static const uint8_t *
find_dhcp_option(const uint8_t *packet, size_t length, uint8_t option, size_t *size)
{
	static const uint8_t magic[] = { 99, 130, 83, 99 };
	size_t at = DHCP_HEAD;

	if (length < DHCP_HEAD || __builtin_memcmp(packet + DHCP_MAGIC_AT, magic, sizeof(magic)) != 0)
		return NULL;
	while (at < length && packet[at] != OPTION_END) {
		if (packet[at] == OPTION_PAD) {
			at++;
			continue;
		}
		if (length - at < 2 || packet[at + 1] > length - at - 2)
			return NULL;
		*size = packet[at + 1];
		if (packet[at] == option)
			return packet + at + 2;
		at += 2 + *size;
	}
	return NULL;
}

/* Copies an IPv4 address from a DHCP packet. Returns false if it is 0.0.0.0. */
static bool
copy_ipv4_if_set(const uint8_t *from, uint8_t ipv4[4])
{
	uint8_t any = 0;

	for (size_t i = 0; i < 4; i++)
		any |= ipv4[i] = from[i];
	return any;
}

bool
origin_parse_dhcp(const uint8_t *packet, size_t length, uint8_t ipv4[4])
{
	char digits[sizeof("255.255.255.255")];
	uint8_t named[4];
	size_t size;

	if (length >= DHCP_NEXT_AT + 4 && copy_ipv4_if_set(packet + DHCP_NEXT_AT, ipv4))
		return true;
	const uint8_t *found = find_dhcp_option(packet, length, OPTION_TFTP, &size);
	struct text text = text_start(digits, sizeof(digits));
	for (size_t i = 0; found && i < size && found[i]; i++)
		text_put_char(&text, (char)found[i]);
	if (!text.truncated && url_parse_ipv4(digits, text.length, named) && copy_ipv4_if_set(named, ipv4))
		return true;
	found = find_dhcp_option(packet, length, OPTION_SERVER, &size);
	return found && size == 4 && copy_ipv4_if_set(found, ipv4);
}

bool
origin_does_packet_name_file(const uint8_t *packet, size_t length)
{
	size_t size;

	return length > DHCP_FILE_AT && (packet[DHCP_FILE_AT] || find_dhcp_option(packet, length, OPTION_FILE, &size));
}

void
origin_put_url_query(struct text *out, const uint8_t mac[ORIGIN_MAC_SIZE], const char *serial)
{
	text_put(out, "mac=");
	for (size_t i = 0; i < ORIGIN_MAC_SIZE; i++)
		text_printf(out, "%02x", mac[i]);
	if (serial[0])
		text_put(out, "&serial=");
	for (; *serial; serial++) {
		bool plain = (*serial >= '0' && *serial <= '9') || ((*serial | 0x20) >= 'a' && (*serial | 0x20) <= 'z') ||
			     *serial == '-' || *serial == '.' || *serial == '_' || *serial == '~';

		if (plain)
			text_put_char(out, *serial);
		else
			text_printf(out, "%%%02x", (unsigned)(unsigned char)*serial);
	}
}
