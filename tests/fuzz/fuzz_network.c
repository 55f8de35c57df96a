/*
 * libFuzzer target for network data: the header of an HTTP answer, a DHCP packet, a URI, and the nodes of a device
 * path. The first byte of an input selects one of them. It also selects whether a valid start is put before the input,
 * so that the fuzzer reaches the later parts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "network/answer.h"
#include "network/origin.h"

#define MODE_ANSWER 0
#define MODE_DHCP   1
#define MODE_URI    2
#define MODE_PATH   3
#define MODE_MASK   3
#define MODE_BEGIN  4 /* flag of the first byte: a valid start is put before the input */

#define DHCP_MAGIC_AT 236
#define NODE_HEAD     4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns HEAD followed by BYTES in memory of exactly this size, so that the sanitizer sees a read beyond its end. */
static uint8_t *
copy_to_heap(const char *head, const uint8_t *bytes, size_t length)
{
	size_t before = strlen(head);
	uint8_t *copy = malloc(before + length + !(before + length));

	if (!copy)
		abort();
	memcpy(copy, head, before);
	memcpy(copy + before, bytes, length);
	return copy;
}

static const char *
check_answer(const char *bytes, size_t length)
{
	struct answer answer, cut;
	bool whole = answer_parse_header(bytes, length, &answer);

	if (answer.status && (answer.status < 100 || answer.status > 999))
		return "a status that is none";
	if (whole != (answer.body_at != 0) || answer.body_at > length)
		return "a body that begins nowhere";
	if (!whole)
		return NULL;
	if (!answer.status || bytes[answer.body_at - 1] != '\n')
		return "a body that does not begin behind a line";
	if (answer_parse_header(bytes, answer.body_at - 1, &cut))
		return "headers that are all there before their last byte";
	if (!answer_parse_header(bytes, answer.body_at, &cut) || cut.status != answer.status ||
	    cut.body_at != answer.body_at ||
	    cut.has_length != answer.has_length || cut.length != answer.length || cut.refused != answer.refused)
		return "the body says something of the headers";
	return NULL;
}

static const char *
check_dhcp_packet(uint8_t *packet, size_t length, bool begins)
{
	static const uint8_t magic[] = { 99, 130, 83, 99 };
	uint8_t ipv4[4] = { 0 };

	if (begins && length >= DHCP_MAGIC_AT + sizeof(magic))
		memcpy(packet + DHCP_MAGIC_AT, magic, sizeof(magic));
	if (origin_parse_dhcp(packet, length, ipv4) && !(ipv4[0] | ipv4[1] | ipv4[2] | ipv4[3]))
		return "a server at 0.0.0.0";
	origin_does_packet_name_file(packet, length);
	return NULL;
}

static const char *
check_uri(const char *uri, size_t length)
{
	char address[ORIGIN_ADDRESS_SIZE];
	const char *why;
	size_t size;

	memset(address, 'x', sizeof(address));
	why = origin_copy_server_or_get_error(uri, length, address);
	size = strnlen(address, sizeof(address));
	if (size == sizeof(address))
		return "an address without an end";
	if (why)
		return size ? "an address that can't be asked" : NULL;
	if (strncmp(address, "http://", 7) != 0 || strcspn(address + 7, "/?#@[]% ") != size - 7)
		return "an address that is none";
	return NULL;
}

/*
 * Checks a device path that has the input's nodes. Each node is made as long as its length field says, and an end node
 * is added, because the firmware's own paths are always complete.
 */
static const char *
check_device_path(const uint8_t *bytes, size_t length)
{
	uint8_t *path = malloc(length + NODE_HEAD);
	struct origin origin;
	size_t at = 0;
	unsigned sum = 0;
	const char *broken = NULL;

	if (!path)
		abort();
	while (length - at >= NODE_HEAD) {
		size_t node = bytes[at + 2] | (size_t)bytes[at + 3] << 8;

		if (node > length - at)
			break;
		memcpy(path + at, bytes + at, node < NODE_HEAD ? NODE_HEAD : node);
		at += node < NODE_HEAD ? NODE_HEAD : node;
	}
	memcpy(path + at, "\x7f\xff\4", NODE_HEAD);
	origin = origin_parse_device_path(path);
	if (origin.uri && ((const uint8_t *)origin.uri < path || origin.uri_length > at ||
			   (const uint8_t *)origin.uri + origin.uri_length > path + at))
		broken = "a URI that is not in the path";
	for (size_t i = 0; !broken && i < origin.uri_length; i++)
		sum += (unsigned char)origin.uri[i];
	if (!broken && origin.uri && (!origin.uri_length || !origin.uri[0] || !sum))
		broken = "a URI that says nothing";
	free(path);
	return broken;
}

/* Checks that the query sent to a server contains no byte that would end its line or one of its parameters. */
static const char *
check_url_query(const uint8_t *bytes, size_t length)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%&=";
	char serial[65] = "", query[512];
	static const uint8_t mac[ORIGIN_MAC_SIZE] = { 0x52, 0x54, 0, 0xab, 0xcd, 0xef };
	struct text text;

	memcpy(serial, bytes, length < sizeof(serial) - 1 ? length : sizeof(serial) - 1);
	text_init(&text, query, sizeof(query));
	origin_put_url_query(&text, mac, serial);
	if (text.truncated || strspn(query, plain) != text.length)
		return "a query that is none";
	return NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = { [MODE_ANSWER] = "HTTP/1.1 200 OK\r\n", [MODE_DHCP] = "", [MODE_URI] = "http://",
					     [MODE_PATH] = "" };
	const char *broken = NULL;
	const char *head;
	uint8_t *bytes;
	size_t length;

	if (size < 1)
		return 0;
	head = data[0] & MODE_BEGIN ? heads[data[0] & MODE_MASK] : "";
	bytes = copy_to_heap(head, data + 1, size - 1);
	length = strlen(head) + size - 1;
	switch (data[0] & MODE_MASK) {
	case MODE_ANSWER:
		broken = check_answer((const char *)bytes, length);
		break;
	case MODE_DHCP:
		broken = check_dhcp_packet(bytes, length, data[0] & MODE_BEGIN);
		break;
	case MODE_URI:
		broken = check_uri((const char *)bytes, length);
		break;
	default:
		broken = check_device_path(bytes, length);
	}
	if (!broken)
		broken = check_url_query(bytes, length);
	free(bytes);
	if (!broken)
		return 0;
	fprintf(stderr, "%s\n", broken);
	abort();
}
