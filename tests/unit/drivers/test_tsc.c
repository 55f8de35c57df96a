/*
 * The TSC driver and the null clock (whose read does nothing) on the simulated machine. The TSC counts at 1 GHz, so a
 * tick takes a nanosecond.
 */
#include "driver_checks.h"
#include "run/run.h"

enum { TSC, LFENCE, RDTSCP, CPUID };

TEST_FIXTURE(reset, NULL);

TEST(the_duration_of_each_read_method_is_that_of_its_instructions)
{
	static const uint64_t cost_ns[] = { 10, 20, 25, 110 };
	struct sample samples[3];

	open_driver(&tsc_driver);
	for (size_t row = 0; row < 4; row++) {
		uint64_t c = cost_ns[row];

		assert_int_equal(clocks[row].state, CLOCK_PRESENT);
		assert_string_equal(clocks[row].main, "tsc");
		assert_int_equal(clocks[row].width_bits, 64);
		assert_int_equal(clocks[row].wrap_ticks, UINT64_MAX);
		take(&clocks[row], 1000 * SIM_PS_PER_US, samples, 3);
		assert_sample(samples[0], 1000020, 1000020 + c, 1000040 + c);
		assert_sample(samples[1], 1000040 + c, 1000040 + 2 * c, 1000060 + 2 * c);
		assert_sample(samples[2], 1000060 + 2 * c, 1000060 + 3 * c, 1000080 + 3 * c);
	}
}

TEST(a_sample_of_the_null_clock_only_has_its_bracket_of_20_ns)
{
	struct sample samples[2];

	open_driver(&null_driver);
	assert_state(0, CLOCK_PRESENT, "");
	assert_string_equal(clocks[0].found_by, "");
	assert_int_equal(clocks[0].wrap_ticks, UINT64_MAX);
	take(&clocks[0], 0, samples, 2);
	assert_sample(samples[0], 20, 0, 40);
	assert_sample(samples[1], 40, 0, 60);
}

TEST(the_bracket_has_mfence_only_if_lfence_does_not_serialise)
{
	for (int serialises = 0; serialises < 2; serialises++)
		for (size_t i = 0; drivers[i]; i++) {
			struct sample sample;

			reset();
			platform.cpu.lfence_serialises = serialises;
			open_driver(drivers[i]);
			if (clocks[0].unoffered)
				continue;
			memset(sim.count, 0, sizeof(sim.count));
			take(&clocks[0], 0, &sample, 1);
			assert_int_equal(sim.count[SIM_TSC_MFENCE], serialises ? 0 : 2);
			assert_int_equal(sim.count[SIM_TSC_LFENCE], serialises ? 2 : 0);
		}
}

TEST(the_nominal_rate_is_the_hypervisors_or_the_first_stated_rate)
{
	struct claim *claim;

	open_driver(&tsc_driver);
	assert_string_equal(clocks[TSC].reason, "The TSC's rate is stated by CPUID 15h.");
	assert_int_equal(clocks[CPUID].claimed.num / clocks[CPUID].claimed.den, 1000000000);

	claim = claims_add(&platform.claims, CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID 40000010h EAX");
	claim_set_rate(claim, (struct rate){ 1000000001, 1 }, 1000);
	open_driver(&tsc_driver);
	assert_string_equal(clocks[TSC].reason, "The TSC's rate is stated by CPUID 40000010h EAX.");
	assert_int_equal(clocks[LFENCE].claimed.num, 1000000001);
	assert_int_equal(clocks[TSC].claimed_within_ppb, 1000);

	platform.claims.count = 0;
	claim_set_rate(claims_add(&platform.claims, CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h"), (struct rate){ 1000000002, 1 },
		       50000000);
	open_driver(&tsc_driver);
	assert_string_equal(clocks[TSC].reason, "The TSC's rate is stated by CPUID 16h (rounded).");
	assert_int_equal(clocks[RDTSCP].claimed.num, 1000000002);

	platform.claims.count = 0;
	platform.cpu.tsc_is_invariant = false;
	open_driver(&tsc_driver);
	assert_state(TSC, CLOCK_PRESENT, "CPUID states no rate of the TSC. "
		     "CPUID 80000007h does not report the TSC as invariant.");
	assert_int_equal(clocks[TSC].claimed.den, 0);
}

TEST(without_rdtscp_only_its_read_method_is_absent)
{
	sim_cpuid_set(0x80000001, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	sim_describe_platform(&platform);
	open_driver(&tsc_driver);
	assert_state(RDTSCP, CLOCK_ABSENT, "CPUID 80000001h EDX[27] reports no RDTSCP.");
	assert_int_equal(clocks[TSC].state, CLOCK_PRESENT);
	assert_int_equal(clocks[CPUID].state, CLOCK_PRESENT);
	assert_int_equal(sim.count[SIM_TSCP], 0);
}

/* The bit for an invariant TSC decides only on bare metal. In a guest the hypervisor may hide it. */
TEST(a_tsc_that_is_not_called_invariant_is_rated_between_the_pm_timer_and_the_pit)
{
	open_driver(&tsc_driver);
	assert_true(clocks[TSC].rating > hpet_driver.rows[0].rating);
	assert_true(hpet_driver.rows[0].rating > acpi_pm_driver.rows[0].rating);
	platform.cpu.tsc_is_invariant = false;
	open_driver(&tsc_driver);
	assert_true(clocks[TSC].rating < acpi_pm_driver.rows[0].rating);
	assert_true(clocks[TSC].rating > pit_driver.rows[0].rating);
	strcpy(platform.cpu.hypervisor, "KVMKVMKVM");
	open_driver(&tsc_driver);
	assert_true(clocks[TSC].rating > hpet_driver.rows[0].rating);
}

/*
 * Each device has a rating for exactly one of its read methods. The null clock has none, because it measures no time.
 */
TEST(each_device_except_the_null_clock_has_one_rated_read_method)
{
	for (size_t i = 0; drivers[i]; i++)
		for (size_t row = 0; row < drivers[i]->clock_count; row++)
			assert_int_equal(drivers[i]->rows[row].rating != 0, row == 0 && drivers[i] != &null_driver);
}

/* If there were more clocks than the limits allow, a run would leave some out without a message. */
TEST(a_run_and_a_report_have_space_for_all_clocks, NULL, NULL)
{
	size_t count = 0, rows = 0;

	for (; drivers[count]; count++) {
		assert_true(drivers[count]->clock_count <= DRIVER_CLOCKS_MAX);
		rows += drivers[count]->clock_count;
	}
	assert_true(count <= RUN_DRIVERS_MAX);
	assert_true(rows <= REPORT_CLOCKS_MAX);
	assert_true(rows <= OPTIONS_CLOCKS_MAX);
}

TEST(without_a_tsc_no_driver_reads_a_clock_and_every_row_says_so)
{
	platform.cpu.has_tsc = false;
	memset(sim.count, 0, sizeof(sim.count));
	for (size_t i = 0; drivers[i]; i++) {
		open_driver(drivers[i]);
		for (size_t row = 0; row < drivers[i]->clock_count; row++)
			assert_state(row, CLOCK_ABSENT,
				     "CPUID 1h EDX[4] reports no TSC.");
		drivers[i]->close(&device);
	}
	for (size_t i = 0; i < SIM_ACCESSES; i++)
		assert_int_equal(sim.count[i], 0);
}

TEST(a_tsc_that_does_not_move_is_stuck_after_100000_reads)
{
	sim.tsc.counter.stuck_at_ps = 0;
	open_driver(&tsc_driver);
	assert_state(TSC, CLOCK_STUCK, "The TSC reads the same every time.");
	assert_state(CPUID, CLOCK_STUCK, "The TSC reads the same every time.");
	assert_in_range(sim.count[SIM_TSC], 100000, 210000);
}

TEST(a_step_back_of_500_ticks_is_in_exactly_one_sample)
{
	struct sample sound[3], sick[3];

	open_driver(&tsc_driver);
	take(&clocks[TSC], 0, sound, 3);
	sim.tsc.counter.backward_at_ps = 60 * SIM_PS_PER_NS; /* a time within the second sample's own TSC reading */
	sim.tsc.counter.backward_ticks = 500;
	take(&clocks[TSC], 0, sick, 3);
	assert_sample(sound[1], 50, 60, 80);
	assert_sample(sick[0], 20, 30, 50);
	assert_int_equal(sick[1].begin, 50);
	assert_int_equal((int64_t)sick[1].ticks, 60 - 500);
	assert_int_equal((int64_t)sick[2].end, 110 - 500);
}
