/* A Simple File System in memory. See volume_sim.h. */
#include "volume_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SPACE (100u << 20)

struct opened {
	EFI_FILE_PROTOCOL interface; /* first member, because the protocol passes a pointer to it as This */
	size_t file;
	size_t position; /* next byte to read or write; in a folder, index in files[] of the next entry to read */
};

static struct volume_sim volume;
static EFI_LOADED_IMAGE image;
static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE, EFI_FILE_HANDLE *, CHAR16 *, UINT64, UINT64);

struct volume_sim_file *
volume_sim_find_file(const char *path)
{
	for (size_t i = 0; i < VOLUME_SIM_FILES; i++)
		if (volume.files[i].path[0] && (!strcasecmp(volume.files[i].path, path) || !strcasecmp(volume.files[i].alias, path)))
			return &volume.files[i];
	return NULL;
}

struct volume_sim_file *
volume_sim_add_file(const char *path, bool folder)
{
	for (size_t i = 0; i < VOLUME_SIM_FILES; i++)
		if (!volume.files[i].path[0]) {
			volume.files[i].folder = folder;
			snprintf(volume.files[i].path, VOLUME_SIM_PATH, "%s", path);
			return &volume.files[i];
		}
	abort();
}

static struct volume_sim_file *
get_file(EFI_FILE_HANDLE this)
{
	return &volume.files[((struct opened *)this)->file];
}

static EFI_STATUS EFIAPI
close_file(EFI_FILE_HANDLE this)
{
	free(this);
	return EFI_SUCCESS;
}

static void
clear_file(struct volume_sim_file *file)
{
	free(file->bytes);
	*file = (struct volume_sim_file){ .folder = false };
}

/* If PATH is directly in FOLDER, returns the part of PATH after FOLDER. Otherwise returns NULL. */
static const char *
get_path_in_folder(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	if (strncasecmp(path, folder, length) || path[length] != '\\' || strchr(path + length + 1, '\\'))
		return NULL;
	return path + length + 1;
}

static EFI_STATUS EFIAPI
delete_file(EFI_FILE_HANDLE this)
{
	struct volume_sim_file *file = get_file(this);

	close_file(this);
	for (size_t i = 0; i < VOLUME_SIM_FILES; i++)
		if (get_path_in_folder(volume.files[i].path, file->path))
			return EFI_WARN_DELETE_FAILURE;
	clear_file(file);
	return EFI_SUCCESS;
}

static void
fill_info(EFI_FILE_INFO *info, const struct volume_sim_file *file, const char *name)
{
	*info = (EFI_FILE_INFO){ .FileSize = file->length, .Attribute = file->folder ? EFI_FILE_DIRECTORY : 0 };
	for (size_t i = 0; i <= strlen(name); i++)
		info->FileName[i] = (unsigned char)name[i];
}

static EFI_STATUS EFIAPI
read_file(EFI_FILE_HANDLE this, UINTN *size, void *buffer)
{
	struct opened *opened = (struct opened *)this;
	struct volume_sim_file *file = get_file(this);

	if (file->folder) {
		for (; opened->position < VOLUME_SIM_FILES; opened->position++) {
			const char *name = get_path_in_folder(volume.files[opened->position].path, file->path);

			if (!name)
				continue;
			fill_info(buffer, &volume.files[opened->position++], name);
			return EFI_SUCCESS;
		}
		*size = 0;
		return EFI_SUCCESS;
	}
	if (*size > file->length - opened->position)
		*size = file->length - opened->position;
	memcpy(buffer, file->bytes + opened->position, *size);
	opened->position += *size;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
write_file(EFI_FILE_HANDLE this, UINTN *size, void *buffer)
{
	struct opened *opened = (struct opened *)this;
	struct volume_sim_file *file = get_file(this);
	size_t end = opened->position + *size;

	volume.writes++;
	if (*size > volume.write_max || (volume.low_only && (uintptr_t)buffer + *size > UINT32_MAX))
		return EFI_DEVICE_ERROR;
	if (end > file->length + volume.room_bytes)
		return EFI_VOLUME_FULL;
	if (end > file->length) {
		volume.room_bytes -= end - file->length;
		file->bytes = realloc(file->bytes, end);
		file->length = end;
	}
	memcpy(file->bytes + opened->position, buffer, *size);
	opened->position = end;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_position(EFI_FILE_HANDLE this, UINT64 *position)
{
	*position = ((struct opened *)this)->position;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_position(EFI_FILE_HANDLE this, UINT64 position)
{
	((struct opened *)this)->position = position == UINT64_MAX ? get_file(this)->length : position;
	return EFI_SUCCESS;
}

/* Writes the information about a file or the volume to BUFFER. Callers always give enough space. */
static EFI_STATUS EFIAPI
get_info(EFI_FILE_HANDLE this, EFI_GUID *guid, UINTN *size, void *buffer)
{
	static const EFI_GUID guid_volume = EFI_FILE_SYSTEM_INFO_ID;
	EFI_FILE_SYSTEM_INFO *info = buffer;

	if (memcmp(guid, &guid_volume, sizeof(*guid)) != 0)
		fill_info(buffer, get_file(this), strrchr(get_file(this)->path, '\\') + 1);
	else
		*info = (EFI_FILE_SYSTEM_INFO){ .FreeSpace = SPACE, .BlockSize = 4096 };
	return EFI_SUCCESS;
}

/* Renames a file or a folder. Paths of files in the folder change too. */
static EFI_STATUS EFIAPI
set_info(EFI_FILE_HANDLE this, EFI_GUID *guid, UINTN size, void *buffer)
{
	const EFI_FILE_INFO *info = buffer;
	struct volume_sim_file *file = get_file(this);
	char name[VOLUME_SIM_PATH], was[VOLUME_SIM_PATH], path[2 * VOLUME_SIM_PATH];

	if (EFI_ERROR(volume.rename))
		return volume.rename;
	firmware_convert_to_ascii(info->FileName, name, sizeof(name));
	snprintf(was, sizeof(was), "%s", file->path);
	snprintf(path, sizeof(path), "%.*s\\%s", (int)(strrchr(was, '\\') - was), was, name);
	if (volume_sim_find_file(path))
		return EFI_ACCESS_DENIED;
	for (size_t i = 0; i < VOLUME_SIM_FILES; i++) {
		const char *inner = get_path_in_folder(volume.files[i].path, was);
		char moved[4 * VOLUME_SIM_PATH];

		if (inner) {
			snprintf(moved, sizeof(moved), "%s\\%s", path, inner);
			snprintf(volume.files[i].path, VOLUME_SIM_PATH, "%.63s", moved);
		}
	}
	snprintf(file->path, VOLUME_SIM_PATH, "%.63s", path);
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
flush_file(EFI_FILE_HANDLE this)
{
	return volume.flush;
}

static EFI_STATUS
make_handle(struct volume_sim_file *file, EFI_FILE_HANDLE *handle)
{
	struct opened *opened = calloc(1, sizeof(*opened));

	opened->interface = (EFI_FILE_PROTOCOL){
		.Open = open_file, .Close = close_file, .Delete = delete_file, .Read = read_file, .Write = write_file,
		.GetPosition = get_position, .SetPosition = set_position, .GetInfo = get_info, .SetInfo = set_info,
		.Flush = flush_file,
	};
	opened->file = (size_t)(file - volume.files);
	*handle = &opened->interface;
	return EFI_SUCCESS;
}

/*
 * Opens a path from the volume's root. THIS is ignored, because the application opens paths without a backslash only in
 * the root.
 */
static EFI_STATUS EFIAPI
open_file(EFI_FILE_HANDLE this, EFI_FILE_HANDLE *handle, CHAR16 *wide, UINT64 mode, UINT64 attributes)
{
	char path[2 * VOLUME_SIM_PATH];
	struct volume_sim_file *file;

	firmware_convert_to_ascii(wide, path, sizeof(path));
	file = volume_sim_find_file(path);
	if (!file && (mode & EFI_FILE_MODE_CREATE)) {
		char *last = strrchr(path, '\\');

		*last = '\0';
		if (last != path && !volume_sim_find_file(path))
			return EFI_NOT_FOUND;
		*last = '\\';
		file = volume_sim_add_file(path, attributes & EFI_FILE_DIRECTORY);
	}
	return file ? make_handle(file, handle) : EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI
open_volume(EFI_FILE_IO_INTERFACE *this, EFI_FILE_HANDLE *root)
{
	return make_handle(&volume.files[0], root);
}

struct volume_sim *
volume_sim_open(void)
{
	static EFI_FILE_IO_INTERFACE system = { .OpenVolume = open_volume };

	volume = (struct volume_sim){ .write_max = SIZE_MAX, .room_bytes = SPACE };
	volume_sim_add_file("\\", true);
	image = (EFI_LOADED_IMAGE){ .DeviceHandle = firmware_sim_handle() };
	firmware_sim_install_protocol(firmware_image, &guid_loaded_image, &image);
	firmware_sim_install_protocol(image.DeviceHandle, &guid_file_system, &system);
	return &volume;
}

void
volume_sim_close(void)
{
	for (size_t i = 0; i < VOLUME_SIM_FILES; i++)
		clear_file(&volume.files[i]);
}
