/*
 * Network cards without an address. The firmware's IPv4 policy is static, so no card requests an address by DHCP. All
 * changes must be undone.
 */
#include "test.h"
#include "firmware_sim.h"
#include "uefi/network/network.h"

#define CHECKS 50 /* number of checks after which a timer has expired */
#define SETS_MAX 8

static const EFI_GUID guid_tcp4_binding = GUID_TCP4_BINDING;
static const EFI_GUID guid_ip4_config2 = GUID_IP4_CONFIG2;

static struct {
	UINT32 policy;
	bool has_address, gets_one;
	bool refuses; /* true if the IPv4 policy cannot be changed */
	UINT32 sets[SETS_MAX];
	size_t set_count;
	size_t children; /* number of children (handles of protocol instances) that were requested */
} card;

static EFI_STATUS EFIAPI
set_data(struct ip4_config2 *config, UINT32 type, UINTN size, VOID *data)
{
	assert_int_equal(type, IP4_POLICY);
	assert_int_equal(size, sizeof(UINT32));
	assert_true(card.set_count < SETS_MAX);
	if (card.refuses)
		return EFI_UNSUPPORTED;
	memcpy(&card.policy, data, sizeof(card.policy));
	card.sets[card.set_count++] = card.policy;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_data(struct ip4_config2 *config, UINT32 type, UINTN *size, VOID *data)
{
	struct ip4_interface_info info = { .type = 1 };

	if (type == IP4_POLICY) {
		memcpy(data, &card.policy, sizeof(card.policy));
		return EFI_SUCCESS;
	}
	assert_true(*size >= sizeof(info));
	if (card.has_address || (card.policy == IP4_DHCP && card.gets_one))
		info.station = (struct network_address){ { 10, 0, 2, 15 } };
	memcpy(data, &info, sizeof(info));
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
create_child(struct service_binding *binding, EFI_HANDLE *child)
{
	card.children++;
	return EFI_OUT_OF_RESOURCES;
}

static struct ip4_config2 config = { set_data, get_data, NULL, NULL };
static struct service_binding binding = { create_child, NULL };

static void
begin(void)
{
	EFI_HANDLE handle;

	firmware_sim_reset();
	memset(&card, 0, sizeof(card));
	firmware_sim_offer_events(CHECKS);
	handle = firmware_sim_handle();
	firmware_sim_install_protocol(handle, &guid_tcp4_binding, &binding);
	firmware_sim_install_protocol(handle, &guid_ip4_config2, &config);
}

TEST_FIXTURE(begin, NULL);

/* Sends a request, which must fail because no server answers. Returns the reason of the failure. */
static const char *
ask(void)
{
	static struct exchange exchange;

	exchange = (struct exchange){ .address = "http://10.0.2.2/r", .body = "{}", .body_length = 2 };
	assert_false(network_run_exchange(&exchange, NULL));
	assert_int_equal(firmware_sim_events.open, 0);
	return exchange.reason;
}

static void
assert_put_back(void)
{
	assert_int_equal(card.set_count, 2);
	assert_int_equal(card.sets[0], IP4_DHCP);
	assert_int_equal(card.sets[1], IP4_STATIC);
}

TEST(a_policy_is_restored_if_the_server_was_not_reached)
{
	card.gets_one = true;
	assert_true(strlen(ask()) > 0);
	assert_int_equal(card.children, 1);
	assert_put_back();
}

TEST(a_policy_is_restored_if_no_address_came_in_time)
{
	assert_string_equal(ask(), "no network card gets an address by DHCP");
	assert_int_equal(card.children, 0);
	assert_put_back();
}

TEST(a_card_with_dhcp_or_an_address_is_not_changed)
{
	card.policy = IP4_DHCP;
	ask();
	assert_int_equal(card.set_count, 0);
	begin();
	card.has_address = true;
	ask();
	assert_int_equal(card.children, 1);
	assert_int_equal(card.set_count, 0);
	begin();
	card.refuses = true;
	assert_string_equal(ask(), "no network card gets an address by DHCP");
	assert_int_equal(card.policy, IP4_STATIC);
}

TEST(a_firmware_without_tcp_is_reported)
{
	firmware_sim_reset();
	assert_string_equal(ask(), EXCHANGE_NO_TCP);
}
