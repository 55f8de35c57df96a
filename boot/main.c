/*
 * The life of a run: console, options, facts, clocks, cores, judgement, report, and the way out. Everything
 * that lasts longer than a function is in one struct run, allocated before the first measurement.
 */
#include "as_found.h"
#include "checks.h"
#include "console.h"
#include "cores.h"
#include "cpu.h"
#include "describe.h"
#include "driver.h"
#include "firmware.h"
#include "leave.h"
#include "mp.h"
#include "plan.h"
#include "processor.h"
#include "progress.h"
#include "report.h"
#include "rules.h"
#include "rules_print.h"
#include "settings.h"
#include "survey.h"
#include "tell.h"
#include "text.h"

#define DRIVERS_MAX   8
#define SAMPLES       8192
#define RULES_TEXT_SIZE (64u << 10)
#define NO_MEMORY "the firmware has too little memory for a report"
#define DEADLINE_FACTOR 3
#define DEADLINE_EXTRA_NS (60 * UINT64_C(1000000000))

struct run {
	struct console console;
	struct platform platform;
	struct report report;
	struct latency latencies[REPORT_CLOCKS_MAX];
	struct device devices[DRIVERS_MAX];
	struct clock rows[DRIVERS_MAX][DRIVER_CLOCKS_MAX]; /* of each driver, as its open left them */
	struct survey survey;
	struct sample samples[SAMPLES];
	struct latency scratch;
	struct plan plan;
	struct cores cores;
	struct crew crew;
	struct progress progress;
	struct acpi_core acpi_cores[ACPI_CORES_MAX];
	const char *clock_ids[REPORT_CLOCKS_MAX + 1];
	const char *rule_ids[RULES_MAX + 1];
	struct as_found before, after;
	struct pager pager;
};

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);
EFI_STATUS _entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static const uint8_t *
memory_at(void *context, uint64_t address, size_t length)
{
	(void)context;
	return address && hw_is_mapped(address, length) ? (const uint8_t *)(uintptr_t)address : NULL;
}

static bool
wanted(const struct options *options, const char *id)
{
	for (size_t i = 0; i < options->clock_count; i++)
		if (text_equal(options->clocks[i], id))
			return true;
	return options->clock_count == 0;
}

/* Opens every driver of which a row is wanted, and keeps those rows. */
static void
open_clocks(struct run *run)
{
	for (size_t d = 0; drivers[d] && d < DRIVERS_MAX; d++) {
		struct clock *rows = run->rows[d];
		bool any = false;

		for (size_t i = 0; i < drivers[d]->clock_count; i++)
			any |= wanted(&run->report.options, drivers[d]->ids[i]);
		if (!any)
			continue;
		drivers[d]->open(&run->platform, &run->devices[d], rows);
		for (size_t i = 0; i < drivers[d]->clock_count; i++) {
			struct report_clock *entry = &run->report.clocks[run->report.clock_count];

			if (!wanted(&run->report.options, rows[i].id) ||
			    run->report.clock_count == REPORT_CLOCKS_MAX)
				continue;
			entry->clock = rows[i];
			entry->latency = &run->latencies[run->report.clock_count++];
		}
	}
}

static void
close_clocks(struct run *run)
{
	for (size_t d = 0; drivers[d] && d < DRIVERS_MAX; d++)
		drivers[d]->close(&run->devices[d]);
}

static void
read_registers(const struct run *run, struct as_found *registers)
{
	as_found_read(registers, &run->platform);
	processor_as_found(registers, &run->platform.cpu);
}

/* What the run did not put back is said in its own report. */
static void
compare_registers(struct run *run)
{
	const struct as_found *before = &run->before, *after = &run->after;
	size_t i = as_found_difference(before, after);

	if (i < before->count)
		report_note(&run->report, "Not put back as found: %s was %lxh and is %lxh.",
			    before->registers[i].name, before->registers[i].value,
			    after->registers[i].value);
}

static void
read_acpi(struct run *run)
{
	const struct acpi_memory memory = { memory_at, NULL };

	run->platform.acpi.madt.cores = run->acpi_cores;
	run->platform.acpi.madt.core_max = ACPI_CORES_MAX;
	acpi_read_facts(&memory, firmware_rsdp(), &run->platform.acpi);
	for (size_t i = 0; i < run->platform.acpi.problem_count; i++)
		rules_add_finding(&run->report, "acpi-table", NULL, REPORT_NO_CORE, "%s",
				  run->platform.acpi.problems[i]);
}

/* How many cores the run may have, as far as can be told before they are started. */
static size_t
cores_to_come(const struct run *run)
{
	switch (run->report.options.cores) {
	case CORES_SIPI:
		return cores_listed(&run->platform.acpi.madt, run->platform.cpu.apic_id);
	case CORES_MP:
		return mp_listed();
	default:
		return 1;
	}
}

/* Starts the cores as the options say, within the plan. */
static void
start_cores(struct run *run)
{
	const struct options *options = &run->report.options;
	const struct cores_limits limits = { run->plan.cores, options->cores_max };
	uint32_t own = run->platform.cpu.apic_id;

	if (run->survey.tsc_stands)
		return; /* nothing could be measured from them, and no wait for them would end in time */
	if (options->cores == CORES_SIPI)
		cores_start(&run->cores, &run->platform.acpi.madt, own, limits, run->report.tsc,
			    &run->crew);
	else if (options->cores == CORES_MP)
		mp_start(&run->cores, own, limits, run->report.tsc, &run->crew);
	else
		cores_off(&run->cores, own, &run->crew);
	if (run->cores.reason[0])
		report_note(&run->report, "%s", run->cores.reason);
}

static void
describe_cores(struct run *run)
{
	struct report *report = &run->report;

	report->core_count = run->cores.count;
	report->cores_started = 0;
	for (size_t i = 0; i < run->cores.count; i++) {
		report->cores[i].apic_id = run->cores.records[i].apic_id;
		report->cores[i].started = run->cores.records[i].started;
		report->cores[i].boot = i == 0;
		report->cores_started += report->cores[i].started;
		__builtin_memcpy(report->cores[i].reason, run->cores.records[i].reason, CLOCK_REASON_SIZE);
	}
}

static void
stop_cores(struct run *run)
{
	if (run->report.options.cores == CORES_SIPI)
		cores_stop(&run->cores);
	else if (run->report.options.cores == CORES_MP)
		mp_stop(&run->cores);
}

static void
prepare_survey(struct run *run)
{
	struct survey *survey = &run->survey;
	struct report *report = &run->report;
	size_t cores_max = report->options.cores_max;

	survey->report = report;
	survey->crew = &run->crew;
	survey->samples = run->samples;
	survey->sample_max = SAMPLES;
	survey->scratch = &run->scratch;
	survey->hooks = progress_hooks(&run->progress, &run->console, run->platform.cpu.lfence_serialises);
	survey_lay_out(survey, run->plan.room, run->plan.cores, run->plan.widest);
	report->cores = survey->room.rows;
	cores_off(&run->cores, run->platform.cpu.apic_id, &run->crew);
	/* For the plan of the time; replaced when they are started. */
	run->crew.count = run->plan.cores < cores_max ? run->plan.cores : cores_max;
	survey_prepare(survey);
	progress_begin(&run->progress, survey->scale.hz,
		       report->options.deadline_ns ? report->options.deadline_ns :
			       DEADLINE_FACTOR * survey->total_ns + DEADLINE_EXTRA_NS);
}

static void
measure(struct run *run)
{
	struct survey *survey = &run->survey;

	prepare_survey(run);
	survey_rates(survey);
	progress_rate(&run->progress, survey->scale.hz);
	survey_latencies(survey);
	start_cores(run);
	describe_cores(run);
	survey_facts(survey);
	survey_skew(survey);
	survey_cores(survey);
	if (run->report.options.profile == PROFILE_SOAK)
		survey_skew(survey);
	survey_contended(survey);
	survey_warps(survey);
	survey_interference(survey);
	survey_skew(survey);
	stop_cores(run);
	describe_cores(run);
	survey_rates_again(survey);
	checks_run(&run->platform, run->devices, (const struct clock(*)[DRIVER_CLOCKS_MAX])run->rows, survey);
}

/* The measuring, and how many SMIs the boot core took meanwhile, where it says so. */
static void
measure_counting_smis(struct run *run)
{
	struct report_interference *interference = &run->report.interference;
	bool counts = run->platform.cpu.counts_smis;
	uint32_t before = counts ? cpu_smi_count() : 0;

	measure(run);
	interference->smi_known = counts;
	interference->smi_count = counts ? cpu_smi_count() - before : 0;
}

static void
list_clock_ids(struct run *run)
{
	size_t count = 0;

	for (size_t d = 0; drivers[d]; d++)
		for (size_t i = 0; i < drivers[d]->clock_count && count < REPORT_CLOCKS_MAX; i++)
			run->clock_ids[count++] = drivers[d]->ids[i];
}

/* For those who come back to a shell: what this run took of the firmware. */
static void
give_back(struct run *run)
{
	console_close(&run->console);
	pager_close(&run->pager);
	progress_end(&run->progress);
	plan_give_back(&run->plan);
}

/* The run did not start: says why, and ends as an error. */
static EFI_STATUS
refuse(struct run *run, const char *error)
{
	char bytes[OPTIONS_ERROR_SIZE + 64];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	text_printf(&text, "error: %s\nNothing was measured.\n", error);
	console_put(&run->console, bytes);
	pager_document(&run->pager, &run->console, "Error", bytes);
	leave(&run->console, run->report.options.exit, LEAVE_ERROR, true, &run->pager);
	give_back(run);
	return EFI_INVALID_PARAMETER;
}

/* The option rules: the catalogue instead of a run. */
static EFI_STATUS
show_rules(struct run *run)
{
	char *bytes = firmware_allocate(RULES_TEXT_SIZE);
	struct text text;

	if (!bytes)
		return refuse(run, NO_MEMORY);
	text_init(&text, bytes, RULES_TEXT_SIZE);
	rules_print(&text, &run->report.options);
	tell_block(&run->console, "TEXT", &text);
	pager_document(&run->pager, &run->console, "Rules", bytes);
	leave(&run->console, run->report.options.exit, LEAVE_PASS, true, &run->pager);
	give_back(run);
	firmware_boot->FreePool(bytes);
	return EFI_SUCCESS;
}

static EFI_STATUS
run_all(struct run *run)
{
	char error[OPTIONS_ERROR_SIZE];
	struct options *options = &run->report.options;

	console_open(&run->console);
	console_row(&run->console, 0, INK_BAR, " baretick " VERSION " (" COMMIT ")   Measuring");
	console_serial(&run->console, "baretick " VERSION " (" COMMIT ")\n");
	cpu_read_facts(&run->platform.cpu);
	list_clock_ids(run);
	rules_limit_ids(run->rule_ids);
	const struct options_names names = { run->clock_ids, run->rule_ids };

	if (!settings_read(&run->platform.cpu, &names, options, error))
		return refuse(run, error);
	if (options->rules)
		return show_rules(run);
	run->report.duration_ns = options_duration_ns(options);
	read_acpi(run);
	describe_machine(&run->report, &run->platform);
	if (!plan_take(&run->plan, cores_to_come(run), &run->report))
		return refuse(run, NO_MEMORY);
	read_registers(run, &run->before);
	open_clocks(run);
	measure_counting_smis(run);
	close_clocks(run);
	read_registers(run, &run->after);
	compare_registers(run);
	run->report.elapsed_ms = progress_elapsed_ms(&run->progress);
	run->report.elapsed_known = run->report.tsc.den != 0;

	bool told = tell(&run->console, &run->plan, &run->report, &run->pager);
	bool can_return = !run->cores.taken;

	leave(&run->console, options->exit, told ? leave_result_of(run->report.verdict) : LEAVE_ERROR,
	      can_return, &run->pager);
	give_back(run);
	return told && leave_result_of(run->report.verdict) == LEAVE_PASS ? EFI_SUCCESS : EFI_ABORTED;
}

/* What crt0 of GNU-EFI 3.0.18 calls in place of efi_main; older ones don't know it. */
EFI_STATUS
_entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	return efi_main(image, system);
}

EFI_STATUS
efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	struct run *run;

	firmware_image = image;
	firmware_system = system;
	firmware_boot = system->BootServices;
	run = firmware_allocate(sizeof(*run));
	if (!run) {
		system->ConOut->OutputString(system->ConOut, (CHAR16 *)L"baretick: no memory\r\n");
		return EFI_OUT_OF_RESOURCES;
	}
	EFI_STATUS status = run_all(run);

	firmware_boot->FreePool(run);
	return status;
}
