/* Describes the machine in the report. See describe.h. */
#include "firmware/describe.h"

#include "base/text.h"
#include "firmware/firmware.h"

static const char *
get_accelerator_name(const char *hypervisor)
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
join_two_names(char *out, size_t size, const char *first, const char *second)
{
	text_format(out, size, "%s%s%s", first, first[0] && second[0] ? " " : "", second);
}

/*
 * Fills in REPORT's identity. Strings are copied as whole arrays, because source and destination have the same size and
 * end with a 0.
 */
static void
describe_machine_identity(struct report *report, const struct platform *platform, const struct smbios_facts *smbios)
{
	struct report_identity *identity = &report->facts.machine.identity;
	struct cpu_identity cpu;

	_Static_assert(SMBIOS_STRING_SIZE == REPORT_NAME_SIZE && sizeof(identity->oem) == sizeof(platform->acpi.oem) &&
		       sizeof(identity->host) == sizeof(cpu.host), "arrays of equal size");
	cpu_read_identity(&platform->cpu, &cpu);
	__builtin_memcpy(identity->vendor, smbios->vendor, sizeof(identity->vendor));
	__builtin_memcpy(identity->product, smbios->product, sizeof(identity->product));
	if (report->facts.options.identity)
		__builtin_memcpy(identity->serial, smbios->serial, sizeof(identity->serial));
	join_two_names(identity->board, sizeof(identity->board), smbios->board_vendor, smbios->board_product);
	join_two_names(identity->bios, sizeof(identity->bios), smbios->bios_vendor, smbios->bios_version);
	__builtin_memcpy(identity->bios_date, smbios->bios_date, sizeof(identity->bios_date));
	__builtin_memcpy(identity->oem, platform->acpi.oem, sizeof(identity->oem));
	__builtin_memcpy(identity->host, cpu.host, sizeof(identity->host));
	identity->cpu_known = cpu.known;
	identity->family = cpu.family;
	identity->model = cpu.model;
	identity->stepping = cpu.stepping;
	identity->microcode = cpu.microcode;
}

void
describe_machine(struct report *report, const struct platform *platform, const struct smbios_facts *smbios)
{
	const struct cpu_facts *cpu = &platform->cpu;

	report->facts.run.version = VERSION;
	report->facts.run.commit = COMMIT;
	__builtin_memcpy(report->facts.machine.cpu, cpu->brand[0] ? cpu->brand : cpu->vendor,
			 cpu->brand[0] ? sizeof(cpu->brand) : sizeof(cpu->vendor));
	report->facts.machine.paravirtual = platform->paravirtual;
	report->facts.claim_count = 0;
	for (size_t i = 0; i < platform->claims.count; i++)
		report_add_claim(report, &platform->claims.rows[i]);
	__builtin_memcpy(report->facts.machine.cpu_vendor, cpu->vendor, sizeof(report->facts.machine.cpu_vendor));
	__builtin_memcpy(report->facts.machine.hypervisor, cpu->hypervisor, sizeof(report->facts.machine.hypervisor));
	text_copy(report->facts.machine.accelerator, sizeof(report->facts.machine.accelerator),
		  get_accelerator_name(cpu->hypervisor));
	struct text text = text_start(report->facts.machine.firmware, sizeof(report->facts.machine.firmware));
	firmware_print_name(&text);
	describe_machine_identity(report, platform, smbios);
	report->facts.machine.fence = cpu->lfence_serialises ? "lfence;rdtsc" : "mfence;lfence;rdtsc";
	report->facts.machine.tsc_is_invariant = cpu->tsc_is_invariant;
	report->facts.machine.lapic_always_runs = cpu->lapic_always_runs;
	report->facts.machine.cores_listed = platform->acpi.madt.enabled ? platform->acpi.madt.enabled : 1;
	report->facts.machine.linux_distrusts_tsc = cpu_does_linux_distrust_tsc(cpu,
										report->facts.machine.cores_listed);
	text_init(&text, report->facts.run.started_at, sizeof(report->facts.run.started_at));
	firmware_print_time(&text);
}
