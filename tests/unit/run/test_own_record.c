/*
 * A faulty machine may give any numbers. Its run must end with a report, and a replay of its record must give the same
 * report. bench_close() compares the two. All times are simulated.
 */
#include "test.h"
#include "bench.h"
#include "sim.h"

TEST(a_tsc_that_jumps_by_any_time_leaves_a_record_that_can_be_replayed)
{
	/* in the unit of the simulated TSC, 1 ns: 292 years ahead, and 146 years ahead and back */
	const uint64_t jumps[] = { UINT64_C(1) << 63, UINT64_C(1) << 62, 0 - (UINT64_C(1) << 62) };

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++)
		for (uint64_t ms = 10; ms < 3000; ms += 1000) {
			struct bench *bench;

			sim_reset();
			sim_slow_tsc_reads(8);
			sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 4 * SIM_PS_PER_US;
			sim.tsc.counter.backward_at_ps = ms * SIM_PS_PER_MS;
			sim.tsc.counter.backward_ticks = 0 - jumps[i];
			bench = bench_new();
			bench_open(bench, 1);
			(void)bench_run(bench);
			assert_true(sim.now_ps < 100 * SIM_PS_PER_S);
			bench_free(bench);
		}
}
