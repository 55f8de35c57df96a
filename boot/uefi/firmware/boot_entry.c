/* Reads the variables BootCurrent and Boot####, and sets BootNext. See uefi.h. */
#include "uefi/firmware/uefi.h"

#define ENTRY_MAX 4096u /* largest size of a boot entry; efibootmgr's entries have about 150 bytes */
/* UEFI 2.10, 3.1.3: offset of the description, after 4 bytes of attributes and 2 bytes with the size of the paths */
#define PATHS_AT  6u

static const EFI_GUID guid_global_variable = EFI_GLOBAL_VARIABLE;

/* Reads a variable of at most SIZE bytes. Returns its size, or 0 if it cannot be read. */
static size_t
read_variable(const CHAR16 *name, void *buffer, size_t size)
{
	UINTN got = size;

	if (EFI_ERROR(firmware_system->RuntimeServices->GetVariable((CHAR16 *)name, (EFI_GUID *)&guid_global_variable, NULL,
								    &got, buffer)))
		return 0;
	return got <= size ? got : 0;
}

static bool
device_path_has_file(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + sizeof(EFI_DEVICE_PATH) <= size;) {
		const EFI_DEVICE_PATH *node = (const EFI_DEVICE_PATH *)(bytes + at);
		size_t length = (size_t)DevicePathNodeLength(node);

		if (DevicePathType(node) == MEDIA_DEVICE_PATH && DevicePathSubType(node) == MEDIA_FILEPATH_DP)
			return true;
		if (length < sizeof(*node))
			return false;
		at += length;
	}
	return false;
}

static bool
entry_has_file_path(uint16_t number, uint8_t *entry)
{
	static const char hex[] = "0123456789ABCDEF";
	const CHAR16 name[] = { 'B', 'o', 'o', 't', (CHAR16)hex[number >> 12], (CHAR16)hex[number >> 8 & 15],
				(CHAR16)hex[number >> 4 & 15], (CHAR16)hex[number & 15], 0 };
	size_t size = read_variable(name, entry, ENTRY_MAX), at = PATHS_AT;

	while (at + 1 < size && (entry[at] || entry[at + 1]))
		at += sizeof(CHAR16);
	at += sizeof(CHAR16);
	return at < size && device_path_has_file(entry + at, size - at);
}

void
boot_entry_choose_again(void)
{
	const UINT32 attributes = EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | EFI_VARIABLE_RUNTIME_ACCESS;
	uint16_t number;

	if (read_variable((const CHAR16 *)L"BootCurrent", &number, sizeof(number)) == sizeof(number))
		firmware_system->RuntimeServices->SetVariable((CHAR16 *)L"BootNext", (EFI_GUID *)&guid_global_variable,
							      attributes, sizeof(number), &number);
}

bool
boot_entry_has_file_path(void)
{
	uint16_t number;

	if (read_variable((const CHAR16 *)L"BootCurrent", &number, sizeof(number)) != sizeof(number))
		return false;
	uint8_t *entry = firmware_allocate(ENTRY_MAX);
	bool named = entry && entry_has_file_path(number, entry);
	firmware_free(entry);
	return named;
}
