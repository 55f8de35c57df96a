/*
 * The firmware's two tables, this image's handle, and what is needed of GNU-EFI's declarations. The only
 * mutable globals of baretick: set once by efi_main, read by boot/ alone.
 */
#ifndef BARETICK_FIRMWARE_H
#define BARETICK_FIRMWARE_H

#include <efi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern EFI_HANDLE firmware_image;
extern EFI_SYSTEM_TABLE *firmware_system;
extern EFI_BOOT_SERVICES *firmware_boot;

/* An interface of HANDLE, or of the first handle that has it where HANDLE is NULL; NULL where there is none. */
void *firmware_protocol(EFI_HANDLE handle, const EFI_GUID *guid);

/* Every handle that has GUID, to be given back with FreePool; COUNT 0 and NULL where there is none. */
EFI_HANDLE *firmware_handles(const EFI_GUID *guid, size_t *count);

/* SIZE bytes, all 0, kept until the end; NULL where the firmware has no more. */
void *firmware_allocate(size_t size);

/* SIZE bytes below 4 GiB, of any content, for a device that reaches no further; NULL where there are none. */
void *firmware_take_low(size_t size);
/*
 * PAGES pages below 4 GiB, all 0, that are never given back, and that no kernel uses either; NULL where there are
 * none.
 */
void *firmware_reserve_low(size_t pages);
void firmware_give_low(void *memory, size_t size);

/* The physical address of the ACPI RSDP, from the configuration table; 2.0 before 1.0; 0 where there is none. */
uint64_t firmware_rsdp(void);

/* Those of the SMBIOS entry points, likewise: of 64 bits, of 32. */
uint64_t firmware_smbios_3(void);
uint64_t firmware_smbios_2(void);

/* Copies at most SIZE - 1 characters of WIDE to ASCII; what is not printable ASCII becomes '?'. */
void firmware_ascii(const CHAR16 *wide, char *ascii, size_t size);

extern const EFI_GUID guid_loaded_image, guid_file_system, guid_serial_io, guid_text_output,
	guid_graphics_output, guid_shell_parameters;

#endif
