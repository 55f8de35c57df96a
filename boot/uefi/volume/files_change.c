/* Changes files and folders on the boot volume with the firmware's Simple File System. See files.h. */
#include "uefi/volume/files_internal.h"

/*
 * Maximum number of bytes in one Write. Some firmware's drivers fail with a megabyte at once. Others fail with a buffer
 * above 4 GiB, which the device's controller cannot address (luv-yocto, issue 28; systemd, issue 25911).
 */
#define PIECE_BYTES 0x10000u

static const UINT64 read_write = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE;

/*
 * Creates a file or folder. Checks first whether it exists, because Open with EFI_FILE_MODE_CREATE also opens an
 * existing file.
 */
static EFI_STATUS
create_file_or_folder(EFI_FILE_HANDLE root, const char *path, UINT64 attributes, EFI_FILE_HANDLE *made)
{
	EFI_STATUS status = files_open_path(root, path, EFI_FILE_MODE_READ, 0, made);

	if (!EFI_ERROR(status)) {
		(*made)->Close(*made);
		return EFI_ALREADY_STARTED;
	}
	if (status != EFI_NOT_FOUND)
		return status;
	return files_open_path(root, path, read_write | EFI_FILE_MODE_CREATE, attributes, made);
}

EFI_STATUS
files_make_folder(EFI_FILE_HANDLE root, const char *path)
{
	EFI_FILE_HANDLE made;
	EFI_STATUS status = create_file_or_folder(root, path, EFI_FILE_DIRECTORY, &made);

	if (!EFI_ERROR(status))
		made->Close(made);
	return status;
}

/* Writes BYTES piece by piece. If WINDOW is not NULL, each piece is first copied to this buffer below 4 GiB. */
static EFI_STATUS
write_pieces(EFI_FILE_HANDLE file, char *window, const char *bytes, size_t length)
{
	while (length) {
		UINTN size = length < PIECE_BYTES ? length : PIECE_BYTES, written = size;

		if (window)
			__builtin_memcpy(window, bytes, size);
		EFI_STATUS status = file->Write(file, &written, window ? window : (void *)bytes);

		if (EFI_ERROR(status))
			return status;
		if (written != size)
			return EFI_VOLUME_FULL;
		bytes += size;
		length -= size;
	}
	return EFI_SUCCESS;
}

/*
 * Flushes the file. EFI_UNSUPPORTED is no error: a driver that returns it does not cache data, or writes the data when
 * the file is closed (UEFI 2.10, 13.5.3).
 */
static EFI_STATUS
flush_file(EFI_FILE_HANDLE file)
{
	EFI_STATUS status = file->Flush(file);

	return status == EFI_UNSUPPORTED ? EFI_SUCCESS : status;
}

/* Writes all BYTES, flushes them to the device if the driver can, and closes FILE. */
static EFI_STATUS
write_and_close(EFI_FILE_HANDLE file, const char *bytes, size_t length)
{
	char *window = firmware_allocate_raw_pages(UINT32_MAX, firmware_count_pages(PIECE_BYTES));
	EFI_STATUS status = write_pieces(file, window, bytes, length);

	firmware_free_pages(window, firmware_count_pages(PIECE_BYTES));
	if (!EFI_ERROR(status))
		status = flush_file(file);
	file->Close(file);
	return status;
}

EFI_STATUS
files_write(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length)
{
	EFI_FILE_HANDLE file;
	EFI_STATUS status = create_file_or_folder(root, path, 0, &file);

	return EFI_ERROR(status) ? status : write_and_close(file, bytes, length);
}

EFI_STATUS
files_overwrite(EFI_FILE_HANDLE root, const char *path, const char *bytes, size_t length)
{
	EFI_FILE_HANDLE file;
	EFI_STATUS status = files_open_path(root, path, read_write | EFI_FILE_MODE_CREATE, 0, &file);

	return EFI_ERROR(status) ? status : write_and_close(file, bytes, length);
}

/* UEFI 2.10, 13.5.16: a new FileName renames the file. The file's times stay the same, because the times here are 0. */
EFI_STATUS
files_rename(EFI_FILE_HANDLE root, const char *path, const char *name)
{
	union files_information information;
	EFI_FILE_HANDLE file;
	EFI_STATUS status = files_open_path(root, path, read_write, 0, &file);

	if (EFI_ERROR(status))
		return status;
	status = files_get_info(file, &information);
	if (!EFI_ERROR(status)) {
		size_t length = files_convert_to_wide(name, information.file.FileName, FILES_NAME_MAX + 1);
		const EFI_TIME unchanged = { 0 };

		information.file.Size = SIZE_OF_EFI_FILE_INFO + (length + 1) * sizeof(CHAR16);
		information.file.CreateTime = unchanged;
		information.file.LastAccessTime = unchanged;
		information.file.ModificationTime = unchanged;
		status = file->SetInfo(file, (EFI_GUID *)&guid_file_info, information.file.Size, &information);
	}
	file->Close(file);
	return status;
}

EFI_STATUS
files_remove(EFI_FILE_HANDLE root, const char *path)
{
	EFI_FILE_HANDLE file;
	EFI_STATUS status = files_open_path(root, path, read_write, 0, &file);

	if (EFI_ERROR(status))
		return status;
	status = file->Delete(file); /* also closes the file */
	/* UEFI 2.10, EFI_FILE_PROTOCOL.Delete(): only a warning reports that the file could not be deleted. */
	return status == EFI_WARN_DELETE_FAILURE ? EFI_DEVICE_ERROR : status;
}
