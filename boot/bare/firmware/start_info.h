/*
 * PVH's start info (Xen, public/arch-x86/hvm/start_info.h), and functions that convert the data of other loaders to it.
 */
#ifndef BARETICK_START_INFO_H
#define BARETICK_START_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define START_INFO_MAGIC 0x336ec578u
#define START_INFO_VERSION_MAP 1u /* the first version of the start info with a memory map */

struct start_info {
	uint32_t magic, version, flags, module_count;
	uint64_t modules, command_line, rsdp, memory_map; /* physical addresses, 0 if there is none */
	uint32_t memory_map_count, reserved;
};

struct start_info_range {
	uint64_t begin, size;
	uint32_t type, reserved; /* TYPE is as in E820 (ACPI 6.5, table 15.4) */
};

struct start_info_module {
	uint64_t begin, size, command_line, reserved;
};

#define START_INFO_RAM 1u

_Static_assert(offsetof(struct start_info, memory_map_count) == 48, "Xen's layout");
_Static_assert(sizeof(struct start_info_range) == 24 && sizeof(struct start_info_module) == 32, "Xen's layout");

#define MULTIBOOT2_MAGIC 0x36d76289u /* Multiboot2 Specification 2.0, 3.2: value of EAX at the entry */

/* Converts the loader's INFO to PVH's start info, which stays valid. Returns NULL if INFO's size is wrong. */
const struct start_info *multiboot2_convert_to_start_info(const void *info);

/* Appends the loader's name to TEXT. Call multiboot2_convert_to_start_info() first. */
void multiboot2_print_firmware_name(struct text *text);

/* "HdrS", the magic number that boot/bare/entry.nasm passes for the Linux boot protocol */
#define LINUX_PARAMS_MAGIC 0x53726448u

/* Converts the loader's PARAMS to PVH's start info, which stays valid. Returns NULL if PARAMS has no header. */
const struct start_info *linux_params_convert_to_start_info(const void *params);

/* Appends the protocol's name and the loader's number to TEXT. Call linux_params_convert_to_start_info() first. */
void linux_params_print_firmware_name(struct text *text);

#endif
