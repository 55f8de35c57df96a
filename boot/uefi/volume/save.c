/* Saves the files of a report. See save.h. */
#include "uefi/volume/save.h"

#include "report/folders.h"
#include "uefi/volume/fat.h"
#include "uefi/volume/files.h"

#define KIB                1024u
#define NUMBERS_IN_A_ROW   3 /* a run needs one number for its report and two for its checkpoints */
#define LONGEST            SAVE_HTML
#define NO_REPORT          "No report was saved on the boot volume: "
#define SAVE_FOLDER_ON_FAT "BARETICK"

static const char *const names[SAVE_FILES] = {
	[SAVE_JSON] = "report.json",
	[SAVE_TEXT] = "report.txt",
	[SAVE_HTML] = "report.html",
	[SAVE_CSV] = "report.csv",
	[SAVE_RECORD] = "report.record",
};

struct saving {
	EFI_FILE_HANDLE root;
	const struct text *const *texts;
	uint64_t free_bytes, needed_bytes; /* free and needed space, by the firmware's figures; both 0 if not known */
	bool made_reports; /* true if this run created \baretick */
	bool began;        /* true if this run created the report's folder, which may be incomplete */
	char path[FILES_PATH_SIZE]; /* path of the file or folder that is created now */
	struct text sentence;
};

static const char *
describe_status(EFI_STATUS status)
{
	switch (status) {
	case EFI_WRITE_PROTECTED:
	case EFI_ACCESS_DENIED:
		return "it is read-only";
	case EFI_UNSUPPORTED:
		return "the firmware can't write to the volume";
	case EFI_VOLUME_FULL:
		return "it is full";
	case EFI_NO_MEDIA:
	case EFI_MEDIA_CHANGED:
		return "it was removed";
	case EFI_VOLUME_CORRUPTED:
		return "its file system is damaged";
	case EFI_DEVICE_ERROR:
	case EFI_TIMEOUT:
		return "it does not answer";
	case EFI_ALREADY_STARTED:
		return "a file or folder has that name already";
	default:
		return "the firmware refused";
	}
}

/*
 * Returns false if STATUS means that the device does not answer or was removed. With such a device each further call
 * would wait again.
 */
static bool
is_device_alive(EFI_STATUS status)
{
	return status != EFI_DEVICE_ERROR && status != EFI_TIMEOUT && status != EFI_NO_MEDIA &&
	       status != EFI_MEDIA_CHANGED;
}

/* Appends the reason, and the path or the amount of missing space, to the sentence. Returns false. */
static bool
explain_failure(struct saving *saving, EFI_STATUS status)
{
	text_put(&saving->sentence, describe_status(status));
	if (status == EFI_VOLUME_FULL && saving->free_bytes < saving->needed_bytes)
		text_printf(&saving->sentence, ": %lu KiB are free, %lu KiB needed.", saving->free_bytes / KIB,
			    (saving->needed_bytes + KIB - 1) / KIB);
	else
		text_printf(&saving->sentence, " (%s%sstatus %lxh).", saving->path, saving->path[0] ? ", " : "",
			    (unsigned long)(status & ~EFI_ERROR_MASK));
	return false;
}

static const char *
make_path(struct saving *saving, const char *folder, const char *name)
{
	text_format(saving->path, sizeof(saving->path), SAVE_FOLDER "%s%s%s%s",
		    folder[0] ? "\\" : "", folder, name[0] ? "\\" : "", name);
	return saving->path;
}

/*
 * Returns false if the volume is read-only. If there seems to be too little space, writing is still tried. The firmware
 * may read the free space from a counter on the volume, which is wrong if the stick was pulled out during a write.
 */
static bool
check_free_space(struct saving *saving)
{
	const struct files_space space = files_get_space(saving->root);
	size_t lengths[SAVE_FILES];

	if (space.read_only)
		text_put(&saving->sentence, "it is read-only.");
	if (space.read_only || !space.block_bytes)
		return !space.read_only;
	for (size_t i = 0; i < SAVE_FILES; i++)
		lengths[i] = saving->texts[i]->length;
	saving->free_bytes = space.free_bytes;
	saving->needed_bytes = folders_max_size_bytes(lengths, SAVE_FILES, space.block_bytes);
	return true;
}

static EFI_STATUS
test_space_by_writing(struct saving *saving, const char *path)
{
	const struct text *page = saving->texts[LONGEST];
	EFI_STATUS status = files_write(saving->root, path, page->bytes, page->length);
	EFI_STATUS removed = EFI_SUCCESS;

	if (status != EFI_ALREADY_STARTED && is_device_alive(status))
		removed = files_remove(saving->root, path);
	return EFI_ERROR(status) ? status : removed;
}

/*
 * Creates a folder. On a full volume EDK II leaves a folder without a cluster, which cannot be removed. Therefore, if
 * there seems to be too little space, a file with the folder's name is written first as a test, and removed.
 */
static EFI_STATUS
make_folder(struct saving *saving, const char *path)
{
	EFI_STATUS status = saving->free_bytes < saving->needed_bytes ? test_space_by_writing(saving, path) : EFI_SUCCESS;

	return EFI_ERROR(status) ? status : files_make_folder(saving->root, path);
}

static bool
has_reports_folder(struct saving *saving)
{
	bool folder = true;
	EFI_STATUS status = files_is_folder(saving->root, make_path(saving, "", ""), &folder);

	if (status == EFI_NOT_FOUND) {
		status = make_folder(saving, saving->path);
		saving->made_reports = !EFI_ERROR(status);
	}
	if (EFI_ERROR(status))
		return explain_failure(saving, status);
	if (!folder)
		text_put(&saving->sentence, SAVE_FOLDER " is a file, not a folder.");
	return folder;
}

static void
keep_highest_folder_number(void *context, const char *name)
{
	unsigned *highest = context, number = folders_parse_number(name);

	*highest = number > *highest ? number : *highest;
}

/*
 * Returns EFI_NOT_FOUND if NUMBER is free: neither NNNN (a complete folder) nor NNNN.new (an incomplete folder) exists.
 */
static EFI_STATUS
find_folder_of_number(EFI_FILE_HANDLE root, const char *folder, unsigned number)
{
	EFI_STATUS status = EFI_NOT_FOUND;

	for (unsigned whole = 0; whole <= 1 && status == EFI_NOT_FOUND; whole++) {
		char name[FOLDERS_NAME_SIZE], path[FILES_PATH_SIZE];
		bool is_folder;

		folders_make_name(name, number, whole);
		text_format(path, sizeof(path), "%s\\%s", folder, name);
		status = files_is_folder(root, path, &is_folder);
	}
	return status;
}

/*
 * Finds the first of NUMBERS_IN_A_ROW free numbers above all numbers in FOLDER. Near FOLDERS_MAX fewer free numbers are
 * enough. Sets NUMBER to 0 if no number is free. Each number is tested by opening its folder, because a short FAT name
 * can be opened although it is not listed.
 */
static EFI_STATUS
find_free_folder_number(EFI_FILE_HANDLE root, const char *folder, unsigned *number)
{
	unsigned highest = 0, in_a_row = 0;
	EFI_STATUS status = files_list(root, folder, keep_highest_folder_number, &highest);

	*number = 0;
	for (unsigned i = highest + 1; !EFI_ERROR(status) && i <= FOLDERS_MAX && in_a_row < NUMBERS_IN_A_ROW; i++) {
		status = find_folder_of_number(root, folder, i);
		in_a_row = status == EFI_NOT_FOUND ? in_a_row + 1 : 0;
		if (in_a_row)
			status = EFI_SUCCESS;
		*number = in_a_row ? i + 1 - in_a_row : 0;
	}
	return status;
}

/* Returns the next free number. If there is none, sets the sentence and returns 0. */
static unsigned
find_next_folder_number(struct saving *saving)
{
	unsigned number;
	EFI_STATUS status = find_free_folder_number(saving->root, make_path(saving, "", ""), &number);

	if (EFI_ERROR(status)) {
		explain_failure(saving, status);
		return 0;
	}
	if (!number)
		text_printf(&saving->sentence, "The folder " SAVE_FOLDER "\\%u has the highest possible number: move "
			    "this folder out of " SAVE_FOLDER ".",
			    FOLDERS_MAX);
	return number;
}

static EFI_STATUS
write_all_files(struct saving *saving, const char *folder)
{
	EFI_STATUS status = make_folder(saving, make_path(saving, folder, ""));

	saving->began = status != EFI_ALREADY_STARTED;
	for (size_t i = 0; i < SAVE_FILES && !EFI_ERROR(status); i++) {
		if (i == SAVE_RECORD && !saving->texts[i]->length)
			continue; /* a run that did not start has no record */
		status = files_write(saving->root, make_path(saving, folder, names[i]), saving->texts[i]->bytes,
				     saving->texts[i]->length);
	}
	return status;
}

static bool
remove_path(struct saving *saving, const char *path)
{
	EFI_STATUS status = files_remove(saving->root, path);

	return !EFI_ERROR(status) || status == EFI_NOT_FOUND;
}

/*
 * Removes the folder and its files. Ends after the first error, because the driver may wait for the device in each
 * call.
 */
static void
remove_folder(struct saving *saving, const char *folder)
{
	for (size_t i = 0; i < SAVE_FILES; i++)
		if (!remove_path(saving, make_path(saving, folder, names[i])))
			return;
	if (remove_path(saving, make_path(saving, folder, "")) && saving->made_reports)
		remove_path(saving, make_path(saving, "", ""));
}

/*
 * Renames the complete folder. If the firmware cannot rename, the name still ends in .new, and saving->sentence states
 * this.
 */
static void
rename_folder(struct saving *saving, const char *folder, unsigned number)
{
	char whole[FOLDERS_NAME_SIZE];

	folders_make_name(whole, number, true);
	EFI_STATUS status = files_rename(saving->root, make_path(saving, folder, ""), whole);

	text_init(&saving->sentence, saving->sentence.bytes, saving->sentence.size);
	text_printf(&saving->sentence, "Report saved on the boot volume in " SAVE_FOLDER "\\%s",
		    EFI_ERROR(status) ? folder : whole);
	if (EFI_ERROR(status))
		text_put(&saving->sentence, "; it can't be renamed");
}

static bool
save_files_on_volume(struct saving *saving, unsigned number)
{
	char folder[FOLDERS_NAME_SIZE];

	if (!check_free_space(saving) || !has_reports_folder(saving))
		return false;
	if (!number)
		number = find_next_folder_number(saving);
	if (!number)
		return false;
	folders_make_name(folder, number, false);
	EFI_STATUS status = write_all_files(saving, folder);

	if (EFI_ERROR(status)) {
		explain_failure(saving, status);
		if (saving->began && is_device_alive(status))
			remove_folder(saving, folder);
		return false;
	}
	rename_folder(saving, folder, number);
	return true;
}

/*
 * Opens the volume, and prepares saving->sentence, which writes into SENTENCE. After a failure SENTENCE is the reason.
 */
static bool
open_volume(struct saving *saving, char sentence[SAVE_SENTENCE_SIZE])
{
	EFI_STATUS status = files_open_volume(&saving->root);

	text_init(&saving->sentence, sentence, SAVE_SENTENCE_SIZE);
	text_put(&saving->sentence, NO_REPORT);
	if (status == EFI_NOT_FOUND)
		text_put(&saving->sentence, "the application was not started from a volume.");
	else if (EFI_ERROR(status))
		explain_failure(saving, status);
	return !EFI_ERROR(status);
}

bool
save_check_volume(char sentence[SAVE_SENTENCE_SIZE])
{
	char inner[FAT_NAME_SIZE];

	if (!fat_has_endless_chain(files_get_device(), SAVE_FOLDER_ON_FAT, inner))
		return true;
	text_format(sentence, SAVE_SENTENCE_SIZE,
		    NO_REPORT "the file system is damaged: the folder " SAVE_FOLDER "%s%s has no end.",
		    inner[0] ? "\\" : "", inner);
	return false;
}

bool
save_report(const struct text *const texts[SAVE_FILES], unsigned number, char sentence[SAVE_SENTENCE_SIZE])
{
	struct saving saving = { .texts = texts };

	if (!open_volume(&saving, sentence))
		return false;
	bool saved = save_files_on_volume(&saving, number);

	saving.root->Close(saving.root);
	return saved;
}

bool
save_checkpoint(const struct text *const texts[SAVE_FILES], unsigned number)
{
	char sentence[SAVE_SENTENCE_SIZE];
	struct saving saving = { .texts = texts };
	bool saved = false;

	if (!open_volume(&saving, sentence))
		return false;
	if (check_free_space(&saving) && saving.free_bytes / 2 >= saving.needed_bytes)
		saved = save_files_on_volume(&saving, number);
	saving.root->Close(saving.root);
	return saved;
}

void
save_remove_report(unsigned number)
{
	char sentence[SAVE_SENTENCE_SIZE], whole[FOLDERS_NAME_SIZE], unfinished[FOLDERS_NAME_SIZE];
	struct saving saving = { .texts = NULL };

	folders_make_name(whole, number, true);
	folders_make_name(unfinished, number, false);
	if (!open_volume(&saving, sentence))
		return;
	EFI_STATUS status = files_rename(saving.root, make_path(&saving, whole, ""), unfinished);

	/*
	 * EFI_NOT_FOUND means that the folder is still called NNNN.new, because the firmware could not rename it when
	 * it was complete.
	 */
	if (!EFI_ERROR(status) || status == EFI_NOT_FOUND)
		remove_folder(&saving, unfinished);
	saving.root->Close(saving.root);
}

bool
save_has_incomplete_folder(unsigned number)
{
	char sentence[SAVE_SENTENCE_SIZE], unfinished[FOLDERS_NAME_SIZE];
	struct saving saving = { .texts = NULL };
	bool is_folder = false;

	folders_make_name(unfinished, number, false);
	if (!open_volume(&saving, sentence))
		return false;
	EFI_STATUS status = files_is_folder(saving.root, make_path(&saving, unfinished, ""), &is_folder);

	saving.root->Close(saving.root);
	return !EFI_ERROR(status) && is_folder;
}

unsigned
save_find_next_report_number(void)
{
	char sentence[SAVE_SENTENCE_SIZE];
	struct saving saving = { .texts = NULL };
	bool folder = true;

	if (!open_volume(&saving, sentence))
		return 0;
	unsigned number = 1;
	EFI_STATUS status = files_is_folder(saving.root, make_path(&saving, "", ""), &folder);

	if (status != EFI_NOT_FOUND)
		number = EFI_ERROR(status) || !folder ? 0 : find_next_folder_number(&saving);
	saving.root->Close(saving.root);
	return number;
}

static bool
has_same_json(struct saving *saving, const char *folder, const struct text *json, char *buffer)
{
	size_t length = 0;

	return files_read(saving->root, make_path(saving, folder, names[SAVE_JSON]), buffer, json->length, &length) &&
	       length == json->length && __builtin_memcmp(buffer, json->bytes, length) == 0;
}

bool
save_is_latest_report(const struct text *json)
{
	unsigned number = save_find_next_report_number();
	char sentence[SAVE_SENTENCE_SIZE], whole[FOLDERS_NAME_SIZE], unfinished[FOLDERS_NAME_SIZE];
	struct saving saving = { .texts = NULL };
	char *buffer = number > 1 ? firmware_allocate(json->length) : NULL;
	bool is_latest = false;

	if (buffer && open_volume(&saving, sentence)) {
		folders_make_name(whole, number - 1, true);
		folders_make_name(unfinished, number - 1, false);
		is_latest = has_same_json(&saving, whole, json, buffer) || has_same_json(&saving, unfinished, json, buffer);
		saving.root->Close(saving.root);
	}
	if (buffer)
		firmware_boot->FreePool(buffer);
	return is_latest;
}
