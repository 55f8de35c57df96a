/* Reads the boot volume with the firmware's Simple File System. See files.h. */
#include "uefi/volume/files_internal.h"

#include "base/text.h"

#define OPTIONS_FILE "baretick.cfg"
#define ENTRIES_MAX  65536 /* maximum number of entries of a folder that are listed; a FAT folder has no more */

/* types of information for GetInfo and SetInfo: UEFI 2.10, 13.5.16 and 13.5.17 */
const EFI_GUID guid_file_info = EFI_FILE_INFO_ID;
static const EFI_GUID guid_file_system_info = EFI_FILE_SYSTEM_INFO_ID;

/* Returns true if the image was read from a file on a volume, false if it was loaded over a network. */
static bool
was_loaded_from_file(const EFI_LOADED_IMAGE *image)
{
	const EFI_DEVICE_PATH *node = image ? image->FilePath : NULL;

	return node && DevicePathType(node) == MEDIA_DEVICE_PATH &&
	       DevicePathSubType(node) == MEDIA_FILEPATH_DP;
}

/*
 * Returns the volume's handle, or NULL if the device was removed. Compares with all present handles, because the handle
 * of a removed device is not valid, not even as an argument.
 */
static EFI_HANDLE
find_boot_device(const EFI_LOADED_IMAGE *image)
{
	size_t count;
	EFI_HANDLE *handles = firmware_handles(&guid_file_system, &count), device = NULL;

	for (size_t i = 0; image && i < count; i++)
		if (handles[i] == image->DeviceHandle)
			device = handles[i];
	if (handles)
		firmware_boot->FreePool(handles);
	return device;
}

EFI_HANDLE
files_get_device(void)
{
	return find_boot_device(firmware_find_protocol(firmware_image, &guid_loaded_image));
}

EFI_STATUS
files_open_volume(EFI_FILE_HANDLE *root)
{
	const EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	EFI_HANDLE device = find_boot_device(image);
	EFI_FILE_IO_INTERFACE *volume = device ? firmware_find_protocol(device, &guid_file_system) : NULL;

	if (!volume)
		return was_loaded_from_file(image) ? EFI_NO_MEDIA : EFI_NOT_FOUND;
	return volume->OpenVolume(volume, root);
}

size_t
files_convert_to_wide(const char *ascii, CHAR16 *wide, size_t size)
{
	size_t i = 0;

	for (; ascii[i] && i + 1 < size; i++)
		wide[i] = (unsigned char)ascii[i];
	wide[i] = 0;
	return i;
}

EFI_STATUS
files_open_path(EFI_FILE_HANDLE root, const char *path, UINT64 mode, UINT64 attributes, EFI_FILE_HANDLE *file)
{
	CHAR16 wide[FILES_PATH_SIZE];

	files_convert_to_wide(path, wide, FILES_PATH_SIZE);
	*file = NULL;
	return root->Open(root, file, wide, mode, attributes);
}

/* Appends the path in NODE. UEFI 2.10, 10.3.5.4: exactly one backslash separates the paths of two nodes. */
static void
append_node_path(struct text *path, const FILEPATH_DEVICE_PATH *node)
{
	size_t count = (DevicePathNodeLength(&node->Header) - sizeof(node->Header)) / sizeof(CHAR16);
	const CHAR16 *name = node->PathName;

	if (path->length && path->bytes[path->length - 1] != '\\')
		text_put_char(path, '\\');
	for (size_t c = path->length && count && name[0] == '\\'; c < count && name[c]; c++)
		text_put_char(path, name[c] < 0x80 ? (char)name[c] : '?');
}

/*
 * Appends the application's folder on its volume, with a final backslash. Appends nothing if the folder is not known.
 * All nodes of the path are read, because GRUB passes folder and file in two nodes.
 */
static void
append_own_folder(struct text *path)
{
	EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	EFI_DEVICE_PATH *node = image ? image->FilePath : NULL;
	size_t keep = 0;

	for (unsigned i = 0; node && !IsDevicePathEnd(node) && i < FILES_PATH_SIZE; i++) {
		size_t size = DevicePathNodeLength(node);

		if (size < sizeof(*node))
			break;
		if (DevicePathType(node) == MEDIA_DEVICE_PATH && DevicePathSubType(node) == MEDIA_FILEPATH_DP)
			append_node_path(path, (FILEPATH_DEVICE_PATH *)node);
		node = (EFI_DEVICE_PATH *)((char *)node + size);
	}
	for (size_t i = 0; i < path->length; i++)
		if (path->bytes[i] == '\\')
			keep = i + 1;
	path->length = keep;
	path->bytes[keep] = '\0';
}

bool
files_read(EFI_FILE_HANDLE root, const char *path, char *buffer, size_t size, size_t *length)
{
	EFI_FILE_HANDLE file;
	UINTN got = size;
	UINT64 end = 0;

	if (EFI_ERROR(files_open_path(root, path, EFI_FILE_MODE_READ, 0, &file)))
		return false;
	EFI_STATUS status = file->Read(file, &got, buffer);

	*length = got;
	if (!EFI_ERROR(status) && !EFI_ERROR(file->SetPosition(file, UINT64_MAX)) &&
	    !EFI_ERROR(file->GetPosition(file, &end)) && end > got)
		*length = end;
	file->Close(file);
	return !EFI_ERROR(status);
}

bool
files_read_options(char *buffer, size_t size, size_t *length)
{
	char bytes[FILES_PATH_SIZE];
	EFI_FILE_HANDLE root;

	if (EFI_ERROR(files_open_volume(&root)))
		return false;
	struct text path = text_start(bytes, sizeof(bytes));
	append_own_folder(&path);
	text_put(&path, OPTIONS_FILE);
	bool found = files_read(root, bytes, buffer, size, length) ||
		files_read(root, "\\" OPTIONS_FILE, buffer, size, length);
	root->Close(root);
	return found;
}

struct files_space
files_get_space(EFI_FILE_HANDLE root)
{
	union files_information information;
	UINTN size = sizeof(information);

	if (EFI_ERROR(root->GetInfo(root, (EFI_GUID *)&guid_file_system_info, &size, &information)))
		return (struct files_space){ .block_bytes = 0 };
	return (struct files_space){ information.volume.ReadOnly, information.volume.FreeSpace,
					information.volume.BlockSize };
}

EFI_STATUS
files_get_info(EFI_FILE_HANDLE file, union files_information *information)
{
	UINTN size = sizeof(*information);

	return file->GetInfo(file, (EFI_GUID *)&guid_file_info, &size, information);
}

EFI_STATUS
files_is_folder(EFI_FILE_HANDLE root, const char *path, bool *folder)
{
	union files_information information;
	EFI_FILE_HANDLE file;
	EFI_STATUS status = files_open_path(root, path, EFI_FILE_MODE_READ, 0, &file);

	if (EFI_ERROR(status))
		return status;
	status = files_get_info(file, &information);
	*folder = !EFI_ERROR(status) && (information.file.Attribute & EFI_FILE_DIRECTORY);
	file->Close(file);
	return status;
}

EFI_STATUS
files_list(EFI_FILE_HANDLE root, const char *path, void (*see)(void *context, const char *name),
	   void *context)
{
	union files_information entry;
	char name[FILES_NAME_MAX + 1];
	EFI_FILE_HANDLE folder;
	EFI_STATUS status = files_open_path(root, path, EFI_FILE_MODE_READ, 0, &folder);

	if (EFI_ERROR(status))
		return status;
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		UINTN size = sizeof(entry);

		status = folder->Read(folder, &size, &entry);
		if (EFI_ERROR(status) || size == 0)
			break;
		firmware_convert_to_ascii(entry.file.FileName, name, sizeof(name));
		see(context, name);
	}
	folder->Close(folder);
	return status;
}
