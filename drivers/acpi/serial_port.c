/*
 * Reads SPCR and DBG2, which describe the serial ports of the firmware's console and debugger. The layouts are from
 * Microsoft's Serial Port Console Redirection Table (1.10) and Debug Port Table 2 (revision 0).
 */
#include "acpi/acpi_internal.h"

#define SPCR_TYPE     36u
#define SPCR_REGISTER 40u /* offset of the port's generic address structure (ACPI 6.5, table 5.1) */
#define SPCR_SIZE     52u /* minimum length of the table: the end of its address structure */

#define DBG2_OFFSET   36u /* offset in the DBG2 of the field that contains the first device's offset */
#define DBG2_COUNT    40u /* offset in the DBG2 of the number of devices */
#define DBG2_SIZE     44u
#define DBG2_MAX      16u /* our limit of the number of devices that are read from the DBG2 */
/* Offsets of the fields in a device's entry in the DBG2. */
#define DEVICE_LENGTH    1u
#define DEVICE_PORT_TYPE 12u
#define DEVICE_SUBTYPE   14u
/* field with the offset of the device's generic address structure, relative to the device */
#define DEVICE_REGISTER  18u
#define DEVICE_SIZE      22u
#define PORT_SERIAL      0x8000u

#define GAS_SPACE     0u
#define GAS_ADDRESS   4u

/*
 * Interface types in both tables: a complete 16550, a 16450 (without a FIFO), and a 16550 whose register layout is in
 * its address structure.
 */
#define TYPE_16550     0x00u
#define TYPE_16450     0x01u
#define TYPE_16550_GAS 0x12u

/*
 * Sets *PORT to the I/O port of the address structure at OFFSET. Does nothing if *PORT is already set, or if the
 * structure does not describe a 16550 at an I/O port.
 */
static void
set_port_if_16550(const struct acpi_table *table, uint64_t type, size_t offset, uint16_t *port)
{
	uint64_t address = acpi_read_field(table, offset + GAS_ADDRESS, sizeof(uint64_t));

	if (*port || (type != TYPE_16550 && type != TYPE_16450 && type != TYPE_16550_GAS) || address > UINT16_MAX - 7 ||
	    acpi_read_field(table, offset + GAS_SPACE, 1) != ACPI_SPACE_IO)
		return;
	*port = (uint16_t)address;
}

bool
acpi_read_spcr(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	const struct acpi_table available = { bytes, length };
	struct acpi_table table;
	uint16_t port = 0;

	if (!acpi_validate_table(&available, "SPCR", "SPCR", &table, facts))
		return false;
	if (table.length >= SPCR_SIZE)
		set_port_if_16550(&table, acpi_read_field(&table, SPCR_TYPE, 1), SPCR_REGISTER, &port);
	if (port)
		facts->serial_port = port; /* the console's port replaces a debugger's port from the DBG2 */
	return true;
}

bool
acpi_read_dbg2(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	const struct acpi_table available = { bytes, length };
	struct acpi_table table;

	if (!acpi_validate_table(&available, "DBG2", "DBG2", &table, facts))
		return false;
	size_t at = (size_t)acpi_read_field(&table, DBG2_OFFSET, sizeof(uint32_t));
	uint64_t count = acpi_read_field(&table, DBG2_COUNT, sizeof(uint32_t));

	for (unsigned i = 0; i < count && i < DBG2_MAX && at >= DBG2_SIZE && at + DEVICE_SIZE <= table.length; i++) {
		size_t offset = (size_t)acpi_read_field(&table, at + DEVICE_REGISTER, sizeof(uint16_t));

		if (acpi_read_field(&table, at + DEVICE_PORT_TYPE, sizeof(uint16_t)) == PORT_SERIAL)
			set_port_if_16550(&table, acpi_read_field(&table, at + DEVICE_SUBTYPE, sizeof(uint16_t)),
					  at + offset, &facts->serial_port);
		at += (size_t)acpi_read_field(&table, at + DEVICE_LENGTH, sizeof(uint16_t));
	}
	return true;
}
