/*
 * Finds the addresses of the VM Generation ID and vmclock, two devices that announce disruptions to a guest. QEMU
 * describes each in a separate SSDT, which has a known OEM table id. AML is not interpreted: the address is found by
 * the bytes around it, as in dsdt.c. Tables of other hypervisors have other bytes, and are ignored.
 */
#include "acpi/acpi_internal.h"

#define OEM_TABLE_SIZE (ACPI_HEADER_OEM_END - ACPI_HEADER_OEM_TABLE)

/*
 * QEMU hw/acpi/vmgenid.c: the table has the object Name(VGIA, address). The VM Generation ID is GUID_OFFSET bytes after
 * this address.
 */
#define VGIA           "\x08VGIA\x0c" /* NameOp, the name, and DWordPrefix: ACPI 6.5, 20.2 */
#define VGIA_SIZE      6u
#define GUID_OFFSET    40u

/* QWord address space descriptor for memory, and the offset of the lowest address in it: ACPI 6.5, 6.4.3.5.1. */
#define QWORD_MEMORY      "\x8a\x2b\x00\x00"
#define QWORD_MEMORY_SIZE 4u
#define QWORD_LOWEST      14u

/* Returns the offset of the first occurrence of BYTES in TABLE, or 0 if there is none. */
static size_t
find_bytes(const struct acpi_table *table, const char *bytes, size_t size)
{
	for (size_t i = ACPI_HEADER_SIZE; i + size <= table->length; i++)
		if (__builtin_memcmp(table->bytes + i, bytes, size) == 0)
			return i;
	return 0;
}

static bool
has_table_id(const struct acpi_table *table, const char id[OEM_TABLE_SIZE])
{
	return __builtin_memcmp(table->bytes + ACPI_HEADER_OEM_TABLE, id, OEM_TABLE_SIZE) == 0;
}

bool
acpi_read_ssdt(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	const struct acpi_table table = { bytes, length };
	size_t at;

	if (length < ACPI_HEADER_SIZE || !acpi_has_signature(&table, "SSDT") || acpi_sum_bytes(&table) != 0)
		return false;
	if (has_table_id(&table, "VMGENID\0") && (at = find_bytes(&table, VGIA, VGIA_SIZE)) != 0) {
		uint64_t blob = acpi_read_field(&table, at + VGIA_SIZE, sizeof(uint32_t));

		facts->vmgenid = blob ? blob + GUID_OFFSET : 0;
	} else if (has_table_id(&table, "VMCLOCK\0") && (at = find_bytes(&table, QWORD_MEMORY, QWORD_MEMORY_SIZE)) != 0) {
		facts->vmclock = acpi_read_field(&table, at + QWORD_LOWEST, sizeof(uint64_t));
	}
	return true;
}
