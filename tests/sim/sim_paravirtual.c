/* See sim_paravirtual.h. */
#include "sim_paravirtual.h"

#include <string.h>

#include "leaves.h"

#define PS_PER_TICK    100000u /* of Hyper-V's reference time */
#define PPM            1000000
#define GUEST          (UINT32_C(1) << 31)

struct sim_paravirtual sim_paravirtual;

/* TSC ticks per second, as the pages are to say. */
static uint64_t
assumed_hz(void)
{
	uint64_t hz = sim.tsc.counter.hz.num / sim.tsc.counter.hz.den;

	return hz - (uint64_t)((int64_t)(hz / PPM) * sim_paravirtual.fast_ppm);
}

/* A multiplier of 32 bits whose top bit is set, as KVM has it. */
static void
set_rate(struct pvclock *page)
{
	unsigned __int128 multiplier = ((unsigned __int128)1000000000 << 64) / assumed_hz(); /* times 2^64 */
	int shift = 32;

	while (multiplier >> 64)
		multiplier >>= 1, shift++;
	while (!(multiplier >> 63))
		multiplier <<= 1, shift--;
	page->tsc_to_system_mul = (uint32_t)(multiplier >> 32);
	page->tsc_shift = (int8_t)(shift - 32);
}

static void
write_kvm_page(uint64_t value)
{
	struct pvclock *page = (struct pvclock *)(uintptr_t)(value & ~UINT64_C(1));

	if (!(value & 1) || sim_paravirtual.empty)
		return;
	set_rate(page);
	page->tsc_timestamp = sim_tsc_ticks();
	page->system_time = sim.now_ps / SIM_PS_PER_NS + (uint64_t)sim_paravirtual.apart_ns[sim.core];
	page->flags = sim_paravirtual.not_stable ? 0 : PVCLOCK_TSC_STABLE;
	page->version += sim_paravirtual.odd ? 1 : 2;
}

static void
write_hyperv_page(uint64_t value)
{
	struct hv_tsc_page *page = (struct hv_tsc_page *)(uintptr_t)(value & ~UINT64_C(0xfff));

	if (!(value & 1))
		return;
	page->scale = (uint64_t)(((unsigned __int128)10000000 << 64) / assumed_hz());
	page->offset = (int64_t)(sim.now_ps / PS_PER_TICK) -
		       (int64_t)((unsigned __int128)sim_tsc_ticks() * page->scale >> 64);
	page->sequence = sim_paravirtual.no_sequence ? 0 : 1;
}

/* What the hypervisor does to the pages in the course of time. */
static void
go_on(enum sim_access access, uint64_t where)
{
	(void)access;
	(void)where;
	if (sim.now_ps >= sim_paravirtual.odd_at_ps)
		for (size_t i = 0; i + 1 < SIM_PARAVIRTUAL_PAGES; i++)
			((struct pvclock *)(sim_paravirtual.memory + i * PAGES_SIZE))->version |= 1;
	if (sim.now_ps >= sim_paravirtual.no_sequence_at_ps)
		((struct hv_tsc_page *)(sim_paravirtual.memory + (SIM_PARAVIRTUAL_PAGES - 1) * PAGES_SIZE))->sequence =
			sim.now_ps >= sim_paravirtual.sequence_again_at_ps;
	if (sim.now_ps >= sim_paravirtual.torn_at_ps)
		((struct hv_tsc_page *)(sim_paravirtual.memory + (SIM_PARAVIRTUAL_PAGES - 1) * PAGES_SIZE))->sequence++;
}

static bool
read_msr(uint32_t msr, uint64_t *value)
{
	if (msr == MSR_KVM_SYSTEM_TIME_NEW)
		*value = sim_paravirtual.kvm_msrs[sim.core];
	else if (msr == MSR_HV_REFERENCE)
		*value = sim.now_ps / PS_PER_TICK + (uint64_t)sim_paravirtual.msr_ahead_ticks;
	else
		return false;
	return true;
}

static bool
write_msr(uint32_t msr, uint64_t value)
{
	sim_paravirtual.writes++;
	if (msr == MSR_HV_REFERENCE_TSC)
		write_hyperv_page(value);
	if (msr != MSR_KVM_SYSTEM_TIME_NEW)
		return false;
	if (!sim_paravirtual.keeps_msr || !sim_paravirtual.kvm_msrs[sim.core])
		sim_paravirtual.kvm_msrs[sim.core] = value;
	write_kvm_page(value);
	return true;
}

static uint32_t
four(const char *text)
{
	uint32_t value;

	memcpy(&value, text, sizeof(value));
	return value;
}

static void
set_interface(uint32_t base, const char *name, uint32_t max)
{
	sim_cpuid_set(base, 0, (struct hw_cpuid){ max, four(name), four(name + 4), four(name + 8) });
}

void
sim_paravirtual_plug(bool hyperv)
{
	static uint8_t memory[SIM_PARAVIRTUAL_PAGES * PAGES_SIZE] __attribute__((aligned(PAGES_SIZE)));
	uint32_t base = hyperv ? 0x40000100 : 0x40000000;
	struct hw_cpuid features = { 0x000906ea, 0, GUEST, 0x00000210 };

	memset(memory, 0, sizeof(memory));
	sim_paravirtual = (struct sim_paravirtual){ .memory = memory, .odd_at_ps = SIM_NEVER,
						    .no_sequence_at_ps = SIM_NEVER, .sequence_again_at_ps = SIM_NEVER,
						    .torn_at_ps = SIM_NEVER };
	sim_cpuid_set(1, 0, features);
	set_interface(base, "KVMKVMKVM\0\0\0", base + 1);
	sim_cpuid_set(base + 1, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE_STABLE, 0, 0, 0 });
	if (hyperv) {
		set_interface(0x40000000, "Microsoft Hv", 0x40000005);
		sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
		sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_REFERENCE_COUNTER | HV_ACCESS_REFERENCE_TSC |
								HV_ACCESS_HYPERCALL_MSRS, 0, 0, 0 });
		sim_msr_set(MSR_HV_GUEST_OS_ID, 0);
		sim_msr_set(MSR_HV_REFERENCE_TSC, 0);
	}
	sim.read_msr = read_msr;
	sim.write_msr = write_msr;
	sim.spent = go_on;
	sim.pages = (struct pages){ memory, SIM_PARAVIRTUAL_PAGES };
}

bool
sim_paravirtual_is_as_found(void)
{
	for (size_t i = 0; i < SIM_CORES_MAX; i++)
		if (sim_paravirtual.kvm_msrs[i])
			return false;
	for (size_t i = 0; i < sim.msr_count; i++)
		if ((sim.msrs[i].msr == MSR_HV_GUEST_OS_ID || sim.msrs[i].msr == MSR_HV_REFERENCE_TSC) && sim.msrs[i].value)
			return false;
	return true;
}
