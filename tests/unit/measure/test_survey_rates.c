/*
 * Measured rates of clocks on single simulated machines. tests/truth compares the rates, findings and notes of random
 * machines with their true values. The RTC is read more slowly while its next second is far away, so that a run has at
 * most 50,000 accesses.
 */
#include <stdio.h>

#include "test.h"
#include "findings.h"
#include "bench.h"
#include "analysis/analysis.h"
#include "judge/judge.h"
#include "sim.h"
#include "sim_internal.h"
#include "measure/survey_internal.h"

#define PPB           1000000000
#define TENTHS        10000000       /* a rate error of 100 %, in tenths of a ppm */
#define PIT_HZ_NUM    105000000
#define PIT_HZ_DEN    88
/* While the RTC's change of second is more than RTC_FAR_PS away, a read of the RTC takes RTC_SLOW_PS longer. */
#define RTC_FAR_PS    (10 * SIM_PS_PER_MS)
#define RTC_SLOW_PS   (200 * SIM_PS_PER_US)
#define ACCESS_PS     (SIM_PS_PER_US / 2) /* duration of an access to a device */
/* longest additional duration of an access before, and also after, the counter is sampled */
#define JITTER_PS     (SIM_PS_PER_US / 4)

enum { TSC, HPET, PM, PIT, RTC, CLOCKS };

static const char *const ids[CLOCKS] = { "tsc", "hpet", "acpi_pm", "pit", "rtc" };

/* Faults that a test arranges, and what show_progress() observed. */
static struct {
	uint64_t seed;
	uint64_t leaps_at_ps, leap_ps; /* time at which the RTC jumps ahead, and size of the jump */
	int64_t leap_tsc_ppm;          /* change of the TSC's rate at leaps_at_ps */
	/*
	 * The core is preempted once for away_ps: in the first read of the PIT after away_at_ps, or in a read of the
	 * RTC if away_at_rtc is true.
	 */
	uint64_t away_at_ps, away_ps;
	bool away_at_rtc;
	/* error of each clock's true rate against its nominal rate, in tenths of a ppm */
	int64_t off_tenths[CLOCKS];
	uint64_t tsc_hz;
	uint64_t draw_ps;          /* duration of drawing the progress line once */
	unsigned away_in;          /* number of readings of the PM timer until the core is preempted; 0 for never */
	/*
	 * time after the first edge of a rate window at which the HPET jumps, once in each window, in ms; 0 for no
	 * jumps
	 */
	uint64_t jumps_after_ms;
	uint64_t jumped_in;        /* time of the first edge of the latest window in which the HPET jumped */
	uint64_t shown_ns, total_ns; /* progress in ns when it was last shown, and planned duration of the run */
	unsigned shown;            /* number of times that the progress line was drawn */
} arranged;

static struct bench *bench;

static void jump_if_due(void);

static uint64_t
draw(uint64_t below)
{
	arranged.seed ^= arranged.seed << 13;
	arranged.seed ^= arranged.seed >> 7;
	arranged.seed ^= arranged.seed << 17;
	return arranged.seed % below;
}

static void
spend_some(void)
{
	sim_advance_ps(draw(JITTER_PS));
}

static uint64_t
read_hpet(uint64_t address, unsigned width_bytes)
{
	uint64_t value;

	if (arranged.jumps_after_ms)
		jump_if_due();
	spend_some();
	value = sim_hpet_read(address, width_bytes);
	spend_some();
	return value;
}

static uint32_t
in_pm(void *context, uint16_t port, unsigned width_bytes)
{
	uint32_t value;

	spend_some();
	if (arranged.away_in && --arranged.away_in == 0)
		sim_advance_ps(15 * SIM_PS_PER_MS);
	value = sim_pm_read();
	spend_some();
	return value;
}

static void
preempt_if_due(bool at_rtc)
{
	if (sim.now_ps < arranged.away_at_ps || at_rtc != arranged.away_at_rtc)
		return;
	arranged.away_at_ps = SIM_NEVER;
	sim_advance_ps(arranged.away_ps);
}

static uint32_t
in_pit(void *context, uint16_t port, unsigned width_bytes)
{
	preempt_if_due(false);
	return sim_pit_in(port);
}

static void
out_pit(void *context, uint16_t port, uint32_t value, unsigned width_bytes)
{
	spend_some();
	sim_pit_out(port, (uint8_t)value);
	spend_some();
}

static uint32_t
in_rtc(void *context, uint16_t port, unsigned width_bytes)
{
	uint64_t passed_ps;

	preempt_if_due(true);
	passed_ps = sim.now_ps % SIM_PS_PER_S;
	if (passed_ps > RTC_FAR_PS + sim.rtc.late_max_ps && passed_ps < SIM_PS_PER_S - RTC_FAR_PS)
		sim_advance_ps(RTC_SLOW_PS);
	if (sim.now_ps >= arranged.leaps_at_ps) {
		sim.rtc.ahead_ps = arranged.leap_ps;
		sim_counter_speed_up(&sim.tsc.counter, arranged.leap_tsc_ppm);
		arranged.leap_tsc_ppm = 0;
	}
	return sim_rtc_in(port);
}

static void
out_rtc(void *context, uint16_t port, uint32_t value, unsigned width_bytes)
{
	sim_rtc_out(port, (uint8_t)value);
}

static struct sim_counter *
counter_of(int clock)
{
	return clock == TSC ? &sim.tsc.counter : clock == HPET ? &sim.hpet.counter : &sim.pm.counter;
}

/* Lets simulated time pass, as drawing on a screen does. */
static void
show_progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	assert_string_equal(what, "rates");
	assert_true(done_ns <= total_ns);
	arranged.shown_ns = done_ns;
	arranged.total_ns = total_ns;
	arranged.shown++;
	sim_advance_ps(arranged.draw_ps);
}

static struct report_clock *
find(int clock)
{
	return bench_find_clock(bench, ids[clock]);
}

static const struct clock_figures *
figures(int clock)
{
	return bench_find_figures(bench, ids[clock]);
}

/* Lets the HPET jump by a second if the jump in the present window is due. A window is identified by its first edge. */
static void
jump_if_due(void)
{
	uint64_t first = bench->run.survey.tracks[find(RTC) - bench->run.report.facts.clocks].first.end;

	if (!first || first == arranged.jumped_in)
		return;
	if (hw_tsc_lfence() - first < arranged.tsc_hz / 1000 * arranged.jumps_after_ms)
		return;
	arranged.jumped_in = first;
	sim.hpet.counter.origin_ticks += UINT64_C(1000000000000000) / SIM_HPET_PERIOD_FS;
}

/*
 * Sets the counters to their true rates. The PIT and the RTC always have the same rate in the simulation, so their
 * nominal rates are changed instead. The TSC's nominal rate may be right or wrong.
 */
static void
set_rates(void)
{
	const int64_t *off = arranged.off_tenths;
	uint64_t hpet_hz = UINT64_C(1000000000000000) / SIM_HPET_PERIOD_FS;

	sim.tsc.counter.hz = (struct rate){ arranged.tsc_hz, 1 };
	sim.hpet.counter.hz = (struct rate){ hpet_hz * (uint64_t)(TENTHS + off[HPET]), TENTHS };
	sim.pm.counter.hz = (struct rate){ UINT64_C(39375000) * (uint64_t)(TENTHS + off[PM]), 11 * TENTHS };
}

static void
set_claims(void)
{
	const int64_t *off = arranged.off_tenths;

	find(TSC)->clock.claimed = (struct rate){ arranged.tsc_hz * TENTHS, (uint64_t)(TENTHS + off[TSC]) };
	find(PIT)->clock.claimed = (struct rate){ (uint64_t)PIT_HZ_NUM * TENTHS,
						  PIT_HZ_DEN * (uint64_t)(TENTHS + off[PIT]) };
	find(RTC)->clock.claimed = (struct rate){ TENTHS, (uint64_t)(TENTHS + off[RTC]) };
}

/* Starts a machine whose clocks have the rate errors OFF_TENTHS. */
static void
begin_healthy(void)
{
	bench_free(bench);
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	/* the test simulates only the ports 70h and 71h, so the index must be readable there */
	sim.rtc.index_readable = true;
	sim.cost_ps[SIM_READ] = sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = ACCESS_PS;
	sim.now_ps = draw(SIM_PS_PER_S);
	arranged.leaps_at_ps = arranged.away_at_ps = SIM_NEVER;
	sim_unmap_region(SIM_HPET_BASE);
	sim_map_region((struct sim_region){ SIM_HPET_BASE, 4096, read_hpet, sim_hpet_write });
	sim_hook_ports((struct sim_port_hook){ SIM_PM_PORT, SIM_PM_PORT, in_pm, NULL, NULL });
	sim_hook_ports((struct sim_port_hook){ 0x40, 0x43, in_pit, out_pit, NULL });
	sim_hook_ports((struct sim_port_hook){ 0x70, 0x71, in_rtc, out_rtc, NULL });
	set_rates();
	bench = bench_new();
	bench->duration_ns = UINT64_C(100000000);
	bench_open(bench, 1);
	bench->run.survey.hooks.progress = show_progress;
	bench->run.survey.rate_limit_ppb = 100000;
	set_claims();
}

/* Makes the machine a guest, whose RTC may show its edges up to 10 ms late. */
static void
become_a_guest(void)
{
	memcpy(bench->run.report.facts.machine.hypervisor, "SIM", 4);
}

static void
begin_as_a_guest(void)
{
	begin_healthy();
	become_a_guest();
}

static void
become_a_soak(void)
{
	bench->run.report.facts.options.profile = PROFILE_SOAK;
	bench->run.report.duration_ns = 1000000000;
}

static void
measure_window(void)
{
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	survey_measure_rates(&bench->run.survey);
}

/* Measures in a whole window, lets about a second pass without readings, and then does the last reading. */
static void
measure(void)
{
	measure_window();
	sim_advance_ps(SIM_PS_PER_S + draw(SIM_PS_PER_S));
	survey_measure_rates_at_end_of_run(&bench->run.survey);
	assert_false(bench->run.report.facts.run.incomplete);
}

static long double
fraction(const struct rate *rate)
{
	return (long double)rate->num / (long double)rate->den;
}

static long double
true_hz(int clock)
{
	static const struct rate pit = { PIT_HZ_NUM, PIT_HZ_DEN }, rtc = { 1, 1 };

	return fraction(clock == PIT ? &pit : clock == RTC ? &rtc : &counter_of(clock)->hz);
}

/* Returns the clock's true rate divided by its nominal rate. */
static long double
pace(int clock)
{
	struct rate claimed = find(clock)->clock.claimed;

	return true_hz(clock) / fraction(&claimed);
}

/*
 * Returns pace() of the reference clock that the TSC was compared with. The report assumes that this clock's nominal
 * rate is right.
 */
static long double
pace_of_reference(void)
{
	for (int c = HPET; c < CLOCKS; c++)
		if (strstr(bench->run.report.figures.tsc_source, ids[c]))
			return pace(c);
	fail_msg("%s", bench->run.report.figures.tsc_source);
	return 0;
}

static void
assert_holds_ppb(const struct interval_ppb *ppb, long double truth)
{
	assert_true(ppb->known);
	assert_true(ppb->low <= ppb->value && ppb->value <= ppb->high);
	if (truth < ppb->low || truth > ppb->high)
		fail_msg("%Lf is not within %lld and %lld", truth, (long long)ppb->low, (long long)ppb->high);
}

/* Returns the number of recorded discontinuities between clocks so far. */
static size_t
discontinuities(void)
{
	struct report *report = &bench->run.report;
	const struct record *record = &bench->run.survey.record;

	analysis_calculate_discontinuities(record->bytes, record->length, report, &report->figures);
	return report->figures.discontinuity_count;
}

static void
judge(void)
{
	discontinuities();
	judge_report(&bench->run.report, &bench->run.report.outcomes);
}

static void
set_up(void)
{
	memset(&arranged, 0, sizeof(arranged));
	arranged.seed = UINT64_C(0x9e3779b97f4a7c15);
	arranged.tsc_hz = UINT64_C(2303998123);
}

static void
tear_down(void)
{
	bench_free(bench);
	bench = NULL;
}

TEST_FIXTURE(set_up, tear_down);

/* Asserts that there is a single finding, by RULE and about CLOCK, and that its interval contains TRUTH_PPM. */
static void
assert_only(const char *rule, const char *clock, int64_t truth_ppm)
{
	const struct finding *finding;

	judge();
	finding = assert_only_finding(&bench->run.report, rule, clock);
	assert_true(finding->has_measured);
	assert_true(finding->low <= truth_ppm && truth_ppm <= finding->high);
	assert_true(finding->low > finding->limit || finding->high < -finding->limit);
}

static void
assert_clean(void)
{
	judge();
	assert_no_finding(&bench->run.report);
}

/* Gives the TSC its own crystal. The chip set's counters and the RTC are then two independent sources that agree. */
static void
give_the_tsc_a_crystal_of_its_own(void)
{
	arranged.off_tenths[TSC] = 200;
}

static struct {
	void (*sample)(void *device, struct sample *samples, size_t count);
	size_t count_min;     /* smallest number of samples in a reading that is counted */
	unsigned event_in;    /* number of readings of the clock until the event, which is before the last of them */
	uint64_t jump_ticks;  /* size of the clock's jump; 0 if the TSC stops for 400 us instead */
	uint64_t ahead_ticks; /* JUMP_TICKS after the jump */
} at_clock;

static void
sample_clock_after_event(void *device, struct sample *samples, size_t count)
{
	if (count >= at_clock.count_min && at_clock.event_in && --at_clock.event_in == 0) {
		at_clock.ahead_ticks = at_clock.jump_ticks;
		if (!at_clock.jump_ticks) {
			sim_advance_ps(2 * SIM_PS_PER_MS / 5);
			sim.tsc.counter.backward_at_ps = sim.now_ps;
			sim.tsc.counter.backward_ticks = arranged.tsc_hz / 2500;
		}
	}
	at_clock.sample(device, samples, count);
	for (size_t i = 0; i < count && at_clock.ahead_ticks; i++)
		samples[i].ticks = (samples[i].ticks + at_clock.ahead_ticks) & UINT16_MAX;
}

/* Arranges the event before the reading number EVENT_IN, from 1, of CLOCK with at least COUNT_MIN samples. */
static void
arrange_event(struct clock *clock, size_t count_min, unsigned event_in, uint64_t jump_ticks)
{
	at_clock = (typeof(at_clock)){ clock->sample, count_min, event_in, jump_ticks, 0 };
	clock->sample = sample_clock_after_event;
}

/*
 * A sweep is a reading of all clocks. The third sweep ends the step, and the two before it are at the step's start. The
 * TSC stops for 400 us during a sweep: in the second one between the HPET and the PM timer, so that only the HPET gains
 * on the TSC in the step, or in the third one before the PIT. In the last run, the PIT jumps ahead instead.
 */
TEST(a_guests_tsc_that_stops_during_a_sweep_accuses_no_clock)
{
	static const struct {
		int clock;
		unsigned sweep;
		uint64_t jump_ticks;
	} rows[] = { { PM, 2, 0 }, { PIT, 3, 0 }, { PIT, 3, PIT_HZ_NUM / PIT_HZ_DEN / 2500 } };

	give_the_tsc_a_crystal_of_its_own();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_as_a_guest();
		measure_window();
		assert_int_equal(discontinuities(), 0);
		arrange_event(&find(rows[i].clock)->clock, 1, rows[i].sweep, rows[i].jump_ticks);
		survey_read_and_compare_clocks(&bench->run.survey);
		survey_check_jump_of_clock(&bench->run.survey, 400000);
		assert_int_equal(at_clock.event_in, 0);
		assert_int_equal(discontinuities(), rows[i].jump_ticks > 0);
		if (rows[i].jump_ticks)
			assert_int_equal(bench->run.report.figures.discontinuities[0].group_count, 2);
	}
}

/*
 * The TSC stops between the last readings of the HPET and the PM timer in the rate window. So the rate of the PM timer
 * is wrong by 400 ppm, and the PM timer seems to gain 26 us in a step of 65 ms. After a jump of 31 us, the clocks are
 * compared with a limit of 15 us. In the other runs the HPET jumps ahead by 400 us.
 */
TEST(a_tsc_that_stopped_while_rates_were_measured_accuses_no_clock_of_a_jump)
{
	static const struct {
		unsigned step_ms, jump_us;
		uint64_t hpet_us;
	} rows[] = { { 65, 31, 0 }, { 65, 400, 400 }, { 150, 400, 400 } };

	give_the_tsc_a_crystal_of_its_own();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_as_a_guest();
		/* the batches at the window's start, middle and end */
		arrange_event(&find(PM)->clock, RATE_SAMPLES_MAX, 3, 0);
		measure_window();
		assert_int_equal(at_clock.event_in, 0);
		survey_read_and_compare_clocks(&bench->run.survey);
		sim_advance_ps(rows[i].step_ms * SIM_PS_PER_MS);
		sim.hpet.counter.origin_ticks += rows[i].hpet_us * 1000000000 / SIM_HPET_PERIOD_FS;
		survey_check_jump_of_clock(&bench->run.survey, rows[i].jump_us * 1000);
		assert_int_equal(discontinuities(), rows[i].hpet_us > 0);
		if (rows[i].hpet_us)
			assert_int_equal(bench->run.report.figures.discontinuities[0].group_count, 2);
	}
}

static struct {
	void (*sample)(void *device, struct sample *samples, size_t count);
	unsigned hpet_leaps_in; /* number of readings of the PM timer until the HPET jumps by a second; 0 for never */
} at_pm;

static void
sample_pm(void *device, struct sample *samples, size_t count)
{
	at_pm.sample(device, samples, count);
	if (at_pm.hpet_leaps_in && --at_pm.hpet_leaps_in == 0)
		sim.hpet.counter.origin_ticks += UINT64_C(1000000000000000) / SIM_HPET_PERIOD_FS;
}

/*
 * The first edge after 300 s shows only a part of the jump. This part is within the RTC's possible rate error, so it is
 * overlooked. Only the rest of the jump, which a later edge shows, is noticed.
 */
TEST(the_interval_of_a_jump_includes_a_part_that_was_overlooked)
{
	const int64_t leap_ns = 1018 * (int64_t)SURVEY_NS_PER_MS;
	size_t seen = 0;

	for (uint64_t early_ms = 100; early_ms <= 700; early_ms += 100) {
		const struct report_discontinuity *row;
		size_t alone;

		begin_as_a_guest();
		row = &bench->run.report.figures.discontinuities[0];
		measure_window();
		sim_advance_ps(300 * SIM_PS_PER_S);
		arranged.leap_ps = (uint64_t)leap_ns * SIM_PS_PER_NS;
		arranged.leaps_at_ps = (sim.now_ps / SIM_PS_PER_S + 2) * SIM_PS_PER_S - early_ms * SIM_PS_PER_MS;
		sim_advance_ps(arranged.leaps_at_ps - SIM_PS_PER_S / 8 - sim.now_ps);
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		for (unsigned i = 0; i < 40 && !discontinuities(); i++) {
			sim_advance_ps(SIM_PS_PER_S / 8);
			survey_read_and_compare_clocks(&bench->run.survey);
		}
		if (!discontinuities() || !row->from_tsc)
			continue;
		seen++;
		assert_int_equal(row->group_count, 2);
		alone = row->groups[0].clock_count > 1;
		assert_true(row->groups[alone].elapsed.low - row->groups[!alone].elapsed.high <= leap_ns);
		assert_true(row->groups[alone].elapsed.high - row->groups[!alone].elapsed.low >= leap_ns);
	}
	assert_true(seen > 0);
}

/*
 * A guest is stopped for 3 s, and its TSC then runs slower by 1 %. The RTC's rate after the stop is measured
 * between two edges. If only the second of them is late, the seconds of the RTC seem to be longer than they are.
 */
TEST(after_a_jump_the_interval_of_a_guests_rtc_contains_its_rate_if_an_edge_was_late)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct record_compared *rtc;
		uint64_t true_microhz;

		begin_as_a_guest();
		measure_window();
		rtc = &bench->run.survey.steps.clocks[find(RTC) - bench->run.report.facts.clocks];
		sim.rtc.late_max_ps = 10 * SIM_PS_PER_MS;
		arranged.leap_ps = 3 * SIM_PS_PER_S;
		arranged.leaps_at_ps = sim.now_ps + (i + 1) * SIM_PS_PER_S;
		arranged.leap_tsc_ppm = -10000;
		sim_advance_ps((i + 2) * SIM_PS_PER_S);
		assert_true(survey_read_and_compare_clocks(&bench->run.survey));
		true_microhz = (uint64_t)(true_hz(TSC) / pace(RTC) * SURVEY_MICROHZ_PER_HZ);
		assert_in_range(true_microhz, rtc->implied.low, rtc->implied.high);
	}
}

/*
 * A guest is stopped for 3 s. While the clocks are read again, it is stopped for 5 s more: either before the RTC's next
 * edge, in the same step, or after this edge.
 */
TEST(a_guest_that_is_stopped_again_while_a_stop_is_examined_has_both_stops_in_the_report)
{
	static const struct {
		bool after_edge;
		unsigned percent; /* the second stop comes after this part of the second, or of the time until the edge */
		size_t steps;
	} rows[] = { { false, 50, 1 }, { true, 30, 2 }, { true, 60, 2 }, { true, 90, 2 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct report_discontinuity *last;
		uint64_t begin_ps, edge_ps, begin_tsc;

		begin_as_a_guest();
		measure_window();
		begin_ps = sim.now_ps;
		begin_tsc = bench->run.survey.hooks.tsc_ordered();
		edge_ps = (begin_ps / SIM_PS_PER_S + 1) * SIM_PS_PER_S;
		sim.rtc.ahead_ps = 3 * SIM_PS_PER_S;
		arranged.leap_ps = 8 * SIM_PS_PER_S;
		arranged.leaps_at_ps = rows[i].after_edge ? edge_ps + rows[i].percent * 10 * SIM_PS_PER_MS :
				     begin_ps + (edge_ps - begin_ps) * rows[i].percent / 100;
		assert_true(survey_read_and_compare_clocks(&bench->run.survey));
		sim_advance_ps(2 * SIM_PS_PER_S);
		survey_read_and_compare_clocks(&bench->run.survey);
		assert_int_equal(discontinuities(), rows[i].steps);
		last = &bench->run.report.figures.discontinuities[rows[i].steps - 1];
		assert_int_equal(last->group_count, 2);
		assert_true(scale_ns(&bench->run.survey.scale, last->at_tsc - begin_tsc) >
			    (arranged.leaps_at_ps - begin_ps) / SIM_PS_PER_NS);
	}
}

#define TSC_OTHER_TENTHS 200 /* the TSC's crystal is 20 ppm off the clock of the host that drives a guest's devices */

/*
 * At the end of the run, the core is preempted for 1.5 s, just after or just before it sees an edge of the RTC. In both
 * cases the run measures the RTC's edges once more. If the core saw the edge, the measurement starts with a new
 * reading. If it did not, the edge is known only within 1.5 s, so the rest of the run shows nothing about the RTC.
 */
TEST(an_rtc_that_is_far_off_is_named_although_the_core_missed_its_edges)
{
	for (int before = 0; before < 2; before++) {
		arranged.off_tenths[TSC] = TSC_OTHER_TENTHS;
		arranged.off_tenths[RTC] = 1000000;
		begin_as_a_guest();
		measure_window();
		sim_advance_ps(2 * SIM_PS_PER_S);
		arranged.away_at_rtc = before;
		arranged.away_at_ps = (sim.now_ps / SIM_PS_PER_S + 1) * SIM_PS_PER_S;
		arranged.away_at_ps -= before ? 3 * SIM_PS_PER_MS : 0;
		arranged.away_ps = SIM_PS_PER_S / 2 * 3;
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		assert_int_equal(arranged.away_at_ps, SIM_NEVER);
		assert_only("rate-wrong", "rtc", 100000);
	}
}

/*
 * In a soak, an RTC is named if the first half of the window and the rest of the run both show its error. The run must
 * not measure further edges, which would take another 10 s. The whole window proves nothing, because a stop of the
 * machine at its end may change both the rate in the window and the rate after it.
 */
TEST(an_rtc_that_is_far_off_is_named_if_the_first_half_of_the_window_confirms_it)
{
	for (unsigned stops = 0; stops < 2; stops++) {
		uint64_t from_ps;

		arranged.off_tenths[TSC] = TSC_OTHER_TENTHS;
		arranged.off_tenths[RTC] = stops ? 0 : 200000;
		begin_as_a_guest();
		become_a_soak();
		survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
		arranged.leap_ps = stops ? SIM_PS_PER_S / 5 : 0;
		arranged.leaps_at_ps = (sim.now_ps / SIM_PS_PER_S + 11) * SIM_PS_PER_S - 12 * SIM_PS_PER_MS;
		survey_measure_rates(&bench->run.survey);
		sim_advance_ps(30 * SIM_PS_PER_S);
		from_ps = sim.now_ps;
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		if (stops) {
			assert_clean();
			assert_int_equal(discontinuities(), 0); /* a late edge may explain the gain of the RTC */
		} else {
			assert_true(sim.now_ps - from_ps < 3 * SIM_PS_PER_S);
			assert_only("rate-wrong", "rtc", 20000);
			assert_int_equal(bench->run.report.notes.count, 0);
		}
	}
}

TEST(the_option_tsc_hz_replaces_the_rate_in_cpuid)
{
	arranged.off_tenths[TSC] = -200000;
	begin_healthy();
	bench->run.report.facts.options.tsc_hz = arranged.tsc_hz;
	measure();
	assert_clean();
	arranged.off_tenths[TSC] = 0;
	begin_healthy();
	bench->run.report.facts.options.tsc_hz = arranged.tsc_hz - arranged.tsc_hz / 1000;
	measure();
	assert_only("rate-wrong", "tsc", 1001);
}

/*
 * The error is 30,000 ppm, so even the wide interval of the RTC shows a difference from the TSC. But one oscillator of
 * the host drives all devices, including the RTC, so this proves nothing about the TSC.
 */
TEST(a_hosts_rtc_that_differs_from_the_tsc_does_not_accuse_the_tsc)
{
	const struct finding *finding;

	arranged.off_tenths[HPET] = arranged.off_tenths[PM] = arranged.off_tenths[PIT] = arranged.off_tenths[RTC] = 300000;
	begin_as_a_guest();
	become_a_soak();
	measure();
	assert_only("rate-disagree", NULL, 30000);
	finding = &bench->run.report.outcomes.findings[0];
	assert_non_null(strstr(finding->text, "By their nominal rates hpet, acpi_pm, pit and rtc run +"));
	assert_string_equal(rules_get_advice(finding), "Compare the time with NTP's over some hours: one oscillator of "
			    "the host drives all devices here, the RTC too.");
}

/*
 * The advice must not mention options or clocks that the user has already used, neither on bare metal nor in a guest.
 */
TEST(the_advice_on_a_disagreement_names_only_unused_options)
{
	static const char *const given[] = {
		/* the RTC's interval is too wide here, so the advice does not mention it */
		"Give the TSC's rate with tsc_hz=. Compare the time with NTP's over some hours.",
		"Give the TSC's rate with tsc_hz=. Compare the time with NTP's over some hours: one oscillator of "
		"the host drives all devices here, the RTC too.",
	};

	for (int guest = 0; guest < 2; guest++) {
		arranged.off_tenths[HPET] = 10000;
		begin_healthy();
		if (guest)
			become_a_guest();
		find(TSC)->clock.claimed = (struct rate){ 0, 0 };
		find(PIT)->clock.state = CLOCK_ABSENT;
		find(RTC)->clock.state = CLOCK_ABSENT;
		measure();
		assert_only("rate-disagree", NULL, 1000);
		assert_string_equal(rules_get_advice(&bench->run.report.outcomes.findings[0]), given[guest]);
	}
}

/*
 * The PM timer becomes 2 % slower after the window. In 100 s it then loses 2 s, which is more than a quarter of its
 * range. Therefore its wraps can be counted only if the record has a further reading.
 */
TEST(a_clock_whose_wraps_are_not_in_a_full_record_has_no_rate_after_the_window_and_a_note)
{
	for (int full = 0; full < 2; full++) {
		begin_healthy();
		measure_window();
		sim_counter_speed_up(counter_of(PM), -20000);
		sim_advance_ps(100 * SIM_PS_PER_S);
		if (full)
			bench->run.survey.record.entries_of[RECORD_BATCH] = SURVEY_BATCHES_MAX;
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		assert_true(figures(HPET)->since_ns != 0);
		assert_int_equal(figures(PM)->since_ns != 0, !full);
		assert_int_equal(bench->run.report.notes.count, full);
		if (full)
			assert_string_equal(bench->run.report.notes.sentences[0],
					    "The rate of acpi_pm from the rate window to the end of the "
					    "run is not known, because the record had no space for the readings that count its wraps.");
	}
}

TEST(an_emulated_tsc_that_is_moved_ahead_adds_no_finding_and_hides_none)
{
	for (int c = TSC; c <= PM; c++) {
		begin_healthy();
		strcpy(bench->run.report.facts.machine.accelerator, "tcg");
		bench->run.report.facts.machine.cores_started = 2;
		measure_window();
		if (c != TSC)
			sim_counter_speed_up(counter_of(c), -1000);
		sim_advance_ps(5 * SIM_PS_PER_S);
		sim.tsc.counter.origin_ticks += arranged.tsc_hz / 200; /* a jump by 5 ms in 5 s, which is 1000 ppm */
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		if (c == TSC)
			judge();
		else
			assert_only("rate-changed", ids[c], -1000);
		assert_int_equal(bench->run.report.outcomes.finding_count, c != TSC);
	}
}

/*
 * The HPET jumps after one of the readings of the PM timer at the end of the run. The last readings come after a
 * comparison of all clocks, so only a further comparison shows a jump between them.
 */
TEST(a_jump_between_the_last_readings_of_a_run_is_in_no_rate)
{
	unsigned readings = 0, noticed = 0;

	do {
		begin_healthy();
		measure_window();
		at_pm.sample = find(PM)->clock.sample;
		find(PM)->clock.sample = sample_pm;
		at_pm.hpet_leaps_in = ++readings;
		sim_advance_ps(SIM_PS_PER_S);
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		find(PM)->clock.sample = at_pm.sample;
		for (int c = HPET; c < RTC; c++)
			if (figures(c)->change_since.known)
				assert_holds_ppb(&figures(c)->change_since, 0);
		noticed += discontinuities() == 1;
	} while (!at_pm.hpet_leaps_in);
	at_pm.hpet_leaps_in = 0;
	assert_true(noticed > 0 && noticed < readings);
}

/* The window should take 1.5 s, but ends with an edge of the RTC, 2 s after the first edge. */
TEST(a_jump_while_the_window_waits_for_its_last_edge_is_in_no_rate)
{
	begin_healthy();
	bench->run.report.duration_ns = 1500 * SURVEY_NS_PER_MS;
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	arranged.jumps_after_ms = 1700;
	survey_measure_rates(&bench->run.survey);
	arranged.jumps_after_ms = 0;
	assert_int_equal(discontinuities(), 3);
	sim_advance_ps(SIM_PS_PER_S);
	survey_measure_rates_at_end_of_run(&bench->run.survey);
	for (int c = HPET; c < RTC; c++) {
		const struct survey_track *track = &bench->run.survey.tracks[find(c) - bench->run.report.facts.clocks];

		assert_true(track->batch_count > 4);
		assert_false(figures(c)->implied_since.known || figures(c)->change_since.known);
		assert_holds_ppb(&figures(c)->error, 0);
	}
}

/*
 * After a jump of the HPET, rates are measured again. The core is preempted in one of the readings for this
 * measurement. This reading must not be used for rates.
 */
TEST(a_preemption_after_a_jump_leaves_the_other_clocks_rates_known)
{
	const struct record_rate *pm;

	begin_healthy();
	measure_window();
	pm = &bench->run.survey.steps.clocks[find(PM) - bench->run.report.facts.clocks].implied;
	sim_advance_ps(SIM_PS_PER_S);
	sim.hpet.counter.origin_ticks += 1000000; /* the HPET jumps forward by 100 ms */
	/* more readings than until the jump is noticed, so the preemption comes while rates are measured again */
	arranged.away_in = 200;
	survey_read_and_compare_clocks(&bench->run.survey);
	assert_int_equal(arranged.away_in, 0);
	assert_int_equal(discontinuities(), 1);
	assert_true(pm->value && pm->high - pm->low < pm->low / 10);
	for (unsigned i = 0; i < 20; i++) {
		sim_advance_ps(SIM_PS_PER_S);
		survey_read_and_compare_clocks(&bench->run.survey);
	}
	judge();
	assert_int_equal(discontinuities(), 1);
	(void)assert_only_finding(&bench->run.report, "clock-jumped", "hpet");
}

/*
 * A clock is set back after the rate window. The test removes the rates by which clocks are compared during the run, so
 * that these comparisons cannot show the step back. The reading at the end of the run must show it, and count it once.
 */
TEST(a_counter_that_is_lower_at_the_end_than_in_the_window_stepped_back)
{
	for (int clock = HPET; clock <= RTC; clock += RTC - HPET) {
		begin_healthy();
		sim.rtc.ahead_ps = 10 * SIM_PS_PER_S;
		measure_window();
		for (size_t i = 0; i < bench->run.report.facts.clock_count; i++)
			bench->run.survey.steps.clocks[i].implied.value = 0;
		sim_advance_ps(2 * SIM_PS_PER_S);
		if (clock == HPET)
			sim.hpet.counter.origin_ticks -= 4 * (UINT64_C(1000000000000000) / SIM_HPET_PERIOD_FS);
		else
			sim.rtc.ahead_ps -= 4 * SIM_PS_PER_S;
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		assert_int_equal(find(clock)->monotonic.backward, 1);
		assert_true(find(clock)->failed_tsc && !figures(clock)->change_since.known);
		assert_int_equal(find(PM)->monotonic.backward, 0);
		assert_int_equal(find(HPET)->monotonic.backward + find(RTC)->monotonic.backward, 1);
	}
}

static const struct report_rate *
pair(const char *a, const char *b)
{
	for (size_t i = 0; i < bench->run.report.figures.rate_count; i++)
		if (strcmp(bench->run.report.figures.rates[i].a, a) == 0 &&
		    strcmp(bench->run.report.figures.rates[i].b, b) == 0)
			return &bench->run.report.figures.rates[i];
	fail_msg("no pair %s, %s", a, b);
	return NULL;
}

/*
 * The true rate may differ from the nominal rate by the rounding of the nominal rate. For example, the period of the
 * HPET is half a femtosecond longer than its register states.
 */
TEST(the_rounding_of_a_nominal_rate_is_part_of_each_interval)
{
	static const struct rate pm_hz[] = { { 39375000, 11 }, { 3579545, 1 } };

	for (unsigned i = 0; i < 6; i++) {
		const struct interval_millihz *tsc;
		const char *gone = i / 2 == 0 ? "" : i / 2 == 1 ? "hpet" : "acpi_pm";

		begin_healthy();
		become_a_soak();
		sim.hpet.counter.hz = (struct rate){ UINT64_C(2000000000000000), 2 * SIM_HPET_PERIOD_FS + 2 * (i % 2) - 1 };
		sim.pm.counter.hz = pm_hz[i % 2];
		for (int c = HPET; c < CLOCKS; c++)
			if (c == PIT || strcmp(ids[c], gone) == 0)
				find(c)->clock.state = CLOCK_ABSENT;
		measure_window();
		sim_advance_ps(1000 * SIM_PS_PER_S);
		survey_measure_rates_at_end_of_run(&bench->run.survey);
		tsc = &figures(TSC)->measured;
		if (arranged.tsc_hz * 1000 < tsc->low || arranged.tsc_hz * 1000 > tsc->high)
			fail_msg("%u: %s: %llu to %llu", i, bench->run.report.figures.tsc_source,
				 (unsigned long long)tsc->low,
				 (unsigned long long)tsc->high);
		if (!gone[0])
			assert_true(pair("hpet", "acpi_pm")->same_source);
	}
}

/* The TSC was set ahead by 30 ms in 90 s. Its average rate over this time is not its real rate at any time. */
TEST(a_soak_whose_tsc_changed_reports_the_rates_of_the_window)
{
	struct rate_interval window;

	begin_healthy();
	become_a_soak();
	measure_window();
	window = figures(HPET)->implied;
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++)
		/* discards the rates of all comparisons, as on a host that is so busy that none of them gives a rate */
		bench->run.survey.steps.clocks[i].implied.value = 0;
	sim_advance_ps(90 * SIM_PS_PER_S);
	sim.tsc.counter.origin_ticks += sim.tsc.counter.hz.num / sim.tsc.counter.hz.den * 3 / 100;
	survey_measure_rates_at_end_of_run(&bench->run.survey);
	assert_true(figures(HPET)->change_since.high < -100000);
	assert_false(figures(HPET)->rate_whole_run);
	assert_int_equal(figures(HPET)->implied.low, window.low);
	assert_int_equal(figures(HPET)->implied.high, window.high);
}

/* Drawing the progress line takes 40 ms. In this time the PIT almost wraps. */
TEST(progress_is_shown_once_a_second_and_does_not_disturb_the_rates)
{
	for (unsigned without_edges = 0; without_edges < 2; without_edges++) {
		begin_healthy();
		/* the window of a quick run could end early, so this is a standard run */
		bench->run.report.facts.options.profile = PROFILE_STANDARD;
		bench->run.report.duration_ns = 400 * SURVEY_NS_PER_MS; /* the window then takes 4 s */
		arranged.draw_ps = 40 * SIM_PS_PER_MS;
		arranged.shown = 0;
		arranged.shown_ns = 0;
		if (without_edges) {
			find(RTC)->clock.state = CLOCK_ABSENT;
			/* in this run no edges are awaited, so progress is shown after each group of readings */
			arranged.draw_ps = 0;
		}
		measure_window();
		if (without_edges)
			assert_true(arranged.shown > 4);
		else
			assert_in_range(arranged.shown, 4, 6);
		assert_true(arranged.shown_ns >= 2900 * SURVEY_NS_PER_MS);
		assert_holds_ppb(&figures(HPET)->error, (pace(HPET) / pace_of_reference() - 1) * PPB);
		assert_holds_ppb(&figures(PIT)->error, (pace(PIT) / pace_of_reference() - 1) * PPB);
		assert_int_equal(discontinuities(), 0);
	}
}

/*
 * D is the duration of one measurement. In a standard run, the window takes 10 D, but at least 1 s and at most the
 * longer of 10 s and 3 D. In a quick run it takes D, but at least 1 s. A soak's window takes at most 10 s, because its
 * rates cover the whole run.
 */
TEST(the_window_grows_with_the_duration)
{
	static const struct {
		enum options_profile profile;
		uint64_t duration_ms, window_ms;
	} rows[] = {
		{ PROFILE_STANDARD, 10, 1000 },	 { PROFILE_STANDARD, 500, 5000 },   { PROFILE_STANDARD, 1000, 10000 },
		{ PROFILE_STANDARD, 3000, 10000 }, { PROFILE_STANDARD, 30000, 90000 }, { PROFILE_QUICK, 100, 1000 },
		{ PROFILE_QUICK, 5000, 5000 },	 { PROFILE_SOAK, 10, 1000 },	    { PROFILE_SOAK, 60000, 10000 },
	};

	begin_healthy();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench->run.report.facts.options.profile = rows[i].profile;
		bench->run.report.duration_ns = rows[i].duration_ms * SURVEY_NS_PER_MS;
		assert_int_equal(survey_rate_window_ns(&bench->run.report), rows[i].window_ms * SURVEY_NS_PER_MS);
	}
}

/* Returns the displayed remaining time at the start of PART. */
static uint64_t
left_at_start_of(enum survey_part part)
{
	bench->run.survey.plan.part = part;
	bench->run.survey.plan.done_ns = 0;
	survey_show_progress(&bench->run.survey, "rates", 0);
	return arranged.total_ns - arranged.shown_ns;
}

/* At the end of the run, the remaining time must not include phases that the run omits, or that take no time. */
TEST(near_the_end_the_remaining_time_has_only_the_remaining_phases)
{
	begin_healthy();
	measure_window();
	assert_true(arranged.shown_ns < arranged.total_ns / 2);
	assert_true(left_at_start_of(SURVEY_RATES_AGAIN) <=
		    survey_get_budget(&bench->run.report)->checks_planned_ns + SURVEY_NS_PER_S);
	assert_int_equal(left_at_start_of(SURVEY_CHECKS), survey_get_budget(&bench->run.report)->checks_planned_ns);
	assert_int_equal(left_at_start_of(SURVEY_TIMERS), 0); /* this run has no timer tests */
	assert_int_equal(left_at_start_of(SURVEY_PARTS), 0);
}

TEST(from_a_tenth_of_the_run_on_the_remaining_time_follows_the_runs_pace)
{
	assert_int_equal(survey_remaining_time_ns(0, 50 * SURVEY_NS_PER_S, 0), 50 * SURVEY_NS_PER_S);
	assert_int_equal(survey_remaining_time_ns(4 * SURVEY_NS_PER_S, 50 * SURVEY_NS_PER_S, 40 * SURVEY_NS_PER_S),
			 46 * SURVEY_NS_PER_S);
	assert_int_equal(survey_remaining_time_ns(5 * SURVEY_NS_PER_S, 50 * SURVEY_NS_PER_S, 10 * SURVEY_NS_PER_S),
			 90 * SURVEY_NS_PER_S);
	assert_int_equal(survey_remaining_time_ns(40 * SURVEY_NS_PER_S, 50 * SURVEY_NS_PER_S, 20 * SURVEY_NS_PER_S),
			 5 * SURVEY_NS_PER_S);
	assert_int_equal(survey_remaining_time_ns(51 * SURVEY_NS_PER_S, 50 * SURVEY_NS_PER_S, 90 * SURVEY_NS_PER_S), 0);
	assert_int_equal(survey_remaining_time_ns(0, 0, 1), 0);
	/* without an elapsed time, the pace is not known */
	assert_int_equal(survey_remaining_time_ns(40 * SURVEY_NS_PER_S, 50 * SURVEY_NS_PER_S, 0), 10 * SURVEY_NS_PER_S);
}
