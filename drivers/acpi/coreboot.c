/*
 * Reads coreboot's tables: src/commonlib/include/commonlib/coreboot_tables.h and timestamp_serialized.h of coreboot 24.
 * A header with the signature LBIO is in the first page or below 1 MiB. A record may forward to another header.
 */
#include "acpi/coreboot.h"

#include "acpi/acpi_internal.h"

#define SIGNATURE        0x4f49424cu /* "LBIO" */
#define HEADER_SIZE      24u
#define HEADER_TABLE_SIZE 12u /* offset of the size of all records */
#define HEADER_TABLE_SUM 16u /* offset of their checksum */
#define SUM_OF_HEADER    0xffffu /* sum of a header with its checksum */
#define RECORD_SIZE      16u /* tag, size and a 64-bit address */
#define TAG_FORWARD      0x11u
#define TAG_TIMESTAMPS   0x16u
#define TABLE_SIZE_MAX   (256u * 1024)
#define STAMPS_MHZ       10u /* offset of tick_freq_mhz, 16 bits */
#define STAMPS_SIZE      16u
#define STEP             16u /* alignment of a header */

/* Returns the LENGTH bytes at ADDRESS. The table has no bytes if they cannot be read. */
static struct acpi_table
read_memory(const struct acpi_memory *memory, uint64_t address, size_t length)
{
	const uint8_t *bytes = memory->at(memory->context, address, length);

	return (struct acpi_table){ bytes, bytes ? length : 0 };
}

/* Returns the sum of the 16-bit words of TABLE from BEGIN on, as RFC 1071 adds them, before it is inverted. */
static uint32_t
sum_words(const struct acpi_table *table, size_t begin)
{
	uint32_t sum = 0;

	for (size_t at = begin; at < table->length; at += 2) {
		sum += (uint32_t)acpi_read_field(table, at, at + 1 < table->length ? 2 : 1);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* Returns true if HEADER is the header of a table, and its checksum is right. */
static bool
is_header(const struct acpi_table *header)
{
	return acpi_read_field(header, 0, 4) == SIGNATURE && acpi_read_field(header, 4, 4) == HEADER_SIZE &&
	       sum_words(header, 0) == SUM_OF_HEADER;
}

/* Returns the address in the record TAG of the table at ADDRESS, or 0 if there is none or a checksum is wrong. */
static uint64_t
find_address(const struct acpi_memory *memory, uint64_t address, uint64_t tag)
{
	struct acpi_table table = read_memory(memory, address, HEADER_SIZE);
	size_t length = (size_t)acpi_read_field(&table, HEADER_TABLE_SIZE, 4);

	if (!is_header(&table) || !length || length > TABLE_SIZE_MAX)
		return 0;
	table = read_memory(memory, address, HEADER_SIZE + length);
	if (sum_words(&table, HEADER_SIZE) != (~acpi_read_field(&table, HEADER_TABLE_SUM, 4) & 0xffff))
		return 0;
	for (size_t at = HEADER_SIZE; at + RECORD_SIZE <= table.length;) {
		size_t size = (size_t)acpi_read_field(&table, at + 4, 4);

		if (acpi_read_field(&table, at, 4) == tag && size >= RECORD_SIZE)
			return acpi_read_field(&table, at + 8, 8);
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
		struct acpi_table header = read_memory(memory, at, HEADER_SIZE);

		if (is_header(&header))
			return at;
	}
	return 0;
}

bool
coreboot_find_tsc_mhz(const struct acpi_memory *memory, uint64_t *mhz)
{
	uint64_t header = find_header(memory, STEP, 0x1000), forward, address;

	if (!header)
		header = find_header(memory, 0xf0000, 0x100000);
	if (!header)
		return false;
	forward = find_address(memory, header, TAG_FORWARD);
	address = find_address(memory, forward ? forward : header, TAG_TIMESTAMPS);
	if (!address)
		return false;
	struct acpi_table stamps = read_memory(memory, address, STAMPS_SIZE);
	if (stamps.length)
		*mhz = acpi_read_field(&stamps, STAMPS_MHZ, 2);
	return stamps.length != 0;
}
