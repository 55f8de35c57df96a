/*
 * The volume that the application was started from, by the firmware's Simple File System. Paths begin at its root, are
 * ASCII, and shorter than FILES_PATH_SIZE. How long a call may take is the driver's to say: it has no other bound.
 */
#ifndef BARETICK_FILES_H
#define BARETICK_FILES_H

#include "uefi/firmware/uefi.h"

#define FILES_PATH_SIZE 256

/*
 * Reads baretick.cfg, beside the application or else at the root of its volume, into BUFFER. Returns false
 * where there is none. A file that is longer than SIZE gives LENGTH = its true length, and the first SIZE bytes.
 */
bool files_read_options(char *buffer, size_t size, size_t *length);

/* The handle of the volume; NULL: the application came from none, or that is gone. */
EFI_HANDLE files_device(void);

/* EFI_NOT_FOUND: the application came from no volume; EFI_NO_MEDIA: from one that is gone. */
EFI_STATUS files_open_volume(EFI_FILE_HANDLE *root);

struct files_space {
	bool read_only;
	uint64_t free_bytes;  /* for files */
	uint64_t block_bytes; /* what the smallest file takes; 0: nothing is known */
};

/* As the firmware reports it: on FAT from a count on the volume, which may be wrong. */
struct files_space files_space(EFI_FILE_HANDLE root);

/* EFI_NOT_FOUND where there is nothing of that name. */
EFI_STATUS files_is_folder(EFI_FILE_HANDLE root, const char *path, bool *folder);

/* Calls SEE with each name in the folder; one that is not ASCII has ? in it. */
EFI_STATUS files_list(EFI_FILE_HANDLE root, const char *path,
		      void (*see)(void *context, const char *name), void *context);

/* Each of the two refuses, with EFI_ALREADY_STARTED, to touch what is there already. */
EFI_STATUS files_make_folder(EFI_FILE_HANDLE root, const char *path);
EFI_STATUS files_write(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length);

/* Puts BYTES at the begin of a file, which is made where there is none; what is behind them stays. */
EFI_STATUS files_overwrite(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length);

/*
 * The file's bytes, SIZE at most, in BUFFER; LENGTH is how long it is, which may be more. False: there is none, or it
 * can't be read.
 */
bool files_read(EFI_FILE_HANDLE root, const char *path, char *buffer, size_t size, size_t *length);

/* NAME is without a folder; not every firmware can rename. */
EFI_STATUS files_rename(EFI_FILE_HANDLE root, const char *path, const char *name);

/* A file, or an empty folder; EFI_NOT_FOUND where there is nothing of that name. */
EFI_STATUS files_remove(EFI_FILE_HANDLE root, const char *path);

#endif
