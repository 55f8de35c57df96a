/*
 * The life of a run: console, options, facts, clocks, cores, judgement, report, and the way out. Everything
 * that lasts longer than a function is in one struct run, allocated before the first measurement.
 */
#include "as_found.h"
#include "checks.h"
#include "console.h"
#include "cores.h"
#include "cpu.h"
#include "csv.h"
#include "driver.h"
#include "files.h"
#include "firmware.h"
#include "html.h"
#include "json.h"
#include "leave.h"
#include "mp.h"
#include "page.h"
#include "plan.h"
#include "processor.h"
#include "progress.h"
#include "recommend.h"
#include "report.h"
#include "rules.h"
#include "rules_print.h"
#include "settings.h"
#include "sha256.h"
#include "survey.h"
#include "table.h"
#include "text.h"

#define DRIVERS_MAX   8
#define SAMPLES       8192
#define SUMMARY_SIZE  4096
#define RULES_TEXT_SIZE (64u << 10)
#define NO_MEMORY "the firmware has too little memory for a report"
#define NOT_TOLD "error: the report does not fit the memory that the firmware gave\n"
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
	char saved[CONSOLE_LINE]; /* where the report is, "" while it is nowhere */
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

static const char *
accelerator_of(const char *hypervisor)
{
	static const struct {
		const char *signature, *word;
	} known[] = {
		{ "", "none" },
		{ "TCGTCGTCGTCG", "tcg" },
		{ "KVMKVMKVM", "kvm" },
		{ "Microsoft Hv", "hyperv" },
		{ "VMwareVMware", "vmware" },
		{ "XenVMMXenVMM", "xen" },
		{ "bhyve bhyve ", "bhyve" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text_equal(known[i].signature, hypervisor))
			return known[i].word;
	return "unknown";
}

static void
describe_machine(struct run *run)
{
	struct report *report = &run->report;
	const struct cpu_facts *cpu = &run->platform.cpu;
	char vendor[64];
	struct text text;
	EFI_TIME now;

	report->version = VERSION;
	report->commit = COMMIT;
	__builtin_memcpy(report->cpu, cpu->brand[0] ? cpu->brand : cpu->vendor,
			 cpu->brand[0] ? sizeof(cpu->brand) : sizeof(cpu->vendor));
	__builtin_memcpy(report->hypervisor, cpu->hypervisor, sizeof(report->hypervisor));
	text_init(&text, report->accelerator, sizeof(report->accelerator));
	text_put(&text, accelerator_of(cpu->hypervisor));
	firmware_ascii(firmware_system->FirmwareVendor, vendor, sizeof(vendor));
	text_init(&text, report->firmware, sizeof(report->firmware));
	text_printf(&text, "%s %u.%02u, UEFI %u.%u", vendor, firmware_system->FirmwareRevision >> 16,
		    firmware_system->FirmwareRevision & 0xffff, firmware_system->Hdr.Revision >> 16,
		    (firmware_system->Hdr.Revision & 0xffff) / 10);
	report->fence = cpu->lfence_serialises ? "lfence;rdtsc" : "mfence;lfence;rdtsc";
	report->tsc_is_invariant = cpu->tsc_is_invariant;
	report->cores_listed = run->platform.acpi.madt.found ? run->platform.acpi.madt.enabled : 1;
	if (EFI_ERROR(firmware_system->RuntimeServices->GetTime(&now, NULL)))
		return;
	text_init(&text, report->started_at, sizeof(report->started_at));
	text_printf(&text, "%04u-%02u-%02uT%02u:%02u:%02u", now.Year, now.Month, now.Day, now.Hour,
		    now.Minute, now.Second);
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

/* One block for programs: its lines between two markers, the second with the digest of what lies between. */
static void
put_block(struct console *console, const char *name, const struct text *body)
{
	char line_bytes[128];
	char hex[SHA256_HEX_SIZE];
	struct text line;

	sha256_hex(body->bytes, body->length, hex);
	text_init(&line, line_bytes, sizeof(line_bytes));
	text_printf(&line, "BARETICK %s BEGIN\n", name);
	console_serial(console, line_bytes);
	console_serial(console, body->bytes);
	text_init(&line, line_bytes, sizeof(line_bytes));
	text_printf(&line, "BARETICK %s END sha256=%s\n", name, hex);
	console_serial(console, line_bytes);
}

/* The four files; false, and REASON a sentence, where one of them could not be written. */
static bool
write_files(const struct plan *plan, const char *folder, char reason[FILES_REASON_SIZE])
{
	const struct {
		const char *name;
		const struct text *text;
	} files[] = {
		{ "report.json", &plan->json },
		{ "report.txt", &plan->table },
		{ "report.html", &plan->html },
		{ "report.csv", &plan->csv },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!files_write(folder, files[i].name, files[i].text->bytes, files[i].text->length, reason))
			return false;
	return true;
}

static void
save(struct run *run)
{
	char folder[FILES_FOLDER_SIZE], reason[FILES_REASON_SIZE];
	struct text line;

	if (!run->report.options.save)
		return;
	if (!files_make_folder(folder, reason) || !write_files(&run->plan, folder, reason)) {
		report_note(&run->report, "%s", reason);
		return;
	}
	text_init(&line, run->saved, sizeof(run->saved));
	text_printf(&line, " Report saved on the boot volume in %s", folder);
	console_serial(&run->console, run->saved + 1);
	console_serial(&run->console, "\n");
}

/* False: some text does not fit, which its room is there to rule out. */
static bool
render(struct run *run)
{
	const struct html_page page = { page_bytes, (size_t)(page_end - page_bytes) };
	struct text *texts[] = { &run->plan.table, &run->plan.json, &run->plan.html, &run->plan.csv };
	bool fit = true;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		text_init(texts[i], texts[i]->bytes, texts[i]->size);
	table_render(&run->plan.table, &run->report);
	json_render(&run->plan.json, &run->report);
	html_render(&run->plan.html, page, &run->report);
	csv_render(&run->plan.csv, &run->report);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fit &= !texts[i]->truncated;
	return fit;
}

static void
show_summary(struct run *run)
{
	char *bytes = firmware_allocate(SUMMARY_SIZE);
	struct text summary;

	if (!bytes)
		return;
	text_init(&summary, bytes, SUMMARY_SIZE);
	table_summary(&summary, &run->report);
	console_clear(&run->console);
	console_screen(&run->console, bytes);
	if (run->console.rows > 0)
		console_row(&run->console, run->console.rows - 1, run->saved);
	firmware_boot->FreePool(bytes);
}

static bool
tell(struct run *run)
{
	size_t notes;

	rules_judge(&run->report);
	recommend(&run->report);
	if (!render(run)) {
		console_put(&run->console, NOT_TOLD);
		return false;
	}
	notes = run->report.note_count;
	save(run);
	if (run->report.note_count != notes)
		render(run); /* with the sentence on the volume */
	show_summary(run);
	put_block(&run->console, "TEXT", &run->plan.table);
	put_block(&run->console, "CSV", &run->plan.csv);
	put_block(&run->console, "REPORT", &run->plan.json);
	return true;
}

static void
list_clock_ids(struct run *run)
{
	size_t count = 0;

	for (size_t d = 0; drivers[d]; d++)
		for (size_t i = 0; i < drivers[d]->clock_count && count < REPORT_CLOCKS_MAX; i++)
			run->clock_ids[count++] = drivers[d]->ids[i];
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
	leave(&run->console, run->report.options.exit, LEAVE_ERROR, true, bytes, "");
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
	put_block(&run->console, "TEXT", &text);
	leave(&run->console, run->report.options.exit, LEAVE_PASS, true, bytes, "");
	firmware_boot->FreePool(bytes);
	console_close(&run->console);
	return EFI_SUCCESS;
}

/* For those who come back to a shell: what this run took of the firmware. */
static void
give_back(struct run *run)
{
	plan_give_back(&run->plan);
	progress_end(&run->progress);
	console_close(&run->console);
}

static EFI_STATUS
run_all(struct run *run)
{
	char error[OPTIONS_ERROR_SIZE];
	struct options *options = &run->report.options;

	console_open(&run->console);
	console_put(&run->console, "baretick " VERSION " (" COMMIT ")\n");
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
	describe_machine(run);
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

	bool told = tell(run);
	bool can_return = !run->cores.taken;

	leave(&run->console, options->exit, told ? leave_result_of(run->report.verdict) : LEAVE_ERROR,
	      can_return, told ? run->plan.table.bytes : NOT_TOLD, run->saved);
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
