/* The entry of the firmware's boot menu that started the application or its loader. */
#ifndef BARETICK_BOOT_ENTRY_H
#define BARETICK_BOOT_ENTRY_H

#include <stdbool.h>

/*
 * Returns true if the boot entry names a file, as the entry of an installed system does. Returns false for a stick,
 * whose entry names only the device, and for a network boot. Also returns false if the firmware has no such entry, or a
 * damaged one.
 */
bool boot_entry_names_file(void);

#endif
