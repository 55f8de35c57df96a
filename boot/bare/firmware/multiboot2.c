/*
 * Converts multiboot2's information to PVH's start info. See start_info.h. Section numbers refer to the Multiboot2
 * Specification 2.0.
 */
#include "bare/firmware/start_info.h"

/* largest accepted size of the loader's information; real loaders need 8 KiB and 30 bytes for each module */
#define SIZE_MAX_BYTES (1u << 20)
#define TAG_ALIGNMENT  8u         /* each tag starts at a multiple of 8 bytes: Multiboot2 Specification 2.0, 3.6.1 */
#define MODULES_MAX    16u
#define NAME_MAX       40
#define RSDP_SIZE_MIN  20u        /* size of an RSDP of ACPI 1.0, the shortest: ACPI 6.5, 5.2.5.3 */

enum {
	TAG_END = 0, TAG_COMMAND_LINE = 1, TAG_LOADER = 2, TAG_MODULE = 3, TAG_MAP = 6, TAG_RSDP_1 = 14, TAG_RSDP_2 = 15
};

struct head {
	uint32_t size, reserved;
};

struct tag {
	uint32_t type, size; /* SIZE excludes the padding before the next tag */
	uint8_t body[];
};

struct tag_module {
	uint32_t begin, end;
};

/* The memory map (Multiboot2 Specification 2.0, 3.6.8). Its entries have E820's layout and types, as in PVH's map. */
struct tag_map {
	uint32_t entry_size, entry_version;
	struct start_info_range entries[];
};

_Static_assert(sizeof(struct start_info_range) == 24, "base, length, type, reserved");

static struct start_info converted;
static struct start_info_module modules[MODULES_MAX];
static const char *loader;

/* Returns the string in TAG, or NULL if it does not end with a 0 within TAG. */
static const char *
get_tag_string(const struct tag *tag)
{
	return tag->size > sizeof(*tag) && !tag->body[tag->size - sizeof(*tag) - 1] ? (const char *)tag->body : NULL;
}

/* Adds a module, so that its memory is not used as free memory. */
static void
add_module(uint64_t begin, uint64_t size)
{
	if (converted.module_count < MODULES_MAX)
		modules[converted.module_count++] = (struct start_info_module){ .begin = begin, .size = size };
}

static void
read_module(const struct tag_module *module)
{
	if (module->end > module->begin)
		add_module(module->begin, module->end - module->begin);
}

static void
read_memory_map(const struct tag_map *map, size_t size)
{
	if (map->entry_size != sizeof(map->entries[0]))
		return;
	converted.memory_map = (uintptr_t)map->entries;
	converted.memory_map_count = (uint32_t)((size - sizeof(*map)) / sizeof(map->entries[0]));
}

static void
read_tag(const struct tag *tag)
{
	size_t size = tag->size - sizeof(*tag);
	const void *body = tag->body;

	if (tag->type == TAG_COMMAND_LINE)
		converted.command_line = (uintptr_t)get_tag_string(tag);
	else if (tag->type == TAG_LOADER)
		loader = get_tag_string(tag);
	else if (tag->type == TAG_MODULE && size >= sizeof(struct tag_module))
		read_module(body);
	else if (tag->type == TAG_MAP && size >= sizeof(struct tag_map))
		read_memory_map(body, size);
	else if (size >= RSDP_SIZE_MIN && (tag->type == TAG_RSDP_2 || (tag->type == TAG_RSDP_1 && !converted.rsdp)))
		converted.rsdp = (uintptr_t)body; /* the tag contains a copy of the RSDP, not its address */
}

const struct start_info *
multiboot2_convert_to_start_info(const void *info)
{
	const struct head *head = info;
	const uint8_t *at = (const uint8_t *)(head + 1), *end = (const uint8_t *)info + head->size;

	if (head->size < sizeof(*head) || head->size > SIZE_MAX_BYTES)
		return NULL;
	converted = (struct start_info){
		.magic = START_INFO_MAGIC, .version = START_INFO_VERSION_MAP, .modules = (uintptr_t)modules,
	};
	loader = NULL;
	add_module((uintptr_t)info, head->size);
	while (end - at >= (ptrdiff_t)sizeof(struct tag)) {
		const struct tag *tag = (const void *)at;
		size_t size = (tag->size + (size_t)TAG_ALIGNMENT - 1) & ~(size_t)(TAG_ALIGNMENT - 1);

		if (tag->type == TAG_END || tag->size < sizeof(*tag) || tag->size > (size_t)(end - at))
			break;
		read_tag(tag);
		at += size < (size_t)(end - at) ? size : (size_t)(end - at);
	}
	return &converted;
}

void
multiboot2_print_firmware_name(struct text *text)
{
	text_printf(text, "none (multiboot2, %.*s)", NAME_MAX, loader && loader[0] ? loader : "a loader without a name");
}
