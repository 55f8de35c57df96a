/*
 * Runs baretick without firmware: opens the console, reads options and facts about the machine, measures, and sends the
 * report over the serial line. All data that outlives a function is in one struct application.
 */
#include "bare/console/serial_line.h"
#include "bare/exit.h"
#include "bare/firmware/bare.h"
#include "bare/protect.h"
#include "base/text.h"
#include "blocks.h"
#include "clocks/pic_registers.h"
#include "console/console.h"
#include "firmware/describe.h"
#include "firmware/option_sources.h"
#include "guard/guard.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "machine.h"
#include "names.h"
#include "plan.h"
#include "report/boots_results.h"
#include "report/report.h"
#include "run/run.h"

#define NO_MEMORY "this machine has too little memory for a report"

struct application {
	struct console console;
	struct machine machine;
	struct plan plan;
	struct run run;
	struct names names;
};

/* Called by boot/bare/entry.nasm. */
void bare_main(const void *loader_data, uint32_t magic) __attribute__((noreturn, visibility("hidden")));
void bare_handle_exception(uint32_t vector, uint64_t at, uint64_t error, uint64_t address)
	__attribute__((noreturn, visibility("hidden")));

/* Used by bare_handle_exception(). */
static struct application *application; /* NULL until it is allocated */
static unsigned exceptions;             /* number of exceptions that no guard handled */

static void
exit_application(struct application *app, enum exit_result result)
{
	exit_end_run(&app->console, app->run.report.facts.options.exit, result, &app->machine.platform.acpi);
}

/* Prints ERROR, the reason why the run cannot start, and ends the run with EXIT_ERROR. */
static void
end_without_measuring(struct application *app, const char *error)
{
	console_print_serial(&app->console, "error: ");
	console_print_serial(&app->console, error);
	console_print_serial(&app->console, "\nNothing was measured.\n");
	exit_application(app, EXIT_ERROR);
}

/* Prints the list that the option `rules` or `help` requests, and ends the run. */
static void
show_rules_or_help(struct application *app)
{
	if (!blocks_queue_rules_or_help(&app->console.serial, &app->run.report.facts.options, &app->names.options))
		end_without_measuring(app, NO_MEMORY);
	exit_application(app, EXIT_PASS);
}

/*
 * Reads the options into the run's report. Returns false if an option is wrong, and sets ERROR to a sentence that names
 * it.
 */
static bool
read_options(struct application *app, char error[OPTIONS_ERROR_SIZE])
{
	struct option_sources sources = option_sources_make_with_defaults(&app->names.options, &app->run.report, error);
	/* a copy, because the command line must not be changed */
	char *buffer = firmware_allocate(OPTION_SOURCES_READ_SIZE);
	size_t length, held;
	const char *line = bare_get_command_line(&length);

	names_collect_option_ids(&app->names);
	if (buffer) {
		held = length < OPTION_SOURCES_READ_SIZE ? length : OPTION_SOURCES_READ_SIZE;
		__builtin_memcpy(buffer, line, held);
		option_sources_parse_loader_text(&sources, buffer, held, length, "the command line");
		option_sources_parse_fw_cfg(&sources, &app->machine.platform.cpu, buffer);
	}
	firmware_free(buffer);
	return option_sources_check_combination(&sources);
}

/*
 * Queues the report for the serial line, which is the only output. If the report does not fit into its memory, prints
 * an error and returns false.
 */
static bool
queue_report_for_serial(struct application *app)
{
	const struct text *texts[SAVE_FILES];

	if (!plan_render_files(&app->plan, &app->run.report, texts)) {
		console_print_serial(&app->console, "error: the report is larger than the memory that was allocated for it\n");
		return false;
	}
	blocks_queue_report(&app->console.serial, &app->plan, &app->run.report);
	return true;
}

static void
use_pm_timer_for_alarms(const struct acpi_fadt *fadt)
{
	if (fadt->found && fadt->pm_tmr_blk && fadt->pm_tmr_len)
		alarm_set_pm_timer_port((uint16_t)fadt->pm_tmr_blk, fadt->tmr_val_ext ? UINT32_MAX : 0xffffff);
}

static void
measure_and_report(void *argument)
{
	struct application *app = argument;
	struct machine *machine = &app->machine;
	struct report *report = &app->run.report;
	char error[OPTIONS_ERROR_SIZE];

	machine->boot.finds_cores = true;
	machine_read_firmware_tables(machine, report);
	console_add_port(&app->console, machine->platform.acpi.serial_port);
	bool good = read_options(app, error);

	serial_enable(&app->console.serial, report->facts.options.serial);
	console_print_serial(&app->console, "baretick " VERSION " (" COMMIT ")\n");
	machine_print_slow_instructions(&app->console);
	if (!good)
		end_without_measuring(app, error);
	if (report->facts.options.prints.rules || report->facts.options.prints.help)
		show_rules_or_help(app);
	notes_add(&report->notes,
		  "Started without UEFI: baretick sends the report only over %s. There is no boot volume, no screen, no "
		  "network, and no Secure Boot.", serial_line_get_name());
	if (report->facts.options.save.boots > 1)
		boots_add_note_on_single_boot(report);
	machine_choose_core_start_method(machine, report);
	describe_machine(report, &machine->platform, &machine->smbios);
	use_pm_timer_for_alarms(&machine->platform.acpi.fadt);
	if (!plan_allocate_memory(&app->plan, machine_count_cores(machine, &report->facts.options), NULL, report))
		end_without_measuring(app, NO_MEMORY);
	machine_run_measurements(machine, &app->plan, &app->console, &app->run);
	app->plan.progress = &machine->progress;
	exit_application(app, queue_report_for_serial(app) ? get_exit_result(report->outcomes.verdict) : EXIT_ERROR);
}

/* Prints ERROR and resets the machine. The options are not read yet, so the option `exit` does not apply. */
static void
reset_with_error(const char *error)
{
	struct console console;

	console_open(&console);
	serial_enable(&console.serial, SERIAL_FULL);
	console_print_serial(&console, "baretick " VERSION " (" COMMIT ")\nerror: ");
	console_print_serial(&console, error);
	console_print_serial(&console, "\nNothing was measured.\n");
	exit_by_reset();
}

/* Ends the run after an exception outside of the measurements. No report is written. APP may be NULL. */
static void
end_after_fault(struct application *app, const struct fault *fault)
{
	char bytes[OPTIONS_ERROR_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	fault_print_baretick_exception(&text, fault);
	if (!app)
		reset_with_error(bytes);
	watchdog_disarm(&app->machine.watchdog);
	console_print_serial(&app->console, bytes);
	console_print_serial(&app->console, "\n");
	exit_application(app, EXIT_ERROR);
}

/*
 * Called for an exception that no guard handles. Prints the exception and ends the run. If this causes another
 * exception, prints the other one with as little code as possible. A third exception resets the machine without a
 * message.
 */
void
bare_handle_exception(uint32_t vector, uint64_t at, uint64_t error, uint64_t address)
{
	const struct fault fault = guard_describe_fault(vector, at, error, address);

	if (exceptions++ > 1)
		exit_by_reset();
	end_after_fault(exceptions == 1 ? application : NULL, &fault);
	__builtin_unreachable();
}

/* Masks the interrupts that firmware may have left unmasked, because they have no handlers here. */
static void
mask_interrupts(void)
{
	struct lapic lapic;

	hw_out8(PIC_MASTER_MASK, PIC_ALL_MASKED);
	hw_out8(PIC_SLAVE_MASK, PIC_ALL_MASKED);
	if (!lapic_open(&lapic))
		lapic_enable(&lapic);
}

void
bare_main(const void *loader_data, uint32_t magic)
{
	struct fault fault, again;

	vectors_load_idt(); /* first, so that an exception in any later step is printed */
	const char *refusal = bare_read_loader_data(loader_data, magic);
	struct application *app = refusal ? NULL : firmware_allocate(sizeof(*app));

	protect_image_pages();
	mask_interrupts();
	if (!app)
		reset_with_error(refusal ? refusal : NO_MEMORY);
	application = app;
	console_open(&app->console);
	guard_install_handlers();
	if (!guard_run(measure_and_report, app, &fault)) {
		guard_run(machine_restore_boot_core, &app->run, &again);
		end_after_fault(app, &fault);
	}
	exit_by_reset(); /* not reached, because measure_and_report() does not return */
}
