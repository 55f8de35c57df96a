/*
 * Finds the object of sleep state S5 in the DSDT. AML is not interpreted: the object is found by its name and the bytes
 * around it, as in many small kernels. An object with another encoding counts as missing.
 */
#include "acpi/acpi_internal.h"

/* ACPI 6.5, 20.2: encoding of AML. */
#define NAME_OP      0x08u
#define ROOT_CHAR    '\\'
#define PACKAGE_OP   0x12u
#define BYTE_PREFIX  0x0au
#define ONE_OP       0x01u /* opcode of the constant 1; the opcode of the constant 0 is 0 */
/* ACPI 6.5, 20.2.4: number of bytes after the first byte of a package's length */
#define LENGTH_BYTES(first) ((first) >> 6)
#define NAME_SIZE    4u
#define TYPE_MAX     7u    /* largest value of SLP_TYPx, which has 3 bits: ACPI 6.5, table 4.13 */

/* Returns true if the name at OFFSET follows the opcode that defines an object. */
static bool
is_name_defined_at(const struct acpi_table *table, size_t offset)
{
	return acpi_read_field(table, offset - 1, 1) == NAME_OP ||
	       (acpi_read_field(table, offset - 1, 1) == ROOT_CHAR && acpi_read_field(table, offset - 2, 1) == NAME_OP);
}

/*
 * Reads the first element of the package at OFFSET. Returns false if there is no package, or if its first element is
 * not a valid constant.
 */
static bool
read_first_package_element(const struct acpi_table *table, size_t offset, uint8_t *value)
{
	/* offset of the first element, after the opcode, the length and the number of elements */
	size_t element = offset + 2 + LENGTH_BYTES(acpi_read_field(table, offset + 1, 1)) + 1;
	uint64_t code = acpi_read_field(table, element, 1);

	if (acpi_read_field(table, offset, 1) != PACKAGE_OP || element + 1 >= table->length)
		return false;
	*value = (uint8_t)(code == BYTE_PREFIX ? acpi_read_field(table, element + 1, 1) : code);
	return (code == BYTE_PREFIX || code <= ONE_OP) && *value <= TYPE_MAX;
}

bool
acpi_read_dsdt(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	static const char name[] = "_S5_";
	const struct acpi_table table = { bytes, length };

	facts->s5 = (struct acpi_s5){ 0 };
	if (!acpi_has_signature(&table, "DSDT"))
		return false;
	for (size_t i = ACPI_HEADER_SIZE; !facts->s5.found && i + NAME_SIZE <= length; i++)
		if (__builtin_memcmp(bytes + i, name, NAME_SIZE) == 0 && is_name_defined_at(&table, i))
			facts->s5.found = read_first_package_element(&table, i + NAME_SIZE, &facts->s5.type);
	return facts->s5.found;
}
