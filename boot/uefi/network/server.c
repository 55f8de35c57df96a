/* Finds the server that the application was loaded from. See server.h. */
#include "uefi/network/server.h"

#include "uefi/network/network.h"

#define PATH_OPTIONS "/baretick.cfg"
#define PATH_REPORTS "/reports"
#define QUERY_SIZE   256 /* bytes of the query; enough for a serial number of 64 characters that are all escaped */

static const EFI_GUID guid_pxe = EFI_PXE_BASE_CODE_PROTOCOL_GUID;

static void
set_server_addresses(struct server *server, const char *address)
{
	text_format(server->options, sizeof(server->options), "%s" PATH_OPTIONS, address);
	text_format(server->reports, sizeof(server->reports), "%s" PATH_REPORTS, address);
}

/*
 * Finds the boot server's address in the DHCP packets. Prefers packets that name a boot file. Reads the packets in EDK
 * II's order: PXE server, proxy, DHCP server. Returns false if there is no address.
 */
static bool
find_boot_server(const EFI_PXE_BASE_CODE_MODE *mode, uint8_t ipv4[4])
{
	const struct {
		bool received;
		const EFI_PXE_BASE_CODE_PACKET *packet;
	} packets[] = {
		{ mode->PxeReplyReceived, &mode->PxeReply },
		{ mode->ProxyOfferReceived, &mode->ProxyOffer },
		{ mode->DhcpAckReceived, &mode->DhcpAck },
	};
	const size_t count = sizeof(packets) / sizeof(packets[0]), size = sizeof(packets[0].packet->Raw);

	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++)
			if (packets[i].received && (pass || origin_does_packet_name_file(packets[i].packet->Raw, size)) &&
			    origin_parse_dhcp(packets[i].packet->Raw, size, ipv4))
				return true;
	return false;
}

static void
find_server_by_pxe(struct server *server, EFI_HANDLE device)
{
	const EFI_PXE_BASE_CODE_PROTOCOL *pxe = firmware_find_protocol(device, &guid_pxe);
	char address[ORIGIN_ADDRESS_SIZE];
	uint8_t ipv4[4];

	if (!pxe || !pxe->Mode) {
		server->reason = "the firmware does not report the boot server's address";
	} else if (pxe->Mode->UsingIpv6) {
		server->reason = "the server was reached by IPv6, but requests use IPv4 only";
	} else if (!find_boot_server(pxe->Mode, ipv4)) {
		server->reason = "no DHCP packet names the boot server";
	} else {
		text_format(address, sizeof(address), "http://%u.%u.%u.%u", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
		set_server_addresses(server, address);
	}
}

void
server_find(struct server *server)
{
	static const EFI_GUID guid_path = EFI_DEVICE_PATH_PROTOCOL_GUID, guid_image_path = NETWORK_GUID_IMAGE_PATH;
	const EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	struct origin device, origin;
	char address[ORIGIN_ADDRESS_SIZE];

	*server = (struct server){ .is_found = false };
	if (!image || !image->DeviceHandle)
		return;
	device = origin_parse_device_path(firmware_find_protocol(image->DeviceHandle, &guid_path));
	/* The path of the image contains the URL of an HTTP boot. */
	origin = origin_parse_device_path(firmware_find_protocol(firmware_image, &guid_image_path));
	if (!origin.uri) {
		origin.uri = device.uri;
		origin.uri_length = device.uri_length;
	}
	if (!device.has_mac)
		return;
	server->is_found = true;
	__builtin_memcpy(server->mac, device.mac, sizeof(server->mac));
	if (!origin.uri) {
		find_server_by_pxe(server, image->DeviceHandle);
		return;
	}
	server->reason = origin_copy_server_or_get_error(origin.uri, origin.uri_length, address);
	if (!server->reason)
		set_server_addresses(server, address);
}

static bool
copy_options_from_answer(const struct exchange *exchange, bool answered, char *buffer, size_t size, size_t *length,
			 struct text *said)
{
	if (!answered) {
		text_printf(said, "%s.", exchange->reason);
	} else if (exchange->status != EXCHANGE_OK) {
		text_printf(said, "the server answered with status %u.", exchange->status);
	} else {
		*length = exchange->answer_length;
		__builtin_memcpy(buffer, exchange->answer, *length < size ? *length : size);
		return true;
	}
	return false;
}

bool
server_read_options(const struct server *server, const char *serial, char *buffer, size_t size, size_t *length,
		    char sentence[SERVER_SENTENCE_SIZE])
{
	struct exchange exchange = { .address = server->options, .answer_size = EXCHANGE_ANSWER_SIZE };
	char query[QUERY_SIZE];
	bool good = false, answered;
	struct text text = text_start(query, sizeof(query));

	origin_put_url_query(&text, server->mac, serial);
	exchange.query = query;
	text_init(&text, sentence, SERVER_SENTENCE_SIZE);
	text_printf(&text, "No options are taken from %s, where this machine was booted from: ", server->options);
	exchange.answer = firmware_allocate(exchange.answer_size);
	if (!exchange.answer) {
		text_put(&text, "the firmware has too little memory for the options.");
		return false;
	}
	answered = network_run_exchange(&exchange, server->mac);
	good = copy_options_from_answer(&exchange, answered, buffer, size, length, &text);
	firmware_boot->FreePool(exchange.answer);
	if (!good && !(answered && exchange.status == EXCHANGE_NOT_FOUND))
		return false;
	text_init(&text, sentence, SERVER_SENTENCE_SIZE);
	if (good)
		text_printf(&text, "Options are taken from %s, where this machine was booted from.", server->options);
	return good;
}
