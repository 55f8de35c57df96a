/*
 * Reads the FPDT, the Firmware Performance Data Table: ACPI 6.5, 5.2.24. It names the table FBPT in memory, whose basic
 * boot record has the times of the boot.
 */
#include "acpi/acpi_internal.h"

/* Each record starts with its type (16 bits), its length and its revision. */
#define RECORD_LENGTH      2u
#define RECORD_HEADER_SIZE 4u
#define RECORD_VALUE       8u /* offset of the first field after four reserved bytes */
#define TYPE_POINTER       0u /* in the FPDT: the address of the FBPT */
#define TYPE_BASIC_BOOT    2u /* in the FBPT: five times of 64 bits */
#define FBPT_HEADER_SIZE   8u /* signature and length */
#define FBPT_LENGTH_MAX    (64u * 1024)

/* Returns the offset of the value in the first record of TYPE from OFFSET on, or 0 if there is none. */
static size_t
find_value(const struct acpi_table *table, size_t offset, uint64_t type, size_t size)
{
	while (offset + RECORD_HEADER_SIZE <= table->length) {
		size_t length = (size_t)acpi_read_field(table, offset + RECORD_LENGTH, 1);

		if (length < RECORD_HEADER_SIZE)
			return 0;
		if (acpi_read_field(table, offset, sizeof(uint16_t)) == type)
			return length >= RECORD_VALUE + size && offset + length <= table->length ?
			       offset + RECORD_VALUE : 0;
		offset += length;
	}
	return 0;
}

/* Reads the FBPT at ADDRESS. */
static void
read_boot_times(const struct acpi_memory *memory, uint64_t address, struct acpi_fpdt *fpdt)
{
	struct acpi_table table = { memory->at(memory->context, address, FBPT_HEADER_SIZE), FBPT_HEADER_SIZE };
	size_t at;

	if (!table.bytes || !acpi_has_signature(&table, "FBPT"))
		return;
	table.length = (size_t)acpi_read_field(&table, ACPI_HEADER_LENGTH, sizeof(uint32_t));
	if (table.length < FBPT_HEADER_SIZE || table.length > FBPT_LENGTH_MAX ||
	    !(table.bytes = memory->at(memory->context, address, table.length)))
		return;
	at = find_value(&table, FBPT_HEADER_SIZE, TYPE_BASIC_BOOT, sizeof(fpdt->times_ns));
	fpdt->found = at != 0;
	for (size_t i = 0; at && i < sizeof(fpdt->times_ns) / sizeof(fpdt->times_ns[0]); i++)
		fpdt->times_ns[i] = acpi_read_field(&table, at + i * sizeof(uint64_t), sizeof(uint64_t));
}

bool
acpi_read_fpdt(const struct acpi_memory *memory, const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	const struct acpi_table available = { bytes, length };
	struct acpi_table table;

	if (!acpi_validate_table(&available, "FPDT", "FPDT", &table, facts))
		return false;
	size_t at = find_value(&table, ACPI_HEADER_SIZE, TYPE_POINTER, sizeof(uint64_t));
	if (at)
		read_boot_times(memory, acpi_read_field(&table, at, sizeof(uint64_t)), &facts->fpdt);
	return true;
}
