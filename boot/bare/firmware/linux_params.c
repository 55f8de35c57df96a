/* Converts boot_params to PVH's start info. See start_info.h. */
#include "bare/firmware/start_info.h"

#include <stddef.h>

#define PARAMS_SIZE 4096u
#define MAP_MAX     128u

struct map_entry {
	uint64_t begin, size;
	uint32_t type;
} __attribute__((packed));

/* The members of Linux's struct boot_params that are used. The member setup_header starts at offset 1f1h. */
struct params {
	uint8_t screen[0x70];
	uint64_t rsdp; /* 0 from loaders before version 2.14 of the protocol */
	uint8_t other[0x1e8 - 0x78];
	uint8_t map_count;
	uint8_t header[0x202 - 0x1e9];
	uint32_t magic;
	uint8_t version[0x210 - 0x206];
	uint8_t loader;
	uint8_t flags[0x218 - 0x211];
	uint32_t ramdisk, ramdisk_size;
	uint8_t heap[0x228 - 0x220];
	uint32_t command_line;
	uint8_t limits[0x2d0 - 0x22c];
	struct map_entry map[MAP_MAX];
} __attribute__((packed));

_Static_assert(offsetof(struct params, rsdp) == 0x70 && offsetof(struct params, map_count) == 0x1e8 &&
	       offsetof(struct params, magic) == 0x202 && offsetof(struct params, loader) == 0x210 &&
	       offsetof(struct params, ramdisk) == 0x218 && offsetof(struct params, command_line) == 0x228 &&
	       offsetof(struct params, map) == 0x2d0, "Linux's layout");

static struct start_info converted;
static struct start_info_module modules[2];
static struct start_info_range map[MAP_MAX];
static uint8_t loader;

const struct start_info *
linux_params_convert_to_start_info(const void *given)
{
	const struct params *params = given;

	if (params->magic != LINUX_PARAMS_MAGIC)
		return NULL;
	modules[0] = (struct start_info_module){ .begin = (uintptr_t)params, .size = PARAMS_SIZE };
	modules[1] = (struct start_info_module){ .begin = params->ramdisk, .size = params->ramdisk_size };
	converted = (struct start_info){
		.magic = START_INFO_MAGIC, .version = START_INFO_VERSION_MAP,
		.modules = (uintptr_t)modules, .module_count = 2,
		.command_line = params->command_line, .rsdp = params->rsdp, .memory_map = (uintptr_t)map,
		.memory_map_count = params->map_count < MAP_MAX ? params->map_count : MAP_MAX,
	};
	for (uint32_t i = 0; i < converted.memory_map_count; i++)
		map[i] = (struct start_info_range){ params->map[i].begin, params->map[i].size, params->map[i].type, 0 };
	loader = params->loader;
	return &converted;
}

void
linux_params_print_firmware_name(struct text *text)
{
	text_printf(text, "none (Linux boot protocol, loader type %02xh)", loader);
}
