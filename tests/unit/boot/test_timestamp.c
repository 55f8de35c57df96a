/* EFI_TIMESTAMP_PROTOCOL states the TSC's rate if it counts the TSC and returns a frequency. */
#include "test.h"
#include "firmware_sim.h"
#include "hw/hw.h"
#include "sim.h"
#include "uefi/firmware/uefi.h"

static const EFI_GUID guid = { 0xafbfde41, 0x2e6e, 0x4262, { 0xba, 0x65, 0x62, 0xb9, 0x23, 0x6e, 0x54, 0x95 } };
static struct claims claims;
static UINT64 frequency_hz;
static EFI_STATUS status;
static bool counts_tsc;

static UINT64 EFIAPI
get_timestamp(VOID)
{
	return counts_tsc ? hw_tsc_lfence() : 0;
}

static EFI_STATUS EFIAPI
get_properties(UINT64 *properties)
{
	properties[0] = frequency_hz;
	return status;
}

static struct {
	UINT64 (EFIAPI *timestamp)(VOID);
	EFI_STATUS (EFIAPI *properties)(UINT64 *properties);
} protocol = { get_timestamp, get_properties };

static void
open_firmware(void)
{
	sim_reset();
	firmware_sim_reset();
	claims.count = 0;
	frequency_hz = UINT64_C(2600000000);
	status = EFI_SUCCESS;
	counts_tsc = true;
}

TEST_FIXTURE(open_firmware, NULL);

static const struct claim *
only_claim(void)
{
	claims.count = 0;
	timestamp_add_rate_claim(&claims);
	assert_int_equal(claims.count, 1);
	assert_string_equal(claims.rows[0].by, "EFI_TIMESTAMP_PROTOCOL");
	return &claims.rows[0];
}

TEST(firmware_without_the_protocol_states_no_rate)
{
	timestamp_add_rate_claim(&claims);
	assert_int_equal(claims.count, 0);
}

TEST(the_rate_is_used_only_if_the_protocol_counts_the_tsc)
{
	firmware_sim_install_protocol(firmware_image, &guid, &protocol);
	assert_int_equal(only_claim()->hz.num, UINT64_C(2600000000));
	counts_tsc = false;
	assert_string_equal(only_claim()->reason, "The firmware's time stamps do not come from the TSC.");
	counts_tsc = true;
	status = EFI_UNSUPPORTED;
	assert_string_equal(only_claim()->reason, "The firmware does not report the rate of its time stamps.");
	status = EFI_SUCCESS;
	frequency_hz = 1;
	assert_string_equal(only_claim()->reason, "It states 1 Hz. baretick accepts 1 MHz to 100 GHz.");
}
