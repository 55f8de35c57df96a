/*
 * Follows the cluster chains of folders without the firmware's file system, to find endless chains. See fat.h. The
 * format is from Microsoft's FAT specification 1.03, "FAT: General Overview of On-Disk Format".
 */
#include "uefi/volume/fat.h"

#include "base/text.h"

#define WINDOW            512u         /* number of bytes in one read; a sector has at least 512 bytes */
#define FOLDER_BYTES_MAX  (2u << 20)   /* size of the longest valid folder: 65,536 entries of 32 bytes */
#define ENTRY_BYTES       32u
#define NAME_BYTES        11u          /* characters of a short name: 8 + 3, padded with blanks */
#define BASE_BYTES        8u
#define CLUSTERS_FAT16    4085u        /* a volume with fewer clusters is FAT12, which no stick of today uses */
#define FIRST_CLUSTER     2u
#define ATTRIBUTE_FOLDER  0x10
#define ATTRIBUTE_LABEL   0x08         /* volume label, or a part of a long name */
#define ENTRY_LAST        0x00
#define ENTRY_DELETED     0xe5
#define END_FAT16         0xfff7u      /* first value that means a bad cluster or the end of the chain */
#define END_FAT32         0x0ffffff7u

static const EFI_GUID guid_block_io = EFI_BLOCK_IO_PROTOCOL_GUID;
static const EFI_GUID guid_disk_io = EFI_DISK_IO_PROTOCOL_GUID;

struct window {
	uint64_t begin; /* offset of the array BYTES from the start of the volume, in bytes */
	bool filled;
	uint8_t bytes[WINDOW];
};

struct fat {
	EFI_DISK_IO_PROTOCOL *disk;
	uint32_t medium;
	bool is_32;
	uint64_t table_begin, root_begin, data_begin; /* byte offsets on the volume; FAT32 does not use root_begin */
	uint32_t root_bytes, cluster_bytes, root_cluster;
	struct window table, folder;
};

/*
 * Returns a pointer to the byte at offset AT of the volume, in the buffer of WINDOW. Reads the 512 bytes that contain
 * this byte, unless they are already in the buffer. Returns NULL if the read fails.
 */
static const uint8_t *
read_bytes_at(struct fat *fat, struct window *window, uint64_t at)
{
	uint64_t begin = at - at % WINDOW;

	if (!window->filled || window->begin != begin)
		window->filled = !EFI_ERROR(fat->disk->ReadDisk(fat->disk, fat->medium, begin, WINDOW, window->bytes));
	window->begin = begin;
	return window->filled ? window->bytes + at % WINDOW : NULL;
}

static uint32_t
read_number(const uint8_t *bytes, unsigned size)
{
	uint32_t value = 0;

	while (size-- > 0)
		value = value << 8 | bytes[size];
	return value;
}

/* Returns the cluster after CLUSTER in its chain, or 0 at the end of the chain or at an invalid entry. */
static uint32_t
read_next_cluster(struct fat *fat, uint32_t cluster)
{
	unsigned size = fat->is_32 ? 4 : 2;
	const uint8_t *entry = read_bytes_at(fat, &fat->table, fat->table_begin + (uint64_t)cluster * size);
	uint32_t value = entry ? read_number(entry, size) & 0x0fffffff : 0;

	return value < FIRST_CLUSTER || value >= (fat->is_32 ? END_FAT32 : END_FAT16) ? 0 : value;
}

static bool
cluster_chain_ends(struct fat *fat, uint32_t cluster)
{
	for (uint32_t bytes = 0; cluster >= FIRST_CLUSTER; bytes += fat->cluster_bytes) {
		if (bytes >= FOLDER_BYTES_MAX)
			return false;
		cluster = read_next_cluster(fat, cluster);
	}
	return true;
}

/* A position in a folder. */
struct walk {
	uint32_t cluster; /* current cluster; 0 in FAT16's root folder, which has no clusters */
	uint32_t at;      /* offset of the next entry in the folder */
};

/* Returns the entry of the next folder, except for "." and "..", or NULL after the last entry. */
static const uint8_t *
find_next_folder_entry(struct fat *fat, struct walk *walk)
{
	for (; walk->at < FOLDER_BYTES_MAX; walk->at += ENTRY_BYTES) {
		uint32_t in_cluster = walk->at % fat->cluster_bytes;

		if (walk->cluster && walk->at && !in_cluster && !(walk->cluster = read_next_cluster(fat, walk->cluster)))
			return NULL;
		if (!walk->cluster && walk->at >= fat->root_bytes)
			return NULL;
		const uint8_t *entry = read_bytes_at(fat, &fat->folder, walk->cluster ?
			fat->data_begin + (uint64_t)(walk->cluster - FIRST_CLUSTER) * fat->cluster_bytes + in_cluster :
			fat->root_begin + walk->at);

		if (!entry || entry[0] == ENTRY_LAST)
			return NULL;
		if (entry[0] == ENTRY_DELETED || entry[0] == '.' ||
		    (entry[11] & (ATTRIBUTE_FOLDER | ATTRIBUTE_LABEL)) != ATTRIBUTE_FOLDER)
			continue;
		walk->at += ENTRY_BYTES;
		return entry;
	}
	return NULL;
}

static uint32_t
get_first_cluster(const struct fat *fat, const uint8_t *entry)
{
	return read_number(entry + 26, 2) | (fat->is_32 ? read_number(entry + 20, 2) << 16 : 0);
}

/* Converts the name in ENTRY to NAME, without blanks and with a dot before the suffix. */
static void
read_entry_name(const uint8_t *entry, char name[FAT_NAME_SIZE])
{
	size_t length = 0;

	for (size_t i = 0; i < NAME_BYTES; i++) {
		if (i == BASE_BYTES && entry[i] != ' ')
			name[length++] = '.';
		if (entry[i] != ' ')
			name[length++] = entry[i] > ' ' && entry[i] < 0x7f ? (char)entry[i] : '?';
	}
	name[length] = '\0';
}

/* Returns false if the volume is neither FAT16 nor FAT32, or cannot be read. */
static bool
open_fat(struct fat *fat, EFI_HANDLE device)
{
	const EFI_BLOCK_IO_PROTOCOL *blocks = firmware_find_protocol(device, &guid_block_io);

	*fat = (struct fat){ .disk = firmware_find_protocol(device, &guid_disk_io) };
	if (!blocks || !fat->disk)
		return false;
	fat->medium = blocks->Media->MediaId;
	const uint8_t *boot = read_bytes_at(fat, &fat->folder, 0);
	if (!boot || (boot[0] != 0xeb && boot[0] != 0xe9))
		return false;

	uint32_t sector = read_number(boot + 11, 2), reserved = read_number(boot + 14, 2), tables = boot[16];
	uint32_t sectors = read_number(boot + 19, 2), table_sectors = read_number(boot + 22, 2);

	fat->is_32 = table_sectors == 0;
	fat->cluster_bytes = sector * boot[13];
	fat->root_bytes = read_number(boot + 17, 2) * ENTRY_BYTES;
	if (!sector || sector % WINDOW || !boot[13] || !reserved || !tables)
		return false; /* exFAT and NTFS have zeros in these fields */
	if (fat->is_32)
		table_sectors = read_number(boot + 36, 4);
	if (!sectors)
		sectors = read_number(boot + 32, 4);
	fat->root_cluster = fat->is_32 ? read_number(boot + 44, 4) : 0;
	fat->table_begin = (uint64_t)reserved * sector;
	fat->root_begin = fat->table_begin + (uint64_t)tables * table_sectors * sector;
	fat->data_begin = fat->root_begin + (fat->is_32 ? 0 : fat->root_bytes);
	return fat->is_32 || ((uint64_t)sectors * sector - fat->data_begin) / fat->cluster_bytes >= CLUSTERS_FAT16;
}

static bool
folder_has_endless_chain(struct fat *fat, uint32_t cluster, char inner[FAT_NAME_SIZE])
{
	struct walk walk = { cluster, 0 };
	const uint8_t *entry;

	inner[0] = '\0';
	if (!cluster_chain_ends(fat, cluster))
		return true;
	while (cluster && (entry = find_next_folder_entry(fat, &walk))) {
		if (cluster_chain_ends(fat, get_first_cluster(fat, entry)))
			continue;
		read_entry_name(entry, inner);
		return true;
	}
	return false;
}

bool
fat_has_endless_chain(EFI_HANDLE device, const char *folder, char inner[FAT_NAME_SIZE])
{
	char name[FAT_NAME_SIZE];
	struct walk walk;
	const uint8_t *entry;
	struct fat fat;

	if (!device || !open_fat(&fat, device))
		return false;
	walk = (struct walk){ fat.root_cluster, 0 };
	while ((entry = find_next_folder_entry(&fat, &walk))) {
		read_entry_name(entry, name);
		if (text_equal(name, folder))
			return folder_has_endless_chain(&fat, get_first_cluster(&fat, entry), inner);
	}
	return false;
}
