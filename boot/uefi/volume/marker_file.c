/* Reads, writes and removes the marker of a run. See marker_file.h. */
#include "uefi/volume/marker_file.h"

#include "base/text.h"
#include "uefi/volume/files.h"
#include "uefi/volume/save.h"

#define SPACE_BYTES (1u << 20) /* free bytes required, because on a full volume EDK II leaves a broken folder */

static const char *
make_marker_path(const char *name, char path[FILES_PATH_SIZE])
{
	text_format(path, FILES_PATH_SIZE, SAVE_FOLDER "\\%s", name);
	return path;
}

size_t
marker_file_read(const char *name, char *bytes, size_t size)
{
	char path[FILES_PATH_SIZE];
	size_t length = 0;
	EFI_FILE_HANDLE root;

	if (EFI_ERROR(files_open_volume(&root)))
		return 0;
	if (!files_read(root, make_marker_path(name, path), bytes, size, &length))
		length = 0;
	root->Close(root);
	return length < size ? length : size;
}

static bool
make_reports_folder(EFI_FILE_HANDLE root)
{
	const struct files_space space = files_get_space(root);

	return !space.read_only && space.free_bytes >= SPACE_BYTES &&
	       !EFI_ERROR(files_make_folder(root, SAVE_FOLDER));
}

bool
marker_file_write(const char *name, const char *bytes, size_t length, bool *folder_made)
{
	char path[FILES_PATH_SIZE];
	EFI_FILE_HANDLE root;
	EFI_STATUS status = files_open_volume(&root);

	if (EFI_ERROR(status))
		return false;
	make_marker_path(name, path);
	status = files_overwrite(root, path, bytes, length);
	if (status == EFI_NOT_FOUND && make_reports_folder(root)) {
		*folder_made = true;
		status = files_overwrite(root, path, bytes, length);
	}
	if (status == EFI_VOLUME_FULL)
		files_remove(root, path); /* removes the incomplete file */
	root->Close(root);
	return !EFI_ERROR(status);
}

void
marker_file_remove(const char *name, bool folder_made)
{
	char path[FILES_PATH_SIZE];
	EFI_FILE_HANDLE root;

	if (EFI_ERROR(files_open_volume(&root)))
		return;
	files_remove(root, make_marker_path(name, path));
	if (folder_made)
		files_remove(root, SAVE_FOLDER);
	root->Close(root);
}
