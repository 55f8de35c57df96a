/* Ends the run by a reset, power-off, return, or QEMU's exit device, or by the reader's choice. See exit.h. */
#include "uefi/exit.h"

#include "hw/hw.h"
#include "uefi/firmware/uefi.h"

#define OFF_WAIT_100NS  10000000 /* 1 s: longest wait until the machine has reset or switched itself off */
/* maximum number of calls of CheckEvent; ends the wait if the firmware's timer has stopped */
#define OFF_POLLS_MAX   20000000
#define STALL_US        1000000

/* Prints LINE in the last row, so that the rows above it do not scroll away. */
static void
print_in_last_row(struct console *console, enum text_ink ink, const char *line)
{
	if (console->rows)
		console_draw_row(console, console->rows - 1, ink, line);
	console_print_serial(console, line);
	console_print_serial(console, "\n");
}

/*
 * Waits until the machine has reset or switched itself off. Does not use Stall, which may never return if the TSC has
 * stopped.
 */
static void
wait_for_reset_or_power_off(void)
{
	EFI_EVENT over;

	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &over)))
		return;
	firmware_boot->SetTimer(over, TimerRelative, OFF_WAIT_100NS);
	for (unsigned i = 0; i < OFF_POLLS_MAX && firmware_boot->CheckEvent(over) != EFI_SUCCESS; i++)
		hw_pause();
	firmware_boot->CloseEvent(over);
}

static void
reset_by_firmware(EFI_RESET_TYPE type)
{
	firmware_system->RuntimeServices->ResetSystem(type, EFI_SUCCESS, 0, NULL);
	wait_for_reset_or_power_off();
}

/* Resets the machine by the firmware, and if this fails, by ACPI's reset register, as Linux's reboot=acpi does. */
static void
restart_machine(const struct acpi_fadt *fadt)
{
	reset_by_firmware(EfiResetCold);
	reset_by_firmware(EfiResetWarm);
	if (!fadt->reset_port)
		return;
	hw_out8(fadt->reset_port, fadt->reset_value);
	wait_for_reset_or_power_off();
}

/* Powers off. Prints a line before, because U-Boot's ResetSystem neither powers off nor returns. */
static void
power_off(struct console *console, bool is_woken)
{
	print_in_last_row(console, INK_BAR, is_woken ?
			  "Powering off. The next boot follows in two minutes. If it does not, switch the machine on." :
			  "Powering off. If this machine stays on, it can be switched off now.");
	reset_by_firmware(EfiResetShutdown);
}

void
exit_end_run(struct console *console, enum options_exit how, enum exit_result result, bool can_return,
	     bool is_woken, struct pager *pager, const struct acpi_fadt *fadt)
{
	if (how == EXIT_ASK)
		how = pager_wait_for_exit(pager, can_return);
	while (serial_send_next_chunk(&console->serial)) /* the queue is empty if the pager waited for an exit */
		;
	pager_run_last_callback(pager);
	if (how == EXIT_DEBUG) {
		hw_out8(DEBUG_EXIT_PORT, result);
		wait_for_reset_or_power_off();
		print_in_last_row(console, INK_BAR_FAIL, "exit=debug-exit: no exit device at port 501h; powering off.");
	}
	if (how == EXIT_RETURN && can_return)
		return;
	if (how == EXIT_REBOOT || how == EXIT_RETURN) {
		restart_machine(fadt);
		print_in_last_row(console, INK_BAR_FAIL, "The firmware does not reset this machine: switch it off by hand.");
	} else {
		power_off(console, is_woken);
		print_in_last_row(console, INK_BAR_FAIL,
				  "The firmware does not power this machine off: switch it off by hand.");
	}
	for (;;)
		firmware_boot->Stall(STALL_US);
}
