/* Reads the loader's data, and searches the BIOS area for tables. See bare.h and firmware.h. */
#include "bare/firmware/bare.h"

#include "bare/firmware/start_info.h"
#include "bare/firmware/ram.h"
#include "base/text.h"
#include "hw/hw.h"
#include "hw/paging.h"

#define PAGE_0_SIZE    PAGE_SIZE
#define BIOS_DATA_40CH 0x40c     /* PC BIOS data area: upper 16 bits are the segment of the extended BIOS data area */
/* ACPI 6.5, 5.2.5.1: the RSDP is in the first KiB of the extended BIOS data area (EBDA), or in the BIOS area. */
#define EBDA_SIZE      1024u
#define BIOS_AREA      0xe0000u
#define BIOS_AREA_SIZE 0x20000u
#define SMBIOS_AREA    0xf0000u  /* area with the SMBIOS entry points: DSP0134 3.7, 5.2.1 */
#define SMBIOS_SIZE    0x10000u
#define RSDP_SIZE      20u       /* number of bytes of the RSDP that its first checksum covers */
/*
 * Address at which Xen's shared page is mapped. Xen places no RAM of a guest there. Linux uses the same address:
 * HVM_SHARED_INFO_ADDR, arch/x86/xen/enlighten_hvm.c.
 */
#define XEN_SHARED_PAGE 0xfe700000u
/*
 * On a PC the screen's memory and ROMs are here, even if a map claims RAM: IBM PC AT Technical Reference, system memory
 * map.
 */
#define LEGACY_BEGIN   0xa0000u
#define LEGACY_END     0x100000u
/*
 * The registers of the I/O APIC (FEC00000h), of the local APIC (FEE00000h) and the BIOS's flash memory are above this
 * address. A map that claims RAM there is wrong, and trying that memory would write to these devices.
 */
#define DEVICES_BEGIN  0xfe000000u
#define MAP_MAX        4096u     /* maximum number of entries of a map that are read; real maps have far fewer */

struct protocol;

static struct {
	struct ram ram;
	uint64_t rsdp, smbios_3, smbios_2;
	const char *command_line;
	size_t command_line_length;
	uint32_t version;
	const struct protocol *protocol;
} found;

static const struct start_info *
convert_pvh_to_start_info(const void *loader_data)
{
	return loader_data;
}

static void
print_pvh_firmware_name(struct text *text)
{
	text_printf(text, "none (PVH, start info %u)", found.version);
}

/* The boot protocols. Each protocol's data is converted to PVH's start info. */
static const struct protocol {
	uint32_t magic;
	const struct start_info *(*convert)(const void *loader_data);
	void (*print_name)(struct text *text);
	const char *no_data, *no_map;
} protocols[] = {
	{ MULTIBOOT2_MAGIC, multiboot2_convert_to_start_info, multiboot2_print_firmware_name,
	  "the loader passed no boot information (multiboot2)",
	  "the loader passed no memory map (multiboot2)" },
	{ LINUX_PARAMS_MAGIC, linux_params_convert_to_start_info, linux_params_print_firmware_name,
	  "the loader passed no boot parameters (Linux boot protocol)",
	  "the loader passed no memory map (Linux boot protocol)" },
	{ 0, convert_pvh_to_start_info, print_pvh_firmware_name, /* must be the last row: PVH passes no magic number */
	  "the loader passed no start info (PVH); QEMU overwrites it if -append is too long",
	  "the loader passed no memory map (PVH start info has one from version 1 on)" },
};

/* Returns a pointer to the SIZE bytes at ADDRESS, or NULL if ADDRESS is 0 or the bytes are not mapped. */
static const void *
map_address(uint64_t address, uint64_t size)
{
	return address && address < BARE_MEMORY_MAX && size <= BARE_MEMORY_MAX - address ?
		(const void *)(uintptr_t)address : NULL;
}

static uint64_t
find_rsdp(void)
{
	static const char anchor[] = "RSD PTR ";
	uint64_t ebda = (uint64_t)(hw_read32(BIOS_DATA_40CH) >> 16) << 4;
	uint64_t address = ebda >= PAGE_SIZE ? anchor_find(ebda, EBDA_SIZE, anchor, RSDP_SIZE) : 0;

	return address ? address : anchor_find(BIOS_AREA, BIOS_AREA_SIZE, anchor, RSDP_SIZE);
}

static void
remove_range_from_ram(const void *begin, uint64_t size)
{
	ram_remove_range(&found.ram, (uintptr_t)begin, size);
}

/*
 * Collects the RAM below the devices. Afterwards removes the ranges of all other types, because ranges overlap in some
 * firmware's maps.
 */
static void
read_memory_map(const struct start_info_range *map, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (map[i].type == START_INFO_RAM && map[i].begin < BARE_MEMORY_MAX)
			ram_add_range(&found.ram, map[i].begin, map[i].size);
	for (uint32_t i = 0; i < count; i++)
		if (map[i].type != START_INFO_RAM)
			ram_remove_range(&found.ram, map[i].begin, map[i].size);
	ram_remove_range(&found.ram, LEGACY_BEGIN, LEGACY_END - LEGACY_BEGIN);
	ram_remove_range(&found.ram, DEVICES_BEGIN, UINT64_MAX - DEVICES_BEGIN);
}

static void
read_command_line(uint64_t address)
{
	found.command_line = address ? map_address(address, 1) : NULL;
	if (!found.command_line)
		found.command_line = "";
	while (found.command_line_length < BARE_COMMAND_LINE_MAX && found.command_line[found.command_line_length] &&
	       map_address(address, found.command_line_length + 2))
		found.command_line_length++;
}

/* Removes page 0, the image and the loader's data from the free memory. */
static void
remove_used_ranges_from_ram(const struct start_info *info, const struct start_info_range *map)
{
	const struct start_info_module *modules = map_address(info->modules, info->module_count * sizeof(*modules));

	remove_range_from_ram(NULL, PAGE_0_SIZE);
	remove_range_from_ram(image_begin, (uint64_t)(image_end - image_begin));
	remove_range_from_ram(info, sizeof(*info));
	remove_range_from_ram(map, info->memory_map_count * sizeof(*map));
	remove_range_from_ram(found.command_line, found.command_line_length + 1);
	for (uint32_t i = 0; modules && i < info->module_count && i < MAP_MAX; i++)
		ram_remove_range(&found.ram, modules[i].begin, modules[i].size);
}

const char *
bare_read_loader_data(const void *loader_data, uint32_t magic)
{
	const struct start_info_range *map;

	found.protocol = protocols;
	while (found.protocol->magic && found.protocol->magic != magic)
		found.protocol++;
	const struct start_info *info = loader_data ? found.protocol->convert(loader_data) : NULL;
	if (!info || info->magic != START_INFO_MAGIC)
		return found.protocol->no_data;
	found.version = info->version;
	map = info->version >= START_INFO_VERSION_MAP && info->memory_map_count <= MAP_MAX ?
		map_address(info->memory_map, info->memory_map_count * sizeof(*map)) : NULL;
	if (!map || !info->memory_map_count)
		return found.protocol->no_map;
	read_memory_map(map, info->memory_map_count);
	read_command_line(info->command_line);
	remove_used_ranges_from_ram(info, map);
	found.rsdp = info->rsdp ? info->rsdp : find_rsdp();
	found.smbios_3 = anchor_find(SMBIOS_AREA, SMBIOS_SIZE, "_SM3_", 0);
	found.smbios_2 = anchor_find(SMBIOS_AREA, SMBIOS_SIZE, "_SM_", 0);
	return NULL;
}

struct ram *
bare_get_ram(void)
{
	return &found.ram;
}

const char *
bare_get_command_line(size_t *length)
{
	*length = found.command_line_length;
	return found.command_line;
}

uint64_t
firmware_find_rsdp(void)
{
	return found.rsdp;
}

uint64_t
firmware_find_smbios_3(void)
{
	return found.smbios_3;
}

uint64_t
firmware_find_smbios_2(void)
{
	return found.smbios_2;
}

uint64_t
firmware_get_unused_page(void)
{
	return found.protocol->magic ? 0 : XEN_SHARED_PAGE;
}

void
firmware_print_name(struct text *text)
{
	found.protocol->print_name(text);
}
