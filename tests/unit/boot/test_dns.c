/*
 * Look-ups of names with a firmware's DNS protocol that answers, knows no address, does not answer, or is absent.
 * Everything that was changed must be restored.
 */
#include "test.h"
#include "uefi/network/network_internal.h"
#include "firmware_sim.h"
#include "uefi/network/protocols.h"

#define POLLS      3  /* number of polls until the answer comes */
#define CHECKS_MAX 50 /* number of checks of the timer after which it has expired */

static const EFI_GUID guid_dns4_binding = GUID_DNS4_BINDING;
static const EFI_GUID guid_dns4 = GUID_DNS4;
static const EFI_GUID guid_ip4_config2 = GUID_IP4_CONFIG2;

static struct {
	EFI_STATUS status;    /* result of the look-up; EFI_NOT_READY if it never ends */
	EFI_STATUS refused;   /* status that the protocol returns at once when it is asked for a name */
	UINT32 addresses;     /* number of addresses in the answer */
	UINTN servers;        /* number of DNS servers that DHCP gave */
	bool has_no_protocol; /* true if the handle for look-ups (a child of the service) lacks the protocol */
	unsigned polls, children, configured, cancelled;
	struct dns4_token *token;
	char asked[16];
} net;

static EFI_STATUS (EFIAPI *check_timer)(EFI_EVENT event);

static EFI_STATUS EFIAPI
get_data(struct ip4_config2 *config, UINT32 type, UINTN *size, VOID *data)
{
	assert_int_equal(type, IP4_DNS_SERVERS);
	if (!net.servers)
		return EFI_NOT_FOUND;
	assert_true(*size >= net.servers * sizeof(struct network_address));
	*size = net.servers * sizeof(struct network_address);
	memset(data, 10, *size);
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
configure(struct dns4 *dns, struct dns4_config *config)
{
	if (config) {
		assert_int_equal(config->server_count, net.servers);
		assert_memory_equal(config->servers, "\x0a\x0a\x0a\x0a", 4);
		assert_true(config->use_default_address && !config->cache);
		assert_int_equal(config->protocol, 17);
	}
	net.configured = config != NULL;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
host_name_to_ip(struct dns4 *dns, CHAR16 *name, struct dns4_token *token)
{
	assert_true(net.configured);
	for (size_t i = 0; i < sizeof(net.asked) && (i == 0 || name[i - 1]); i++)
		net.asked[i] = (char)name[i];
	net.token = EFI_ERROR(net.refused) ? NULL : token;
	return net.refused;
}

static void
answer(struct dns4_token *token)
{
	token->status = net.status;
	if (EFI_ERROR(net.status))
		return;
	token->addresses = malloc(sizeof(*token->addresses));
	token->addresses->count = net.addresses;
	token->addresses->list = malloc(8);
	memcpy(token->addresses->list, "\x0a\0\x02\x02\x0a\0\x02\x03", 8);
}

static EFI_STATUS EFIAPI
poll(struct dns4 *dns)
{
	if (++net.polls == POLLS && net.status != EFI_NOT_READY)
		answer(net.token);
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
cancel(struct dns4 *dns, struct dns4_token *token)
{
	assert_ptr_equal(token, net.token);
	net.cancelled++;
	return EFI_SUCCESS;
}

static struct ip4_config2 config = { NULL, get_data, NULL, NULL };
static struct dns4 dns = { NULL, configure, host_name_to_ip, NULL, NULL, NULL, poll, cancel };

static EFI_STATUS EFIAPI
create_child(struct service_binding *binding, EFI_HANDLE *child)
{
	*child = firmware_sim_handle();
	if (!net.has_no_protocol)
		firmware_sim_install_protocol(*child, &guid_dns4, &dns);
	net.children++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
destroy_child(struct service_binding *binding, EFI_HANDLE child)
{
	net.children--;
	return EFI_SUCCESS;
}

static struct service_binding binding = { create_child, destroy_child };

static EFI_STATUS EFIAPI
check_event(EFI_EVENT event)
{
	if (event == FIRMWARE_SIM_TIMER)
		return check_timer(event);
	return net.status != EFI_NOT_READY && net.polls >= POLLS ? EFI_SUCCESS : EFI_NOT_READY;
}

/* Makes a network card. If WITH_DNS is true, the card has the DNS protocol, which gives 10.0.2.2 for lab.example. */
static EFI_HANDLE
card_of(bool with_dns)
{
	EFI_HANDLE card;

	firmware_sim_reset();
	firmware_sim_offer_events(CHECKS_MAX);
	check_timer = firmware_boot->CheckEvent;
	firmware_boot->CheckEvent = check_event;
	card = firmware_sim_handle();
	firmware_sim_install_protocol(card, &guid_ip4_config2, &config);
	if (with_dns)
		firmware_sim_install_protocol(card, &guid_dns4_binding, &binding);
	memset(&net, 0, sizeof(net));
	net.servers = net.addresses = 1;
	return card;
}

static const char *
look_up(EFI_HANDLE card, UINT8 ipv4[4])
{
	const char *reason = dns_look_up(card, "lab.example", ipv4);

	assert_int_equal(net.children, 0);
	assert_int_equal(firmware_sim_events.open, 0);
	assert_int_equal(net.configured, 0);
	return reason;
}

TEST(a_name_is_replaced_by_its_first_address)
{
	UINT8 ipv4[4];

	for (UINT32 addresses = 1; addresses <= 2; addresses++) {
		EFI_HANDLE card = card_of(true);

		net.addresses = addresses;
		net.servers = addresses;
		assert_null(look_up(card, ipv4));
		assert_memory_equal(ipv4, "\x0a\0\x02\x02", 4);
		assert_string_equal(net.asked, "lab.example");
		assert_int_equal(net.cancelled, 0);
	}
}

TEST(a_failed_look_up_is_reported_and_undone)
{
	static const struct {
		EFI_STATUS status, refused;
		UINT32 addresses;
		const char *reason;
		unsigned cancelled;
	} cases[] = {
		{ EFI_NOT_FOUND, 0, 1, "DNS has no address for that name", 0 },
		{ EFI_SUCCESS, 0, 0, "DNS has no address for that name", 0 },
		{ EFI_NOT_READY, 0, 1, "no DNS server answers in time", 1 },
		{ EFI_TIMEOUT, 0, 1, "no DNS server answers in time", 0 },
		{ EFI_DEVICE_ERROR, 0, 1, "the firmware's DNS fails", 0 },
		{ EFI_SUCCESS, EFI_OUT_OF_RESOURCES, 1, "the firmware's DNS fails", 0 },
	};
	UINT8 ipv4[4];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EFI_HANDLE card = card_of(true);

		net.status = cases[i].status;
		net.refused = cases[i].refused;
		net.addresses = cases[i].addresses;
		assert_string_equal(look_up(card, ipv4), cases[i].reason);
		assert_int_equal(net.cancelled, cases[i].cancelled);
	}
}

TEST(without_a_dns_server_the_user_is_told_to_use_an_address)
{
	UINT8 ipv4[4];
	EFI_HANDLE card = card_of(false);

	assert_string_equal(look_up(card, ipv4), "the firmware cannot look up names: use an IPv4 address");
	card = card_of(true);
	net.servers = 0;
	assert_string_equal(look_up(card, ipv4), "DHCP named no DNS server: use an IPv4 address");
	card = card_of(true);
	net.has_no_protocol = true;
	assert_string_equal(look_up(card, ipv4), "the firmware's DNS fails");
}
