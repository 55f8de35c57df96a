/* CPUID and MSRs of the simulated machine, and the facts in struct platform that come from them. */
#include "sim_internal.h"

#include "hw/cpu.h"
#include "paravirtual/leaves.h"

#define MSR_APIC_BASE  0x1bu
#define MSR_TSC_AUX    0xc0000103u /* the MSR that RDTSCP returns in ECX */

void
sim_cpuid_set(uint32_t leaf, uint32_t subleaf, struct hw_cpuid registers)
{
	size_t i = 0;

	while (i < sim.cpuid_count &&
	       (sim.cpuid[i].leaf != leaf || sim.cpuid[i].subleaf != subleaf))
		i++;
	if (i == SIM_CPUID_MAX)
		sim_fail("no room for another CPUID leaf");
	sim.cpuid[i].leaf = leaf;
	sim.cpuid[i].subleaf = subleaf;
	sim.cpuid[i].registers = registers;
	if (i == sim.cpuid_count)
		sim.cpuid_count++;
}

uint64_t
sim_msr_get(uint32_t msr)
{
	for (size_t i = 0; i < sim.msr_count; i++)
		if (sim.msrs[i].msr == msr)
			return sim.msrs[i].value;
	sim_fail("#GP: there is no MSR %xh", msr);
}

void
sim_msr_set(uint32_t msr, uint64_t value)
{
	size_t i = 0;

	while (i < sim.msr_count && sim.msrs[i].msr != msr)
		i++;
	if (i == SIM_MSRS_MAX)
		sim_fail("no room for another MSR");
	sim.msrs[i].msr = msr;
	sim.msrs[i].value = value;
	if (i == sim.msr_count)
		sim.msr_count++;
}

void
sim_cpu_reset(void)
{
	static const struct {
		uint32_t leaf;
		struct hw_cpuid registers;
	} leaves[] = {
		{ 0x0, { 0x16, 0x756e6547, 0x6c65746e, 0x49656e69 } }, /* maximum leaf 16h, vendor GenuineIntel */
		{ 0x1, { 0x000906ea, 0, 0x00200000, 0x00000210 } }, /* features: x2APIC in ECX, TSC and APIC in EDX */
		{ 0x7, { 0, 0x00000002, 0, 0 } },                     /* feature: TSC_ADJUST */
		{ 0xb, { 0, 0, 0, 0 } },
		{ 0x15, { 2, 20, 100000000, 0 } },                     /* the TSC's rate: 100 MHz * 20 / 2 = 1 GHz */
		{ 0x16, { 1000, 1000, 100, 0 } },
		{ 0x80000000, { 0x80000008, 0, 0, 0 } },
		{ 0x80000001, { 0, 0, 0, 0x08000000 } },               /* feature: RDTSCP */
		{ 0x80000007, { 0, 0, 0, 0x00000100 } },               /* feature: invariant TSC */
	};

	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		sim_cpuid_set(leaves[i].leaf, 0, leaves[i].registers);
	sim_msr_set(MSR_APIC_BASE, SIM_LAPIC_BASE | 0x900); /* the APIC is enabled, and this core is the boot core */
	sim_msr_set(MSR_TSC_ADJUST, 0);
	sim_msr_set(MSR_TSC_AUX, 0);
}

void
sim_describe_platform(struct platform *platform)
{
	*platform = (struct platform){
		.acpi = {
			.found = true,
			.fadt = {
				.found = true, .pm_tmr_blk = SIM_PM_PORT,
				.pm_tmr_len = 4,
				.tmr_val_ext = sim.pm.counter.wrap_bits == 32,
			},
			.hpet = {
				.found = true,
				.space = ACPI_SPACE_MEMORY, .base = SIM_HPET_BASE,
			},
		},
	};
	if (sim.interrupts.plugged) {
		platform->acpi.madt.found = true;
		platform->acpi.madt.ioapic_count = 1;
		platform->acpi.madt.ioapics[0].address = SIM_IOAPIC_BASE;
		platform->acpi.madt.override_count = 1;
		platform->acpi.madt.overrides[0] = (struct acpi_override){ .irq = 0, .pin = 2 };
		platform->acpi.fadt.pm1_evt_blk = SIM_PM1_PORT;
		platform->acpi.fadt.pm1_evt_len = 4;
		platform->acpi.fadt.sci_int = 9;
	}
	cpu_read_facts(&platform->cpu);
	paravirtual_read_interfaces(&platform->cpu, NULL, &platform->paravirtual);
	platform_read_rate_claims(platform, NULL);
	platform->pages = sim.pages;
	platform->unused_page = sim.unused_page;
}
