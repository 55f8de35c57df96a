/* The ways to end a run, on a firmware whose ResetSystem has no effect. */
#include "test.h"
#include "console_sim.h"
#include "uefi/exit.h"
#include "sim.h"

#define RESET_PORT  0xcf9
#define RESET_VALUE 0x06
#define CALLS_MAX   4

static struct line_sim line;
static struct console console;
static struct pager pager;
static jmp_buf over;

static struct {
	EFI_RESET_TYPE types[CALLS_MAX];
	size_t calls;
	bool said; /* true if a message was on the serial line before the first call of ResetSystem */
	unsigned writes;
	uint32_t written;
} machine;

static VOID EFIAPI
reset_system(EFI_RESET_TYPE type, EFI_STATUS status, UINTN size, CHAR16 *data)
{
	machine.said |= machine.calls == 0 && line.length > 0;
	assert_true(machine.calls < CALLS_MAX);
	machine.types[machine.calls++] = type;
}

static EFI_STATUS EFIAPI
create_event(UINT32 type, EFI_TPL tpl, EFI_EVENT_NOTIFY notify, void *context, EFI_EVENT *event)
{
	return EFI_OUT_OF_RESOURCES;
}

/* Leaves exit_end_run(). On a machine that stays on, exit_end_run() would call stall() for ever. */
static EFI_STATUS EFIAPI
stall(UINTN us)
{
	longjmp(over, 1);
}

static void
write_port(void *context, uint16_t port, uint32_t value, unsigned size)
{
	machine.writes++;
	machine.written = value;
}

/* Ends a run with the exit option HOW. LINE then has all printed text. */
static void
leave_by(enum options_exit how, const struct acpi_fadt *fadt)
{
	static struct display_sim display;

	sim_reset();
	sim_hook_ports((struct sim_port_hook){ RESET_PORT, RESET_PORT, NULL, write_port, NULL });
	firmware_sim_reset();
	console_sim_open();
	console_sim_display(&display, 1, true);
	memset(&line, 0, sizeof(line));
	console_sim_line(&line, 9, false);
	firmware_boot->CreateEvent = create_event;
	firmware_boot->Stall = stall;
	/* In gnu-efi 3 ResetSystem returns nothing. In gnu-efi 4 it returns a status, which no caller reads. */
	firmware_system->RuntimeServices->ResetSystem = (void *)reset_system;
	memset(&machine, 0, sizeof(machine));
	pager = (struct pager){ .console = NULL };
	console_open(&console);
	serial_enable(&console.serial, SERIAL_SUMMARY);
	if (!setjmp(over)) {
		exit_end_run(&console, how, EXIT_PASS, false, false, &pager, fadt);
		fail_msg("the run came back");
	}
}

TEST(before_a_power_off_a_message_says_that_the_machine_can_be_switched_off)
{
	const struct acpi_fadt fadt = { .reset_port = RESET_PORT, .reset_value = RESET_VALUE };

	leave_by(EXIT_POWEROFF, &fadt);
	assert_int_equal(machine.calls, 1);
	assert_int_equal(machine.types[0], EfiResetShutdown);
	assert_true(machine.said);
	assert_non_null(strstr(line.said, "Powering off. If this machine stays on, it can be switched off now.\r\n"
			       "The firmware does not power this machine off: switch it off by hand.\r\n"));
	assert_int_equal(machine.writes, 0);
}

TEST(if_two_resets_have_no_effect_the_acpi_reset_register_is_written)
{
	const struct acpi_fadt fadt = { .reset_port = RESET_PORT, .reset_value = RESET_VALUE };

	leave_by(EXIT_REBOOT, &fadt);
	assert_int_equal(machine.calls, 2);
	assert_int_equal(machine.types[0], EfiResetCold);
	assert_int_equal(machine.types[1], EfiResetWarm);
	assert_int_equal(machine.writes, 1);
	assert_int_equal(machine.written, RESET_VALUE);
	assert_non_null(strstr(line.said, "The firmware does not reset this machine: switch it off by hand.\r\n"));
}

TEST(without_a_reset_register_no_port_is_written)
{
	const struct acpi_fadt fadt = { .reset_value = RESET_VALUE };

	leave_by(EXIT_REBOOT, &fadt);
	assert_int_equal(machine.calls, 2);
	assert_int_equal(machine.writes, 0);
}
