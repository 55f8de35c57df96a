/* Reads the device registers that a run may change. See checks.h. */
#include "checks/checks.h"

#include "clocks/hpet_registers.h"
#include "clocks/pic_registers.h"
#include "clocks/pit_registers.h"
#include "clocks/rtc_registers.h"
#include "paravirtual/leaves.h"

static void
add_rtc_registers(struct as_found *registers)
{
	struct device rtc = { .opened = false };

	rtc_find_ports(&rtc);
	as_found_add_register(registers, "RTC register A", rtc_read_register(&rtc, REGISTER_A) & (uint8_t)~A_UIP);
	as_found_add_register(registers, "RTC register B", rtc_read_register(&rtc, REGISTER_B));
	(void)rtc_read_register(&rtc, REGISTER_D);
}

static void
add_msr(struct as_found *registers, const char *name, uint32_t msr, fault_guard *guarded)
{
	uint64_t value;

	if (paravirtual_read_msr(msr, guarded, &value))
		as_found_add_register(registers, name, value);
}

/* Adds the calling core's MSRs for the clocks that the hypervisor's features leaf offers. */
static void
add_paravirtual_msrs(struct as_found *registers, const struct paravirtual *paravirtual, fault_guard *guarded)
{
	const struct paravirtual_interface *kvm = paravirtual_find(paravirtual, PARAVIRTUAL_KVM);
	const struct paravirtual_interface *hyperv = paravirtual_find(paravirtual, PARAVIRTUAL_HYPERV);

	if (kvm && kvm->features & KVM_CLOCKSOURCE2)
		add_msr(registers, "KVM's MSR 4B564D01h", MSR_KVM_SYSTEM_TIME_NEW, guarded);
	else if (kvm && kvm->features & KVM_CLOCKSOURCE)
		add_msr(registers, "KVM's MSR 12h", MSR_KVM_SYSTEM_TIME, guarded);
	if (kvm && kvm->features & KVM_STEAL_TIME)
		add_msr(registers, "KVM's MSR 4B564D03h", MSR_KVM_STEAL_TIME, guarded);
	if (hyperv && hyperv->features & HV_ACCESS_HYPERCALL_MSRS)
		add_msr(registers, "Hyper-V's MSR 40000000h", MSR_HV_GUEST_OS_ID, guarded);
	if (hyperv && hyperv->features & HV_ACCESS_REFERENCE_TSC)
		add_msr(registers, "Hyper-V's MSR 40000021h", MSR_HV_REFERENCE_TSC, guarded);
	if (hyperv && hyperv->features & HV_ACCESS_TIMERS && !hyperv->timer_faults) {
		add_msr(registers, "Hyper-V's MSR 400000B6h", MSR_HV_TIMER_CONFIG, guarded);
		add_msr(registers, "Hyper-V's MSR 400000B7h", MSR_HV_TIMER_COUNT, guarded);
	}
}

void
registers_read_from_clocks(struct as_found *registers, const struct platform *platform, fault_guard *guarded)
{
	const struct acpi_hpet *hpet = &platform->acpi.hpet;
	uint64_t saved = hw_interrupts_mask();

	registers->count = 0;
	if (hpet->found && hpet->base && hw_is_mapped(hpet->base, HPET_SIZE))
		as_found_add_register(registers, "the HPET's configuration",
				      hw_read32(hpet->base + HPET_CONFIGURATION));
	as_found_add_register(registers, "port 61h", hw_in8(PORT_B) & PORT_B_WRITABLE);
	as_found_add_register(registers, "the mode of PIT channel 2", pit_get_mode(pit_read_status()));
	if (!(platform->acpi.fadt.found && platform->acpi.fadt.cmos_rtc_absent))
		add_rtc_registers(registers);
	as_found_add_register(registers, "the mask of the first PIC", hw_in8(PIC_MASTER_MASK));
	as_found_add_register(registers, "the mask of the second PIC", hw_in8(PIC_SLAVE_MASK));
	add_paravirtual_msrs(registers, &platform->paravirtual, guarded);
	hw_interrupts_restore(saved);
}
