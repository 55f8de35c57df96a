/*
 * The start of cores on the simulated machine: the commands to each core and their times, and cores that do not
 * answer.
 */
#include "test.h"
#include "hw/lapic.h"
#include "sim.h"
#include "smp/startup.h"
#include "hw/wait.h"

#define PAGE       0x9eu
#define INIT       0x4500u /* delivery bits of the command: asserted, edge, INIT */
#define SIPI       (0x4600u | PAGE)
#define MODE_MASK  0x0700u
#define MODE_INIT  0x0500u
#define MODE_SIPI  0x0600u
#define APIC_BASE_XAPIC  (SIM_LAPIC_BASE | 0x900u)
#define APIC_BASE_X2APIC (SIM_LAPIC_BASE | 0xd00u)
#define CORES      4u
#define NOBODY     UINT32_MAX

static struct core_slot slots[CORES];
static struct startup startup;
static uint32_t deaf; /* APIC id of a core that ignores SIPIs at first, or NOBODY */
static unsigned deaf_to_sipis; /* number of SIPIs that this core still ignores */
static unsigned sipis_to_deaf;
static uint64_t last_init_ps, first_sipi_ps, last_sipi_ps;
static bool sent_unmasked;
static uint64_t stuck_at_sipi; /* number of the SIPI (from 1) at which the LAPIC stops sending commands; 0 for never */
static uint64_t sipis;

/* Lets each core start at its first SIPI after an INIT. The deaf core ignores DEAF_TO_SIPIS SIPIs first. */
static void
core_hears(uint32_t destination, uint32_t command)
{
	sent_unmasked |= !sim.interrupts_masked;
	if ((command & MODE_MASK) == MODE_INIT) {
		last_init_ps = sim.now_ps;
		return;
	}
	if ((command & MODE_MASK) != MODE_SIPI)
		return;
	if (++sipis == stuck_at_sipi) {
		sim.lapic.delivery_stuck = true;
		return;
	}
	if (first_sipi_ps == 0)
		first_sipi_ps = sim.now_ps;
	last_sipi_ps = sim.now_ps;
	if (destination == deaf && sipis_to_deaf++ < deaf_to_sipis)
		return;
	for (size_t i = 1; i < CORES; i++)
		if (slots[i].apic_id == destination)
			slots[i].arrived = 1;
}

/* Makes a machine whose boot core is 0, and which has to start cores 1, 2 and 3. A poll of a wait takes 1 us. */
static void
set_up(void)
{
	sim_reset();
	sim.cost_ps[SIM_PAUSE] = 990 * SIM_PS_PER_NS;
	sim.on_ipi = core_hears;
	memset(slots, 0, sizeof(slots));
	for (uint32_t i = 0; i < CORES; i++)
		slots[i].apic_id = i;
	for (uint32_t i = 1; i < CORES; i++)
		slots[i].state = CORE_REQUESTED;
	startup = (struct startup){ .slots = slots, .count = CORES, .page = PAGE };
	scale_init(&startup.scale, (struct rate){ 1000000000, 1 });
	deaf = NOBODY;
	deaf_to_sipis = 1;
	sipis_to_deaf = 0;
	last_init_ps = first_sipi_ps = last_sipi_ps = 0;
	sent_unmasked = false;
	stuck_at_sipi = sipis = 0;
}

TEST_FIXTURE(set_up, NULL);

static void
open_lapic(void)
{
	assert_null(lapic_open(&startup.lapic));
}

static void
assert_sent(size_t place, uint32_t destination, uint32_t command)
{
	assert_true(place < sim.lapic.ipi_count);
	assert_int_equal(sim.lapic.ipis[place].destination, destination);
	assert_int_equal(sim.lapic.ipis[place].command, command);
}

TEST(three_cores_get_init_and_10_ms_later_one_sipi_each)
{
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 3);
	assert_int_equal(sim.lapic.ipi_count, 6);
	for (uint32_t i = 1; i < CORES; i++) {
		assert_sent(i - 1, i, INIT);
		assert_sent(i + 2, i, SIPI);
		assert_int_equal(slots[i].state, CORE_ALIVE);
		assert_string_equal(startup_explanations[slots[i].state], "");
	}
	assert_in_range(first_sipi_ps - last_init_ps, 10000 * SIM_PS_PER_US, 10010 * SIM_PS_PER_US);
	assert_in_range(sim.now_ps, 10200 * SIM_PS_PER_US, 10300 * SIM_PS_PER_US);
}

TEST(only_the_core_that_missed_the_first_sipi_gets_a_second_200_us_later)
{
	deaf = 2;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 3);
	assert_int_equal(sim.lapic.ipi_count, 7);
	assert_sent(6, 2, SIPI);
	assert_in_range(last_sipi_ps - first_sipi_ps, 200 * SIM_PS_PER_US, 210 * SIM_PS_PER_US);
}

TEST(a_core_that_never_starts_is_stopped_after_two_tries_of_1_s)
{
	sim.lapic.never_start[0] = 2;
	sim.lapic.never_start_count = 1;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 2);
	assert_int_equal(slots[1].state, CORE_ALIVE);
	assert_int_equal(slots[2].state, CORE_SILENT);
	assert_int_equal(slots[3].state, CORE_ALIVE);
	assert_string_equal(startup_explanations[CORE_SILENT], "did not answer INIT-SIPI-SIPI");
	assert_int_equal(sim.lapic.ipi_count, 11);
	assert_sent(6, 2, SIPI);
	assert_sent(7, 2, INIT);
	assert_sent(8, 2, SIPI);
	assert_sent(9, 2, SIPI);
	assert_sent(10, 2, INIT);
	/* Each of the two tries waits for 10 ms, 200 us and 1 s. After the last INIT, 10 ms follow. */
	assert_in_range(sim.now_ps, 2030 * SIM_PS_PER_MS, 2033 * SIM_PS_PER_MS);
}

/* The second try must not disturb the other cores, which already work. */
TEST(a_core_that_lost_both_sipis_in_smm_starts_in_the_second_try)
{
	deaf_to_sipis = 2;
	deaf = 2;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 3);
	assert_int_equal(sim.lapic.ipi_count, 9);
	assert_sent(7, 2, INIT);
	assert_sent(8, 2, SIPI);
}

TEST(the_boot_core_has_slot_0_and_gets_no_command)
{
	slots[0].apic_id = 2;
	slots[2].apic_id = 0;
	slots[0].state = CORE_REQUESTED;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 3);
	slots[0].state = CORE_ALIVE;
	startup_stop_cores(&startup, 0, CORES, CORE_ALIVE, CORE_STOPPED);
	assert_int_equal(sim.lapic.ipi_count, 9);
	for (size_t i = 0; i < sim.lapic.ipi_count; i++)
		assert_int_not_equal(sim.lapic.ipis[i].destination, 2);
}

TEST(with_one_core_no_command_is_sent)
{
	startup.count = 1;
	open_lapic();
	uint64_t before_ps = sim.now_ps;

	assert_int_equal(startup_start_cores(&startup), 0);
	assert_int_equal(sim.lapic.ipi_count, 0);
	assert_int_equal(sim.now_ps, before_ps);
}

TEST(a_core_that_is_left_out_gets_no_command_and_has_a_reason)
{
	slots[3].state = CORE_NOT_REQUESTED;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 2);
	assert_int_equal(sim.lapic.ipi_count, 4);
	assert_int_equal(slots[3].state, CORE_NOT_REQUESTED);
	assert_string_equal(startup_explanations[CORE_NOT_REQUESTED], "left out: fewer cores were requested");
}

TEST(xapic_mode_starts_id_254_and_refuses_255_and_300)
{
	slots[1].apic_id = 254;
	slots[2].apic_id = 255;
	slots[3].apic_id = 300;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 1);
	assert_int_equal(sim.lapic.ipi_count, 2);
	assert_sent(0, 254, INIT);
	assert_sent(1, 254, SIPI);
	assert_int_equal(slots[2].state, CORE_UNADDRESSABLE);
	assert_int_equal(slots[3].state, CORE_UNADDRESSABLE);
}

TEST(x2apic_mode_starts_ids_255_and_300_by_msr_830h_only)
{
	sim_msr_set(0x1b, APIC_BASE_X2APIC);
	slots[2].apic_id = 255;
	slots[3].apic_id = 300;
	open_lapic();
	assert_true(startup.lapic.x2apic);
	uint64_t reads = sim.count[SIM_READ], writes = sim.count[SIM_WRITE];

	assert_int_equal(startup_start_cores(&startup), 3);
	assert_int_equal(sim.lapic.ipi_count, 6);
	assert_sent(1, 255, INIT);
	assert_sent(5, 300, SIPI);
	assert_int_equal(sim.count[SIM_READ], reads);
	assert_int_equal(sim.count[SIM_WRITE], writes);
	assert_int_equal(sim.count[SIM_TSC_MFENCE], 6); /* one fence before each WRMSR */
}

TEST(the_wait_for_a_busy_lapic_ends_after_100000_reads)
{
	open_lapic();
	uint64_t before = sim.count[SIM_READ];

	assert_true(lapic_send_init(&startup.lapic, 1)); /* one read of the status before the command, and one after it */
	assert_int_equal(sim.count[SIM_READ] - before, 2);
	assert_int_equal(sim.lapic.ipi_count, 1);
	sim.lapic.delivery_stuck = true;
	before = sim.count[SIM_READ];
	assert_false(lapic_send_init(&startup.lapic, 1));
	assert_int_equal(sim.count[SIM_READ] - before, 100000);
	assert_int_equal(sim.lapic.ipi_count, 1);
}

TEST(if_no_init_can_be_sent_there_is_no_wait)
{
	open_lapic();
	sim.lapic.delivery_stuck = true;
	assert_int_equal(startup_start_cores(&startup), 0);
	assert_int_equal(sim.lapic.ipi_count, 0);
	for (uint32_t i = 1; i < CORES; i++)
		assert_int_equal(slots[i].state, CORE_UNSENT);
}

TEST(if_no_sipi_can_be_sent_there_is_no_wait)
{
	open_lapic();
	stuck_at_sipi = 1;
	assert_int_equal(startup_start_cores(&startup), 0);
	assert_int_equal(sim.lapic.ipi_count, 4);
	for (uint32_t i = 1; i < CORES; i++)
		assert_int_equal(slots[i].state, CORE_UNSENT);
	/* the boot core does not wait 1 s for answers */
	assert_in_range(sim.now_ps, 10 * SIM_PS_PER_MS, 700 * SIM_PS_PER_MS);
}

TEST(a_core_without_a_second_sipi_and_a_second_init_is_reported_as_unsent)
{
	deaf = 2;
	open_lapic();
	stuck_at_sipi = 4;
	assert_int_equal(startup_start_cores(&startup), 2);
	assert_int_equal(slots[2].state, CORE_UNSENT);
}

TEST(without_a_local_apic_its_msr_is_not_read)
{
	struct hw_cpuid features = hw_cpuid(1, 0);

	features.edx &= ~(1u << 9);
	sim_cpuid_set(1, 0, features);
	assert_string_equal(lapic_open(&startup.lapic),
			    "the boot core has no local APIC, or it is switched off (CPUID 1h EDX[9])");
	assert_int_equal(sim.count[SIM_MSR_READ], 0);
}

TEST(no_interrupt_comes_between_the_halves_of_a_command)
{
	open_lapic();
	assert_false(sim.interrupts_masked);
	startup_start_cores(&startup);
	assert_int_equal(sim.lapic.ipi_count, 6);
	assert_false(sent_unmasked);
	assert_false(sim.interrupts_masked);
}

TEST(only_the_command_register_of_the_boot_cores_lapic_is_written)
{
	uint32_t before[0x40];

	open_lapic();
	memcpy(before, sim.lapic.registers, sizeof(before));
	startup_start_cores(&startup);
	startup_stop_cores(&startup, 1, CORES, CORE_ALIVE, CORE_STOPPED);
	for (size_t i = 0; i < 0x40; i++)
		if (i != 0x30 && i != 0x31)
			assert_int_equal(sim.lapic.registers[i], before[i]);
	assert_int_equal(sim_msr_get(0x1b), APIC_BASE_XAPIC);
	assert_int_equal(sim.count[SIM_MSR_WRITE], 0);
}

TEST(a_lapic_that_is_off_or_not_mapped_has_the_reason)
{
	struct lapic lapic;

	assert_null(lapic_open(&lapic));
	assert_int_equal(lapic.base, SIM_LAPIC_BASE);
	sim_unmap_region(SIM_LAPIC_BASE);
	assert_string_equal(lapic_open(&lapic), "the local APIC's page is not mapped");
	sim_msr_set(0x1b, APIC_BASE_XAPIC & ~UINT64_C(0x800));
	assert_string_equal(lapic_open(&lapic),
			    "the boot core's local APIC is switched off (IA32_APIC_BASE bit 11)");
}

TEST(a_started_core_switches_its_lapic_on_with_spurious_vector_255)
{
	struct lapic lapic;

	assert_null(lapic_open(&lapic));
	sim.lapic.registers[0x0f] = 0x10f0; /* the LAPIC is switched off as after an INIT, and another bit is set */
	lapic_enable(&lapic);
	assert_int_equal(sim.lapic.registers[0x0f], 0x11ff);
	assert_int_equal(lapic_get_eoi_address(&lapic), SIM_LAPIC_BASE + 0xb0);
}

TEST(a_started_core_follows_the_boot_core_into_x2apic_mode)
{
	struct lapic lapic = { .x2apic = true };

	assert_int_equal(sim_msr_get(0x1b), APIC_BASE_XAPIC);
	sim.lapic.registers[0x0f] = 0xff;
	lapic_enable(&lapic);
	assert_int_equal(sim_msr_get(0x1b), APIC_BASE_X2APIC);
	assert_int_equal(sim.lapic.registers[0x0f], 0x1ff);
	assert_int_equal(lapic_get_eoi_address(&lapic), 0);
}

TEST(with_a_stopped_tsc_the_delays_end_after_a_number_of_turns)
{
	sim.tsc.counter.stuck_at_ps = 0;
	open_lapic();
	assert_int_equal(startup_start_cores(&startup), 3);
	/*
	 * There are only two waits, of 10 ms and 200 us. Each of them ends after one poll for each 4 ns, and one more.
	 */
	assert_int_equal(sim.count[SIM_PAUSE], 2500001 + 50001);
}

TEST(a_tsc_that_steps_back_does_not_change_the_length_of_a_wait)
{
	struct wait wait;

	sim.tsc.counter.backward_at_ps = 3 * SIM_PS_PER_MS;
	sim.tsc.counter.backward_ticks = 5000000; /* 5 ms */
	wait = wait_begin(&startup.scale, 10 * WAIT_NS_PER_MS);
	while (wait_has_time_left(&wait))
		;
	assert_in_range(sim.now_ps, 10 * SIM_PS_PER_MS, 10 * SIM_PS_PER_MS + 2 * SIM_PS_PER_US);
}

/* The TSC jumps by 3 s between any two polls. A single poll must use up no more than 1/WAIT_POLLS_MIN of the limit. */
TEST(a_tsc_that_jumps_at_every_poll_does_not_end_a_wait_early)
{
	struct wait wait = wait_begin(&startup.scale, 10 * WAIT_NS_PER_MS);
	unsigned polls = 0;

	do
		sim_counter_set(&sim.tsc.counter, sim_counter_get_ticks(&sim.tsc.counter) + 3000000000u);
	while (polls++ < 100 && wait_has_time_left(&wait));
	assert_int_equal(polls, WAIT_POLLS_MIN);
}

TEST(a_tsc_of_unknown_rate_counts_as_10_ghz)
{
	assert_int_equal(startup_get_tsc_rate_or_default((struct rate){ 0, 0 }).num, UINT64_C(10000000000));
	assert_int_equal(startup_get_tsc_rate_or_default((struct rate){ 0, 0 }).den, 1);
	assert_int_equal(startup_get_tsc_rate_or_default((struct rate){ 7000000, 3 }).num, 7000000);
	assert_int_equal(startup_get_tsc_rate_or_default((struct rate){ 7000000, 3 }).den, 3);
}

static uint32_t called;       /* number of cores that have answered the broadcast */
static uint32_t calls_left;   /* number of cores that will answer the next SIPI */
static uint64_t first_call_ps;

static void
all_hear(uint32_t destination, uint32_t command)
{
	assert_int_equal(destination, 0);
	if ((command & MODE_MASK) != MODE_SIPI)
		return;
	if (first_call_ps == 0)
		first_call_ps = sim.now_ps;
	called += calls_left;
	calls_left = 0;
}

static void
set_up_calls(uint32_t cores)
{
	called = 0;
	calls_left = cores;
	first_call_ps = 0;
	sim.on_ipi = all_hear;
	open_lapic();
}

/* Bits 18 and 19 select the destination "all excluding self": Intel SDM vol. 3A, 10.6.1. */
TEST(a_broadcast_sends_init_and_10_ms_later_two_sipis_to_all_other_cores)
{
	set_up_calls(3);
	startup_start_by_broadcast(&startup, &called, 3);
	assert_int_equal(sim.lapic.ipi_count, 3);
	assert_sent(0, 0, 0xc0000 | INIT);
	assert_sent(1, 0, 0xc0000 | SIPI);
	assert_sent(2, 0, 0xc0000 | SIPI);
	assert_in_range(first_call_ps, 10000 * SIM_PS_PER_US, 10010 * SIM_PS_PER_US);
	assert_int_equal(called, 3);
}

TEST(a_broadcast_ends_20_ms_after_all_cores_have_answered)
{
	set_up_calls(3);
	startup_start_by_broadcast(&startup, &called, 3);
	assert_in_range(sim.now_ps, 30 * SIM_PS_PER_MS, 31 * SIM_PS_PER_MS);
}

TEST(a_broadcast_ends_after_1_s_if_fewer_cores_answer)
{
	set_up_calls(2);
	startup_start_by_broadcast(&startup, &called, 3);
	assert_in_range(sim.now_ps, 1010 * SIM_PS_PER_MS, 1012 * SIM_PS_PER_MS);
	assert_int_equal(called, 2);
}

/* CPUID gives the number of threads in one package. For one thread, no other core is expected. */
TEST(a_broadcast_without_an_answer_ends_after_1_s)
{
	set_up_calls(0);
	startup_start_by_broadcast(&startup, &called, 0);
	assert_in_range(sim.now_ps, 1010 * SIM_PS_PER_MS, 1012 * SIM_PS_PER_MS);
}

TEST(an_id_that_a_core_has_not_written_yet_is_not_read_as_0)
{
	uint32_t ids[4] = { 0 };

	startup_clear_apic_ids(ids, 4);
	ids[0] = 7;
	ids[2] = 0; /* the core of ids[2] has written its id 0, and the core of ids[1] has not yet written its id */
	assert_int_equal(startup_compact_apic_ids(ids, 3), 2);
	assert_int_equal(ids[0], 7);
	assert_int_equal(ids[1], 0);
}

TEST(an_unlisted_core_that_has_not_written_its_id_yet_is_printed_without_one)
{
	uint32_t id = 0;
	char bytes[100];
	struct text text;

	startup_clear_apic_ids(&id, 1);
	text_init(&text, bytes, sizeof(bytes));
	startup_print_unlisted_apic_id(&text, &id);
	assert_string_equal(bytes, "Some core started with an APIC id that the MADT does not list.");
	id = 0;
	text_init(&text, bytes, sizeof(bytes));
	startup_print_unlisted_apic_id(&text, &id);
	assert_string_equal(bytes, "Some core started with an APIC id that the MADT does not list, the first "
			    "with 0.");
}

TEST(if_the_lapic_does_not_send_a_broadcast_there_is_no_wait)
{
	set_up_calls(3);
	sim.lapic.delivery_stuck = true;
	startup_start_by_broadcast(&startup, &called, 3);
	assert_int_equal(sim.lapic.ipi_count, 0);
	assert_true(sim.now_ps < 1000 * SIM_PS_PER_MS);
}

TEST(the_stop_sends_init_to_started_cores_only_and_waits_10_ms_once)
{
	open_lapic();
	slots[1].state = slots[3].state = CORE_ALIVE;
	slots[2].state = CORE_SILENT;
	uint64_t before_ps = sim.now_ps;

	startup_stop_cores(&startup, 1, CORES, CORE_ALIVE, CORE_STOPPED);
	assert_int_equal(sim.lapic.ipi_count, 2);
	assert_sent(0, 1, INIT);
	assert_sent(1, 3, INIT);
	assert_int_equal(slots[1].state, CORE_STOPPED);
	assert_int_equal(slots[2].state, CORE_SILENT);
	assert_in_range(sim.now_ps - before_ps, 10000 * SIM_PS_PER_US, 10010 * SIM_PS_PER_US);
	before_ps = sim.now_ps;
	startup_stop_cores(&startup, 1, CORES, CORE_ALIVE, CORE_STOPPED);
	assert_int_equal(sim.lapic.ipi_count, 2);
	assert_int_equal(sim.now_ps, before_ps);
}

/* The firmware may have changed the LAPIC's id, and CPUID still returns the initial id. */
TEST(in_both_modes_a_cores_id_is_its_lapics_id)
{
	struct lapic lapic;

	sim.lapic.apic_id = 0x30;
	assert_null(lapic_open(&lapic));
	assert_int_equal(lapic_read_id(&lapic), 0x30);
	sim.lapic.apic_id = 0x12345;
	sim_msr_set(0x1b, APIC_BASE_X2APIC);
	assert_null(lapic_open(&lapic));
	assert_int_equal(lapic_read_id(&lapic), 0x12345);
}
