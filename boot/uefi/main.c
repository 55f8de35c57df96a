/*
 * Runs baretick as a UEFI application: opens the console, reads options and facts about the machine, measures, and
 * delivers the report. All data that outlives a function is in one struct application, which is allocated before the
 * first measurement.
 */
#include "base/text.h"
#include "blocks.h"
#include "console/console.h"
#include "firmware/describe.h"
#include "guard/guard.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "machine.h"
#include "names.h"
#include "plan.h"
#include "report/report.h"
#include "run/run.h"
#include "uefi/netboot_options.h"
#include "uefi/boot_series.h"
#include "uefi/checkpoint.h"
#include "uefi/deliver.h"
#include "uefi/exit.h"
#include "uefi/firmware/time_services.h"
#include "uefi/firmware/uefi.h"
#include "uefi/mp/mp.h"
#include "uefi/page.h"
#include "uefi/send.h"
#include "uefi/volume/settings.h"

/*
 * Longest time in seconds from the start to the first phase, after which the firmware's watchdog resets the
 * machine. A boot manager sets the same time for a boot entry (UEFI 2.10, 7.5, SetWatchdogTimer). The longest wait in
 * this time is for the server of a network boot, and takes less than 60 s.
 */
#define START_S       300
#define WATCHDOG_CODE 0x10000 /* the firmware reserves lower codes: UEFI 2.10, 7.5, SetWatchdogTimer */
/*
 * Number of waits for a key before the restart. A wait takes 30 ms, or 55 ms with an old PC's tick, so all waits take
 * less than 60 s.
 */
#define PATIENCE   1000
#define PIC_MASK_PORT 0x21 /* mask register of the first PIC (Intel 8259A) */
#define PIC_IRQ_0     1u /* bit of the PIT's interrupt */
#define START_LINE L"Starting baretick " VERSION " (" COMMIT ")\r\n"
#define ERROR_SIZE (OPTIONS_ERROR_SIZE + SAVE_SENTENCE_SIZE + 128)
#define NO_MEMORY  "the firmware has too little memory for a report"

struct application {
	struct console console;
	struct machine machine;
	struct netboot netboot;
	struct plan plan;
	struct checkpoint checkpoint;
	struct boot_series series;
	struct run run;
	struct names names;
	struct pager pager;
	struct send send;
	bool is_installed; /* true if the boot entry names a file: see boot_entry_has_file_path() */
};

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);
EFI_STATUS _entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* Gives all resources of this run back to the firmware, because the application may return to a shell. */
static void
release_all_resources(struct application *app)
{
	console_close(&app->console);
	pager_close(&app->pager);
	machine_release_resources(&app->machine);
	plan_free(&app->plan);
}

static void
exit_application(struct application *app, enum exit_result result, bool can_return)
{
	enum options_exit how = boot_series_get_exit(&app->series, app->run.report.facts.options.exit);

	exit_end_run(&app->console, how, result, can_return, app->series.has_next && how == EXIT_POWEROFF, &app->pager,
		     &app->machine.platform.acpi.fadt);
}

/*
 * Returns true if the run would end with an unlimited wait for a key, and possibly no person is present, as with a
 * machine in a rack. In a shell a person is present, who typed the command.
 */
static bool
is_unattended(const struct application *app)
{
	return app->run.report.facts.options.exit == EXIT_ASK &&
	       !firmware_find_protocol(firmware_image, &guid_shell_parameters);
}

/* Lets the firmware reset the machine after SECONDS. If SECONDS is 0, its watchdog is off. */
static void
set_firmware_watchdog(UINTN seconds)
{
	firmware_boot->SetWatchdogTimer(seconds, WATCHDOG_CODE, 0, NULL);
}

static void
print_on_firmware_console(CHAR16 *line)
{
	if (firmware_system->ConOut)
		firmware_system->ConOut->OutputString(firmware_system->ConOut, line);
}

/* Draws the first row of the screen: the version, the commit and the checksum of the image. */
static void
draw_title(struct console *console)
{
	char title[CONSOLE_COLUMNS_MAX + 1];
	uint32_t checksum = image_read_checksum();
	struct text text = text_start(title, sizeof(title));

	text_put(&text, " baretick " VERSION " (" COMMIT ")");
	if (checksum)
		text_printf(&text, ", checksum %08x", checksum);
	text_put(&text, "   Measuring");
	console_draw_row(console, 0, INK_BAR, title);
}

/* Shows the text BYTES instead of a report. If no key is pressed, the machine restarts within a minute. */
static void
show_error(struct application *app, const char *bytes)
{
	char document[ERROR_SIZE + sizeof(PAGER_ALONE)];

	set_firmware_watchdog(0);
	app->pager.patience = is_unattended(app) ? PATIENCE : 0;
	struct text text = text_start(document, sizeof(document));
	text_put(&text, bytes); /* not by %s, which replaces line breaks */
	text_put(&text, app->pager.patience ? PAGER_ALONE "\n" : "");
	console_print(&app->console, bytes);
	pager_show_document(&app->pager, &app->console, "Error", document);
}

/*
 * Ends a run that cannot start. Shows ERROR, and SAVED, a sentence about the place of the saved report ("" if there is
 * none).
 */
static EFI_STATUS
end_without_measuring(struct application *app, const char *error, const char *saved)
{
	char bytes[ERROR_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_printf(&text, "error: %s\nNothing was measured.\n", error);
	if (saved[0])
		text_printf(&text, "%s\n", saved);
	show_error(app, bytes);
	exit_application(app, EXIT_ERROR, true);
	release_all_resources(app);
	return EFI_INVALID_PARAMETER;
}

/* Shows the list that the option `rules` or `help` requests, and ends the run. */
static EFI_STATUS
show_rules_or_help(struct application *app)
{
	char *bytes = blocks_queue_rules_or_help(&app->console.serial, &app->run.report.facts.options,
						 &app->names.options);

	if (!bytes)
		return end_without_measuring(app, NO_MEMORY, "");
	set_firmware_watchdog(0);
	pager_show_document(&app->pager, &app->console, app->run.report.facts.options.prints.help ? "Options" : "Rules",
			    bytes);
	exit_application(app, EXIT_PASS, true);
	release_all_resources(app);
	firmware_free(bytes);
	return EFI_SUCCESS;
}

static EFI_STATUS
end_with_option_error(struct application *app, const char *error)
{
	struct report *report = &app->run.report;
	char sentence[SAVE_SENTENCE_SIZE];

	describe_machine(report, &app->machine.platform, &app->machine.smbios);
	return end_without_measuring(app, error, deliver_error_report(&app->plan, report, &report_page, error,
								      sentence) ? sentence : "");
}

/*
 * Reads the options into the run's report. Returns false if an option is wrong, and sets ERROR to a sentence that names
 * it.
 */
static bool
read_options(struct application *app, char error[OPTIONS_ERROR_SIZE])
{
	names_collect_option_ids(&app->names);
	const struct settings_other *other =
		netboot_find_options(&app->netboot, &app->console, &app->run.report, &app->machine.smbios);

	return settings_read(&app->machine.platform.cpu, &app->names.options, other, &app->run.report, error);
}

/* Returns the device that interrupts for the firmware's tick. */
static enum firmware_tick
find_device_of_tick(const struct run *run)
{
	const struct report_clock *hpet = report_find_clock(&run->report, "hpet");
	struct lapic lapic;

	if (hpet && hpet->clock.firmware_ticks)
		return FIRMWARE_TICK_HPET;
	if (!lapic_open(&lapic) && !(lapic_read(&lapic, LAPIC_LVT_TIMER) & LAPIC_LVT_MASKED))
		return FIRMWARE_TICK_LAPIC;
	return hw_in8(PIC_MASK_PORT) & PIC_IRQ_0 ? FIRMWARE_TICK_UNKNOWN : FIRMWARE_TICK_PIT;
}

static void
time_firmware(void *checkpoint, const struct platform *platform, struct run *run, bool is_last)
{
	const struct time_services services = {
		.tsc = run->survey.hooks.tsc_ordered, .scale = &run->survey.scale, .record = &run->survey.record,
		.is_quick = run->report.facts.options.profile == PROFILE_QUICK,
		.tick = find_device_of_tick(run), .fpdt = &platform->acpi.fpdt,
		.before_stall = checkpoint_save_before_dangerous_call, .context = checkpoint,
	};

	if (is_last)
		time_services_measure(&services);
	else
		time_services_find_second(&services);
}

/* Switches the firmware's watchdog off as the first phase starts, because a run may take longer than START_S. */
static void
start_phase(void *checkpoint, const struct run *run, const struct run_phase *phase)
{
	if (phase == run_phases)
		set_firmware_watchdog(0);
	checkpoint_mark_phase_start(checkpoint, run, phase);
}

static EFI_STATUS
measure_and_report(struct application *app)
{
	struct machine *machine = &app->machine;
	struct report *report = &app->run.report;
	char error[OPTIONS_ERROR_SIZE];

	/* Reads the boot entry before cores are started, because the firmware may not work afterwards. */
	app->is_installed = boot_entry_has_file_path();
	console_open(&app->console);
	draw_title(&app->console);
	machine->boot = (struct machine_boot){
		.needs_acpi = true,
		.count_firmware_cores = mp_count_listed_cores,
		.start_firmware_cores = mp_start_cores,
		.stop_firmware_cores = mp_stop_cores,
		.context = &app->checkpoint,
		.start_phase = start_phase,
		.set_cores = checkpoint_set_core_start_method,
		.mark_sleep_state = checkpoint_mark_sleep_state,
		.is_due = checkpoint_is_due,
		.save_due = checkpoint_save,
		.time_firmware = time_firmware,
	};
	machine_read_firmware_tables(machine, report);
	timestamp_add_rate_claim(&machine->platform.claims);
	console_add_port(&app->console, machine->platform.acpi.serial_port);
	bool good = read_options(app, error);

	serial_enable(&app->console.serial, report->facts.options.serial);
	console_print_serial(&app->console, "baretick " VERSION " (" COMMIT ")\n");
	machine_print_slow_instructions(&app->console);
	if (!good)
		return end_with_option_error(app, error);
	if (report->facts.options.prints.rules || report->facts.options.prints.help)
		return show_rules_or_help(app);
	describe_machine(report, &machine->platform, &machine->smbios);
	checkpoint_open(&app->checkpoint, report, &machine->smbios);
	boot_series_start(&app->series, &app->checkpoint, report);
	machine_choose_core_start_method(machine, report);
	if (!plan_allocate_memory(&app->plan, machine_count_cores(machine, &report->facts.options), &report_page,
				  report)) {
		checkpoint_close(&app->checkpoint, false);
		return end_without_measuring(app, NO_MEMORY, "");
	}
	checkpoint_set_plan(&app->checkpoint, &app->plan, &machine->progress);
	machine_run_measurements(machine, &app->plan, &app->console, &app->run);
	app->plan.progress = &machine->progress;
	app->pager.patience = app->is_installed && is_unattended(app) ? PATIENCE : 0;

	bool delivered = deliver_report(&app->console, &app->plan, report, &app->checkpoint, &app->pager);

	boot_series_end(&app->series, report);
	if (delivered)
		send_report_at_end(&app->send, report, &app->plan, &app->netboot.server, &app->pager);
	enum exit_result result = delivered ? get_exit_result(report->outcomes.verdict) : EXIT_ERROR;

	exit_application(app, result, !machine->cores.firmware_lost_cores);
	release_all_resources(app);
	return result == EXIT_PASS ? EFI_SUCCESS : EFI_ABORTED;
}

struct entry {
	struct application *app;
	EFI_STATUS status;
};

static void
run_measurements_and_store_exit_status(void *argument)
{
	struct entry *entry = argument;

	entry->status = measure_and_report(entry->app);
}

/*
 * Ends the run after an exception outside of the measurements. No report is written. The volume may have a checkpoint.
 */
static EFI_STATUS
end_after_fault(struct application *app, const struct fault *fault)
{
	char bytes[OPTIONS_ERROR_SIZE];
	struct fault again;

	watchdog_disarm(&app->machine.watchdog);
	guard_run(machine_restore_boot_core, &app->run, &again);
	struct text text = text_start(bytes, sizeof(bytes));
	fault_print_baretick_exception(&text, fault);
	text_put_char(&text, '\n');
	show_error(app, bytes);
	exit_application(app, EXIT_ERROR, !app->machine.cores.firmware_lost_cores);
	release_all_resources(app);
	return EFI_ABORTED;
}

/* GNU-EFI's crt0 calls this function since version 3.0.18. Older versions call efi_main. */
EFI_STATUS
_entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	return efi_main(image, system);
}

EFI_STATUS
efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	struct application *app;

	firmware_image = image;
	firmware_system = system;
	firmware_boot = system->BootServices;
	firmware_start_tsc = hw_tsc();
	/* printed before anything else: a machine that stops without this line did not stop in baretick */
	print_on_firmware_console((CHAR16 *)START_LINE);
	app = firmware_allocate(sizeof(*app));
	if (!app) {
		print_on_firmware_console((CHAR16 *)L"error: " NO_MEMORY "\r\n");
		return EFI_OUT_OF_RESOURCES;
	}
	set_firmware_watchdog(START_S);
	struct entry entry = { .app = app };
	struct fault fault;

	guard_install_handlers();
	if (!guard_run(run_measurements_and_store_exit_status, &entry, &fault))
		entry.status = end_after_fault(app, &fault);
	guard_restore_handlers();
	firmware_boot->FreePool(app);
	return entry.status;
}
