/* Ends the run by QEMU's exit device, Xen's hypercall, ACPI's sleep state S5, or a reset. See exit.h. */
#include "bare/exit.h"

#include "bare/console/serial_line.h"
#include "bare/console/xen_console.h"
#include "hw/hw.h"

#define RESET_PORT         0xcf9u /* reset register of the chip sets of Intel and AMD */
#define RESET_PREPARE      0x02u
#define RESET_FULL         0x06u
#define KEYBOARD_PORT      0x64u  /* command port of the keyboard controller, whose command 0xfe resets the machine */
#define KEYBOARD_RESET     0xfeu

#define SLEEP_ENABLE       0x2000u /* bit SLP_EN of PM1_CNT: ACPI 6.5, table 4.13 */
#define SLEEP_TYPE_SHIFT   10

/*
 * Maximum number of port reads while waiting for a reset or power-off. A read takes about 1 us on a bus, and more in a
 * guest. A machine that still runs afterwards has ignored the request.
 */
#define OFF_POLLS_MAX 2000000u
#define DELAY_PORT 0x80u

/* Defined in boot/bare/entry.nasm. Resets the machine by a triple fault. */
extern void bare_triple_fault(void) __attribute__((noreturn, visibility("hidden")));

static void
wait_for_reset_or_power_off(void)
{
	for (unsigned i = 0; i < OFF_POLLS_MAX; i++)
		(void)hw_in8(DELAY_PORT);
}

void
exit_by_reset(void)
{
	serial_line_flush();
	xen_end_guest(XEN_REBOOT);
	hw_out8(RESET_PORT, RESET_PREPARE);
	hw_out8(RESET_PORT, RESET_FULL);
	hw_out8(KEYBOARD_PORT, KEYBOARD_RESET);
	wait_for_reset_or_power_off();
	bare_triple_fault();
}

static void
power_off(const struct acpi_facts *acpi)
{
	xen_end_guest(XEN_POWEROFF);
	if (!acpi->s5.found || !acpi->fadt.pm1_cnt_blk || acpi->fadt.pm1_cnt_blk > UINT16_MAX)
		return;
	hw_out16((uint16_t)acpi->fadt.pm1_cnt_blk, (uint16_t)(acpi->s5.type << SLEEP_TYPE_SHIFT | SLEEP_ENABLE));
	wait_for_reset_or_power_off();
}

static void
print_line(struct console *console, const char *line)
{
	console_print_serial(console, line);
	console_print_serial(console, "\n");
	serial_line_flush();
}

void
exit_end_run(struct console *console, enum options_exit how, enum exit_result result, const struct acpi_facts *acpi)
{
	while (serial_send_next_chunk(&console->serial))
		;
	serial_line_flush();
	if (how == EXIT_DEBUG) {
		hw_out8(DEBUG_EXIT_PORT, result);
		wait_for_reset_or_power_off();
		print_line(console, "exit=debug-exit: no exit device at port 501h; powering off.");
	}
	if (how != EXIT_REBOOT && how != EXIT_RETURN) {
		power_off(acpi);
		print_line(console, "This machine does not power off by ACPI, so it is reset now.");
	}
	if (acpi->fadt.reset_port) {
		hw_out8(acpi->fadt.reset_port, acpi->fadt.reset_value);
		wait_for_reset_or_power_off();
	}
	exit_by_reset();
}
