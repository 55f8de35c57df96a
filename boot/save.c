/* The four files of a report. See save.h. */
#include "save.h"

/* The four files; false, and REASON a sentence, where one of them could not be written. */
static bool
write_files(const struct plan *plan, const char *folder, char reason[FILES_REASON_SIZE])
{
	const struct {
		const char *name;
		const struct text *text;
	} files[] = {
		{ "report.json", &plan->json },
		{ "report.txt", &plan->table },
		{ "report.html", &plan->html },
		{ "report.csv", &plan->csv },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!files_write(folder, files[i].name, files[i].text->bytes, files[i].text->length, reason))
			return false;
	return true;
}

bool
save_report(const struct plan *plan, char folder[FILES_FOLDER_SIZE], char reason[FILES_REASON_SIZE])
{
	return files_make_folder(folder, reason) && write_files(plan, folder, reason);
}
