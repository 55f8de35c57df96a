/*
 * libFuzzer target for the SMBIOS reader. The first byte of an input selects whether the other bytes are a 64-bit entry
 * point, a 32-bit entry point, or a table. It also selects whether the entry point's checksum is corrected, so that the
 * fuzzer reaches the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/drivers/smbios_checks.h"
#include "smbios/smbios.h"

#define MODE_3     1 /* flag of the first byte: a 64-bit entry point, otherwise a 32-bit one */
#define MODE_TABLE 2 /* flag of the first byte: the input is only a table */
#define MODE_SEAL  4
#define ENTRY_AT   UINT64_C(0x10000)
#define TABLE_AT   UINT64_C(0x20000)
#define BLOCKS_MAX 4

struct image {
	const uint8_t *entry, *table;
	size_t entry_length, table_length;
	bool seal;
	/* blocks of exactly the requested size, so that the sanitizer sees a read beyond their end */
	uint8_t *blocks[BLOCKS_MAX];
	size_t block_count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *
get_image_bytes(void *context, uint64_t address, size_t length)
{
	struct image *image = context;
	bool is_entry = address < TABLE_AT;
	size_t at = (size_t)(address - (is_entry ? ENTRY_AT : TABLE_AT));
	size_t available = is_entry ? image->entry_length : image->table_length;
	uint8_t *block;

	if (length == 0 || image->block_count == BLOCKS_MAX)
		abort();
	if (address < ENTRY_AT || at > available || length > available - at)
		return NULL;
	block = malloc(length);
	if (!block)
		abort();
	memcpy(block, (is_entry ? image->entry : image->table) + at, length);
	image->blocks[image->block_count++] = block;
	if (is_entry && image->seal) {
		uint8_t sum = 0;

		for (size_t i = 0; i < length; i++)
			sum = (uint8_t)(sum + block[i]);
		block[block[3] == '3' ? 5 : 4] -= sum;
	}
	return block;
}

/* Makes a valid entry point for a table of LENGTH bytes. */
static void
make_entry_point(uint8_t entry[24], size_t length)
{
	memcpy(entry, "_SM3_\0\x18\3\7", 9);
	memset(entry + 9, 0, 15);
	for (unsigned i = 0; i < 4; i++)
		entry[0x0c + i] = (uint8_t)(length >> (8 * i));
	entry[0x12] = TABLE_AT >> 16;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t made[24];
	struct image image = { .seal = true };
	struct smbios_facts facts;
	const struct smbios_memory memory = { get_image_bytes, &image };
	bool is_3;
	const char *broken;

	if (size < 2)
		return 0;
	is_3 = data[0] & (MODE_3 | MODE_TABLE);
	if (data[0] & MODE_TABLE) {
		make_entry_point(made, size - 1);
		image.entry = made;
		image.entry_length = sizeof(made);
		image.table = data + 1;
		image.table_length = size - 1;
	} else {
		image.seal = data[0] & MODE_SEAL;
		image.entry = data + 1;
		image.entry_length = size - 1;
	}
	memset(&facts, 0xa5, sizeof(facts));
	smbios_read_facts(&memory, is_3 ? ENTRY_AT : 0, is_3 ? 0 : ENTRY_AT, &facts);
	broken = smbios_broken_invariant(&facts);
	if (!broken && (data[0] & MODE_TABLE) && !facts.found)
		broken = "a table of a good entry point is not found";
	if (!broken && !facts.found && !facts.problem[0])
		broken = "nothing is found, and nothing is said";
	for (size_t i = 0; i < image.block_count; i++)
		free(image.blocks[i]);
	if (!broken)
		return 0;
	fprintf(stderr, "%s\n", broken);
	abort();
}
