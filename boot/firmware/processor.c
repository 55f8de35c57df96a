/* Descriptor tables, control registers and LAPIC of the core that runs this. See processor.h. */
#include "processor.h"

#include "lapic.h"

struct descriptor_table {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

void
processor_as_found(struct as_found *registers)
{
	struct descriptor_table idt, gdt;
	uint64_t cr3, cr4;
	struct lapic lapic;

	__asm__ volatile("sidt %0" : "=m"(idt));
	__asm__ volatile("sgdt %0" : "=m"(gdt));
	__asm__ volatile("movq %%cr3, %0" : "=r"(cr3));
	__asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
	as_found_add(registers, "the IDT's base", idt.base);
	as_found_add(registers, "the GDT's base", gdt.base);
	as_found_add(registers, "CR3", cr3);
	as_found_add(registers, "CR4", cr4);
	if (lapic_open(&lapic))
		return;
	as_found_add(registers, "the LAPIC's timer vector", lapic_read(&lapic, LAPIC_LVT_TIMER));
	as_found_add(registers, "the LAPIC timer's initial count", lapic_read(&lapic, LAPIC_INITIAL_COUNT));
	as_found_add(registers, "the LAPIC timer's divider", lapic_read(&lapic, LAPIC_DIVIDE));
	as_found_add(registers, "the LAPIC's spurious vector", lapic_read(&lapic, LAPIC_SVR));
}
