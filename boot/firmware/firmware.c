/* What boot/ asks of the firmware in more than one place. See firmware.h. */
#include "firmware.h"

EFI_HANDLE firmware_image;
EFI_SYSTEM_TABLE *firmware_system;
EFI_BOOT_SERVICES *firmware_boot;

/* UEFI 2.10: 9.1, 13.4, 12.8, 12.4, 12.9; UEFI Shell 2.2: 2.5 */
const EFI_GUID guid_loaded_image = { 0x5b1b31a1, 0x9562, 0x11d2,
	{ 0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b } };
const EFI_GUID guid_file_system = { 0x964e5b22, 0x6459, 0x11d2,
	{ 0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b } };
const EFI_GUID guid_serial_io = { 0xbb25cf6f, 0xf1d4, 0x11d2,
	{ 0x9a, 0x0c, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0xfd } };
const EFI_GUID guid_text_output = { 0x387477c2, 0x69c7, 0x11d2,
	{ 0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b } };
const EFI_GUID guid_graphics_output = { 0x9042a9de, 0x23dc, 0x4a38,
	{ 0x96, 0xfb, 0x7a, 0xde, 0xd0, 0x80, 0x51, 0x6a } };
const EFI_GUID guid_shell_parameters = { 0x752f3136, 0x4e16, 0x4fdc,
	{ 0xa2, 0x2a, 0xe5, 0xf4, 0x68, 0x12, 0xf4, 0xca } };

/* UEFI 2.10, 4.6.1: the two vendor GUIDs of the RSDP */
static const EFI_GUID guid_acpi_20 = { 0x8868e871, 0xe4f1, 0x11d3,
	{ 0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };
static const EFI_GUID guid_acpi_10 = { 0xeb9d2d30, 0x2d88, 0x11d3,
	{ 0x9a, 0x16, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d } };

void *
firmware_protocol(EFI_HANDLE handle, const EFI_GUID *guid)
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

	if (EFI_ERROR(firmware_boot->AllocatePool(EfiLoaderData, size, &memory)))
		return NULL;
	__builtin_memset(memory, 0, size);
	return memory;
}

static bool
guid_equal(const EFI_GUID *a, const EFI_GUID *b)
{
	return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

static uint64_t
configuration_table(const EFI_GUID *guid)
{
	for (UINTN i = 0; i < firmware_system->NumberOfTableEntries; i++)
		if (guid_equal(&firmware_system->ConfigurationTable[i].VendorGuid, guid))
			return (uint64_t)(uintptr_t)firmware_system->ConfigurationTable[i].VendorTable;
	return 0;
}

uint64_t
firmware_rsdp(void)
{
	uint64_t address = configuration_table(&guid_acpi_20);

	return address ? address : configuration_table(&guid_acpi_10);
}

void
firmware_ascii(const CHAR16 *wide, char *ascii, size_t size)
{
	size_t length = 0;

	for (; wide && wide[length] && length + 1 < size; length++)
		ascii[length] = wide[length] >= 0x20 && wide[length] < 0x7f ? (char)wide[length] : '?';
	ascii[length] = '\0';
}
