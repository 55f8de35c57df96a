/* Reads the rate of the counter of EFI_TIMESTAMP_PROTOCOL (UEFI 2.10, 39.2). See uefi.h. */
#include "uefi/firmware/uefi.h"

#include "hw/hw.h"

const EFI_GUID guid_timestamp = { 0xafbfde41, 0x2e6e, 0x4262,
	{ 0xba, 0x65, 0x62, 0xb9, 0x23, 0x6e, 0x54, 0x95 } };

void
timestamp_add_rate_claim(struct claims *claims)
{
	struct timestamp_protocol *protocol = firmware_find_protocol(NULL, &guid_timestamp);
	struct timestamp_properties properties = { 0, 0 };
	uint64_t before, stamp, after;

	if (!protocol)
		return;
	struct claim *claim = claims_add(claims, CLAIM_EFI, CLAIM_OF_TSC, "EFI_TIMESTAMP_PROTOCOL");
	before = hw_tsc_lfence();
	stamp = protocol->get_timestamp();
	after = hw_tsc_lfence();
	if (EFI_ERROR(protocol->get_properties(&properties)))
		claim_set_refusal(claim, "The firmware does not report the rate of its time stamps.");
	else if (stamp < before || stamp > after)
		claim_set_refusal(claim, "The firmware's time stamps do not come from the TSC.");
	else
		claim_set_rate(claim, (struct rate){ properties.frequency_hz, 1 }, TIMESTAMP_WITHIN_HZ);
}
