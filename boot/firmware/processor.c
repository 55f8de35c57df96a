/*
 * Reads the calling core's descriptor tables, control registers and LAPIC, and loads its interrupt table. See
 * processor.h.
 */
#include "firmware/processor.h"

#include "hw/lapic.h"
#include "hw/paging.h"

struct table_register
processor_read_gdtr(void)
{
	struct table_register value;

	__asm__ volatile("sgdt %0" : "=m"(value));
	return value;
}

struct table_register
processor_read_idtr(void)
{
	struct table_register value;

	__asm__ volatile("sidt %0" : "=m"(value));
	return value;
}

void
processor_set_idtr(const struct table_register *value)
{
	__asm__ volatile("lidt %0" : : "m"(*value));
}

void
processor_read_registers(struct as_found *registers)
{
	struct lapic lapic;

	as_found_add_register(registers, "the IDT's base", processor_read_idtr().base);
	as_found_add_register(registers, "the GDT's base", processor_read_gdtr().base);
	as_found_add_register(registers, "CR3", read_cr3());
	as_found_add_register(registers, "CR4", read_cr4());
	if (lapic_open(&lapic))
		return;
	as_found_add_register(registers, "the LAPIC's timer vector", lapic_read(&lapic, LAPIC_LVT_TIMER));
	as_found_add_register(registers, "the LAPIC timer's initial count", lapic_read(&lapic, LAPIC_INITIAL_COUNT));
	as_found_add_register(registers, "the LAPIC timer's divider", lapic_read(&lapic, LAPIC_DIVIDE));
	as_found_add_register(registers, "the LAPIC's spurious vector", lapic_read(&lapic, LAPIC_SVR));
}
