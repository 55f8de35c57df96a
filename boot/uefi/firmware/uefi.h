/*
 * The firmware's system table and boot services, this image's handle, and the declarations of GNU-EFI that baretick
 * uses. efi_main sets the global variables once, and only boot/uefi reads them.
 */
#ifndef BARETICK_UEFI_H
#define BARETICK_UEFI_H

#include <efi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/claims.h"
#include "firmware/firmware.h"

extern EFI_HANDLE firmware_image;
extern EFI_SYSTEM_TABLE *firmware_system;
extern EFI_BOOT_SERVICES *firmware_boot;
extern uint64_t firmware_start_tsc; /* TSC at the start of efi_main */

/*
 * Returns the interface GUID of HANDLE, or NULL if HANDLE lacks it. If HANDLE is NULL, uses the first handle that has
 * GUID.
 */
void *firmware_find_protocol(EFI_HANDLE handle, const EFI_GUID *guid);

/*
 * Returns an array of all handles that have GUID, and sets COUNT to their number. Returns NULL and sets COUNT to 0 if
 * there are none. The caller frees the array with FreePool.
 */
EFI_HANDLE *firmware_handles(const EFI_GUID *guid, size_t *count);

/* Copies at most SIZE - 1 characters of WIDE to ASCII. Characters other than printable ASCII become '?'. */
void firmware_convert_to_ascii(const CHAR16 *wide, char *ascii, size_t size);

extern const EFI_GUID guid_loaded_image, guid_file_system, guid_serial_io, guid_text_output,
	guid_graphics_output, guid_shell_parameters;

/*
 * Returns true if the boot entry names a file, as the entry of an installed operating system does. Returns false for a
 * stick, whose entry names only the device, and for a network boot. Also returns false if there is no boot entry, or if
 * it is damaged.
 */
bool boot_entry_has_file_path(void);

/* Sets the variable BootNext to the boot entry that started the application. Does nothing if there is no such entry. */
void boot_entry_choose_again(void);

/*
 * Lets the machine's real-time clock switch the machine on in two minutes. Returns false if the firmware cannot do
 * this.
 */
bool firmware_set_wake_up_time(void);

/*
 * Returns the checksum in the PE header of the running image. boot/uefi/set_header wrote it into the file. Returns 0
 * if the firmware did not load the header.
 */
uint32_t image_read_checksum(void);

/* EFI_TIMESTAMP_PROTOCOL (UEFI 2.10, 39.2), which GNU-EFI lacks */
struct timestamp_properties {
	UINT64 frequency_hz;
	UINT64 end_value;
};

struct timestamp_protocol {
	UINT64 (EFIAPI *get_timestamp)(VOID);
	EFI_STATUS (EFIAPI *get_properties)(struct timestamp_properties *properties);
};

extern const EFI_GUID guid_timestamp;

#define TIMESTAMP_WITHIN_HZ 1000u /* tolerance of the rate; firmware may calculate it from whole kHz */

/*
 * Adds a row to CLAIMS for the TSC's rate if the firmware has EFI_TIMESTAMP_PROTOCOL. The row has no rate if the
 * protocol's counter is not the TSC.
 */
void timestamp_add_rate_claim(struct claims *claims);

#endif
