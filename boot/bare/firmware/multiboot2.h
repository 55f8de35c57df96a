/* The information that a multiboot2 loader, such as GRUB on a BIOS machine, hands over. Multiboot2 2.0, section 3. */
#ifndef BARETICK_MULTIBOOT2_H
#define BARETICK_MULTIBOOT2_H

#include "bare/firmware/start_info.h"
#include "base/text.h"

#define MULTIBOOT2_MAGIC 0x36d76289u /* in EAX at the entry: 3.2 */

/* Returns the INFO of such a loader in the form of a PVH loader, which stays valid, or NULL if its size is wrong. */
const struct start_info *multiboot2_convert(const void *info);

/* Writes the loader's name. After multiboot2_convert(). */
void multiboot2_print_name(struct text *text);

#endif
