/*
 * The search for gaps on every core of the simulated machine. The simulated host takes time from the cores as the test
 * requests, and all of it must be found on the right core.
 */
#include "test.h"
#include "sim.h"
#include "analysis/analysis.h"
#include "measure/survey.h"
#include "measure/clocks/survey_clocks.h"
#include "measure/survey_plan.h"

#define CORES_MAX    300
#define ID_OF(core)  (2 * (uint32_t)(core) + 100) /* the APIC id of a core, which differs from its number */
#define NS_PER_MS    UINT64_C(1000000)
#define NONE       SIZE_MAX
#define READ_NS      200 /* duration of a TSC reading in ns; a tick is a nanosecond */
#define WARM_UP      256
#define AWAY_MAX     256

/* CORE is preempted for NS just before reading number READING of its TSC. */
struct away {
	size_t core;
	uint64_t reading, ns;
};

static struct {
	struct report report;
	struct survey survey;
	struct smp smp;
	void *memory;
	size_t core;                  /* number of the running core */
	uint64_t readings[CORES_MAX]; /* number of TSC readings in jobs, for each core */
	bool in_job;
	size_t away_count;
	struct away away[AWAY_MAX];
	size_t mute;
	uint64_t mute_after_jobs;     /* number of jobs of core MUTE after which it dies */
	bool is_dead;
	uint64_t deadline_ns, longest_job_ns;
} bench;

static uint64_t
read_tsc(void)
{
	if (!bench.in_job)
		return hw_tsc_lfence();
	for (size_t i = 0; i < bench.away_count; i++)
		if (bench.away[i].core == bench.core && bench.away[i].reading == bench.readings[bench.core])
			sim_advance_ps(bench.away[i].ns * SIM_PS_PER_NS);
	bench.readings[bench.core]++;
	return hw_tsc_lfence();
}

static bool
alive(void *context, size_t core)
{
	return core != bench.mute || !bench.is_dead;
}

static bool
run(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	uint64_t begin_ps = sim.now_ps, took_ns;

	if (core == bench.mute && bench.mute_after_jobs-- == 0) {
		bench.is_dead = true;
		return false;
	}
	bench.core = core;
	sim.core = core % SIM_CORES_MAX;
	bench.in_job = true;
	job(argument, core);
	bench.in_job = false;
	sim.core = 0;
	took_ns = (sim.now_ps - begin_ps) / SIM_PS_PER_NS;
	assert_true(took_ns < bound_ns);
	if (took_ns > bench.longest_job_ns)
		bench.longest_job_ns = took_ns;
	return true;
}

static uint64_t
ticks_left(void *context)
{
	return sim.now_ps > bench.deadline_ns * SIM_PS_PER_NS ? 0 : UINT64_MAX;
}

static void
progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	assert_string_equal(what, "gaps");
	assert_in_range(done_ns, 0, total_ns);
}

static void
open_bench(size_t cores)
{
	static const struct stolen_counter no_counter = { .id = NULL };

	bench.mute = NONE;
	bench.deadline_ns = UINT64_MAX / SIM_PS_PER_NS;
	options_set_defaults(&bench.report.facts.options);
	bench.report.duration_ns = 100 * NS_PER_MS;
	bench.report.facts.core_count = cores;
	bench.report.figures.tsc = (struct rate){ 1000000000, 1 };
	bench.smp = (struct smp){ .count = cores, .alive = alive, .run = run };
	bench.survey = (struct survey){
		.report = &bench.report,
		.smp = &bench.smp,
		.hooks = { .tsc_ordered = read_tsc, .ticks_left = ticks_left, .progress = progress,
			   .stolen_counter = &no_counter },
		.plan.part = SURVEY_GAPS,
	};
	scale_init(&bench.survey.scale, bench.report.figures.tsc);
	bench.memory = sim_allocate_zeros(PINGPONG_LINE, survey_memory_bytes(cores, PAIR_SCHEDULE_STAR, 0));
	survey_divide_memory(&bench.survey, bench.memory, cores, PAIR_SCHEDULE_STAR, 0);
	for (size_t i = 0; i < cores; i++)
		bench.report.facts.cores[i].apic_id = ID_OF(i);
	bench.report.facts.run.version = bench.report.facts.run.commit = "";
	survey_begin_record(&bench.survey);
}

/* Searches all cores for gaps, and fills in the report from the record. */
static void
observe(void)
{
	const struct record *record = &bench.survey.record;

	survey_observe_gaps(&bench.survey);
	analysis_calculate_gaps(record->bytes, record->length, &bench.report, &bench.report.figures);
}

static void
set_up(void)
{
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim.cost_ps[SIM_TSC_LFENCE] = READ_NS * SIM_PS_PER_NS;
	memset(&bench, 0, sizeof(bench));
}

static void
tear_down(void)
{
	free(bench.memory);
}

TEST_FIXTURE(set_up, tear_down);

/* Preempts CORE for NS, AFTER_NS after the start of its observation. Earlier stolen time does not count in AFTER_NS. */
static void
take_away(size_t core, uint64_t after_ns, uint64_t ns)
{
	uint64_t warm_up_readings = WARM_UP + 1, chunks_begun = 1 + after_ns / (10 * NS_PER_MS);

	bench.away[bench.away_count++] =
		(struct away){ core, warm_up_readings + chunks_begun + after_ns / READ_NS, ns };
}

TEST(four_undisturbed_cores_have_no_gap)
{
	const struct report_interference *all = &bench.report.figures.interference;

	open_bench(4);
	observe();
	assert_true(all->measured);
	assert_int_equal(all->threshold_ns, 10000);
	assert_int_equal(all->gaps, 0);
	assert_int_equal(all->event_count, 0);
	assert_int_equal(all->observed_ns, 4 * 100 * NS_PER_MS);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(bench.report.figures.cores[i].observed_ns, 100 * NS_PER_MS);
		assert_int_equal(bench.report.figures.cores[i].gaps, 0);
	}
	assert_in_range(bench.longest_job_ns, 10 * NS_PER_MS, 10 * NS_PER_MS + READ_NS);
}

TEST(a_core_that_is_preempted_four_times_has_four_gaps_and_the_others_none)
{
	const struct report_interference *all = &bench.report.figures.interference;
	const struct core_figures *core;

	open_bench(4);
	take_away(2, 1000000, 50000 - READ_NS);
	take_away(2, 15000000, 60000 - READ_NS);
	take_away(2, 25000000, 2000000 - READ_NS);
	take_away(2, 35000000, 9000 - READ_NS); /* just too short for a gap */
	take_away(2, 75000000, 70000 - READ_NS);
	observe();
	core = &bench.report.figures.cores[2];
	assert_int_equal(all->gaps, 4);
	assert_int_equal(all->total_ns, 2180000);
	assert_int_equal(all->worst_ns, 2000000);
	assert_int_equal(all->worst_core, ID_OF(2));
	assert_int_equal(all->octave[16], 2); /* octave 16 counts gaps of 32,768 to 65,535 ns */
	assert_int_equal(all->octave[17], 1);
	assert_int_equal(all->octave[21], 1);
	assert_int_equal(core->gaps, 4);
	assert_int_equal(core->worst_gap_ns, 2000000);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(bench.report.figures.cores[i].gaps, i == 2 ? 4 : 0);
}

/* Cores 0 and 1 are observed for 100 ms each, then core 2 for two chunks of 10 ms and for 5 ms of its third chunk. */
TEST(an_event_has_its_time_in_the_run)
{
	const struct report_gap *event = &bench.report.figures.interference.events[0];

	open_bench(4);
	take_away(2, 25000000, 2000000 - READ_NS);
	observe();
	assert_int_equal(bench.report.figures.interference.event_count, 1);
	assert_int_equal(event->at_ms, 225);
	assert_int_equal(event->ns, 2000000);
	assert_int_equal(event->core, ID_OF(2));
}

/* The time of the event comes from the boot core's TSC, not from the TSC of the core with the gap. */
TEST(the_time_of_an_event_does_not_depend_on_its_cores_own_tsc)
{
	open_bench(2);
	sim.tsc.offset_ticks[1] = -INT64_C(3600000000000);
	take_away(1, 25000000, 50000);
	observe();
	assert_int_equal(bench.report.figures.interference.events[0].at_ms, 125);
}

TEST(the_option_gap_sets_the_shortest_gap)
{
	open_bench(2);
	bench.report.facts.options.gap_ns = 100000;
	take_away(0, 1000000, 50000);
	take_away(0, 5000000, 100001 - READ_NS);
	observe();
	assert_int_equal(bench.report.figures.interference.threshold_ns, 100000);
	assert_int_equal(bench.report.figures.interference.gaps, 1);
	assert_int_equal(bench.report.figures.interference.worst_ns, 100001);
}

TEST(slow_first_executions_are_no_gap)
{
	open_bench(2);
	for (size_t core = 0; core < 2; core++)
		for (uint64_t i = 0; i < 100; i++)
			bench.away[bench.away_count++] = (struct away){ core, i, 40000 };
	observe();
	assert_int_equal(bench.report.figures.interference.gaps, 0);
	assert_int_equal(bench.report.figures.interference.observed_ns, 2 * 100 * NS_PER_MS);
}

TEST(a_core_that_dies_keeps_its_results_and_the_others_are_observed)
{
	open_bench(3);
	bench.mute = 1;
	bench.mute_after_jobs = 3; /* the core dies after three jobs: its warm-up and two chunks of 10 ms */
	observe();
	assert_true(bench.is_dead);
	assert_int_equal(bench.report.figures.cores[1].observed_ns, 20 * NS_PER_MS);
	assert_int_equal(bench.report.figures.cores[2].observed_ns, 100 * NS_PER_MS);
	assert_int_equal(bench.report.figures.interference.observed_ns, 220 * NS_PER_MS);
}

TEST(the_deadline_ends_the_observation_and_keeps_its_results)
{
	open_bench(2);
	bench.deadline_ns = sim.now_ps / SIM_PS_PER_NS + 45 * NS_PER_MS;
	observe();
	assert_true(bench.report.facts.run.incomplete);
	assert_int_equal(bench.report.figures.cores[0].observed_ns, 50 * NS_PER_MS);
	assert_int_equal(bench.report.figures.cores[1].observed_ns, 0);
}

/*
 * With more than ten cores, all cores together are observed for ten times the duration of one measurement, as in the
 * latency measurements. Cores 0 to 255 have one gap each, and the report has space for 256 gaps.
 */
TEST(observing_300_cores_takes_as_long_as_observing_11)
{
	const struct report_interference *all = &bench.report.figures.interference;

	open_bench(CORES_MAX);
	bench.report.duration_ns = 10 * NS_PER_MS;
	for (size_t core = 0; core < AWAY_MAX; core++)
		bench.away[bench.away_count++] = (struct away){ core, WARM_UP + 10, 20000 };
	observe();
	assert_in_range(all->observed_ns, 100 * NS_PER_MS, 110 * NS_PER_MS);
	assert_int_equal(all->gaps, AWAY_MAX);
	assert_int_equal(all->event_count, REPORT_EVENTS_MAX);
	assert_int_equal(all->events[255].core, ID_OF(255));
	assert_true(bench.report.figures.cores[CORES_MAX - 1].observed_ns > 0);
}

TEST(one_noisy_core_leaves_room_for_the_events_of_the_others)
{
	const struct report_interference *all = &bench.report.figures.interference;

	open_bench(4);
	for (uint64_t i = 0; i < 200; i++)
		bench.away[bench.away_count++] = (struct away){ 0, WARM_UP + 10 + 2000 * i, 20000 };
	take_away(3, 5000000, 30000);
	observe();
	assert_int_equal(all->gaps, 201);
	assert_int_equal(all->event_count, 65);
	assert_int_equal(all->events[63].core, ID_OF(0));
	assert_int_equal(all->events[64].core, ID_OF(3));
}

TEST(a_tsc_that_stopped_is_not_observed)
{
	open_bench(1);
	sim.tsc.counter.stuck_at_ps = sim.now_ps;
	observe();
	assert_int_equal(bench.readings[0], 0);
	assert_false(bench.report.figures.interference.measured);
	assert_true(bench.report.facts.run.incomplete);
}

/*
 * Two chunks of 10 ms and half of the third are read until the TSC stops. Further readings then show that it stopped.
 */
TEST(the_observation_ends_with_the_chunk_in_which_the_tsc_stops)
{
	open_bench(1);
	sim.tsc.counter.stuck_at_ps = sim.now_ps + 25 * SIM_PS_PER_MS;
	observe();
	assert_in_range(bench.readings[0], 4000000, 4000000 + 25 * NS_PER_MS / 20);
	assert_in_range(bench.report.figures.interference.observed_ns, 24 * NS_PER_MS, 25 * NS_PER_MS);
	assert_int_equal(bench.report.figures.interference.gaps, 0);
}

TEST(a_step_back_in_the_search_for_gaps_is_the_tscs_fault)
{
	open_bench(1);
	sim.tsc.counter.backward_at_ps = sim.now_ps + 5 * SIM_PS_PER_MS;
	sim.tsc.counter.backward_ticks = 5000;
	observe();
	assert_int_equal(bench.report.facts.cores[0].tsc.backward, 1);
	assert_int_equal(bench.report.facts.cores[0].tsc.worst_ticks, 5000 - READ_NS);
	assert_int_equal(bench.report.facts.cores[0].tsc.reads, bench.readings[0] - WARM_UP - 1 - 10);
	assert_int_equal(bench.report.figures.interference.gaps, 0);
}
