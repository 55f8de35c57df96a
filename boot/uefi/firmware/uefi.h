/*
 * The firmware's two tables, this image's handle, and the needed declarations of GNU-EFI. efi_main sets the globals
 * once, and only boot/uefi reads them.
 */
#ifndef BARETICK_UEFI_H
#define BARETICK_UEFI_H

#include <efi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/firmware.h"

extern EFI_HANDLE firmware_image;
extern EFI_SYSTEM_TABLE *firmware_system;
extern EFI_BOOT_SERVICES *firmware_boot;

/* Returns HANDLE's interface GUID, or NULL if it has none. If HANDLE is NULL, uses the first handle that has GUID. */
void *firmware_protocol(EFI_HANDLE handle, const EFI_GUID *guid);

/*
 * Returns all COUNT handles that have GUID, or NULL and a COUNT of 0 if there are none. The caller frees them with
 * FreePool.
 */
EFI_HANDLE *firmware_handles(const EFI_GUID *guid, size_t *count);

/*
 * Returns SIZE bytes below 4 GiB, with any content, for a device that cannot address more. Returns NULL if there is no
 * such memory.
 */
void *firmware_take_low(size_t size);
void firmware_give_low(void *memory, size_t size);

/* Copies at most SIZE - 1 characters of WIDE to ASCII. Other characters than printable ASCII become '?'. */
void firmware_ascii(const CHAR16 *wide, char *ascii, size_t size);

extern const EFI_GUID guid_loaded_image, guid_file_system, guid_serial_io, guid_text_output,
	guid_graphics_output, guid_shell_parameters;

#endif
