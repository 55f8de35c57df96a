/* A 16550 that the firmware does not use. It becomes the console's serial line, and is restored afterwards. */
#include "test.h"
#include "console/com.h"
#include "console/console.h"
#include "console_sim.h"
#include "hw/hw.h"
#include "sim.h"

enum { DATA, INTERRUPTS, FIFO, LINE, MODEM, STATUS, MODEM_STATUS, SCRATCH, REGISTERS };

#define COM2_PORT 0x2f8u
#define DIVISOR   0x80u
#define LOOP      0x10u

static struct uart {
	uint8_t registers[REGISTERS], divisor[2], looped;
	bool loops, is_full;
	size_t writes; /* number of writes to any register */
	char sent[64];
	size_t count;
} uarts[2];
static const struct uart found = {
	.registers = { 0, 5, 0, 3, 0x0b, 0, 0, 0x77 }, .divisor = { 12, 0 }, .loops = true, /* 9,600 baud */
};

static struct line_sim line;
static struct display_sim display;
static struct console console;

static uint32_t
in(void *context, uint16_t at, unsigned width)
{
	struct uart *uart = context;
	unsigned number = at % REGISTERS;

	assert_int_equal(width, 1);
	if (number <= INTERRUPTS && uart->registers[LINE] & DIVISOR)
		return uart->divisor[number];
	if (number == STATUS)
		return 0x60u | uart->is_full;
	if (number == FIFO)
		return uart->registers[FIFO] & 1 ? 0xc1 : 0x01;
	if (number == DATA && uart->is_full) {
		uart->is_full = false;
		return uart->looped;
	}
	return uart->registers[number];
}

static void
out(void *context, uint16_t at, uint32_t value, unsigned width)
{
	struct uart *uart = context;
	unsigned number = at % REGISTERS;

	assert_int_equal(width, 1);
	uart->writes++;
	if (number <= INTERRUPTS && uart->registers[LINE] & DIVISOR) {
		uart->divisor[number] = (uint8_t)value;
	} else if (number != DATA) {
		uart->registers[number] = (uint8_t)value;
	} else if (uart->registers[MODEM] & LOOP) {
		uart->is_full = uart->loops;
		uart->looped = (uint8_t)value;
	} else if (uart->count < sizeof(uart->sent) - 1) {
		uart->sent[uart->count++] = (char)value;
	}
}

static void
plug(void)
{
	sim_reset();
	firmware_sim_reset();
	console_sim_open();
	console_sim_display(&display, 1, true);
	uarts[0] = uarts[1] = found;
	sim_hook_ports((struct sim_port_hook){ COM1_PORT, COM1_PORT + SCRATCH, in, out, &uarts[0] });
}

TEST_FIXTURE(plug, NULL);

static void
say(uint16_t port)
{
	console_open(&console);
	console_add_port(&console, port);
	serial_enable(&console.serial, SERIAL_FULL);
	console_print_serial(&console, "word\n");
	console_close(&console);
}

static void
assert_as_found(const struct uart *uart)
{
	assert_memory_equal(uart->registers + INTERRUPTS, found.registers + INTERRUPTS, REGISTERS - 1);
	assert_memory_equal(uart->divisor, found.divisor, 2);
}

TEST(com1_is_used_if_the_firmware_has_no_serial_line_and_is_restored)
{
	say(0);
	assert_string_equal(uarts[0].sent, "word\r\n");
	assert_as_found(&uarts[0]);
}

TEST(the_port_that_acpi_names_is_used_instead)
{
	sim_hook_ports((struct sim_port_hook){ COM2_PORT, COM2_PORT + SCRATCH, in, out, &uarts[1] });
	say(COM2_PORT);
	assert_string_equal(uarts[1].sent, "word\r\n");
	assert_int_equal(uarts[0].writes, 0);
}

TEST(com1_is_used_if_the_port_that_acpi_names_does_not_answer)
{
	say(COM2_PORT);
	assert_string_equal(uarts[0].sent, "word\r\n");
}

TEST(if_the_firmware_has_a_serial_line_no_port_is_used)
{
	console_sim_line(&line, 9, false);
	say(COM1_PORT);
	assert_int_equal(uarts[0].writes, 0);
	assert_string_equal(line.said, "word\r\n");
}

TEST(a_port_that_fails_the_loopback_test_is_restored_and_not_used)
{
	uarts[0].loops = false;
	say(0);
	assert_string_equal(uarts[0].sent, "");
	assert_as_found(&uarts[0]);
}

/* Acts like U-Boot, which writes its console to a serial line without a protocol. */
static EFI_STATUS EFIAPI
output_by_com1(SIMPLE_TEXT_OUTPUT_INTERFACE *this, CHAR16 *text)
{
	while (*text)
		hw_out8(COM1_PORT, (uint8_t)*text++);
	return EFI_SUCCESS;
}

TEST(a_port_that_the_firmwares_console_writes_to_is_not_used)
{
	struct console other;

	console_open(&other);
	firmware_system->ConOut->OutputString = output_by_com1;
	console_add_port(&other, 0);
	serial_enable(&other.serial, SERIAL_FULL);
	console_print_serial(&other, "word\n");
	assert_string_equal(uarts[0].sent, "");
	assert_int_equal(other.serial.count, 0);
	assert_as_found(&uarts[0]);
}
