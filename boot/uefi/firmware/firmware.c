/* Implements firmware.h with UEFI's services. See also uefi.h. */
#include "uefi/firmware/uefi.h"

#define WAKE_UP_MINUTES 2 /* more than the time until the machine is off */

EFI_HANDLE firmware_image;
EFI_SYSTEM_TABLE *firmware_system;
EFI_BOOT_SERVICES *firmware_boot;
uint64_t firmware_start_tsc;

const EFI_GUID guid_loaded_image = LOADED_IMAGE_PROTOCOL;
const EFI_GUID guid_file_system = SIMPLE_FILE_SYSTEM_PROTOCOL;
const EFI_GUID guid_serial_io = SERIAL_IO_PROTOCOL;
const EFI_GUID guid_text_output = SIMPLE_TEXT_OUTPUT_PROTOCOL;
const EFI_GUID guid_graphics_output = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
/* EFI_SHELL_PARAMETERS_PROTOCOL: UEFI Shell Specification 2.2, 2.5 */
const EFI_GUID guid_shell_parameters = { 0x752f3136, 0x4e16, 0x4fdc,
	{ 0xa2, 0x2a, 0xe5, 0xf4, 0x68, 0x12, 0xf4, 0xca } };

/* GUIDs of the RSDP in the configuration table, for ACPI 2.0 or later and for ACPI 1.0. */
static const EFI_GUID guid_acpi_20 = ACPI_20_TABLE_GUID;
static const EFI_GUID guid_acpi_10 = ACPI_TABLE_GUID;

static const EFI_GUID guid_smbios_3 = SMBIOS3_TABLE_GUID;
static const EFI_GUID guid_smbios_2 = SMBIOS_TABLE_GUID;

void *
firmware_find_protocol(EFI_HANDLE handle, const EFI_GUID *guid)
{
	void *interface = NULL;
	EFI_STATUS status = handle ?
		firmware_boot->HandleProtocol(handle, (EFI_GUID *)guid, &interface) :
		firmware_boot->LocateProtocol((EFI_GUID *)guid, NULL, &interface);

	return EFI_ERROR(status) ? NULL : interface;
}

EFI_HANDLE *
firmware_handles(const EFI_GUID *guid, size_t *count)
{
	EFI_HANDLE *handles = NULL;
	UINTN found = 0;

	if (EFI_ERROR(firmware_boot->LocateHandleBuffer(ByProtocol, (EFI_GUID *)guid, NULL, &found,
							&handles)))
		found = 0, handles = NULL;
	*count = found;
	return handles;
}

void *
firmware_allocate(size_t size)
{
	void *memory = NULL;

	if (EFI_ERROR(firmware_boot->AllocatePool(EfiLoaderData, (size + 7) & ~(size_t)7, &memory)))
		return NULL;
	firmware_clear(memory, size);
	return memory;
}

void
firmware_free(void *memory)
{
	if (memory)
		firmware_boot->FreePool(memory);
}

void *
firmware_allocate_raw_pages(uint64_t address_max, size_t pages)
{
	EFI_PHYSICAL_ADDRESS address = address_max;

	if (EFI_ERROR(firmware_boot->AllocatePages(AllocateMaxAddress, EfiLoaderData, pages, &address)))
		return NULL;
	return (void *)(uintptr_t)address;
}

void
firmware_free_pages(void *memory, size_t pages)
{
	if (memory)
		firmware_boot->FreePages((EFI_PHYSICAL_ADDRESS)(uintptr_t)memory, pages);
}

void *
firmware_reserve_low_pages(size_t pages)
{
	EFI_PHYSICAL_ADDRESS address = UINT32_MAX;

	if (EFI_ERROR(firmware_boot->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, pages, &address)))
		return NULL;
	firmware_clear((void *)(uintptr_t)address, pages * EFI_PAGE_SIZE);
	return (void *)(uintptr_t)address;
}

static bool
are_guids_equal(const EFI_GUID *a, const EFI_GUID *b)
{
	return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

static uint64_t
find_configuration_table(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < firmware_system->NumberOfTableEntries; i++)
		if (are_guids_equal(&firmware_system->ConfigurationTable[i].VendorGuid, guid))
			return (uint64_t)(uintptr_t)firmware_system->ConfigurationTable[i].VendorTable;
	return 0;
}

uint64_t
firmware_find_rsdp(void)
{
	uint64_t address = find_configuration_table(&guid_acpi_20);

	return address ? address : find_configuration_table(&guid_acpi_10);
}

uint64_t
firmware_find_smbios_3(void)
{
	return find_configuration_table(&guid_smbios_3);
}

uint64_t
firmware_find_smbios_2(void)
{
	return find_configuration_table(&guid_smbios_2);
}

uint64_t
firmware_get_unused_page(void)
{
	return 0;
}

void
firmware_convert_to_ascii(const CHAR16 *wide, char *ascii, size_t size)
{
	size_t length = 0;

	for (; wide && wide[length] && length + 1 < size; length++)
		ascii[length] = wide[length] >= 0x20 && wide[length] < 0x7f ? (char)wide[length] : '?';
	ascii[length] = '\0';
}

void
firmware_print_name(struct text *text)
{
	char vendor[64];

	firmware_convert_to_ascii(firmware_system->FirmwareVendor, vendor, sizeof(vendor));
	text_printf(text, "%s %u.%02u, UEFI %u.%u", vendor, firmware_system->FirmwareRevision >> 16,
		    firmware_system->FirmwareRevision & 0xffff, firmware_system->Hdr.Revision >> 16,
		    (firmware_system->Hdr.Revision & 0xffff) / 10);
}

void
firmware_print_time(struct text *text)
{
	EFI_TIME now;

	if (!EFI_ERROR(firmware_system->RuntimeServices->GetTime(&now, NULL)))
		text_printf(text, "%04u-%02u-%02uT%02u:%02u:%02u", now.Year, now.Month, now.Day, now.Hour, now.Minute,
			    now.Second);
}

bool
firmware_set_wake_up_time(void)
{
	EFI_TIME time;

	/* The last minutes of an hour would also change the hour, and perhaps the day. */
	if (EFI_ERROR(firmware_system->RuntimeServices->GetTime(&time, NULL)) || time.Minute + WAKE_UP_MINUTES > 59)
		return false;
	time.Minute += WAKE_UP_MINUTES;
	return !EFI_ERROR(firmware_system->RuntimeServices->SetWakeupTime(TRUE, &time));
}

uint64_t
firmware_block_callbacks(void)
{
	return firmware_boot->RaiseTPL(TPL_HIGH_LEVEL);
}

void
firmware_restore_callbacks(uint64_t saved)
{
	firmware_boot->RestoreTPL((EFI_TPL)saved);
}
