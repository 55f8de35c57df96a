/* Which number the next report's folder has. */
#ifndef BARETICK_NUMBERS_H
#define BARETICK_NUMBERS_H

#include "uefi/volume/files.h"

#define NUMBERS_IN_A_ROW 3 /* of a run: its report's, and two for its checkpoints in turn */

/*
 * The first number, of at least NUMBERS_IN_A_ROW that are free as far as there are so many, after all that the
 * names in FOLDER bear; 0: there is none. A short name of FAT that is not in the list takes one, too: such a file
 * is found by it.
 */
EFI_STATUS numbers_next(EFI_FILE_HANDLE root, const char *folder, unsigned *number);

#endif
