/* A machine without UEFI that lacks something: see acpi_pm.c. */
#include "bare/firmware/bare.h"

#define BELOW_1_MIB UINT64_C(0x100000)

extern void missing_call_firmware(void *to, const void *from);
extern void missing_low_memory(void);

/* Acts like a memory map without free memory below 1 MiB. */
void
missing_low_memory(void)
{
	ram_remove(bare_ram(), 0, BELOW_1_MIB);
}

/* A boot without UEFI has no firmware to call. */
void
missing_call_firmware(void *to, const void *from)
{
	(void)to;
	(void)from;
}
