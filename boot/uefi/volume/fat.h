/*
 * Folders of a FAT volume that do not end. Firmware follows a folder's chain of clusters to its end before it
 * opens or lists it, without a bound (EDK II: FatPhysicalDirSize()): where a damaged chain leads back into itself,
 * that call never returns. So the chain is followed here before.
 */
#ifndef BARETICK_FAT_H
#define BARETICK_FAT_H

#include "uefi/firmware/uefi.h"

#define FAT_NAME_SIZE 13 /* 12345678.123 and the final 0 */

/*
 * Whether FOLDER (a short name in upper case) at the root of the volume on DEVICE does not end, INNER is "" then;
 * or a folder in it, INNER is that one's short name. False as well where there is no such folder, where the volume
 * is none of FAT16 or FAT32, and where it can't be read.
 */
bool fat_is_endless(EFI_HANDLE device, const char *folder, char inner[FAT_NAME_SIZE]);

#endif
