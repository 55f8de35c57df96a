/* Connects network cards, gets addresses by DHCP, and does the exchange with the server. See network.h. */
#include "uefi/network/network.h"

#include "network/origin.h"
#include "uefi/network/network_internal.h"

#define CARDS_MAX     8
#define ADDRESS_MS    8000
#define PCI_CLASS_AT  0x0b /* PCI 3.0, 6.1: offset of the base class in a device's configuration space */
#define CLASS_NETWORK 0x02
#define INFO_SIZE     4096 /* bytes for IP4_INTERFACE_INFO, including its table of routes */

static const EFI_GUID guid_pci_io = EFI_PCI_IO_PROTOCOL_GUID;
static const EFI_GUID guid_device_path = EFI_DEVICE_PATH_PROTOCOL_GUID;
static const EFI_GUID guid_tcp4_binding = GUID_TCP4_BINDING;
static const EFI_GUID guid_ip4_config2 = GUID_IP4_CONFIG2;

struct card {
	EFI_HANDLE handle;
	struct ip4_config2 *config;
	bool changed; /* true if close_cards() must restore the card's address policy */
	bool asked;
};

struct cards {
	struct card each[CARDS_MAX];
	size_t count;
	union {
		struct ip4_interface_info info;
		char bytes[INFO_SIZE];
	};
};

/* Connects the drivers to the network cards, because firmware that boots from a stick may not have done so. */
static void
connect_drivers(void)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_pci_io, &count);

	for (size_t i = 0; i < count; i++) {
		EFI_PCI_IO_PROTOCOL *pci = firmware_find_protocol(handles[i], &guid_pci_io);
		UINT8 class = 0;

		if (pci && !EFI_ERROR(pci->Pci.Read(pci, EfiPciIoWidthUint8, PCI_CLASS_AT, 1, &class)) && class == CLASS_NETWORK)
			firmware_boot->ConnectController(handles[i], NULL, NULL, TRUE);
	}
	if (handles)
		firmware_boot->FreePool(handles);
}

static bool
has_ip_address(struct cards *cards, const struct card *card)
{
	static const struct network_address none;
	UINTN size = sizeof(cards->bytes);

	return !EFI_ERROR(card->config->get_data(card->config, IP4_INTERFACE_INFO, &size, cards->bytes)) &&
	       __builtin_memcmp(&cards->info.station, &none, sizeof(none)) != 0;
}

/* Requests an address by DHCP, unless the card already has an address or waits for one. */
static void
request_ip_address(struct cards *cards, struct card *card)
{
	UINT32 policy = IP4_DHCP;
	UINTN size = sizeof(policy);

	if (has_ip_address(cards, card) || EFI_ERROR(card->config->get_data(card->config, IP4_POLICY, &size, &policy)) ||
	    policy == IP4_DHCP)
		return;
	policy = IP4_DHCP;
	card->changed = !EFI_ERROR(card->config->set_data(card->config, IP4_POLICY, sizeof(policy), &policy));
}

static bool
is_wanted_card(EFI_HANDLE handle, const uint8_t *mac)
{
	const struct origin card = origin_parse_device_path(firmware_find_protocol(handle, &guid_device_path));

	return !mac || (card.has_mac && __builtin_memcmp(card.mac, mac, sizeof(card.mac)) == 0);
}

static void
open_cards(struct cards *cards, const uint8_t *mac)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_tcp4_binding, &count);

	for (size_t i = 0; i < count && cards->count < CARDS_MAX; i++) {
		struct card card = { handles[i], firmware_find_protocol(handles[i], &guid_ip4_config2), false, false };

		if (!card.config || !is_wanted_card(card.handle, mac))
			continue;
		request_ip_address(cards, &card);
		cards->each[cards->count++] = card;
	}
	if (handles)
		firmware_boot->FreePool(handles);
}

/* Restores the address policies that were changed, because the firmware stores them across restarts. */
static void
close_cards(struct cards *cards)
{
	UINT32 policy = IP4_STATIC;

	for (size_t i = 0; i < cards->count; i++)
		if (cards->each[i].changed)
			cards->each[i].config->set_data(cards->each[i].config, IP4_POLICY, sizeof(policy), &policy);
}

/*
 * Tries each card as soon as it has an address, until a card reaches the server. Returns true if the server answered.
 */
static bool
try_each_card(struct cards *cards, struct exchange *exchange)
{
	enum exchange_end end = EXCHANGE_NOT_REACHED;
	struct pause pause;
	size_t count = 0;

	exchange_set_failure(exchange, "no network card gets an address by DHCP");
	if (!pause_begin(&pause, ADDRESS_MS))
		return false;
	do
		for (size_t i = 0; i < cards->count && end == EXCHANGE_NOT_REACHED; i++) {
			if (cards->each[i].asked || !has_ip_address(cards, &cards->each[i]))
				continue;
			cards->each[i].asked = true;
			end = exchange_run(cards->each[i].handle, exchange);
			count++;
		}
	while (end == EXCHANGE_NOT_REACHED && count < cards->count && pause_wait_briefly(&pause));
	pause_end(&pause);
	return end == EXCHANGE_ANSWERED;
}

bool
network_run_exchange(struct exchange *exchange, const uint8_t *mac)
{
	struct cards *cards;
	bool answered = false;

	exchange->status = 0;
	if (!url_parse(exchange->address, text_length(exchange->address), &exchange->at))
		return exchange_set_failure(exchange, "it is not an address");
	cards = firmware_allocate(sizeof(*cards));
	if (!cards)
		return exchange_set_failure(exchange, "the firmware has too little memory for a connection");
	if (!mac)
		connect_drivers();
	open_cards(cards, mac);
	if (cards->count)
		answered = try_each_card(cards, exchange);
	else
		exchange_set_failure(exchange, EXCHANGE_NO_TCP);
	close_cards(cards);
	firmware_boot->FreePool(cards);
	return answered;
}
