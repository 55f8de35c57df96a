/* The port of a 16550 from the ACPI tables SPCR and DBG2, which are valid or damaged. */
#include "test.h"
#include "acpi/acpi.h"

static struct acpi_facts facts;
static uint8_t spcr[80], dbg2[128];

static void
put(uint8_t *bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

static void
seal(uint8_t *table, const char *signature, size_t length)
{
	uint8_t sum = 0;

	memcpy(table, signature, 4);
	put(table + 4, length, 4);
	table[9] = 0;
	for (size_t i = 0; i < length; i++)
		sum = (uint8_t)(sum + table[i]);
	table[9] = (uint8_t)-sum;
}

/* Writes a generic address structure for an 8-bit register. */
static void
put_register(uint8_t *bytes, uint8_t space, uint64_t address)
{
	memcpy(bytes, (const uint8_t[]){ space, 8, 0, 1 }, 4);
	put(bytes + 4, address, 8);
}

static uint16_t
port_of_spcr(uint8_t type, uint8_t space, uint64_t address)
{
	facts = (struct acpi_facts){ 0 };
	memset(spcr, 0, sizeof(spcr));
	spcr[36] = type;
	put_register(spcr + 40, space, address);
	seal(spcr, "SPCR", sizeof(spcr));
	assert_true(acpi_read_spcr(spcr, sizeof(spcr), &facts));
	assert_int_equal(facts.problem_count, 0);
	return facts.serial_port;
}

TEST(spcr_names_a_16550_at_an_io_port)
{
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_IO, 0x2f8), 0x2f8);
	assert_int_equal(port_of_spcr(0x12, ACPI_SPACE_IO, 0x3f8), 0x3f8);
}

TEST(an_spcr_of_another_device_or_in_memory_or_disabled_names_no_port)
{
	assert_int_equal(port_of_spcr(3, ACPI_SPACE_IO, 0x2f8), 0); /* ARM's PL011, which is no 16550 */
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_MEMORY, 0x2f8), 0);
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_IO, 0), 0);
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_IO, 0xffff), 0); /* the last registers would be beyond port FFFFh */
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_IO, 0x1000002f8), 0);
}

/* Makes a table with two devices: a USB debug port, and a serial port at PORT. */
static void
make_dbg2(uint64_t port)
{
	facts = (struct acpi_facts){ 0 };
	memset(dbg2, 0, sizeof(dbg2));
	put(dbg2 + 36, 44, 4);
	put(dbg2 + 40, 2, 4);
	for (size_t at = 44; at <= 84; at += 40) {
		put(dbg2 + at + 1, 40, 2);
		put(dbg2 + at + 12, at == 44 ? 0x8002 : 0x8000, 2);
		put(dbg2 + at + 18, 24, 2);
		put_register(dbg2 + at + 24, ACPI_SPACE_IO, at == 44 ? 0x111 : port);
	}
	seal(dbg2, "DBG2", sizeof(dbg2));
}

TEST(dbg2_names_the_first_serial_device)
{
	make_dbg2(0x2f8);
	assert_true(acpi_read_dbg2(dbg2, sizeof(dbg2), &facts));
	assert_int_equal(facts.serial_port, 0x2f8);
}

TEST(spcr_is_used_before_dbg2_in_any_order)
{
	assert_int_equal(port_of_spcr(0, ACPI_SPACE_IO, 0x3f8), 0x3f8);
	make_dbg2(0x2f8);
	acpi_read_spcr(spcr, sizeof(spcr), &facts);
	acpi_read_dbg2(dbg2, sizeof(dbg2), &facts);
	assert_int_equal(facts.serial_port, 0x3f8);
	make_dbg2(0x2f8);
	acpi_read_dbg2(dbg2, sizeof(dbg2), &facts);
	acpi_read_spcr(spcr, sizeof(spcr), &facts);
	assert_int_equal(facts.serial_port, 0x3f8);
}

TEST(damaged_tables_name_no_port_and_are_not_read_beyond_their_end)
{
	for (size_t at = 36; at < 128; at++) {
		make_dbg2(0x2f8);
		dbg2[at] = 0xff;
		seal(dbg2, "DBG2", sizeof(dbg2));
		assert_true(acpi_read_dbg2(dbg2, sizeof(dbg2), &facts));
	}
	for (size_t length = 36; length < 128; length++) {
		uint8_t *cut = malloc(length);

		assert_non_null(cut);
		make_dbg2(0x2f8);
		memcpy(cut, dbg2, length);
		seal(cut, "DBG2", length);
		acpi_read_dbg2(cut, length, &facts);
		if (length < 84 + 36)
			assert_int_equal(facts.serial_port, 0);
		free(cut);
	}
	port_of_spcr(0, ACPI_SPACE_IO, 0x2f8);
	spcr[9]++;
	facts = (struct acpi_facts){ 0 };
	assert_false(acpi_read_spcr(spcr, sizeof(spcr), &facts));
	assert_int_equal(facts.serial_port, 0);
	assert_string_equal(facts.problems[0], "SPCR: its checksum is off by 1h; it is not used");
}
