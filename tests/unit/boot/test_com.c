/*
 * A serial port in a boot without UEFI. The simulated port acts like a 16550 with or without a FIFO, or does not
 * answer.
 */
#include "test.h"
#include "console/com.h"
#include "sim.h"

enum { DATA, FIFO = 2, LINE = 3, STATUS = 5, SCRATCH = 7, REGISTERS };

static struct {
	uint8_t registers[REGISTERS];
	uint8_t status;
	bool has_queue;
	char written[64];
	size_t count, status_reads;
	size_t sent_after; /* number of reads of the status until the last byte has been sent */
} port;

static uint32_t
in(void *context, uint16_t at, unsigned width)
{
	unsigned number = at - COM1_PORT;

	assert_int_equal(width, 1);
	port.status_reads += number == STATUS;
	if (number == STATUS)
		return port.status_reads < port.sent_after ? port.status & ~0x40u : port.status;
	return number == FIFO ? (port.has_queue ? 0xc1 : 0x01) : port.registers[number];
}

static void
out(void *context, uint16_t at, uint32_t value, unsigned width)
{
	unsigned number = at - COM1_PORT;

	assert_int_equal(width, 1);
	if (number == DATA && !(port.registers[LINE] & 0x80) && port.count < sizeof(port.written))
		port.written[port.count++] = (char)value;
	port.registers[number] = (uint8_t)value;
}

static void
plug(void)
{
	sim_reset();
	memset(&port, 0, sizeof(port));
	port.status = 0x60;
	port.has_queue = true;
	sim_hook_ports((struct sim_port_hook){ COM1_PORT, COM1_PORT + SCRATCH, in, out, NULL });
}

TEST_FIXTURE(plug, NULL);

static void
unplug(void)
{
	sim_reset();
}

TEST(a_port_that_does_not_exist_is_not_opened, unplug, NULL)
{
	struct com com;

	assert_false(com_open(&com, COM1_PORT));
}

TEST(a_port_without_a_status_is_not_opened)
{
	struct com com;

	port.status = 0xff;
	assert_false(com_open(&com, COM1_PORT));
}

TEST(sixteen_bytes_are_written_to_an_empty_fifo_after_one_status_read)
{
	struct com com;

	assert_true(com_open(&com, COM1_PORT));
	port.status_reads = 0;
	assert_true(com_write(&com, "0123456789abcdef0123", 20));
	assert_int_equal(port.status_reads, 2);
	assert_int_equal(port.count, 20);
	assert_memory_equal(port.written, "0123456789abcdef0123", 20);
}

TEST(without_a_fifo_each_byte_waits_for_the_previous_one)
{
	struct com com;

	port.has_queue = false;
	assert_true(com_open(&com, COM1_PORT));
	port.status_reads = 0;
	assert_true(com_write(&com, "0123", 4));
	assert_int_equal(port.status_reads, 4);
}

/* Asserts that no wait for the port follows. Each wait may take minutes in a slow guest. */
static void
assert_is_given_up(struct com *com)
{
	port.status_reads = 0;
	assert_false(com_flush(com));
	assert_false(com_write(com, "0123", 4));
	assert_false(com_flush(com));
	assert_int_equal(port.status_reads, 0);
	assert_int_equal(port.count, 0);
}

TEST(a_port_that_never_becomes_empty_is_not_used)
{
	struct com com;

	assert_true(com_open(&com, COM1_PORT));
	port.status = 0;
	assert_false(com_write(&com, "0", 1));
	assert_int_equal(port.count, 0);
	assert_is_given_up(&com);
}

TEST(a_drained_port_has_sent_its_last_byte)
{
	struct com com;

	assert_true(com_open(&com, COM1_PORT));
	assert_true(com_write(&com, "0123", 4));
	port.status_reads = 0;
	port.sent_after = 100;
	assert_true(com_flush(&com));
	assert_int_equal(port.status_reads, 100);
}

TEST(the_wait_for_a_port_that_never_sends_its_last_byte_ends)
{
	struct com com;

	assert_true(com_open(&com, COM1_PORT));
	port.status = 0x20;
	assert_false(com_flush(&com));
	assert_is_given_up(&com);
}

TEST(a_byte_is_read_only_if_one_was_received)
{
	struct com com;
	uint8_t byte;

	assert_true(com_open(&com, COM1_PORT));
	port.registers[DATA] = 'q';
	assert_false(com_read(&com, &byte));
	port.status |= 1;
	assert_true(com_read(&com, &byte));
	assert_int_equal(byte, 'q');
	port.status = 0xff;
	assert_false(com_read(&com, &byte));
}
