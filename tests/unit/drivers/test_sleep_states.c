/* The CPU's sleep states, and the local APIC's timer that wakes a core from them. MONITOR and MWAIT: SDM vol. 2A. */
#include "test.h"
#include "cpuid_leaves.h"
#include "hw/lapic.h"
#include "sim.h"
#include "sim_guard.h"
#include "clock/timer.h"
#include "sleep/sleep.h"

#define MONITOR_BIT  (1u << 3)
#define DEADLINE_BIT (1u << 24)
#define MSR_AND_APIC_BITS (1u << 5 | 1u << 9) /* in EDX; all other bits are in ECX */
#define MSR_DEADLINE 0x6e0u
#define MSR_CORE_C3  0x3fcu
#define MSR_CORE_C6  0x3fdu
#define DEADLINE_MODE (1u << 18)
#define LVT_OF_FIRMWARE (0x20u | 1u << 17) /* periodic, vector 20h */

TEST_FIXTURE(reset_machine, NULL);

static const struct hw_cpuid genuine_intel = { 0xd, 0x756e6547, 0x6c65746e, 0x49656e69 };
static const struct hw_cpuid authentic_amd = { 0xd, 0x68747541, 0x444d4163, 0x69746e65 };
static const struct hw_cpuid hygon_genuine = { 0xd, 0x6f677948, 0x656e6975, 0x6e65476e };

static void
set_cpuid(uint32_t leaf_max, uint32_t features, uint32_t substates)
{
	sim_cpuid_set(0, 0, (struct hw_cpuid){ leaf_max, 0, 0, 0 });
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 0, features, MSR_AND_APIC_BITS });
	sim_cpuid_set(5, 0, (struct hw_cpuid){ 64, 64, 3, substates });
}

static uint32_t
lapic_register(uint32_t offset)
{
	return sim.lapic.registers[offset / 16];
}

TEST(without_monitor_there_is_no_deep_state)
{
	uint32_t states[SLEEP_STATES_MAX];

	set_cpuid(0xd, 0, 0x00000220);
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), 0);
	set_cpuid(4, MONITOR_BIT, 0x00000220);
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), 0);
}

TEST(the_hint_of_a_state_is_made_of_its_number_and_its_substate)
{
	static const uint32_t hints[] = { 0x00, 0x01, 0x10, 0x20, 0x21, 0x50 };
	uint32_t states[SLEEP_STATES_MAX];

	/* C0 has 2 sub-states, which do not count. C1 has 2, C2 has 1, C3 has 2, C6 has 1. */
	set_cpuid(0xd, MONITOR_BIT, 0x01002122);
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), 6);
	assert_memory_equal(states, hints, sizeof(hints));
}

TEST(a_cpu_that_lists_no_state_gets_the_hint_0_and_one_with_many_states_eight)
{
	uint32_t states[SLEEP_STATES_MAX];

	set_cpuid(0xd, MONITOR_BIT, 0);
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), 1);
	assert_int_equal(states[0], 0);
	set_cpuid(0xd, MONITOR_BIT, 0xffffffff);
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), SLEEP_STATES_MAX);
}

TEST(a_state_s_name_has_its_instruction_and_its_number)
{
	static const uint32_t states[] = { SLEEP_BY_HLT, 0, 0x20, SLEEP_BY_PORT | 0x414 };
	static const char *const names[] = { "halt", "mwait-0h", "mwait-20h", "port-414h" };
	char name[SLEEP_NAME_SIZE];

	for (size_t i = 0; i < 4; i++) {
		sleep_print_name(name, states[i]);
		assert_string_equal(name, names[i]);
	}
}

TEST(a_state_is_entered_by_hlt_or_by_mwait_with_its_hint)
{
	sleep_driver.enter(SLEEP_BY_HLT, NULL);
	assert_int_equal(sim.slept, SLEEP_BY_HLT);
	sleep_driver.enter(0x21, NULL);
	assert_int_equal(sim.slept, 0x21);
}

static bool
read_or_fault(uint32_t msr, uint64_t *value)
{
	if (msr != MSR_CORE_C3 && msr != MSR_CORE_C6)
		sim_take_fault();
	*value = msr == MSR_CORE_C6 ? 5000 : 0;
	return true;
}

static uint64_t cstate_address;

static bool
read_cstate_address(uint32_t msr, uint64_t *value)
{
	*value = cstate_address;
	return msr == 0xc0010073u;
}

TEST(amd_s_states_by_io_ports_come_after_those_of_mwait)
{
	uint32_t states[SLEEP_STATES_MAX];
	struct hw_cpuid features = { 0, 0, MONITOR_BIT, MSR_AND_APIC_BITS };

	set_cpuid(0xd, MONITOR_BIT, 0x10);
	sim_cpuid_set(0, 0, authentic_amd);
	sim.read_msr = read_cstate_address;
	cstate_address = 0xfff9; /* eight ports from here on do not exist */
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), 1);
	cstate_address = 0x413;
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), 3);
	assert_int_equal(states[0], 0);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(states[i], SLEEP_BY_PORT | (0x413 + i)); /* C2 and C3 */
		sleep_driver.enter(states[i], NULL);
		assert_int_equal(sim.slept, states[i]);
	}
	/* not if a fault would not be survived, and not in a guest */
	assert_int_equal(sleep_driver.list_deep_states(states, NULL), 1);
	features.ecx |= 1u << 31;
	sim_cpuid_set(1, 0, features);
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), 1);
}

TEST(a_hygon_cpu_has_the_io_ports_of_amd_without_mwait_and_a_fault_is_survived)
{
	uint32_t states[SLEEP_STATES_MAX];

	set_cpuid(0xd, 0, 0);
	sim_cpuid_set(0, 0, hygon_genuine);
	sim.read_msr = read_cstate_address;
	cstate_address = 0x413;
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), 2);
	assert_int_equal(states[1], SLEEP_BY_PORT | 0x415);
	sim.read_msr = read_or_fault;
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), 0);
}

TEST(the_io_ports_use_the_places_that_the_states_of_mwait_leave)
{
	uint32_t states[SLEEP_STATES_MAX];

	set_cpuid(0xd, MONITOR_BIT, 0x00000070);
	sim_cpuid_set(0, 0, authentic_amd);
	sim.read_msr = read_cstate_address;
	cstate_address = 0x413;
	assert_int_equal(sleep_driver.list_deep_states(states, sim_guard), SLEEP_STATES_MAX);
	assert_int_equal(states[SLEEP_STATES_MAX - 1], SLEEP_BY_PORT | 0x414);
}

TEST(residency_counters_are_found_by_reading_them_and_a_fault_is_survived)
{
	sim.read_msr = read_or_fault;
	sim_cpuid_set(0, 0, genuine_intel);
	assert_int_equal(sleep_driver.find_counters(sim_guard), 1u << 1 | 1u << 2);
	assert_int_equal(sleep_driver.read_counter(2), 5000);
}

TEST(the_residency_counter_of_c3_is_not_read_on_a_hybrid_cpu)
{
	sim.read_msr = read_or_fault;
	sim_cpuid_set(0, 0, genuine_intel);
	sim_cpuid_set(7, 0, (struct hw_cpuid){ 0, 0, 0, 1u << 15 });
	assert_int_equal(sleep_driver.find_counters(sim_guard), 1u << 2);
}

/* On a Xeon Phi, these MSRs count the states of a module of two cores. */
TEST(residency_counters_of_a_xeon_phi_are_not_read)
{
	static const uint32_t signatures[] = { 0x50671, 0x80650, 0x50654 }; /* Knights Landing and Mill, Skylake-SP */

	sim.read_msr = read_or_fault;
	for (size_t i = 0; i < 3; i++) {
		sim_cpuid_set(0, 0, genuine_intel);
		sim_cpuid_set(1, 0, (struct hw_cpuid){ signatures[i], 0, 0, MSR_AND_APIC_BITS });
		assert_int_equal(sleep_driver.find_counters(sim_guard) != 0, i == 2);
	}
}

TEST(residency_counters_are_not_read_on_other_cpus_or_without_a_guard)
{
	sim.read_msr = read_or_fault;
	assert_int_equal(sleep_driver.find_counters(NULL), 0);
	sim_cpuid_set(0, 0, authentic_amd);
	assert_int_equal(sleep_driver.find_counters(sim_guard), 0);
}

TEST(an_ipi_wakes_a_core)
{
	sleep_driver.wake(3);
	assert_int_equal(sim.lapic.ipi_count, 1);
	assert_int_equal(sim.lapic.ipis[0].destination, 3);
	assert_int_equal(sim.lapic.ipis[0].command & 0xff, LAPIC_WAKE_VECTOR);
}

TEST(the_timer_that_wakes_a_core_interrupts_and_is_restored)
{
	struct timer timer = { .driver = sleep_driver.counter };

	set_cpuid(0xd, 0, 0);
	sim.lapic.registers[LAPIC_LVT_TIMER / 16] = LVT_OF_FIRMWARE;
	sim.lapic.registers[LAPIC_INITIAL_COUNT / 16] = 1234567;
	sim.lapic.registers[LAPIC_DIVIDE / 16] = 3;
	timer.driver->open(NULL, &timer);
	assert_int_equal(timer.state, CLOCK_PRESENT);
	timer.driver->set_up(&timer, sleep_driver.vector);
	assert_int_equal(lapic_register(LAPIC_LVT_TIMER), LAPIC_WAKE_VECTOR | LAPIC_LVT_MASKED);
	assert_int_equal(lapic_register(LAPIC_INITIAL_COUNT), 0);
	timer.driver->arm(&timer, 5000, false);
	assert_int_equal(lapic_register(LAPIC_LVT_TIMER), LAPIC_WAKE_VECTOR);
	assert_int_equal(lapic_register(LAPIC_INITIAL_COUNT), 5000);
	timer.driver->restore(&timer);
	assert_int_equal(lapic_register(LAPIC_LVT_TIMER), LVT_OF_FIRMWARE);
	assert_int_equal(lapic_register(LAPIC_INITIAL_COUNT), 1234567);
	assert_int_equal(lapic_register(LAPIC_DIVIDE), 3);
}

TEST(a_deadline_is_over_when_the_cpu_has_set_its_msr_to_0)
{
	struct timer timer = { .driver = sleep_driver.deadline };
	uint64_t due;

	set_cpuid(0xd, 0, 0);
	timer.driver->open(NULL, &timer);
	assert_int_equal(timer.state, CLOCK_ABSENT);
	set_cpuid(0xd, DEADLINE_BIT, 0);
	timer.driver->open(NULL, &timer);
	assert_int_equal(timer.state, CLOCK_PRESENT);
	sim_msr_set(MSR_DEADLINE, 0);
	timer.driver->set_up(&timer, sleep_driver.vector);
	due = timer.driver->arm(&timer, UINT64_C(123456789012), false);
	assert_int_equal(lapic_register(LAPIC_LVT_TIMER), LAPIC_WAKE_VECTOR | DEADLINE_MODE);
	assert_int_equal(sim_msr_get(MSR_DEADLINE), due);
	assert_true(due > UINT64_C(123456789012));
	assert_false(timer.driver->expired(&timer));
	sim_msr_set(MSR_DEADLINE, 0);
	assert_true(timer.driver->expired(&timer));
	timer.driver->arm(&timer, 1, false);
	timer.driver->restore(&timer);
	assert_int_equal(sim_msr_get(MSR_DEADLINE), 0);
}
