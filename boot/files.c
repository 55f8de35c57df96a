/* The boot volume by the firmware's Simple File System. See files.h. */
#include "files.h"

#include "text.h"

#define OPTIONS_FILE "baretick.cfg"
#define REPORTS_ROOT "baretick"
#define FOLDERS_MAX  9999u
#define PATH_MAX     256
#define ENTRIES_MAX  20000u /* of a folder listing that is read */

static EFI_FILE_HANDLE
open_root(void)
{
	EFI_LOADED_IMAGE *image = firmware_protocol(firmware_image, &guid_loaded_image);
	EFI_FILE_IO_INTERFACE *volume = NULL;
	EFI_FILE_HANDLE root = NULL;

	if (image && image->DeviceHandle)
		volume = firmware_protocol(image->DeviceHandle, &guid_file_system);
	if (!volume || EFI_ERROR(volume->OpenVolume(volume, &root)))
		return NULL;
	return root;
}

static EFI_STATUS
open_path(EFI_FILE_HANDLE root, const char *path, UINT64 mode, UINT64 attributes,
	  EFI_FILE_HANDLE *file)
{
	CHAR16 wide[PATH_MAX];
	size_t i = 0;

	for (; path[i] && i + 1 < PATH_MAX; i++)
		wide[i] = (unsigned char)path[i];
	wide[i] = 0;
	*file = NULL;
	return root->Open(root, file, wide, mode, attributes);
}

/* The folder of the application on its volume, with a final backslash; "\" where it is not known. */
static void
own_folder(struct text *path)
{
	EFI_LOADED_IMAGE *image = firmware_protocol(firmware_image, &guid_loaded_image);
	EFI_DEVICE_PATH *node = image ? image->FilePath : NULL;
	size_t keep = 0;

	for (unsigned i = 0; node && !IsDevicePathEnd(node) && i < PATH_MAX; i++) {
		size_t size = DevicePathNodeLength(node);

		if (size < sizeof(*node))
			break;
		if (DevicePathType(node) == MEDIA_DEVICE_PATH && DevicePathSubType(node) == MEDIA_FILEPATH_DP) {
			const CHAR16 *name = ((FILEPATH_DEVICE_PATH *)node)->PathName;

			for (size_t c = 0; c < (size - sizeof(*node)) / sizeof(CHAR16) && name[c]; c++)
				text_put_char(path, name[c] < 0x80 ? (char)name[c] : '?');
		}
		node = (EFI_DEVICE_PATH *)((char *)node + size);
	}
	for (size_t i = 0; i < path->length; i++)
		if (path->bytes[i] == '\\')
			keep = i + 1;
	path->length = keep;
	path->bytes[keep] = '\0';
}

static bool
read_file(EFI_FILE_HANDLE root, const char *path, char *buffer, size_t size, size_t *length)
{
	EFI_FILE_HANDLE file;
	UINTN got = size;
	UINT64 end = 0;

	if (EFI_ERROR(open_path(root, path, EFI_FILE_MODE_READ, 0, &file)))
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
	char bytes[PATH_MAX];
	struct text path;
	EFI_FILE_HANDLE root = open_root();
	bool found;

	if (!root)
		return false;
	text_init(&path, bytes, sizeof(bytes));
	own_folder(&path);
	text_put(&path, OPTIONS_FILE);
	found = read_file(root, bytes, buffer, size, length) ||
		read_file(root, "\\" OPTIONS_FILE, buffer, size, length);
	root->Close(root);
	return found;
}

static const char *
why(EFI_STATUS status)
{
	switch (status) {
	case EFI_WRITE_PROTECTED:
	case EFI_ACCESS_DENIED:
	case EFI_UNSUPPORTED:
		return "it is read-only";
	case EFI_VOLUME_FULL:
		return "it is full";
	case EFI_NO_MEDIA:
	case EFI_MEDIA_CHANGED:
		return "it was taken out";
	case EFI_VOLUME_CORRUPTED:
		return "its file system is damaged";
	case EFI_DEVICE_ERROR:
		return "the device reported an error";
	default:
		return "the firmware refused";
	}
}

static bool
refuse(char reason[FILES_REASON_SIZE], const char *what, EFI_STATUS status)
{
	struct text text;

	text_init(&text, reason, FILES_REASON_SIZE);
	text_printf(&text, "No report on the boot volume: %s: %s (status %lxh).", what, why(status),
		    (unsigned long)(status & 0xffff));
	return false;
}

/* The highest number that a folder below REPORTS bears; 0 where there is none. */
static unsigned
highest_number(EFI_FILE_HANDLE reports)
{
	union {
		EFI_FILE_INFO info;
		char bytes[sizeof(EFI_FILE_INFO) + PATH_MAX * sizeof(CHAR16)];
	} entry;
	unsigned highest = 0;

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		UINTN size = sizeof(entry);
		unsigned number = 0;

		EFI_STATUS status = reports->Read(reports, &size, &entry);
		if (status == EFI_BUFFER_TOO_SMALL)
			continue;
		if (EFI_ERROR(status) || size == 0)
			break;
		for (const CHAR16 *c = entry.info.FileName; *c >= '0' && *c <= '9' && number <= FOLDERS_MAX; c++)
			number = number * 10 + (*c - '0');
		if (number > highest && number <= FOLDERS_MAX)
			highest = number;
	}
	return highest;
}

bool
files_make_folder(char folder[FILES_FOLDER_SIZE], char reason[FILES_REASON_SIZE])
{
	const UINT64 create = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE;
	EFI_FILE_HANDLE root = open_root(), reports, made;
	struct text name;

	if (!root)
		return refuse(reason, "the application was not started from a volume", EFI_NOT_FOUND);
	EFI_STATUS status = open_path(root, "\\" REPORTS_ROOT, create, EFI_FILE_DIRECTORY, &reports);

	if (EFI_ERROR(status)) {
		root->Close(root);
		return refuse(reason, "\\" REPORTS_ROOT " can't be made", status);
	}
	unsigned number = highest_number(reports) + 1;

	reports->Close(reports);
	if (number > FOLDERS_MAX) {
		root->Close(root);
		return refuse(reason, "\\" REPORTS_ROOT " has no number left", EFI_VOLUME_FULL);
	}
	text_init(&name, folder, FILES_FOLDER_SIZE);
	text_printf(&name, "\\" REPORTS_ROOT "\\%04u", number);
	status = open_path(root, folder, create, EFI_FILE_DIRECTORY, &made);
	if (!EFI_ERROR(status))
		made->Close(made);
	root->Close(root);
	return EFI_ERROR(status) ? refuse(reason, folder, status) : true;
}

bool
files_write(const char *folder, const char *name, const char *bytes, size_t length,
	    char reason[FILES_REASON_SIZE])
{
	const UINT64 create = EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE;
	EFI_FILE_HANDLE root = open_root(), file;
	char path_bytes[PATH_MAX];
	struct text path;
	UINTN written = length;

	if (!root)
		return refuse(reason, name, EFI_NO_MEDIA);
	text_init(&path, path_bytes, sizeof(path_bytes));
	text_printf(&path, "%s\\%s", folder, name);
	EFI_STATUS status = open_path(root, path_bytes, create, 0, &file);

	if (!EFI_ERROR(status)) {
		status = file->Write(file, &written, (void *)bytes);
		if (!EFI_ERROR(status))
			status = file->Flush(file);
		file->Close(file);
		if (!EFI_ERROR(status) && written != length)
			status = EFI_VOLUME_FULL;
	}
	root->Close(root);
	return EFI_ERROR(status) ? refuse(reason, path_bytes, status) : true;
}
