/*
 * Reads coreboot's tables: src/commonlib/include/commonlib/coreboot_tables.h and timestamp_serialized.h of coreboot 24.
 * A header with the signature LBIO is in the first page or below 1 MiB. A record may forward to another header.
 */
#include "acpi/coreboot.h"

#define SIGNATURE        0x4f49424cu /* "LBIO" */
#define HEADER_SIZE      24u
#define HEADER_TABLE_SIZE 12u /* offset of the size of all records */
#define RECORD_SIZE      16u /* tag, size and a 64-bit address */
#define TAG_FORWARD      0x11u
#define TAG_TIMESTAMPS   0x16u
#define TABLE_SIZE_MAX   (256u * 1024)
#define STAMPS_MHZ       10u /* offset of tick_freq_mhz, 16 bits */
#define STAMPS_SIZE      16u
#define STEP             16u /* alignment of a header */

static uint64_t
read_number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* Returns the address in the record TAG of the table at ADDRESS, or 0 if there is none. */
static uint64_t
find_address(const struct acpi_memory *memory, uint64_t address, uint64_t tag)
{
	const uint8_t *header = memory->at(memory->context, address, HEADER_SIZE);
	size_t length = header ? (size_t)read_number(header + HEADER_TABLE_SIZE, 4) : 0;

	if (!length || length > TABLE_SIZE_MAX)
		return 0;
	header = memory->at(memory->context, address, HEADER_SIZE + length);
	if (!header)
		return 0;
	for (size_t at = HEADER_SIZE; at + RECORD_SIZE <= HEADER_SIZE + length;) {
		size_t size = (size_t)read_number(header + at + 4, 4);

		if (read_number(header + at, 4) == tag && size >= RECORD_SIZE)
			return read_number(header + at + 8, 8);
		if (size < 8 || size > length)
			return 0;
		at += size;
	}
	return 0;
}

/* Returns the address of a header from BEGIN to END, or 0 if there is none. */
static uint64_t
find_header(const struct acpi_memory *memory, uint64_t begin, uint64_t end)
{
	for (uint64_t at = begin; at < end; at += STEP) {
		const uint8_t *header = memory->at(memory->context, at, HEADER_SIZE);

		if (header && read_number(header, 4) == SIGNATURE && read_number(header + 4, 4) == HEADER_SIZE)
			return at;
	}
	return 0;
}

bool
coreboot_find_tsc_mhz(const struct acpi_memory *memory, uint64_t *mhz)
{
	uint64_t header = find_header(memory, STEP, 0x1000), forward, stamps;
	const uint8_t *bytes;

	if (!header)
		header = find_header(memory, 0xf0000, 0x100000);
	if (!header)
		return false;
	forward = find_address(memory, header, TAG_FORWARD);
	stamps = find_address(memory, forward ? forward : header, TAG_TIMESTAMPS);
	bytes = stamps ? memory->at(memory->context, stamps, STAMPS_SIZE) : NULL;
	if (bytes)
		*mhz = read_number(bytes + STAMPS_MHZ, 2);
	return bytes != NULL;
}
