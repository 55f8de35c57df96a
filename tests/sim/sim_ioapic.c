/* The I/O APIC of the simulated machine, by the 82093AA data sheet. An interrupt at a masked pin is lost. */
#include "sim_sources.h"

#include "sim_internal.h"

#define IOAPIC_SELECT   0x00u
#define IOAPIC_WINDOW   0x10u
#define IOAPIC_VERSION  1u
#define IOAPIC_ENTRY    0x10u
#define ENTRY_MASKED    (UINT64_C(1) << 16)

static struct sim_interrupts *const all = &sim.interrupts;

uint64_t
sim_ioapic_read(uint64_t address, unsigned width_bytes)
{
	uint32_t entry = (all->selected - IOAPIC_ENTRY) / 2;

	if (address - SIM_IOAPIC_BASE == IOAPIC_SELECT)
		return all->selected;
	if (all->selected == IOAPIC_VERSION)
		return (SIM_IOAPIC_PINS - 1) << 16 | 0x20;
	if (all->selected < IOAPIC_ENTRY || entry >= SIM_IOAPIC_PINS)
		return 0;
	return (uint32_t)(all->entries[entry] >> (all->selected % 2 ? 32 : 0));
}

void
sim_ioapic_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	uint32_t entry = (all->selected - IOAPIC_ENTRY) / 2, shift = all->selected % 2 ? 32 : 0;

	if (address - SIM_IOAPIC_BASE == IOAPIC_SELECT)
		all->selected = (uint32_t)value;
	else if (address - SIM_IOAPIC_BASE == IOAPIC_WINDOW && all->selected >= IOAPIC_ENTRY && entry < SIM_IOAPIC_PINS)
		all->entries[entry] = (all->entries[entry] & ~(UINT64_C(0xffffffff) << shift)) | (value & 0xffffffff) << shift;
}

void
sim_ioapic_reset(void)
{
	for (size_t i = 0; i < SIM_IOAPIC_PINS; i++)
		all->entries[i] = ENTRY_MASKED;
}

uint32_t
sim_ioapic_get_vector(uint32_t pin)
{
	uint64_t entry = all->entries[pin % SIM_IOAPIC_PINS];

	return entry & ENTRY_MASKED ? 0 : entry & 0xff;
}
