/* Reads the information of a multiboot2 loader, such as GRUB on a BIOS machine: Multiboot2 2.0, section 3. */
#ifndef BARETICK_MULTIBOOT2_H
#define BARETICK_MULTIBOOT2_H

#include "bare/firmware/start_info.h"
#include "base/text.h"

#define MULTIBOOT2_MAGIC 0x36d76289u /* value of EAX at the entry: 3.2 */

/* Returns the loader's INFO as PVH's start info, which stays valid, or NULL if INFO's size is wrong. */
const struct start_info *multiboot2_convert(const void *info);

/* Appends the loader's name to TEXT. Call multiboot2_convert() first. */
void multiboot2_print_name(struct text *text);

#endif
