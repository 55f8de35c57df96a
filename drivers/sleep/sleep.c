/* Sleep states by HLT, by MWAIT, and on AMD and Hygon by I/O ports. Implements clock/sleep.h for the calling core. */
#include "sleep/sleep.h"

#include "base/text.h"
#include "hw/cpuid.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "paravirtual/leaves.h"
#include "timers/timers.h"

#define SUBSTATES_BITS     4u
#define MWAIT_LEVELS       8u
/* models of family 6 */
#define KNIGHTS_LANDING    0x57u
#define KNIGHTS_MILL       0x85u
/*
 * A core that reads one of eight I/O ports from this address on enters a C-state: AMD PPR, MSRC001_0073. The second
 * port is C2 and the third one is C3, in the _CST objects of AMD's firmware, too: coreboot src/soc/amd/common. 0: no
 * port has this effect.
 */
#define MSR_CSTATE_ADDRESS 0xc0010073u
#define CSTATE_ADDRESS     0xffffu
#define CSTATE_ADDRESS_MAX 0xfff8u /* the highest address at which all eight ports exist */
#define PORT_C2            1u
#define PORT_C3            2u

/*
 * MSR_CORE_C1_RESIDENCY, MSR_CORE_C3_RESIDENCY and so on: SDM vol. 4, chapter 2. No CPUID bit offers them, and no CPU
 * has all. Each core of a CPU has the same ones. Hybrid CPUs have no MSR for C3: Linux arch/x86/events/intel/cstate.c.
 */
static const uint32_t residency_msrs[SLEEP_COUNTERS] = { 0x660, 0x3fc, 0x3fd, 0x3fe };

#define COUNTER_OF_C3 1u /* index in residency_msrs */

static size_t
list_mwait_states(const struct cpu_facts *cpu, uint32_t states[SLEEP_STATES_MAX])
{
	size_t count = 0;

	if (cpu->basic_leaf_max < LEAF_MWAIT || !(hw_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_MONITOR))
		return 0;
	uint32_t levels = hw_cpuid(LEAF_MWAIT, 0).edx;
	/* EDX has the number of sub-states of C0 to C7. The hint of Cn is n - 1 in bits 7:4, and the sub-state in 3:0. */
	for (uint32_t level = 1; level < MWAIT_LEVELS; level++)
		for (uint32_t sub = 0; sub < (levels >> SUBSTATES_BITS * level & 0xfu) && count < SLEEP_STATES_MAX; sub++)
			states[count++] = (level - 1) << 4 | sub;
	if (!count) /* QEMU offers MONITOR, but lists no state */
		states[count++] = 0;
	return count;
}

static size_t
sleep_list_deep_states(uint32_t states[SLEEP_STATES_MAX], fault_guard *guarded)
{
	struct cpu_facts cpu;
	uint64_t base = 0;

	cpu_read_facts(&cpu);
	size_t count = list_mwait_states(&cpu, states);
	if (guarded && cpu_is_amd(&cpu) && !cpu.hypervisor[0])
		(void)paravirtual_read_msr(MSR_CSTATE_ADDRESS, guarded, &base);
	base &= CSTATE_ADDRESS;
	if (base && base <= CSTATE_ADDRESS_MAX)
		for (uint32_t port = PORT_C2; port <= PORT_C3 && count < SLEEP_STATES_MAX; port++)
			states[count++] = SLEEP_BY_PORT | (uint32_t)(base + port);
	return count;
}

static void
sleep_enter(uint32_t state, const void *line)
{
	if (state == SLEEP_BY_HLT)
		hw_halt();
	else if (state & SLEEP_BY_PORT)
		hw_sleep_by_port((uint16_t)state);
	else
		hw_monitor_and_mwait(line, state);
}

static void
sleep_wake(uint32_t apic_id)
{
	struct lapic lapic;

	if (!lapic_open(&lapic))
		(void)lapic_send_interrupt(&lapic, apic_id, LAPIC_WAKE_VECTOR);
}

/*
 * Returns true on a Xeon Phi. Its MSRs 3FCh and 3FDh count the time in which a module of two cores is in C0 and in C6:
 * SDM vol. 4, MSR_MC0_RESIDENCY.
 */
static bool
is_xeon_phi(void)
{
	struct hw_cpuid features = hw_cpuid(LEAF_FEATURES, 0);
	uint32_t model = FEATURES_EAX_WHOLE_MODEL(features);

	return FEATURES_EAX_FAMILY(features) == FAMILY_6 && (model == KNIGHTS_LANDING || model == KNIGHTS_MILL);
}

static uint32_t
sleep_find_counters(fault_guard *guarded)
{
	struct cpu_facts cpu;
	uint32_t found = 0;
	uint64_t value;

	cpu_read_facts(&cpu);
	if (guarded && text_equal(cpu.vendor, "GenuineIntel") && !is_xeon_phi())
		for (size_t i = 0; i < SLEEP_COUNTERS; i++)
			found |= (uint32_t)paravirtual_read_msr(residency_msrs[i], guarded, &value) << i;
	/* if the boot core has an undocumented MSR 3FCh, a core of another kind may fault on it */
	return cpu.basic_leaf_max >= LEAF_STRUCTURED && hw_cpuid(LEAF_STRUCTURED, 0).edx & STRUCTURED_EDX_HYBRID ?
	       found & ~(1u << COUNTER_OF_C3) : found;
}

static uint64_t
sleep_read_counter(size_t counter)
{
	return hw_msr_read(residency_msrs[counter]);
}

const struct sleep_driver sleep_driver = {
	.list_deep_states = sleep_list_deep_states,
	.enter = sleep_enter,
	.wake = sleep_wake,
	.find_counters = sleep_find_counters,
	.read_counter = sleep_read_counter,
	.counter = &timer_lapic,
	.deadline = &timer_deadline,
	.vector = LAPIC_WAKE_VECTOR,
};
