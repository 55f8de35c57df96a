/* The faults of acpi_pm.c that depend on the firmware, for the boot without UEFI. */
#include "bare/firmware/bare.h"

#define BELOW_1_MIB UINT64_C(0x100000)

extern void missing_call_firmware_to_copy_byte(void *to, const void *from);
extern void missing_refuse_low_memory(void);

/* Marks all memory below 1 MiB as used. */
void
missing_refuse_low_memory(void)
{
	ram_remove_range(bare_get_ram(), 0, BELOW_1_MIB);
}

/* Does nothing, because a boot without UEFI has no firmware to call. */
void
missing_call_firmware_to_copy_byte(void *to, const void *from)
{
}
