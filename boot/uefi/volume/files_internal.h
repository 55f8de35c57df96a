/* Declarations for files.c, which reads the boot volume, and files_change.c, which changes it. */
#ifndef BARETICK_FILES_INTERNAL_H
#define BARETICK_FILES_INTERNAL_H

#include "uefi/volume/files.h"

#define FILES_NAME_MAX 255 /* maximum number of characters of a name on FAT with long names, ISO 9660 and NTFS */

/* A buffer for the results of GetInfo and of a folder's Read. Each result ends with a name. */
union files_information {
	EFI_FILE_INFO file;
	EFI_FILE_SYSTEM_INFO volume;
	char bytes[sizeof(EFI_FILE_INFO) + FILES_NAME_MAX * sizeof(CHAR16)];
};

extern const EFI_GUID guid_file_info;

/* Converts ASCII to WIDE, as many characters as fit into SIZE. Returns their number. */
size_t files_convert_to_wide(const char *ascii, CHAR16 *wide, size_t size);

EFI_STATUS files_open_path(EFI_FILE_HANDLE root, const char *path, UINT64 mode, UINT64 attributes,
			   EFI_FILE_HANDLE *file);
EFI_STATUS files_get_info(EFI_FILE_HANDLE file, union files_information *information);

#endif
