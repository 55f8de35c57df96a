/* Decides which sources are tested, chooses their intervals, and adds a row for each. See survey_timers.h. */
#include "measure/timers/survey_timers.h"

#include "base/text.h"
#include "measure/timers/timer_test.h"

#define PERIOD_NS   SURVEY_NS_PER_MS
#define WINDOWS     10u
#define WINDOWS_MAX 64u
#define NS_AS       UINT64_C(1000000000)
/* maximum wait for one window on another core, which a busy host may delay */
#define REMOTE_NS   (10 * SURVEY_NS_PER_S)
/* maximum number of cores that are all tested; with more cores, one core of each package is tested */
#define CORES_EACH    64u
/*
 * maximum number of cores whose periodic interrupts are tested; with more cores, only the interrupts of the boot core
 * are tested
 */
#define CORES_PERIODS 8u
#define TRIED_TICKS   UINT64_C(10000000) /* a one-shot that is disarmed before it expires */

void
timer_test_end_row(struct timer_test *test, enum clock_state state, const char *why)
{
	test->left = 0;
	test->row->state = state;
	text_copy(test->row->reason, sizeof(test->row->reason), why);
}

bool
timer_test_set_up_source(struct timer_test *test)
{
	struct timer_slot *slot = test->all->window->slot;
	struct timer *timer = test->timer;

	timer->driver->set_up(timer, test->all->window->vector);
	slot->space = TIMER_EVENTS_MAX;
	slot->counter_address = timer->counter_address;
	slot->acknowledge = timer->driver->acknowledge;
	slot->timer = timer;
	timer_test_discard_pending_interrupts(test);
	if (timer_test_set_tick_length(test) && timer_test_ns_to_ticks(test, test->row->test.asked_ns) <= timer->ticks_max)
		return true;
	timer_test_end_row(test, CLOCK_PRESENT, "The timer cannot be programmed for so long an interval.");
	return false;
}

static void
restore_timer_source(void *argument)
{
	struct timer_test *test = argument;

	test->timer->driver->restore(test->timer);
}

struct remote_window { /* a window (see struct timer_window) that is run as a job on another core */
	struct timer_test *test;
	void (*work)(void *argument);
	const char *why;
};

static void
run_timer_window_on_core(void *argument, size_t)
{
	struct remote_window *remote = argument;

	remote->why = remote->test->all->window->run_on_core(remote->work, restore_timer_source, remote->test);
}

/* Runs a window. Returns NULL if the window was completed, otherwise the reason why it was not. */
static const char *
run_timer_window(struct timer_test *test, void (*work)(void *argument))
{
	const struct smp *smp = test->survey->smp;
	struct remote_window remote = { test, work, NULL };

	if (test->core == 0)
		return test->all->window->run(work, restore_timer_source, test);
	if (!smp->run(smp->context, test->core, run_timer_window_on_core, &remote, REMOTE_NS))
		return "The core did not finish this test in time.";
	return remote.why;
}

static void
run_work_in_timer_windows(struct timer_test *test, void (*work)(void *argument))
{
	for (unsigned i = 0; i < WINDOWS_MAX && test->left > 0 && test->misses < TEST_MISSES_MAX; i++) {
		if (survey_end_run_if_due(test->survey))
			return;
		const char *why = run_timer_window(test, work);
		if (why) {
			timer_test_end_row(test, CLOCK_DISABLED, why);
			return;
		}
	}
	if (test->tick.value == 0)
		timer_test_end_row(test, CLOCK_STUCK, "The timer's counter does not count down.");
}

static struct interval_facts *
add_interval_row(const struct timer_test *test, bool periodic, uint64_t asked_ns)
{
	struct report *report = test->survey->report;
	const struct timer *timer = test->timer;
	struct interval_facts *row = &report->facts.intervals[report->facts.interval_count];

	if (report->facts.interval_count == REPORT_INTERVALS_MAX)
		return NULL;
	report->facts.interval_count++;
	*row = (struct interval_facts){
		.test = { .source = timer->driver->id, .periodic = periodic, .core = report->facts.cores[test->core].apic_id,
			  .route_kind = timer->route.kind, .pin = timer->route.pin, .asked_ns = asked_ns },
		.state = timer->state,
	};
	__builtin_memcpy(row->reason, timer->reason, sizeof(row->reason));
	return row;
}

uint64_t
timer_test_round_interval_ns(struct timer_test *test, uint64_t ns)
{
	const struct timer *timer = test->timer;
	uint64_t ticks = timer->ticks_max;

	if (timer->state != CLOCK_PRESENT || (!timer->driver->fit && timer->driver->kind != TIMER_AWAITED) ||
	    !timer_test_set_tick_length(test))
		return ns;
	if (timer->driver->fit)
		ticks = timer->driver->fit(timer, timer_test_ns_to_ticks(test, ns));
	return scale_mul_div_nearest(ticks, test->tick.value, NS_AS);
}

struct plan {
	uint64_t ns;
	size_t count;
};

/*
 * Returns true if the row gets an additional window with masked interrupts. Only main sources on the boot core get one,
 * and only if twice PERIODS_HELD periods fit into a window.
 */
static bool
does_row_get_masked_window(const struct timer_test *test)
{
	return test->row->state == CLOCK_PRESENT && test->recorded && test->misses < TEST_MISSES_MAX &&
	       test->core == 0 && !test->timer->driver->secondary && test->periods >= 2 * PERIODS_HELD;
}

/* Measures one row: either PLAN's number of one-shots, or PLAN's number of windows of periods. */
static void
measure_interval_row(struct timer_test *test, const struct plan *plan, bool periodic)
{
	enum timer_kind kind = test->timer->driver->kind;

	test->row = add_interval_row(test, periodic, timer_test_round_interval_ns(test, plan->ns));
	if (!test->row || test->timer->state != CLOCK_PRESENT)
		return;
	test->left = plan->count;
	test->periods = PERIODS_A_WINDOW;
	test->misses = 0;
	test->recorded = false;
	test->row->test.vector = kind == TIMER_POLLED ? 0 : test->all->window->vector;
	if (kind == TIMER_POLLED)
		free_running_poll_status(test);
	else if (kind != TIMER_AWAITED || free_running_wait_until_deadline(test, FREE_RUNNING_NEAR_NS))
		run_work_in_timer_windows(test, periodic ? run_periods_window :
				  kind == TIMER_AWAITED ? run_free_running_window : run_oneshots_window);
	if (periodic && does_row_get_masked_window(test))
		run_timer_window(test, run_masked_periods_window);
}

/* Returns true if the source gets fewer intervals than a main source on the boot core. */
static bool
is_tested_briefly(const struct report *report, const struct timer_driver *driver, size_t core)
{
	return core || driver->secondary || survey_current_profile(report) == PROFILE_QUICK;
}

static const struct plan *
get_plan_of_one_shots(const struct report *report, const struct timer_driver *driver, size_t core)
{
	static const struct plan few[] = { { 100000, 100 }, { 0, 0 } }, none[] = { { 0, 0 } },
				 at_once[] = { { 0, 200 }, { 0, 0 } }, awaited[] = { { 0, 1 }, { 0, 0 } },
				 all[] = {
					 { 20000, 200 }, { 100000, 200 }, { 1000000, 200 }, { 10000000, 20 }, { 0, 0 }
				 };

	switch (driver->kind) {
	case TIMER_RATES:
		return none;
	case TIMER_AWAITED:
	case TIMER_POLLED:
		return awaited;
	case TIMER_AT_ONCE:
		return at_once;
	default:
		return is_tested_briefly(report, driver, core) ? few : all;
	}
}

static void
test_timer_source(struct survey *survey, struct survey_timers *all, struct timer *timer, size_t core)
{
	const struct report *report = survey->report;
	const struct timer_driver *driver = timer->driver;
	const struct plan windows = { PERIOD_NS, is_tested_briefly(report, driver, core) ? 1 : WINDOWS };
	struct timer_test test = { .survey = survey, .all = all, .timer = timer, .core = core };

	for (const struct plan *plan = get_plan_of_one_shots(report, driver, core); plan->count; plan++) {
		measure_interval_row(&test, plan, false);
		if (timer->state == CLOCK_ABSENT || timer->state == CLOCK_DISABLED)
			return; /* one row is enough to report that the source is not usable */
	}
	if (timer->state == CLOCK_PRESENT && driver->arm_over && core == 0 && !driver->secondary &&
	    test.misses < TEST_MISSES_MAX)
		run_timer_window(&test, run_expired_deadline_window);
	if ((driver->kind == TIMER_PROGRAMMED || driver->kind == TIMER_RATES) && !timer->no_periods &&
	    (core == 0 || report->facts.core_count <= CORES_PERIODS))
		measure_interval_row(&test, &windows, true);
}

struct source_job { /* the tests of one source on the boot core */
	struct survey *survey;
	struct survey_timers *all;
	struct timer timer;
};

static bool
is_tested_source(const struct timer_driver *driver, const struct report *report)
{
	if (driver->by_pic)
		return report->facts.options.pic;
	if (report->facts.options.irq == IRQ_ALL || driver->tested == TIMER_TESTED_ALWAYS)
		return true;
	return driver->tested == TIMER_TESTED_IN_LONG_RUNS && survey_current_profile(report) != PROFILE_QUICK;
}

static size_t
count_tested_sources(const struct report *report, const struct survey_timers *timers)
{
	size_t count = 0;

	for (size_t i = 0; timers->drivers[i]; i++)
		count += is_tested_source(timers->drivers[i], report);
	return count;
}

/* Adds a row with FAULT to the source's results, or adds FAULT to the source's latest row. */
static void
report_fault_of_source(struct source_job *job, const struct fault *fault)
{
	struct report *report = job->survey->report;
	struct timer_test test = { .survey = job->survey, .timer = &job->timer };
	struct interval_facts *row = report->facts.interval_count ?
				      &report->facts.intervals[report->facts.interval_count - 1] : NULL;

	if (!row || !text_equal(row->test.source, job->timer.driver->id) || row->test.core != report->facts.cores[0].apic_id)
		row = add_interval_row(&test, false, 0);
	if (!row)
		return;
	row->state = CLOCK_BROKEN;
	row->test.faulted = true;
	row->test.route_kind = row->test.route_kind ? row->test.route_kind : "status"; /* no interrupt was routed yet */
	struct text reason = text_start(row->reason, sizeof(row->reason));
	if (job->timer.state != CLOCK_PRESENT)
		text_put(&reason, "An access to it faulted: ");
	else
		text_put(&reason, job->timer.by_tsc ? "CPUID offers TSC deadlines, but an access faulted: " :
			 "The machine has this timer, but an access faulted: ");
	fault_print(&reason, fault);
	text_put(&reason, ".");
}

static void
open_and_test_source(void *argument)
{
	struct source_job *job = argument;

	job->timer.driver->open(job->all->platform, &job->timer);
	if (job->timer.unlisted)
		return;
	survey_show_progress(job->survey, job->timer.driver->id, 0);
	test_timer_source(job->survey, job->all, &job->timer, 0);
}

/* Tests a source on the boot core. An exception ends the tests of this source only. */
static void
test_source_on_boot_core(struct survey *survey, struct survey_timers *timers, const struct timer_driver *driver)
{
	struct source_job job = { survey, timers, { .driver = driver } };
	struct fault fault;

	if (!survey_run_guarded(survey, open_and_test_source, &job, &fault))
		report_fault_of_source(&job, &fault);
}

static void
try_accesses_in_window(void *argument)
{
	struct timer_test *test = argument;
	struct timer *timer = test->timer;

	timer->driver->set_up(timer, test->all->window->vector);
	(void)timer->driver->arm(timer, timer->ticks_max < TRIED_TICKS ? timer->ticks_max : TRIED_TICKS, false);
	timer->driver->disarm(timer);
}

static void
open_and_try_source(void *argument)
{
	struct source_job *job = argument;
	struct timer_test test = { .survey = job->survey, .all = job->all, .timer = &job->timer };

	job->timer.driver->open(job->all->platform, &job->timer);
	if (job->timer.state == CLOCK_PRESENT)
		run_timer_window(&test, try_accesses_in_window);
}

/*
 * Returns true if the boot core can program the source without an exception. An exception on another core would halt
 * that core. The tests of the boot core report the exception.
 */
static bool
can_source_be_programmed(struct survey *survey, struct survey_timers *timers, const struct timer_driver *driver)
{
	struct source_job job = { survey, timers, { .driver = driver } };
	struct fault fault;

	return survey_run_guarded(survey, open_and_try_source, &job, &fault);
}

static void
read_and_compare_clocks(void *survey)
{
	survey_read_and_compare_clocks(survey);
}

/*
 * Compares the clocks between the tests of two sources. A stop of the machine during a test is then found, and the
 * report can name the one-shots that were armed. An exception in a clock's driver does not end the tests.
 */
static void
compare_clocks_after_source(struct survey *survey)
{
	struct fault fault;

	(void)survey_run_guarded(survey, read_and_compare_clocks, survey, &fault);
}

void
survey_test_timers_on_boot_core(struct survey *survey, struct survey_timers *timers)
{
	size_t sources = count_tested_sources(survey->report, timers), done = 0;

	for (size_t i = 0; timers->drivers[i] && !survey_end_run_if_due(survey); i++) {
		if (!is_tested_source(timers->drivers[i], survey->report))
			continue;
		test_source_on_boot_core(survey, timers, timers->drivers[i]);
		compare_clocks_after_source(survey);
		/* The tests of each source take about the same time. */
		survey->plan.done_ns =
			scale_mul_div(survey_max_timer_tests_ns(survey->report, survey->smp->count), ++done, sources);
	}
}

/*
 * Returns true if CORE is tested. With many cores only the first core of each package is tested, because all cores of a
 * package have the same kind of LAPIC.
 */
static bool
is_core_chosen_for_timer_tests(const struct survey *survey, size_t core)
{
	const struct report_core *cores = survey->report->facts.cores;

	if (!survey->smp->alive(survey->smp->context, core))
		return false;
	for (size_t i = 0; survey->report->facts.core_count > CORES_EACH && i < core; i++)
		if (cores[i].started && cores[i].facts.package == cores[core].facts.package)
			return false;
	return true;
}

void
survey_test_timers_of_cores(struct survey *survey, struct survey_timers *timers)
{
	uint64_t end_tsc = survey_core_pass_end_tsc(survey);
	size_t left_out = 0;

	for (size_t i = 0; timers->drivers[i]; i++) {
		const struct timer_driver *driver = timers->drivers[i];

		if (!driver->on_each_core || driver->kind == TIMER_AT_ONCE || survey_end_run_if_due(survey) ||
		    !can_source_be_programmed(survey, timers, driver))
			continue;
		for (size_t core = 1; core < survey->smp->count && !survey_end_run_if_due(survey); core++) {
			struct timer timer = { .driver = driver };

			if (!is_core_chosen_for_timer_tests(survey, core))
				continue;
			if (survey_is_core_pass_over(survey, end_tsc)) {
				left_out++;
				continue;
			}
			driver->open(timers->platform, &timer);
			if (timer.state == CLOCK_PRESENT)
				test_timer_source(survey, timers, &timer, core);
		}
	}
	if (left_out)
		notes_add(&survey->report->notes,
			  "%zu timer%s of cores other than the boot core %s not checked: that would have taken "
			  "too much of the time left.", left_out, left_out == 1 ? "" : "s",
			  left_out == 1 ? "was" : "were");
}
