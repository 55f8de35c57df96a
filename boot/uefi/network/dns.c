/* Looks up the IPv4 addresses of host names. See network_internal.h. */
#include "uefi/network/network_internal.h"

#include "options/url.h"
#include "uefi/network/protocols.h"

#define ANSWER_MS    8000
#define RETRIES      3 /* number of requests until a look-up fails */
#define RETRY_S      2 /* seconds between two requests; EDK II accepts no shorter interval */
#define SERVERS_MAX  8
#define PROTOCOL_UDP 17 /* protocol number of UDP: RFC 768 */

static const EFI_GUID guid_dns4_binding = GUID_DNS4_BINDING;
static const EFI_GUID guid_dns4 = GUID_DNS4;
static const EFI_GUID guid_ip4_config2 = GUID_IP4_CONFIG2;

/* Reads the DNS servers that the network card CARD is configured with, at most SERVERS_MAX. Returns their number. */
static UINTN
read_dns_servers(EFI_HANDLE card, struct network_address servers[SERVERS_MAX])
{
	struct ip4_config2 *config = firmware_find_protocol(card, &guid_ip4_config2);
	UINTN size = SERVERS_MAX * sizeof(servers[0]);

	if (!config || EFI_ERROR(config->get_data(config, IP4_DNS_SERVERS, &size, servers)))
		return 0;
	return size / sizeof(servers[0]);
}

/*
 * Waits for TOKEN by polling, because the firmware processes packets only while it is polled. TOKEN is on the caller's
 * stack, so it is cancelled if it is not complete in time.
 */
static EFI_STATUS
wait_for_token(struct dns4 *dns, struct dns4_token *token)
{
	struct pause pause;
	bool signalled = false;

	if (pause_begin(&pause, ANSWER_MS)) {
		do
			dns->poll(dns);
		while (!(signalled = firmware_boot->CheckEvent(token->event) == EFI_SUCCESS) && pause_wait_briefly(&pause));
		pause_end(&pause);
	}
	if (signalled)
		return token->status;
	dns->cancel(dns, token);
	return EFI_TIMEOUT;
}

static EFI_STATUS
copy_first_address(struct dns4_addresses *addresses, UINT8 ipv4[4])
{
	bool any = addresses && addresses->list && addresses->count;

	if (any)
		__builtin_memcpy(ipv4, addresses->list[0].bytes, sizeof(addresses->list[0].bytes));
	if (addresses && addresses->list)
		firmware_boot->FreePool(addresses->list);
	if (addresses)
		firmware_boot->FreePool(addresses);
	return any ? EFI_SUCCESS : EFI_NOT_FOUND;
}

static EFI_STATUS
request_address(struct dns4 *dns, const char *name, UINT8 ipv4[4])
{
	struct dns4_token token = { .status = EFI_NOT_READY, .retries = RETRIES, .retry_s = RETRY_S };
	CHAR16 wide[URL_HOST_SIZE];
	size_t i = 0;

	for (; name[i]; i++)
		wide[i] = (CHAR16)name[i];
	wide[i] = 0;
	EFI_STATUS status = firmware_boot->CreateEvent(0, 0, NULL, NULL, &token.event);
	if (EFI_ERROR(status))
		return status;
	status = dns->host_name_to_ip(dns, wide, &token);
	if (!EFI_ERROR(status))
		status = wait_for_token(dns, &token);
	if (!EFI_ERROR(status))
		status = copy_first_address(token.addresses, ipv4);
	firmware_boot->CloseEvent(token.event);
	return status;
}

static EFI_STATUS
look_up_by_servers(struct dns4 *dns, struct network_address *servers, UINTN count, const char *name, UINT8 ipv4[4])
{
	struct dns4_config config = {
		.server_count = count, .servers = servers, .use_default_address = TRUE, .protocol = PROTOCOL_UDP,
		.retries = RETRIES, .retry_s = RETRY_S,
	};
	EFI_STATUS status = dns->configure(dns, &config);

	if (EFI_ERROR(status))
		return status;
	status = request_address(dns, name, ipv4);
	dns->configure(dns, NULL); /* a NULL configuration also ends pending requests */
	return status;
}

static const char *
explain_dns_status(EFI_STATUS status)
{
	if (status == EFI_NOT_FOUND)
		return "DNS has no address for that name";
	if (status == EFI_TIMEOUT || status == EFI_NO_RESPONSE)
		return "no DNS server answers in time";
	return "the firmware's DNS fails";
}

const char *
dns_look_up(EFI_HANDLE card, const char *name, UINT8 ipv4[4])
{
	struct service_binding *binding = firmware_find_protocol(card, &guid_dns4_binding);
	struct network_address servers[SERVERS_MAX];
	UINTN count = read_dns_servers(card, servers);
	EFI_HANDLE child = NULL;
	EFI_STATUS status = EFI_UNSUPPORTED;

	if (!binding)
		return "the firmware cannot look up names: use an IPv4 address";
	if (!count)
		return "DHCP named no DNS server: use an IPv4 address";
	if (EFI_ERROR(binding->create_child(binding, &child)))
		return explain_dns_status(status);
	struct dns4 *dns = firmware_find_protocol(child, &guid_dns4);
	if (dns)
		status = look_up_by_servers(dns, servers, count, name, ipv4);
	binding->destroy_child(binding, child);
	return EFI_ERROR(status) ? explain_dns_status(status) : NULL;
}
