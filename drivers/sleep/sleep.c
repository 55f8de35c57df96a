/* Sleep states by HLT, and by MONITOR and MWAIT. Implements clock/sleep.h for the calling core. */
#include "sleep/sleep.h"

#include "hw/cpuid.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "timers/timers.h"

#define SUBSTATES_BITS     4u
#define MWAIT_LEVELS       8u

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

const struct sleep_driver sleep_driver = {
	.list_deep_states = sleep_list_deep_states,
	.enter = sleep_enter,
	.wake = sleep_wake,
	.counter = &timer_lapic,
	.deadline = &timer_deadline,
	.vector = LAPIC_WAKE_VECTOR,
};
