/* Descriptor tables, control registers and LAPIC of the core that runs this. See processor.h. */
#include "processor.h"

#include "hw.h"

#define MSR_APIC_BASE   0x1bu /* SDM vol. 4, table 2-2: IA32_APIC_BASE */
#define APIC_BASE_MASK  UINT64_C(0x000ffffffffff000)
#define APIC_ENABLED    (1u << 11)
#define APIC_X2APIC     (1u << 10)
#define MSR_X2APIC      0x800u /* SDM vol. 3A, 10.12.1.2: MSR 800h + page offset / 16 */
#define LAPIC_SPURIOUS  0xf0u  /* SDM vol. 3A, table 10-1 */
#define LAPIC_LVT_TIMER 0x320u
#define LAPIC_INITIAL   0x380u
#define LAPIC_DIVIDE    0x3e0u
#define CPUID_1_EDX_APIC (1u << 9)

struct descriptor_table {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static uint64_t
lapic_register(uint64_t apic_base, uint32_t offset)
{
	if (apic_base & APIC_X2APIC)
		return hw_msr_read(MSR_X2APIC + offset / 16);
	return hw_read32((apic_base & APIC_BASE_MASK) + offset);
}

void
processor_as_found(struct as_found *registers, const struct cpu_facts *cpu)
{
	struct descriptor_table idt, gdt;
	uint64_t cr3, cr4, apic_base;

	__asm__ volatile("sidt %0" : "=m"(idt));
	__asm__ volatile("sgdt %0" : "=m"(gdt));
	__asm__ volatile("movq %%cr3, %0" : "=r"(cr3));
	__asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
	as_found_add(registers, "the IDT's base", idt.base);
	as_found_add(registers, "the GDT's base", gdt.base);
	as_found_add(registers, "CR3", cr3);
	as_found_add(registers, "CR4", cr4);
	if (cpu->basic_leaf_max < 1 || !(hw_cpuid(1, 0).edx & CPUID_1_EDX_APIC))
		return;
	apic_base = hw_msr_read(MSR_APIC_BASE);
	if (!(apic_base & APIC_ENABLED))
		return;
	as_found_add(registers, "the LAPIC's timer vector", lapic_register(apic_base, LAPIC_LVT_TIMER));
	as_found_add(registers, "the LAPIC timer's initial count", lapic_register(apic_base, LAPIC_INITIAL));
	as_found_add(registers, "the LAPIC timer's divider", lapic_register(apic_base, LAPIC_DIVIDE));
	as_found_add(registers, "the LAPIC's spurious vector", lapic_register(apic_base, LAPIC_SPURIOUS));
}
