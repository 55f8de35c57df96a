/* Reads boot_params, the data of a loader for Linux: Linux, Documentation/arch/x86/boot.rst and zero-page.rst. */
#ifndef BARETICK_LINUX_PARAMS_H
#define BARETICK_LINUX_PARAMS_H

#include "bare/firmware/start_info.h"
#include "base/text.h"

#define LINUX_PARAMS_MAGIC 0x53726448u /* "HdrS", the magic number that boot/bare/entry.nasm passes for this protocol */

/* Returns the loader's PARAMS as PVH's start info, which stays valid, or NULL if PARAMS has no header. */
const struct start_info *linux_params_convert(const void *params);

/* Appends the protocol's name and the loader's number to TEXT. Call linux_params_convert() first. */
void linux_params_print_name(struct text *text);

#endif
