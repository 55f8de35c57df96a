/*
 * Tests of timers with an invented timer, which this file defines. The timer's interrupts come at times that the test
 * sets. They are written to the recorder's buffer while the simulated time advances.
 */
#include "test.h"
#include "bench.h"
#include "sim.h"
#include "analysis/analysis.h"
#include "measure/timers/survey_timers.h"

#define TSC_MICROHZ UINT64_C(1000000000000000)
#define TICK_PS    UINT64_C(10000) /* 100 MHz */
#define LATE_PS    UINT64_C(500000)
/*
 * Largest error in ns of the lateness of a timer that the TSC times. It comes from the bracket around the timer's
 * arming, and from the timer's calibration.
 */
#define ERROR_NS   2000
#define FOUND      0x1234 /* value of the timer's register before the test */

static struct {
	bool has_counter, well;
	/* Faults of the timer. */
	unsigned drop_every;
	int64_t late_ps; /* delay of the interrupt, in addition to LATE_PS */
	bool storms;     /* true if the timer interrupts at each poll */
	uint64_t phase_ticks;
	uint64_t arming_ps; /* additional duration of arming a periodic timer */
	bool leaves; /* true if each one-shot leaves an interrupt that comes when the next one-shot is armed */
	/*
	 * number of times that the core is preempted before it disarms the timer, each time until the timer's deadline
	 * has passed
	 */
	unsigned away_armed;
	/* stall_at: number of interrupts until the core is preempted once. stall_ps: duration of this preemption. */
	uint64_t stall_at, stall_ps;

	bool open, armed, periodic, taken, latched;
	uint64_t due_ps, period_ps, last_due_ps, delivered, pending, left_over, released;
	uint32_t saved_register;
} source;

static struct timer_slot slot;

static uint64_t
counter(void)
{
	return sim.now_ps / TICK_PS;
}

static void
record(void)
{
	sim_advance_ps(LATE_PS);
	if (slot.taken < slot.space)
		slot.events[slot.taken] = (struct timer_event){ slot.counter_address ? (uint32_t)counter() : 0, hw_tsc_lfence() };
	else
		source.open = false;
	slot.taken++;
}

/* Delivers an interrupt that is due, unless it must be dropped. */
static void
fire(void)
{
	source.delivered++;
	if (source.drop_every && source.delivered % source.drop_every == 0)
		return;
	if (!source.open) {
		source.pending = 1;
		return;
	}
	record();
}

static void
let_time_go_on(void)
{
	hw_pause();
	if (source.stall_ps && source.delivered == source.stall_at) {
		sim_advance_ps(source.stall_ps);
		source.stall_ps = 0;
	}
	for (; source.open && source.pending > 0; source.pending--)
		record();
	if (source.storms && source.open && source.armed)
		record();
	while (source.armed && (int64_t)sim.now_ps >= (int64_t)source.due_ps + source.late_ps) {
		source.armed = source.periodic;
		source.last_due_ps = source.due_ps;
		source.due_ps += source.period_ps;
		fire();
	}
}

static void
open_source(const struct platform *platform, struct timer *timer)
{
	timer->state = CLOCK_PRESENT;
	timer->route.kind = "ioapic";
	timer->ticks_max = UINT32_MAX;
	timer->phase_ticks = source.phase_ticks;
	if (!source.has_counter)
		return;
	timer->hz = (struct rate){ 100000000, 1 };
	timer->count_mask = UINT32_MAX;
	timer->counter_address = 1;
}

static void
take_source(struct timer *timer, uint32_t vector)
{
	assert_false(source.taken);
	timer->route.vector = vector;
	timer->saved[0] = source.saved_register;
	source.saved_register = 0;
	source.taken = true;
}

/* Simulates KVM's PIT: if KVM's thread has not yet sent an interrupt, it comes as soon as a new count is written. */
static void
settle_source(struct timer *timer)
{
	source.released = source.left_over;
	source.left_over = 0;
}

static uint64_t
arm_source(struct timer *timer, uint64_t ticks, bool periodic)
{
	assert_true(source.taken);
	settle_source(timer);
	sim_advance_ps(100000);
	source.armed = true;
	source.periodic = periodic;
	source.period_ps = ticks * TICK_PS;
	source.due_ps = (counter() + ticks) * TICK_PS;
	source.pending = 0;
	return (uint32_t)(counter() + ticks);
}

static uint64_t
left_of_source(const struct timer *timer)
{
	sim_advance_ps(100000);
	return sim.now_ps < source.due_ps ? (source.due_ps - sim.now_ps) / TICK_PS : 0;
}

static bool
has_expired(const struct timer *timer)
{
	return left_of_source(timer) == 0;
}

#define OVER_PS (20 * SIM_PS_PER_US) /* time to the deadline in the test that enables a timer after its deadline */

/*
 * Disarms the timer. On some devices, an interrupt that became due while the timer was armed comes when the timer is
 * enabled again.
 */
static void
disarm_source(struct timer *timer)
{
	source.latched = source.away_armed && source.armed && source.period_ps == OVER_PS;
	if (source.latched) {
		sim_advance_ps(OVER_PS);
		source.away_armed--;
	}
	source.armed = false;
	source.left_over = source.leaves;
}

static void
enable_source(struct timer *timer)
{
	if (source.latched)
		source.pending = 1;
}

static void
give_source_back(struct timer *timer)
{
	source.armed = source.taken = false;
	source.saved_register = (uint32_t)timer->saved[0];
}

static const struct timer_driver made_up = {
	.id = "made_up",
	.title = "made up",
	.tested = TIMER_TESTED_ALWAYS,
	.open = open_source,
	.set_up = take_source,
	.arm = arm_source,
	.expired = has_expired,
	.get_ticks_left = left_of_source,
	.disarm = disarm_source,
	.restore = give_source_back,
};

static unsigned windows;
static uint64_t longest_window_ps;

static const char *
play(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	uint64_t begin_ps = sim.now_ps;

	windows++;
	source.open = false;
	work(argument);
	after(argument);
	if (sim.now_ps - begin_ps > longest_window_ps)
		longest_window_ps = sim.now_ps - begin_ps;
	return NULL;
}

static const char *
refuse(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	return "The firmware does not stop its tick.";
}

static void
open_interrupts(void)
{
	source.open = true;
	if (source.released--)
		record();
	source.released = 0;
}

static void
close_interrupts(void)
{
	source.open = false;
}

static struct bench *bench;

/* Starts a run whose TSC rate is known exactly. */
static void
prepare(void)
{
	struct survey *survey = &bench->run.survey;
	const struct record_scale exact = { TSC_MICROHZ, 1000000, TSC_MICROHZ, TSC_MICROHZ, 1 };

	survey_warm_up_and_estimate_tsc_rate(survey);
	scale_init(&survey->scale, (struct rate){ exact.hz_num, exact.hz_den });
	record_put(&survey->record, RECORD_SCALE, &exact, NULL, 0);
}

static void
begin(void)
{
	memset(&source, 0, sizeof(source));
	memset(&slot, 0, sizeof(slot));
	source.saved_register = FOUND;
	windows = 0;
	longest_window_ps = 0;
	sim_reset();
	bench = bench_new();
	bench_open(bench, 1);
	bench->run.survey.hooks.pause = let_time_go_on;
	prepare();
}

static void
end(void)
{
	assert_int_equal(source.saved_register, FOUND);
	bench_free(bench);
}

TEST_FIXTURE(begin, end);

/*
 * Tests DRIVER. PLAYS runs each timer window (a time in which the timer is programmed and its interrupts are recorded).
 * Returns two rows: first the one-shots, then the periods.
 */
static const struct interval_figures *
tested(const struct timer_driver *driver,
       const char *(*plays)(void (*work)(void *argument), void (*after)(void *argument), void *argument))
{
	const struct timer_driver *const drivers_here[] = { driver, NULL };
	struct timer_window here = { &slot, 0xe0, plays, NULL, NULL, open_interrupts, close_interrupts };
	struct survey_timers *timers = &bench->run.timers;
	const struct record *record = &bench->run.survey.record;

	timers->window = &here;
	timers->drivers = drivers_here;
	timers->platform = &bench->platform;
	survey_test_timers_on_boot_core(&bench->run.survey, timers);
	assert_int_equal(record->dropped, 0);
	analysis_calculate_timers(record->bytes, record->length, &bench->run.report, &bench->run.report.figures);
	return bench->run.report.figures.intervals;
}

static const struct interval_figures *
asked(const char *(*window)(void (*work)(void *argument), void (*after)(void *argument), void *argument))
{
	const struct interval_figures *rows = tested(&made_up, window);

	assert_true(longest_window_ps < 100 * SIM_PS_PER_MS);
	return rows;
}

static void
assert_counts(const struct interval_figures *row, uint64_t delivered, uint64_t empty, uint64_t early, uint64_t doubled,
	      uint64_t excused)
{
	assert_int_equal(row->delivered, delivered);
	assert_int_equal(row->empty, empty);
	assert_int_equal(row->early, early);
	assert_int_equal(row->doubled, doubled);
	assert_int_equal(row->excused, excused);
}

/* The handler starts LATE_PS after the deadline, and at most one poll later. The counter's resolution is one tick. */
TEST(a_healthy_timer_loses_nothing_and_is_late_by_the_handlers_entry)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	rows = asked(play);
	assert_int_equal(bench->run.report.figures.interval_count, 2);
	assert_string_equal(rows[0].test.source, "made_up");
	assert_false(rows[0].test.periodic);
	assert_true(rows[1].test.periodic);
	assert_int_equal(rows[0].asked, 100);
	assert_int_equal(rows[1].asked, 80);
	assert_counts(&rows[0], 100, 0, 0, 0, 0);
	assert_counts(&rows[1], 80, 0, 0, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct report_lateness *late = &rows[i].lateness;

		assert_true(late->min_ns + (int64_t)late->error_ns >= 500);
		assert_true(late->min_ns <= late->p50_ns && late->p50_ns <= late->p99_ns && late->p99_ns <= late->max_ns);
		assert_true(late->max_ns < 2000);
		assert_int_equal(late->error_ns, 5);
	}
	assert_int_equal(rows[0].expected, 100);
	assert_int_equal(rows[1].expected, 80);
	assert_true(rows[1].rate.known && rows[1].rate.low <= 0 && rows[1].rate.high >= 0);
	assert_true(rows[1].rate.high - rows[1].rate.low < 100000);
	assert_int_equal(rows[1].policy, REPORT_POLICY_DISCARD);
	assert_int_equal(rows[1].held_delivered, 21); /* 20 ticks, and a masked tick that stayed pending */
	assert_int_equal(rows[1].held_ns / 1000000, 20);
}

TEST(a_timer_without_a_counter_is_timed_by_the_tsc_within_its_stated_error)
{
	const struct interval_figures *rows;

	rows = asked(play);
	assert_counts(&rows[0], 100, 0, 0, 0, 0);
	assert_counts(&rows[1], 80, 0, 0, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct report_lateness *late = &rows[i].lateness;

		assert_true(late->error_ns <= (i ? 20 : 1) * ERROR_NS);
		assert_true(late->min_ns - (int64_t)late->error_ns <= 2000);
		assert_true(late->max_ns + (int64_t)late->error_ns >= 500);
	}
}

/*
 * The count may start up to 10 us after the arming, so the interrupt's due time is known only within 5 us to each side.
 */
TEST(a_timer_whose_count_may_start_late_has_a_larger_error)
{
	source.phase_ticks = 1000;
	assert_in_range(asked(play)[0].lateness.error_ns, 5000, 5000 + ERROR_NS);
}

/* The times of the arming and of the interrupt are each known only to one step of the TSC. */
TEST(with_a_tsc_that_counts_in_steps_the_error_is_at_least_a_step)
{
	const struct interval_figures *rows;

	sim.tsc.counter.step_ticks = 500;
	prepare();
	rows = asked(play);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(rows[i].lateness.count, i ? 80 : 100);
		assert_true(rows[i].lateness.error_ns >= 499);
	}
	assert_true(rows[0].lateness.min_ns + (int64_t)rows[0].lateness.error_ns >= 500);
}

/*
 * The option gap= applies only to reported gaps. A user who sets a long gap must not get findings about timers from
 * this option.
 */
TEST(interrupts_in_a_gap_do_not_count_whatever_the_option_gap)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	source.stall_at = 50;
	source.stall_ps = 25 * SIM_PS_PER_MS;
	bench->run.report.facts.options.gap_ns = 250000000;
	rows = asked(play);
	assert_int_equal(source.stall_ps, 0);
	assert_counts(&rows[0], 100, 0, 0, 0, 1);
	assert_int_equal(rows[0].lateness.count, 99);
	assert_true(rows[0].lateness.max_ns < 2000);
}

/*
 * The gap lies between two polls. The one-shot that was due in the gap is dropped, so no interrupt comes at the gap's
 * end.
 */
TEST(a_one_shot_that_is_missing_in_a_gap_is_not_lost)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	source.drop_every = 51;
	source.stall_at = 50;
	source.stall_ps = 25 * SIM_PS_PER_MS;
	rows = asked(play);
	assert_int_equal(source.stall_ps, 0);
	assert_counts(&rows[0], 99, 0, 0, 0, 1);
}

TEST(a_late_interrupt_of_one_shot_is_not_early_for_the_next_if_it_can_be_settled)
{
	for (int settles = 0; settles < 2; settles++) {
		struct timer_driver leaving = made_up;
		const struct interval_figures *row;

		source.has_counter = source.leaves = true;
		leaving.settle = settles ? settle_source : NULL;
		row = tested(&leaving, play);
		assert_int_equal(row->delivered, 100);
		assert_int_equal(row->early, settles ? 0 : 99);
		if (!settles) {
			end();
			begin();
		}
	}
}

static uint64_t
arm_slowly(struct timer *timer, uint64_t ticks, bool periodic)
{
	uint64_t due = arm_source(timer, ticks, periodic);

	if (periodic)
		sim_advance_ps(source.arming_ps);
	return due;
}

/* Tests a timer whose periodic mode takes ARMING_PS longer to program. Returns the same rows as tested(). */
static const struct interval_figures *
asked_slowly(uint64_t arming_ps)
{
	const struct interval_figures *rows;
	struct timer_driver slow = made_up;

	source.has_counter = true;
	source.arming_ps = arming_ps;
	slow.arm = arm_slowly;
	rows = tested(&slow, play);
	assert_true(longest_window_ps < 100 * SIM_PS_PER_MS);
	return rows;
}

/*
 * The test of masked ticks has 20 masked ticks, and then ticks that the core accepts. The test is left out if both
 * parts together do not fit into a timer window.
 */
TEST(a_timer_that_takes_long_to_program_is_tested_with_longer_periods)
{
	static const struct {
		uint64_t arming_us, period_ms, count;
		bool is_held;
	} slow[] = { { 240, 1, 80, true }, { 400, 2, 40, true }, { 900, 4, 20, false }, { 1900, 8, 10, false } };

	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		const struct interval_figures *row = &asked_slowly(slow[i].arming_us * SIM_PS_PER_US)[1];

		assert_int_equal(row->test.asked_ns, slow[i].period_ms * 1000000);
		assert_string_equal(row->reason, "");
		assert_int_equal(row->asked, slow[i].count);
		assert_int_equal(row->expected, slow[i].count);
		assert_counts(row, slow[i].count, 0, 0, 0, 0);
		assert_int_equal(row->lateness.count, slow[i].count);
		assert_true(row->lateness.min_ns + (int64_t)row->lateness.error_ns >= 500 && row->lateness.max_ns < 2000);
		assert_int_equal(row->rate.known, slow[i].count > 20);
		assert_true(!row->rate.known || (row->rate.low <= 0 && row->rate.high >= 0));
		assert_int_equal(row->held_ns / 1000000, slow[i].is_held ? 20 * slow[i].period_ms : 0);
		assert_int_equal(row->held_delivered, slow[i].is_held ? 21 : 0);
		assert_int_equal(row->policy, slow[i].is_held ? REPORT_POLICY_DISCARD : REPORT_POLICY_UNKNOWN);
		end();
		begin();
	}
}

TEST(a_timer_that_takes_too_long_to_program_has_a_row_with_the_reason)
{
	const struct interval_figures *rows = asked_slowly(2100 * SIM_PS_PER_US);

	assert_int_equal(rows[0].delivered, 100);
	assert_string_equal(rows[0].reason, "");
	assert_int_equal(rows[1].asked, 0);
	assert_int_equal(rows[1].state, CLOCK_PRESENT); /* the row's state shows that the timer lost nothing */
	assert_string_equal(rows[1].reason,
			    "Programming the timer takes more than a quarter of its period, so its ticks cannot be "
			    "matched to deadlines.");
}

static void
open_with_own_phase(const struct platform *platform, struct timer *timer)
{
	open_source(platform, timer);
	timer->own_phase = true;
}

/*
 * Arms a timer whose ticks come at 0.3 periods after the arming, 1.3, and so on. In the first periodic arming, the core
 * is preempted until a tick is due. The local APIC holds this tick until interrupts are unmasked, even if the timer is
 * disarmed before.
 */
static uint64_t
arm_running_source(struct timer *timer, uint64_t ticks, bool periodic)
{
	uint64_t pending = source.released, due = arm_source(timer, ticks, periodic);

	source.released = pending;
	if (!periodic)
		return due;
	source.due_ps -= source.period_ps * 7 / 10;
	source.released |= source.arming_ps != 0;
	sim_advance_ps(source.arming_ps);
	source.arming_ps = 0;
	return due;
}

TEST(a_tick_during_an_arming_that_took_too_long_does_not_count_in_the_next_arming)
{
	struct timer_driver running = made_up;
	const struct interval_figures *rows;

	source.arming_ps = 400 * SIM_PS_PER_US;
	running.open = open_with_own_phase;
	running.arm = arm_running_source;
	rows = tested(&running, play);
	assert_int_equal(source.arming_ps, 0);
	assert_int_equal(rows[1].test.asked_ns, 1000000);
	assert_counts(&rows[1], rows[1].expected, 0, 0, 0, 0);
}

TEST(a_timer_that_never_interrupts_is_tested_with_three_shots_only)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	source.drop_every = 1;
	rows = asked(play);
	assert_int_equal(rows[0].asked, 3);
	assert_counts(&rows[0], 0, 3, 0, 0, 0);
	assert_int_equal(rows[0].lateness.count, 0);
	assert_counts(&rows[1], 0, 80, 0, 0, 0);
	assert_int_equal(rows[1].held_ns, 0);
}

static uint64_t
left_for_ever(const struct timer *timer)
{
	sim_advance_ps(100000);
	return 1;
}

static void
open_awaited(const struct platform *platform, struct timer *timer)
{
	open_source(platform, timer);
	timer->hz = (struct rate){ 1, 1 };
	timer->ticks_max = 1;
}

/* The TSC times the wait for a timer's next step. The wait must end at its limit, and also if the TSC stops. */
TEST(a_wait_for_a_timers_step_ends_at_its_limit_and_if_the_tsc_stops)
{
	struct timer_driver awaited = made_up;

	awaited.kind = TIMER_AWAITED;
	awaited.open = open_awaited;
	awaited.get_ticks_left = left_for_ever;
	for (int stops = 0; stops < 2; stops++) {
		const struct interval_figures *row;
		uint64_t begin_ps = sim.now_ps;

		if (stops)
			sim.tsc.counter.stuck_at_ps = sim.now_ps + SIM_PS_PER_MS;
		row = tested(&awaited, play);
		assert_int_equal(bench->run.report.facts.run.incomplete, stops);
		if (stops) {
			assert_true(sim.now_ps - begin_ps < 20 * SIM_PS_PER_MS);
		} else {
			assert_int_equal(row->state, CLOCK_STUCK);
			assert_string_equal(row->reason, "It does not count.");
			end();
			begin();
		}
	}
}

/* The timer became due while it was still armed, so its interrupt is no fault. */
TEST(a_deadline_that_passed_while_the_timer_was_armed_does_not_count)
{
	struct timer_driver enabled = made_up;
	const struct interval_figures *row;

	source.has_counter = true;
	source.away_armed = 3;
	enabled.arm_over = enable_source;
	row = tested(&enabled, play);
	assert_int_equal(source.away_armed, 0);
	assert_int_equal(row->over, 4);
	assert_int_equal(row->stale, 0);
}

TEST(a_storm_ends_and_its_timer_is_not_tested_further)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	source.storms = true;
	source.late_ps = (int64_t)SIM_PS_PER_S; /* this delay is so long that no other interrupt comes */
	rows = asked(play);
	assert_int_equal(rows[0].early, 100);
	assert_int_equal(rows[1].state, CLOCK_BROKEN);
	assert_string_equal(rows[1].reason, "The timer's interrupts did not stop, so it was not tested further.");
}

/* The gap lasts five periods. The timer keeps only one interrupt of these periods pending. */
TEST(ticks_that_are_lost_in_a_gap_do_not_count)
{
	const struct interval_figures *rows;

	source.has_counter = true;
	source.stall_at = 120; /* the core is preempted during the test of periods */
	source.stall_ps = 5 * SIM_PS_PER_MS;
	rows = asked(play);
	assert_counts(&rows[0], 100, 0, 0, 0, 0);
	assert_int_equal(rows[1].empty, 0);
	assert_in_range(rows[1].excused, 4, 7);
}

TEST(a_firmware_whose_tick_continues_has_a_row_that_says_so)
{
	const struct interval_figures *rows;

	rows = asked(refuse);
	assert_int_equal(rows[0].state, CLOCK_DISABLED);
	assert_string_equal(rows[0].reason, "The firmware does not stop its tick.");
	assert_int_equal(rows[0].asked, 0);
	assert_int_equal(windows, 0);
}
