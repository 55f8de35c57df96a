/* Finds the next free number of a report's folder. See numbers.h. */
#include "uefi/volume/numbers.h"

#include "base/text.h"
#include "report/folders.h"

static void
see_name(void *context, const char *name)
{
	unsigned *highest = context, number = folders_number(name);

	*highest = number > *highest ? number : *highest;
}

/*
 * Returns EFI_NOT_FOUND if NUMBER is free. It is free if neither NNNN, the name of a complete folder, nor NNNN.new, the
 * name of an incomplete folder, exists.
 */
static EFI_STATUS
find_folder(EFI_FILE_HANDLE root, const char *folder, unsigned number)
{
	EFI_STATUS status = EFI_NOT_FOUND;

	for (unsigned whole = 0; whole <= 1 && status == EFI_NOT_FOUND; whole++) {
		char name[FOLDERS_NAME_SIZE], path[FILES_PATH_SIZE];
		struct text text;
		bool is_folder;

		folders_name(name, number, whole);
		text_init(&text, path, sizeof(path));
		text_printf(&text, "%s\\%s", folder, name);
		status = files_is_folder(root, path, &is_folder);
	}
	return status;
}

EFI_STATUS
numbers_next(EFI_FILE_HANDLE root, const char *folder, unsigned *number)
{
	unsigned highest = 0, in_a_row = 0;
	EFI_STATUS status = files_list(root, folder, see_name, &highest);

	*number = 0;
	for (unsigned i = highest + 1; !EFI_ERROR(status) && i <= FOLDERS_MAX && in_a_row < NUMBERS_IN_A_ROW; i++) {
		status = find_folder(root, folder, i);
		in_a_row = status == EFI_NOT_FOUND ? in_a_row + 1 : 0;
		if (in_a_row)
			status = EFI_SUCCESS;
		*number = in_a_row ? i + 1 - in_a_row : 0;
	}
	return status;
}
