/* A FAT volume whose folders have cluster chains that form a loop. Some firmware reads such chains for ever. */
#include <stdio.h>

#include "test.h"
#include "uefi/volume/fat.h"
#include "firmware_sim.h"

#define SECTOR   512u
#define TABLE    1u           /* number of the sector with the only FAT */
#define SECTORS  8192u
#define END      0x0fffffffu

struct kind {
	bool is_32;
	unsigned table_sectors, root_entries, data; /* data: first sector of cluster 2 */
};

static const struct kind fat16 = { false, 32, 32, TABLE + 32 + 2 };
static const struct kind fat32 = { true, 64, 0, TABLE + 64 };

static uint8_t disk[SECTORS * SECTOR];
static EFI_HANDLE device;
static const struct kind *kind;
static unsigned reads, reads_max;

static EFI_STATUS EFIAPI
read_disk(EFI_DISK_IO_PROTOCOL *this, UINT32 medium, UINT64 offset, UINTN size, void *buffer)
{
	assert_int_equal(medium, 7);
	if (++reads > reads_max || offset + size > sizeof(disk))
		return EFI_DEVICE_ERROR;
	memcpy(buffer, disk + offset, size);
	return EFI_SUCCESS;
}

static void
put(size_t at, uint32_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		disk[at + i] = (uint8_t)(value >> 8 * i);
}

static void
chain(unsigned cluster, uint32_t next)
{
	unsigned size = kind->is_32 ? 4 : 2;

	put(TABLE * SECTOR + cluster * size, next, size);
}

static size_t
place(unsigned cluster)
{
	return (kind->data + cluster - 2) * SECTOR;
}

/* Writes entry number INDEX of the folder at AT. NAME has 11 characters. */
static void
add(size_t at, unsigned index, const char *name, uint8_t attributes, unsigned cluster)
{
	memcpy(disk + at + 32 * index, name, 11);
	disk[at + 32 * index + 11] = attributes;
	put(at + 32 * index + 26, cluster & 0xffff, 2);
	put(at + 32 * index + 20, cluster >> 16, 2);
}

static size_t
root(void)
{
	return kind->is_32 ? place(2) : (TABLE + kind->table_sectors) * SECTOR;
}

/*
 * Makes a volume with the folders \EFI and \BARETICK. \BARETICK has two clusters with ".", "..", "0001" and a file.
 * All chains end.
 */
static void
format(const struct kind *as)
{
	static EFI_DISK_IO_PROTOCOL io = { .ReadDisk = read_disk };
	static EFI_BLOCK_IO_MEDIA media = { .MediaId = 7 };
	static EFI_BLOCK_IO_PROTOCOL blocks = { .Media = &media };
	static const EFI_GUID guid_disk = EFI_DISK_IO_PROTOCOL_GUID, guid_block = EFI_BLOCK_IO_PROTOCOL_GUID;

	firmware_sim_reset();
	device = firmware_sim_handle();
	firmware_sim_install_protocol(device, &guid_disk, &io);
	firmware_sim_install_protocol(device, &guid_block, &blocks);
	kind = as;
	reads = 0;
	reads_max = 100000;
	memset(disk, 0, sizeof(disk));
	memcpy(disk, "\xeb\x58\x90", 3);
	put(11, SECTOR, 2);
	disk[13] = 1;
	put(14, TABLE, 2);
	disk[16] = 1;
	put(17, kind->root_entries, 2);
	put(19, kind->is_32 ? 0 : SECTORS, 2);
	put(22, kind->is_32 ? 0 : kind->table_sectors, 2);
	put(32, kind->is_32 ? SECTORS : 0, 4);
	put(36, kind->is_32 ? kind->table_sectors : 0, 4);
	put(44, kind->is_32 ? 2 : 0, 4);
	chain(2, END);
	chain(3, END);
	chain(4, 5);
	chain(5, END);
	chain(6, END);
	add(root(), 0, "STICK      ", 0x08, 0);
	add(root(), 1, "EFI        ", 0x10, 3);
	add(root(), 2, "BARETICK   ", 0x10, 4);
	add(place(4), 0, ".          ", 0x10, 4);
	add(place(4), 1, "..         ", 0x10, 0);
	for (unsigned i = 2; i < 16; i++)
		memcpy(disk + place(4) + 32 * i, "\xe5", 1); /* deleted */
	add(place(5), 0, "0001       ", 0x10, 6);
	add(place(5), 1, "ABCDEF01RUN", 0x20, 7);
}

static void
check(bool endless, const char *inner_wanted)
{
	char inner[FAT_NAME_SIZE] = "#";

	assert_int_equal(fat_has_endless_chain(device, "BARETICK", inner), endless);
	if (endless)
		assert_string_equal(inner, inner_wanted);
}

TEST(a_volume_whose_chains_end_is_accepted)
{
	format(&fat32);
	check(false, "");
	format(&fat16);
	check(false, "");
	chain(7, 7); /* the chain of this file forms a loop, but the file's size limits a read */
	check(false, "");
}

TEST(a_folder_whose_chain_is_a_loop_is_found)
{
	format(&fat32);
	chain(4, 4);
	check(true, "");
	format(&fat16);
	chain(5, 4);
	check(true, "");
	assert_in_range(reads, 1, 20);
}

TEST(a_folder_in_a_folder_whose_chain_is_a_loop_is_found)
{
	format(&fat32);
	chain(6, 8);
	chain(8, 6);
	check(true, "0001");
	add(place(5), 0, "0001    NEW", 0x10, 6);
	check(true, "0001.NEW");
}

TEST(the_search_in_a_root_folder_without_an_end_is_limited)
{
	format(&fat32);
	memset(disk + place(2), 0xe5, SECTOR);
	chain(2, 2);
	check(false, "");
	assert_in_range(reads, 1, 3 * (2u << 20) / SECTOR);
}

TEST(volumes_without_fat_or_that_cannot_be_read_are_accepted)
{
	format(&fat32);
	chain(4, 4);
	reads_max = 0;
	check(false, "");
	reads_max = 100000;
	put(11, 0, 2); /* exFAT */
	check(false, "");
	device = firmware_sim_handle();
	check(false, "");
	device = NULL;
	check(false, "");
	format(&fat32);
	chain(4, 0x0ffffff0); /* the next cluster is beyond the end of the table */
	check(false, "");
}
