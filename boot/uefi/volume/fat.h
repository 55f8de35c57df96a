/*
 * Detects endless folders on a FAT volume. When firmware opens or lists a folder, it first follows the folder's chain
 * of clusters to its end without a limit (EDK II: FatPhysicalDirSize()). If a damaged chain leads back into itself, the
 * firmware never returns. baretick therefore checks the chain before it calls the firmware.
 */
#ifndef BARETICK_FAT_H
#define BARETICK_FAT_H

#include "uefi/firmware/uefi.h"

#define FAT_NAME_SIZE 13 /* size of a short name such as 12345678.123, with the final 0 */

/*
 * Returns true if FOLDER at the root of the volume on DEVICE is endless, or if a folder in it is endless. FOLDER is a
 * short name in upper case. INNER becomes the short name of the inner folder, or "". Returns false if there is no such
 * folder, if the volume is not FAT16 or FAT32, and if it cannot be read.
 */
bool fat_has_endless_chain(EFI_HANDLE device, const char *folder, char inner[FAT_NAME_SIZE]);

#endif
