/* Chooses the number of the next report's folder. */
#ifndef BARETICK_NUMBERS_H
#define BARETICK_NUMBERS_H

#include "uefi/volume/files.h"

#define NUMBERS_IN_A_ROW 3 /* a run needs one number for its report and two for its checkpoints */

/*
 * Finds a number that is higher than all numbers in FOLDER, followed by free numbers so that NUMBERS_IN_A_ROW are free
 * if possible. Sets NUMBER to 0 if there is none. A file's short FAT name is also taken as used, because a file can be
 * opened by its short name, although it is not listed.
 */
EFI_STATUS numbers_next(EFI_FILE_HANDLE root, const char *folder, unsigned *number);

#endif
