/*
 * Detects endless folders of a FAT volume. Before firmware opens or lists a folder, it follows the folder's chain of
 * clusters to its end without a limit (EDK II: FatPhysicalDirSize()). If a damaged chain leads back into itself, that
 * call never returns. So the chain is checked here first.
 */
#ifndef BARETICK_FAT_H
#define BARETICK_FAT_H

#include "uefi/firmware/uefi.h"

#define FAT_NAME_SIZE 13 /* 12345678.123 and the final 0 */

/*
 * Returns true if FOLDER (a short name in upper case) at the root of the volume on DEVICE is endless, or if a folder in
 * it is. INNER is "" or the short name of this inner folder. Returns false if there is no such folder, if the volume is
 * not FAT16 or FAT32, and if it cannot be read.
 */
bool fat_is_endless(EFI_HANDLE device, const char *folder, char inner[FAT_NAME_SIZE]);

#endif
