/*
 * The volume that the application was loaded from, accessed with the firmware's Simple File System. Paths start at its
 * root, are ASCII, and shorter than FILES_PATH_SIZE. The firmware's driver decides how long a call takes; there is no
 * other limit.
 */
#ifndef BARETICK_FILES_H
#define BARETICK_FILES_H

#include "uefi/firmware/uefi.h"

#define FILES_PATH_SIZE 256

/*
 * Reads baretick.cfg into BUFFER, from the application's folder, or else from the root of its volume. Returns false if
 * there is no such file. If the file is longer than SIZE, LENGTH is its full length, and BUFFER contains its first SIZE
 * bytes.
 */
bool files_read_options(char *buffer, size_t size, size_t *length);

/*
 * Returns the handle of the volume. Returns NULL if the application was not loaded from a volume, or if the volume was
 * removed.
 */
EFI_HANDLE files_get_device(void);

/* Returns EFI_NOT_FOUND if the application was not loaded from a volume, and EFI_NO_MEDIA if the volume was removed. */
EFI_STATUS files_open_volume(EFI_FILE_HANDLE *root);

struct files_space {
	bool read_only;
	uint64_t free_bytes;  /* bytes on the volume that new files may use */
	uint64_t block_bytes; /* bytes on the volume that the smallest file occupies; 0 if not known */
};

/* Returns the firmware's figures. On FAT the free space comes from a counter on the volume, which may be wrong. */
struct files_space files_get_space(EFI_FILE_HANDLE root);

/* Returns EFI_NOT_FOUND if no file or folder has that name. */
EFI_STATUS files_is_folder(EFI_FILE_HANDLE root, const char *path, bool *folder);

/* Calls SEE with each name in the folder. A '?' replaces each character that is not ASCII. */
EFI_STATUS files_list(EFI_FILE_HANDLE root, const char *path,
		      void (*see)(void *context, const char *name), void *context);

/* These two functions return EFI_ALREADY_STARTED if the name exists, and do not change the existing file or folder. */
EFI_STATUS files_make_folder(EFI_FILE_HANDLE root, const char *path);
EFI_STATUS files_write(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length);

/* Writes BYTES to the start of a file, which is created if needed. Later bytes of the file are not changed. */
EFI_STATUS files_overwrite(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length);

/*
 * Reads at most SIZE bytes of the file into BUFFER. LENGTH becomes the file's length, which may be larger. Returns
 * false if there is no file, or if it cannot be read.
 */
bool files_read(EFI_FILE_HANDLE root, const char *path, char *buffer, size_t size, size_t *length);

/* Renames the file or folder PATH to NAME, which must not contain a folder. Some firmware cannot rename. */
EFI_STATUS files_rename(EFI_FILE_HANDLE root, const char *path, const char *name);

/* Removes a file or an empty folder. Returns EFI_NOT_FOUND if the name does not exist. */
EFI_STATUS files_remove(EFI_FILE_HANDLE root, const char *path);

#endif
