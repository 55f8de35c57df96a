/* Jobs for started cores on the simulated machine. A wake-up directly calls the function that a real core would run. */
#include "test.h"
#include <sanitizer/asan_interface.h>

#include "hw/wait.h"
#include "sim.h"
#include "smp/dispatch.h"

#define WAKE       (0x4000u | LAPIC_WAKE_VECTOR)
#define INIT       0x4500u
#define CORES      4u
#define BOUND_NS   (100 * WAIT_NS_PER_MS)

enum manner { WORKS, MISSES_FIRST_WAKE, NEVER_WAKES, NEVER_ENDS, ENDS_LATER, FALLS };

static struct core_slot slots[CORES];
static struct core_slot *heard_by; /* the array of slots that cores use: SLOTS, or a longer array of a test */
static struct startup startup;
static enum manner manners[CORES];
static unsigned wakes[CORES];
static unsigned runs[CORES];
static void *argument_seen;
static bool ran_unmasked;
static unsigned wakes_of_3_before_boot_core;

static void
count_run(void *argument, size_t core)
{
	runs[core]++;
	argument_seen = argument;
	ran_unmasked |= core == 0 && !sim.interrupts_masked;
	if (core == 0)
		wakes_of_3_before_boot_core = wakes[3];
}

static void
core_hears(uint32_t destination, uint32_t command)
{
	struct core_slot *slot = &heard_by[destination];

	if (command != WAKE)
		return;
	wakes[destination]++;
	switch (manners[destination]) {
	case NEVER_WAKES:
		return;
	case MISSES_FIRST_WAKE:
		if (wakes[destination] == 1)
			return;
		break;
	case NEVER_ENDS:
	case ENDS_LATER:
		slot->started = slot->posted;
		return;
	case FALLS:
		slot->started = slot->posted;
		slot->fault = CORE_FAULTED | 6;
		return;
	case WORKS:
		break;
	}
	while (dispatch_run_pending_job(slot))
		;
}

static void
set_up(void)
{
	sim_reset();
	sim.cost_ps[SIM_PAUSE] = 990 * SIM_PS_PER_NS;
	sim.on_ipi = core_hears;
	memset(slots, 0, sizeof(slots));
	memset(manners, 0, sizeof(manners));
	memset(wakes, 0, sizeof(wakes));
	memset(runs, 0, sizeof(runs));
	for (uint32_t i = 0; i < CORES; i++) {
		slots[i].apic_id = slots[i].number = i;
		slots[i].state = CORE_ALIVE;
	}
	heard_by = slots;
	startup = (struct startup){ .slots = slots, .count = CORES };
	scale_init(&startup.scale, (struct rate){ 1000000000, 1 });
	assert_null(lapic_open(&startup.lapic));
	argument_seen = NULL;
	ran_unmasked = false;
}

TEST_FIXTURE(set_up, NULL);

static bool
run_one(uint32_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	return dispatch_run_on_cores(&startup, &core, 1, job, argument, bound_ns) == 1;
}

static size_t
run_all(smp_job *job, void *argument, uint64_t bound_ns)
{
	return dispatch_run_on_cores(&startup, NULL, CORES, job, argument, bound_ns);
}

TEST(a_job_runs_once_on_its_core_after_one_wake)
{
	assert_true(run_one(2, count_run, runs, BOUND_NS));
	assert_int_equal(runs[2], 1);
	assert_int_equal(runs[0] + runs[1] + runs[3], 0);
	assert_ptr_equal(argument_seen, runs);
	assert_int_equal(sim.lapic.ipi_count, 1);
	assert_int_equal(sim.lapic.ipis[0].destination, 2);
	assert_int_equal(sim.lapic.ipis[0].command, WAKE);
}

TEST(the_boot_core_runs_its_own_job_masked_and_sends_nothing)
{
	assert_true(run_one(0, count_run, NULL, BOUND_NS));
	assert_int_equal(runs[0], 1);
	assert_false(ran_unmasked);
	assert_false(sim.interrupts_masked);
	assert_int_equal(sim.lapic.ipi_count, 0);
}

TEST(a_lost_wake_is_repeated_after_5_ms)
{
	manners[1] = MISSES_FIRST_WAKE;
	uint64_t before_ps = sim.now_ps;

	assert_true(run_one(1, count_run, NULL, BOUND_NS));
	assert_int_equal(runs[1], 1);
	assert_int_equal(wakes[1], 2);
	assert_in_range(sim.now_ps - before_ps, 5 * SIM_PS_PER_MS, 5100 * SIM_PS_PER_US);
}

TEST(a_core_that_never_ends_its_job_is_stopped_at_the_limit)
{
	manners[1] = NEVER_ENDS;
	uint64_t before_ps = sim.now_ps;

	assert_false(run_one(1, count_run, NULL, BOUND_NS));
	/* 100 ms, at most one look later, and 10 ms after the INIT; a look takes 2,000 pauses of 990 ns */
	assert_in_range(sim.now_ps - before_ps, 110 * SIM_PS_PER_MS, 112 * SIM_PS_PER_MS);
	assert_int_equal(slots[1].state, CORE_LATE);
	assert_int_equal(wakes[1], 1); /* the core had started the job, so it was not woken again */
	assert_int_equal(sim.lapic.ipi_count, 2);
	assert_int_equal(sim.lapic.ipis[1].destination, 1);
	assert_int_equal(sim.lapic.ipis[1].command, INIT);
}

TEST(a_core_that_never_wakes_is_woken_every_5_ms_until_the_limit)
{
	manners[1] = NEVER_WAKES;
	assert_false(run_one(1, count_run, NULL, BOUND_NS));
	assert_int_equal(slots[1].state, CORE_LATE);
	assert_in_range(wakes[1], 19, 21);
}

TEST(a_core_that_takes_an_exception_is_noticed_at_once)
{
	manners[1] = FALLS;
	uint64_t before_ps = sim.now_ps;

	assert_false(run_one(1, count_run, NULL, BOUND_NS));
	assert_in_range(sim.now_ps - before_ps, 10 * SIM_PS_PER_MS, 11 * SIM_PS_PER_MS);
	assert_int_equal(slots[1].state, CORE_EXCEPTION);
	assert_int_equal(slots[1].fault, 0x106);
}

TEST(a_lost_core_gets_no_further_job_and_the_others_do)
{
	manners[1] = NEVER_ENDS;
	assert_false(run_one(1, count_run, NULL, BOUND_NS));
	manners[1] = WORKS;
	size_t sent = sim.lapic.ipi_count;

	assert_false(run_one(1, count_run, NULL, BOUND_NS));
	assert_int_equal(sim.lapic.ipi_count, sent);
	assert_int_equal(slots[1].posted, 1);
	assert_int_equal(run_all(count_run, NULL, BOUND_NS), 3);
	assert_int_equal(runs[1], 0);
	assert_int_equal(runs[2], 1);
}

TEST(a_core_beyond_the_slots_is_refused)
{
	assert_false(run_one(CORES, count_run, NULL, BOUND_NS));
	assert_int_equal(sim.lapic.ipi_count, 0);
}

TEST(run_all_runs_once_on_each_of_4_cores)
{
	assert_int_equal(run_all(count_run, NULL, BOUND_NS), 4);
	for (size_t i = 0; i < CORES; i++)
		assert_int_equal(runs[i], 1);
	assert_int_equal(sim.lapic.ipi_count, 3);
	assert_false(ran_unmasked);
}

TEST(run_all_drops_cores_that_are_late_or_took_an_exception)
{
	manners[1] = NEVER_ENDS;
	manners[3] = FALLS;
	assert_int_equal(run_all(count_run, NULL, BOUND_NS), 2);
	assert_int_equal(slots[1].state, CORE_LATE);
	assert_int_equal(slots[2].state, CORE_ALIVE);
	assert_int_equal(slots[3].state, CORE_EXCEPTION);
	assert_int_equal(runs[0] + runs[2], 2);
	assert_int_equal(run_all(count_run, NULL, BOUND_NS), 2);
}

TEST(run_all_repeats_a_lost_wake_before_the_boot_core_starts)
{
	manners[3] = MISSES_FIRST_WAKE;
	assert_int_equal(run_all(count_run, NULL, BOUND_NS), 4);
	assert_int_equal(wakes[1], 1);
	assert_int_equal(wakes[3], 2);
	assert_int_equal(wakes_of_3_before_boot_core, 2);
}

static size_t
run_some(const uint32_t *cores, size_t count)
{
	return dispatch_run_on_cores(&startup, cores, count, count_run, NULL, BOUND_NS);
}

TEST(run_some_runs_on_its_2_cores_and_the_boot_core_only_waits)
{
	assert_int_equal(run_some((const uint32_t[]){ 3, 1 }, 2), 2);
	assert_int_equal(runs[1] + runs[3], 2);
	assert_int_equal(runs[0] + runs[2], 0);
	assert_int_equal(sim.lapic.ipi_count, 2);
	assert_int_equal(sim.lapic.ipis[0].destination, 3);
	assert_int_equal(sim.lapic.ipis[1].destination, 1);
}

TEST(run_some_runs_on_the_boot_core_after_the_others_have_started)
{
	manners[3] = MISSES_FIRST_WAKE;
	assert_int_equal(run_some((const uint32_t[]){ 3, 0 }, 2), 2);
	assert_int_equal(runs[0], 1);
	assert_int_equal(runs[1] + runs[2], 0);
	assert_int_equal(runs[3], 1);
	assert_int_equal(wakes_of_3_before_boot_core, 2);
	assert_false(ran_unmasked);
}

TEST(run_some_leaves_out_lost_cores_and_loses_only_its_own)
{
	slots[2].state = CORE_SILENT;
	manners[1] = manners[3] = NEVER_ENDS;
	assert_int_equal(run_some((const uint32_t[]){ 2, 1, CORES }, 3), 0);
	assert_int_equal(slots[1].state, CORE_LATE);
	assert_int_equal(slots[2].state, CORE_SILENT);
	assert_int_equal(slots[2].posted, 0);
	assert_int_equal(slots[3].state, CORE_ALIVE);
	assert_int_equal(run_some(NULL, 0), 0);
	assert_int_equal(runs[0], 0);
}

/* A call for two cores must not take longer on a machine with a thousand cores. */
TEST(run_some_reads_no_slot_of_other_cores)
{
	struct startup many = startup;
	struct core_slot *thousand = calloc(1000, sizeof(*thousand));

	assert_non_null(thousand);
	memcpy(thousand, slots, sizeof(slots));
	ASAN_POISON_MEMORY_REGION(thousand + CORES, (1000 - CORES) * sizeof(*thousand));
	many.slots = heard_by = thousand;
	many.count = 1000;
	assert_int_equal(dispatch_run_on_cores(&many, (const uint32_t[]){ 2, 3 }, 2, count_run, NULL,
					       BOUND_NS), 2);
	ASAN_UNPOISON_MEMORY_REGION(thousand + CORES, (1000 - CORES) * sizeof(*thousand));
	assert_int_equal(runs[2] + runs[3], 2);
	free(thousand);
}

TEST(a_core_works_once_for_each_job_even_if_the_numbers_wrap)
{
	slots[1].posted = slots[1].started = slots[1].done = UINT32_MAX;
	assert_false(dispatch_run_pending_job(&slots[1]));
	assert_true(run_one(1, count_run, NULL, BOUND_NS));
	assert_int_equal(slots[1].done, 0);
	assert_false(dispatch_run_pending_job(&slots[1]));
	assert_int_equal(runs[1], 1);
}

TEST(with_a_tsc_that_stands_still_a_wait_of_1_ms_ends_after_a_million_pauses)
{
	manners[1] = NEVER_ENDS;
	sim.tsc.counter.stuck_at_ps = 0;
	assert_false(run_one(1, count_run, NULL, WAIT_NS_PER_MS));
	assert_int_equal(slots[1].state, CORE_LATE);
	/*
	 * The core has started the job, so each look has 2,000 pauses, which count as 500 of the 250,001 polls. A look
	 * also polls the job's limit and the time of the next wake-up, with a pause each. The wait of 10 ms after the
	 * INIT adds 2,500,001 pauses.
	 */
	assert_int_equal(sim.count[SIM_PAUSE], 500 * 2002 + 2500001);
}

TEST(a_core_reports_its_start_by_one_word_in_its_slot)
{
	assert_int_equal(slots[1].arrived, 0);
	dispatch_mark_core_running(&slots[1]);
	assert_int_equal(slots[1].arrived, 1);
}

/* An SMI reaches a core that halts, but not a core that waits for a SIPI after an INIT. */
TEST(at_the_end_cores_are_halted_by_a_wake_and_get_init_only_without_answer)
{
	slots[2].state = CORE_SILENT;
	manners[3] = NEVER_WAKES;
	dispatch_halt_all_cores(&startup);
	assert_int_equal(slots[0].state, CORE_ALIVE);
	assert_int_equal(slots[1].state, CORE_STOPPED);
	assert_int_equal(slots[2].state, CORE_SILENT);
	assert_int_equal(slots[3].state, CORE_STOPPED);
	assert_int_equal(wakes[1], 1);
	for (size_t i = 0; i < sim.lapic.ipi_count; i++)
		assert_true(sim.lapic.ipis[i].command == WAKE || sim.lapic.ipis[i].destination == 3);
	assert_int_equal(sim.lapic.ipis[sim.lapic.ipi_count - 1].command, INIT);
	/* 20 ms of waiting, and 10 ms after the INIT */
	assert_in_range(sim.now_ps, 30 * SIM_PS_PER_MS, 31 * SIM_PS_PER_MS);
}

TEST(a_core_halts_after_its_last_job)
{
	struct core_slot *slot = &slots[1];

	assert_int_equal(dispatch_run_pending_job(slot), DISPATCH_IDLE);
	slot->job = count_run;
	slot->posted++;
	assert_int_equal(dispatch_run_pending_job(slot), DISPATCH_WORKED);
	slot->job = NULL;
	slot->posted++;
	assert_int_equal(dispatch_run_pending_job(slot), DISPATCH_HALT);
	assert_int_equal(slot->done, slot->posted);
	assert_int_equal(runs[1], 1);
}

/* number of the pause at which the next job comes while the core waits; 0 if it never comes */
static unsigned post_at, pauses;

static void
post_in_time(enum sim_access access, uint64_t where)
{
	if (access == SIM_PAUSE && ++pauses == post_at)
		slots[1].posted++;
}

TEST(a_core_waits_without_halting_for_a_limited_time)
{
	sim.spent = post_in_time;
	for (unsigned at = 0; at < 2; at++) {
		uint64_t begin_ps = sim.now_ps;

		pauses = 0;
		post_at = at * 500;
		/* 10 ms, which end in the sixth look: a look takes 2,000 pauses of 990 ns */
		slots[1].awake_ticks = 10000000;
		assert_int_equal(dispatch_poll_for_job(&slots[1]), at > 0);
		assert_int_equal(pauses, at > 0 ? 500 : 12000);
		assert_in_range(sim.now_ps - begin_ps, (at > 0 ? 495 : 11880) * SIM_PS_PER_US, 11881 * SIM_PS_PER_US);
	}
	slots[1].done = slots[1].posted;
	slots[1].awake_ticks = 0;
	pauses = 0;
	assert_false(dispatch_poll_for_job(&slots[1])); /* in a guest a core does not wait */
	assert_int_equal(pauses, 0);
	sim.spent = NULL;
}

/*
 * A batch on core 1 that takes 99 ms if nothing disturbs it. Each TSC reading of the boot core, which waits for it,
 * makes it 200 ns longer.
 */
static struct disturbed_batch {
	bool has_begun;
	uint64_t begin_ps, delay_ps;
	uint64_t before[SIM_ACCESSES]; /* number of accesses before the batch began */
} disturbed;

static void
disturb_batch_by_tsc_readings(enum sim_access access, uint64_t where)
{
	if (access == SIM_PAUSE && !disturbed.has_begun) {
		disturbed.has_begun = true;
		disturbed.begin_ps = sim.now_ps;
		memcpy(disturbed.before, sim.count, sizeof(disturbed.before));
	}
	if (access == SIM_TSC && disturbed.has_begun)
		disturbed.delay_ps += 200 * SIM_PS_PER_NS;
	if (disturbed.has_begun && sim.now_ps - disturbed.begin_ps >= 99 * SIM_PS_PER_MS + disturbed.delay_ps)
		slots[1].done = slots[1].posted;
}

/*
 * In 99 ms the boot core looks at its TSC 50 times, with at most three readings in each look, and accesses no device.
 */
TEST(a_waiting_boot_core_does_not_disturb_the_batch_of_another_core)
{
	manners[1] = ENDS_LATER;
	disturbed = (struct disturbed_batch){ .has_begun = false };
	sim.spent = disturb_batch_by_tsc_readings;
	assert_true(run_one(1, count_run, NULL, 2 * BOUND_NS));
	sim.spent = NULL;
	for (size_t i = 0; i < SIM_ACCESSES; i++) {
		uint64_t accesses = sim.count[i] - disturbed.before[i];

		if (i == SIM_TSC)
			assert_in_range(accesses, 2, 3 * 51);
		else if (i != SIM_PAUSE)
			assert_int_equal(accesses, 0);
	}
	assert_in_range(disturbed.delay_ps, 0, 99 * SIM_PS_PER_MS / 1000);
}

/* A look at the TSC follows 2,000 checks and 8 PAUSEs. Each reading of the TSC has one more PAUSE. */
TEST(in_an_emulator_a_waiting_core_seldom_pauses)
{
	manners[1] = NEVER_ENDS;
	startup.checks_per_pause = 256;
	assert_false(run_one(1, count_run, NULL, WAIT_NS_PER_MS));
	assert_in_range(sim.count[SIM_PAUSE], 500, 12 * sim.count[SIM_TSC]);
	assert_int_equal(slots[1].state, CORE_LATE);
}

/* A core that waits for its next job without halting must not disturb the other cores either. */
TEST(a_core_that_stays_awake_rarely_reads_its_tsc)
{
	slots[1].awake_ticks = 10000000;
	assert_false(dispatch_poll_for_job(&slots[1]));
	assert_in_range(sim.count[SIM_TSC], 2, 8);
}

/*
 * Core 1 ends its job at pause number pauses_to_end of the boot core. At pause number pauses_to_leap, the TSC jumps by
 * 3 s once.
 */
static unsigned pauses_to_end, pauses_to_leap;

static void
restore_a_snapshot(enum sim_access access, uint64_t where)
{
	if (access != SIM_PAUSE)
		return;
	if (pauses_to_leap && --pauses_to_leap == 0)
		sim_counter_set(&sim.tsc.counter, sim_counter_get_ticks(&sim.tsc.counter) + 3000000000u);
	if (pauses_to_end && --pauses_to_end == 0)
		slots[1].done = slots[1].posted;
}

TEST(a_working_core_is_not_late_if_the_tsc_jumps)
{
	manners[1] = ENDS_LATER;
	pauses_to_leap = 10;
	pauses_to_end = 1000; /* 1,000 pauses of 990 ns, which is less than the limit of 100 ms */
	sim.spent = restore_a_snapshot;
	assert_true(run_one(1, count_run, NULL, BOUND_NS));
	sim.spent = NULL;
	assert_int_equal(pauses_to_leap + pauses_to_end, 0);
	assert_int_equal(slots[1].state, CORE_ALIVE);
}
