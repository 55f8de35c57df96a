/* The local APIC of the simulated machine. Its registers keep their values. Commands to other cores are recorded. */
#include "sim_internal.h"

#define MSR_TSC       0x10u
#define MSR_APIC_BASE 0x1bu
#define MSR_DEADLINE  0x6e0u
#define MSR_X2APIC    0x800u
#define MSR_X2APIC_END 0x8ffu
#define APIC_EXTD     (UINT64_C(1) << 10)
#define APIC_ENABLE   (UINT64_C(1) << 11)
/* Numbers of registers: the offset divided by 16. */
#define REGISTER_ID       0x02u
#define REGISTER_VERSION  0x03u
#define REGISTER_SVR      0x0fu
#define REGISTER_ICR_LOW  0x30u
#define REGISTER_ICR_HIGH 0x31u
#define REGISTER_CURRENT  0x39u
#define ICR_PENDING       0x1000u
#define LAST_REGISTER     0x3fu

void
sim_lapic_reset(void)
{
	sim.lapic.registers[REGISTER_VERSION] = 0x00050014;
	sim.lapic.registers[REGISTER_SVR] = 0x1ff;
}

static void
deliver_ipi(uint32_t destination, uint32_t command)
{
	/* in a window, only the core that opened the window takes interrupts, so each IPI goes to this core */
	if (sim.interrupts.in_window) {
		sim_interrupts_send_self_ipi(command & 0xff);
		return;
	}
	if (sim.lapic.ipi_count == SIM_IPIS_MAX)
		sim_fail("more than %u commands to the LAPIC", SIM_IPIS_MAX);
	sim.lapic.ipis[sim.lapic.ipi_count++] = (struct sim_ipi){ destination, command };
	for (size_t i = 0; i < sim.lapic.never_start_count; i++)
		if (sim.lapic.never_start[i] == destination)
			return;
	if (sim.on_ipi)
		sim.on_ipi(destination, command);
}

static uint32_t
read_register(unsigned number, bool x2apic)
{
	if (number > LAST_REGISTER)
		return 0;
	if (number == REGISTER_ID)
		return x2apic ? sim.lapic.apic_id : sim.lapic.apic_id << 24;
	if (number == REGISTER_ICR_LOW)
		return sim.lapic.registers[number] | (sim.lapic.delivery_stuck ? ICR_PENDING : 0);
	if (number == REGISTER_CURRENT && sim.interrupts.plugged)
		return sim_interrupts_get_lapic_count();
	return sim.lapic.registers[number];
}

uint64_t
sim_lapic_read(uint64_t address, unsigned width_bytes)
{
	if (width_bytes != 4 || address % 16)
		sim_fail("LAPIC register at %llx is not read by 32 aligned bits",
			 (unsigned long long)address);
	/* Intel SDM vol. 3A, 10.12.2: in x2APIC mode the registers are not mapped in memory. */
	if (sim_msr_get(MSR_APIC_BASE) & APIC_EXTD)
		return UINT64_MAX;
	return read_register((unsigned)(address - SIM_LAPIC_BASE) / 16, false);
}

static void
set_register(unsigned number, uint32_t value)
{
	uint32_t before = sim.lapic.registers[number];

	sim.lapic.registers[number] = value;
	if (sim.interrupts.plugged)
		sim_interrupts_handle_lapic_write(number, before);
}

void
sim_lapic_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	unsigned number = (unsigned)(address - SIM_LAPIC_BASE) / 16;

	if (width_bytes != 4 || address % 16)
		sim_fail("LAPIC register at %llx is not written by 32 aligned bits",
			 (unsigned long long)address);
	if ((sim_msr_get(MSR_APIC_BASE) & APIC_EXTD) || number > LAST_REGISTER)
		return;
	set_register(number, (uint32_t)value);
	if (number == REGISTER_ICR_LOW)
		deliver_ipi(sim.lapic.registers[REGISTER_ICR_HIGH] >> 24, (uint32_t)value);
}

static bool
is_x2apic_msr(uint32_t msr)
{
	if (msr < MSR_X2APIC || msr > MSR_X2APIC_END)
		return false;
	if ((sim_msr_get(MSR_APIC_BASE) & (APIC_EXTD | APIC_ENABLE)) != (APIC_EXTD | APIC_ENABLE))
		sim_fail("#GP: MSR %xh outside x2APIC mode", msr);
	return true;
}

bool
sim_lapic_msr_read(uint32_t msr, uint64_t *value)
{
	if (msr == MSR_TSC) {
		*value = sim_get_tsc_ticks();
		return true;
	}
	if (msr == MSR_DEADLINE && sim.interrupts.plugged) {
		*value = sim_interrupts_read_deadline();
		return true;
	}
	if (!is_x2apic_msr(msr))
		return false;
	*value = read_register(msr - MSR_X2APIC, true);
	if (msr - MSR_X2APIC == REGISTER_ICR_LOW)
		*value |= (uint64_t)sim.lapic.registers[REGISTER_ICR_HIGH] << 32;
	return true;
}

bool
sim_lapic_msr_write(uint32_t msr, uint64_t value)
{
	unsigned number = msr - MSR_X2APIC;

	if (msr == MSR_DEADLINE && sim.interrupts.plugged) {
		sim_interrupts_write_deadline(value);
		return true;
	}
	if (!is_x2apic_msr(msr))
		return false;
	if (number > LAST_REGISTER)
		sim_fail("#GP: MSR %xh is not writable", msr);
	set_register(number, (uint32_t)value);
	if (number == REGISTER_ICR_LOW) {
		sim.lapic.registers[REGISTER_ICR_HIGH] = (uint32_t)(value >> 32);
		deliver_ipi((uint32_t)(value >> 32), (uint32_t)value);
	}
	return true;
}
