/* Tests of the search for the server that the application was loaded from: device paths, addresses and DHCP packets. */
#include "network/origin.h"

#include "base/text.h"
#include "test.h"

#define PCI  "\x02\x01\x0c\0\xd0\x41\x03\x0a\0\0\0\0" "\x01\x01\x06\0\0\x02"
#define MAC  "\x03\x0b\x25\0\x52\x54\0\xab\xcd\xef\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"
#define IPV4 "\x03\x0c\x1b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define END  "\x7f\xff\x04\0"

/* Reads a copy of exactly this length, so that the sanitizer finds a read beyond its end. */
static struct origin
origin_of(const char *path, size_t length, char uri[64])
{
	uint8_t *copy = malloc(length);
	struct origin origin;

	memcpy(copy, path, length);
	origin = origin_parse_device_path(copy);
	memset(uri, 0, 64);
	if (origin.uri)
		memcpy(uri, origin.uri, origin.uri_length);
	free(copy);
	return origin;
}

#define ORIGIN_OF(path) origin_of(path, sizeof(path) - 1, uri)

TEST(a_path_has_the_cards_address_and_the_uri)
{
	struct origin origin;
	char uri[64];

	origin = ORIGIN_OF(PCI MAC IPV4 END);
	assert_true(origin.has_mac);
	assert_memory_equal(origin.mac, "\x52\x54\0\xab\xcd\xef", 6);
	assert_null(origin.uri);
	origin = ORIGIN_OF(PCI MAC IPV4 "\x03\x18\x11\0http://1.2/b" "c" END);
	assert_true(origin.has_mac);
	assert_int_equal(origin.uri_length, 13);
	assert_string_equal(uri, "http://1.2/bc");
	origin = ORIGIN_OF("\x03\x18\x05\0x" END);
	assert_false(origin.has_mac);
	assert_string_equal(uri, "x");
}

TEST(a_path_without_address_or_uri_is_no_network_path)
{
	struct origin origin;
	char uri[64];

	assert_false(ORIGIN_OF(END).has_mac);
	assert_false(ORIGIN_OF(PCI "\x04\x04\x06\0a\0" END).has_mac);
	assert_false(ORIGIN_OF(PCI "\x03\x0b\x08\0\x52\x54\0\xab" END).has_mac);
	/* this path is the network card itself; nothing was loaded through the card, so there is no URI */
	assert_null(ORIGIN_OF(PCI MAC "\x03\x18\x04\0" END).uri);
	assert_null(ORIGIN_OF(PCI MAC "\x03\x18\x05\0\0" END).uri);
	origin = origin_parse_device_path(NULL);
	assert_false(origin.has_mac);
	assert_null(origin.uri);
}

TEST(a_path_without_an_end_is_refused)
{
	char path[40 * 4], uri[64];

	for (size_t i = 0; i < sizeof(path); i += 4)
		memcpy(path + i, "\x02\x01\x04\0", 4);
	assert_false(origin_of(path, 32 * 4 + 1, uri).has_mac);
	assert_false(ORIGIN_OF("\x02\x01\0\0").has_mac);
	assert_false(ORIGIN_OF("\x02\x01\x03\0").has_mac);
}

static const char *
reason(const char *uri, char address[ORIGIN_ADDRESS_SIZE])
{
	size_t length = strlen(uri);
	char *copy = malloc(length + 1);
	const char *said;

	memcpy(copy, uri, length);
	said = origin_copy_server_or_get_error(copy, length, address);
	free(copy);
	return said;
}

TEST(the_server_is_the_host_in_the_address)
{
	static const char *const good[][2] = {
		{ "http://10.0.2.2/baretick.efi", "http://10.0.2.2" },
		{ "http://10.0.2.2:8080/a/b.efi?c=d#e", "http://10.0.2.2:8080" },
		{ "HTTP://10.0.2.2:80/x", "http://10.0.2.2:80" },
		{ "http://10.0.2.2", "http://10.0.2.2" },
		{ "http://10.0.2.2?x", "http://10.0.2.2" },
		{ "http://255.255.255.255:65535/", "http://255.255.255.255:65535" },
		{ "http://lab.example/baretick.efi", "http://lab.example" },
		{ "http://a-name-that-is-longer-than-any-address-of-four-numbers.example:65535/x",
		  "http://a-name-that-is-longer-than-any-address-of-four-numbers.example:65535" },
	};
	char address[ORIGIN_ADDRESS_SIZE], text[1000];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_null(reason(good[i][0], address));
		assert_string_equal(address, good[i][1]);
	}
	memset(text, 'p', sizeof(text));
	memcpy(text, "http://10.0.2.2:8080/", 21);
	text[sizeof(text) - 1] = '\0';
	assert_null(reason(text, address));
	assert_string_equal(address, "http://10.0.2.2:8080");
}

TEST(a_server_that_cannot_be_used_is_reported)
{
	static const char *const names[] = {
		"http://lab.example./baretick.efi", "http://[fe80::1]/x", "http://u@10.0.2.2/", "http:///x", "http://",
		"http://10.0.2.2:/", "http://10.0.2.2:0/", "http://10.0.2/", "http://255.255.255.255:655350/",
		"http://a_b.example/",
	};
	static const char *const others[] = { "", "h", "http:/", "https://10.0.2.2/", "ftp://10.0.2.2/", "10.0.2.2/" };
	char address[ORIGIN_ADDRESS_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_string_equal(reason(names[i], address), "the server's host is neither an IPv4 address nor a "
				    "name");
		assert_string_equal(address, "");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_string_equal(reason(others[i], address), "the server's address does not begin with http://");
}

/* Returns the server that a DHCP packet with the next server NEXT and OPTIONS names, or "" if it names none. */
static const char *
server_in(const char *next, const char *options, size_t length)
{
	static char said[16];
	uint8_t *packet = calloc(1, 240 + length);
	struct text text;
	uint8_t ipv4[4];

	memcpy(packet + 20, next, 4);
	memcpy(packet + 236, "\x63\x82\x53\x63", 4);
	memcpy(packet + 240, options, length);
	text_init(&text, said, sizeof(said));
	if (origin_parse_dhcp(packet, 240 + length, ipv4))
		text_printf(&text, "%u.%u.%u.%u", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
	free(packet);
	return said;
}

#define SERVER_IN(next, options) server_in(next, options, sizeof(options) - 1)
#define NONE                     "\0\0\0\0"
#define BY_54                    "\x36\x04\x0a\0\x02\x03"

TEST(a_packets_server_is_the_next_server_or_option_66_or_54)
{
	assert_string_equal(SERVER_IN("\x0a\0\x02\x02", BY_54 "\x42\x08" "10.0.2.4\xff"), "10.0.2.2");
	assert_string_equal(SERVER_IN(NONE, BY_54 "\x42\x08" "10.0.2.4\xff"), "10.0.2.4");
	assert_string_equal(SERVER_IN(NONE, BY_54 "\x42\x09" "10.0.2.4\0\xff"), "10.0.2.4");
	assert_string_equal(SERVER_IN(NONE, BY_54 "\x42\x03lab\xff"), "10.0.2.3");
	assert_string_equal(SERVER_IN(NONE, BY_54 "\x42\x07" "0.0.0.0\xff"), "10.0.2.3");
	assert_string_equal(SERVER_IN(NONE, "\0\0\x35\x01\x05" BY_54), "10.0.2.3");
}

TEST(a_packet_that_is_cut_or_invalid_names_no_server)
{
	uint8_t ipv4[4];

	assert_string_equal(SERVER_IN(NONE, ""), "");
	assert_string_equal(SERVER_IN(NONE, "\xff" BY_54), "");
	assert_string_equal(SERVER_IN(NONE, "\x36"), "");
	assert_string_equal(SERVER_IN(NONE, "\x36\x04\x0a\0\x02"), "");
	assert_string_equal(SERVER_IN(NONE, "\x36\x03\x0a\0\x02\xff"), "");
	assert_string_equal(SERVER_IN(NONE, "\x36\x04" NONE), "");
	assert_string_equal(SERVER_IN(NONE, "\x42\xff" "10.0.2.4"), "");
	assert_false(origin_parse_dhcp((const uint8_t *)"", 0, ipv4));
}

TEST(a_packet_names_a_file_in_its_field_or_in_option_67)
{
	uint8_t packet[245] = { [236] = 99, 130, 83, 99, 67, 1, 'x' };

	assert_true(origin_does_packet_name_file(packet, sizeof(packet)));
	packet[240] = 12;
	assert_false(origin_does_packet_name_file(packet, sizeof(packet)));
	packet[108] = 'b';
	assert_true(origin_does_packet_name_file(packet, sizeof(packet)));
	assert_false(origin_does_packet_name_file(packet, 108));
}

TEST(the_query_names_the_machine)
{
	char bytes[64];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	origin_put_url_query(&text, (const uint8_t *)"\x52\x54\0\xab\xcd\xef", "");
	assert_string_equal(bytes, "mac=525400abcdef");
	text_init(&text, bytes, sizeof(bytes));
	origin_put_url_query(&text, (const uint8_t *)"\0\x01\x02\x03\x04\x05", "A-b.c_9~ /&=\x1f");
	assert_string_equal(bytes, "mac=000102030405&serial=A-b.c_9~%20%2f%26%3d%1f");
}
