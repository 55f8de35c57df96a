/* Sleep states by HLT, and by MONITOR and MWAIT. Implements clock/sleep.h for the calling core. */
#include "sleep/sleep.h"

#include "hw/cpuid.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "paravirtual/leaves.h"
#include "timers/timers.h"

#define SUBSTATES_BITS     4u
#define MWAIT_LEVELS       8u
#define GENUINE_INTEL_EBX  0x756e6547u /* the first four letters of Intel's name in CPUID 0 */

/*
 * MSR_CORE_C1_RESIDENCY, MSR_CORE_C3_RESIDENCY and so on: SDM vol. 4, chapter 2. No CPUID bit offers them, and no
 * CPU has all. Each core of a CPU has the same ones: Linux arch/x86/events/intel/cstate.c.
 */
static const uint32_t residency_msrs[SLEEP_COUNTERS] = { 0x660, 0x3fc, 0x3fd, 0x3fe };

static size_t
sleep_list_deep_states(uint32_t states[SLEEP_STATES_MAX])
{
	uint32_t levels;
	size_t count = 0;

	if (hw_cpuid(0, 0).eax < LEAF_MWAIT || !(hw_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_MONITOR))
		return 0;
	levels = hw_cpuid(LEAF_MWAIT, 0).edx;
	/* EDX has the number of sub-states of C0 to C7. The hint of Cn is n - 1 in bits 7:4, and the sub-state in 3:0. */
	for (uint32_t level = 1; level < MWAIT_LEVELS; level++)
		for (uint32_t sub = 0; sub < (levels >> SUBSTATES_BITS * level & 0xfu) && count < SLEEP_STATES_MAX; sub++)
			states[count++] = (level - 1) << 4 | sub;
	if (!count) /* QEMU offers MONITOR, but lists no state */
		states[count++] = 0;
	return count;
}

static void
sleep_enter(uint32_t state, const void *line)
{
	if (state == SLEEP_BY_HLT)
		hw_halt();
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

static uint32_t
sleep_find_counters(fault_guard *guarded)
{
	uint32_t found = 0;
	uint64_t value;

	if (guarded && hw_cpuid(0, 0).ebx == GENUINE_INTEL_EBX)
		for (size_t i = 0; i < SLEEP_COUNTERS; i++)
			found |= (uint32_t)paravirtual_read_msr(residency_msrs[i], guarded, &value) << i;
	return found;
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
