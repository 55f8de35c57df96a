/* The faults of acpi_pm.c that depend on the firmware, for the boot with UEFI. */
#include <efi.h>

#define BELOW_1_MIB UINT64_C(0x100000)

extern EFI_BOOT_SERVICES *firmware_boot;
extern void missing_call_firmware_to_copy_byte(void *to, const void *from);
extern void missing_refuse_low_memory(void);

static EFI_STATUS (EFIAPI *allocate_pages)(EFI_ALLOCATE_TYPE, EFI_MEMORY_TYPE, UINTN, EFI_PHYSICAL_ADDRESS *);

static EFI_STATUS EFIAPI
refuse_low_pages(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages, EFI_PHYSICAL_ADDRESS *address)
{
	if (how == AllocateMaxAddress && *address < BELOW_1_MIB)
		return EFI_OUT_OF_RESOURCES;
	return allocate_pages(how, type, pages, address);
}

void
missing_refuse_low_memory(void)
{
	allocate_pages = firmware_boot->AllocatePages;
	firmware_boot->AllocatePages = refuse_low_pages;
}

void
missing_call_firmware_to_copy_byte(void *to, const void *from)
{
	firmware_boot->CopyMem(to, (void *)(uintptr_t)from, 1);
}
