/* Makes the names of folders for saved reports, and calculates the space that they need. See folders.h. */
#include "report/folders.h"

#include "base/text.h"

#define DIGITS      4
#define UNFINISHED  ".new"
/* maximum number of directories that need another block: the root, \baretick, and the new folder */
#define DIRECTORIES 3u

/* Returns true if SUFFIX is ".new" in upper or lower case, because FAT ignores the case. */
static bool
is_suffix_of_unfinished_folder(const char *suffix)
{
	size_t i = 0;

	for (; suffix[i] && UNFINISHED[i]; i++)
		if ((suffix[i] | 0x20) != (UNFINISHED[i] | 0x20))
			return false;
	return suffix[i] == UNFINISHED[i];
}

unsigned
folders_parse_number(const char *name)
{
	unsigned number = 0;

	for (size_t i = 0; i < DIGITS; i++) {
		if (name[i] < '0' || name[i] > '9')
			return 0;
		number = number * 10 + (unsigned)(name[i] - '0');
	}
	return name[DIGITS] == '\0' || is_suffix_of_unfinished_folder(name + DIGITS) ? number : 0;
}

void
folders_make_name(char name[FOLDERS_NAME_SIZE], unsigned number, bool whole)
{
	text_format(name, FOLDERS_NAME_SIZE, "%04u%s", number, whole ? "" : UNFINISHED);
}

uint64_t
folders_max_size_bytes(const size_t *lengths, size_t count, uint64_t block)
{
	uint64_t blocks = DIRECTORIES;

	for (size_t i = 0; i < count; i++)
		blocks += lengths[i] / block + (lengths[i] % block != 0);
	return blocks * block;
}
