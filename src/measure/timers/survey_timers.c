/* Decides which sources are tested and with what intervals, and adds a row for each. See survey_timers.h. */
#include "measure/timers/survey_timers.h"

#include "base/text.h"
#include "measure/timers/timer_test.h"

#define PERIOD_NS   SURVEY_NS_PER_MS
/* A longer gap means that the core was preempted; the option gap= applies to the interference report. */
#define GAP_NS      UINT64_C(10000)
#define ENTRY_NS    UINT64_C(250000) /* entering a handler takes tens of microseconds in an emulator */
#define WINDOWS     10u
#define WINDOWS_MAX 64u
#define AWAITED_NS  (1500 * SURVEY_NS_PER_MS)
#define NS_AS       UINT64_C(1000000000)
#define THERE_NS    (10 * SURVEY_NS_PER_S) /* for one window on another core, which a busy host may delay */
#define CORES_EACH    64u /* with more cores, only one core of each package is tested */
#define CORES_PERIODS 8u  /* with more cores, only the boot core is tested with periods */

static bool
is_quick(const struct report *report)
{
	return survey_pace(report) == PROFILE_QUICK;
}

/* Leaves the row without figures and with a reason. That does not count as a fault of the source. */
static void
say_why_not(struct asking *asking, const char *why)
{
	struct text reason;

	asking->left = 0;
	text_init(&reason, asking->row->reason, sizeof(asking->row->reason));
	text_put(&reason, why);
}

void
asking_refuse(struct asking *asking, enum clock_state state, const char *why)
{
	asking->row->state = state;
	say_why_not(asking, why);
}

/*
 * Lets interrupts that were pending when the source was taken arrive before it is armed, so that they are not
 * counted.
 */
static void
drain(const struct asking *asking)
{
	const struct timer_window *window = asking->all->window;

	window->slot->space = TIMER_EVENTS_MAX;
	window->slot->taken = 0;
	window->slot->acknowledge = asking->timer->driver->acknowledge;
	window->slot->timer = asking->timer;
	window->open();
	window->close();
}

bool
asking_begin(struct asking *asking)
{
	struct report_interval *row = asking->row;
	struct timer *timer = asking->timer;

	timer->driver->take(timer, asking->all->window->vector);
	drain(asking);
	if (asking_know_tick(asking) && asking_ticks(asking, row->asked_ns) <= timer->ticks_max)
		return true;
	say_why_not(asking, "It can't be programmed for so long.");
	return false;
}

static void
give_back(void *argument)
{
	struct asking *asking = argument;

	asking->timer->driver->give_back(asking->timer);
}

struct there { /* one window, run as a job of another core */
	const struct asking *asking;
	void (*work)(void *argument);
	const char *why;
};

static void
play_there(void *argument, size_t core)
{
	struct there *there = argument;

	(void)core;
	there->why = there->asking->all->window->play_there(there->work, give_back, (void *)there->asking);
}

/* Returns NULL, or why the window was not run to its end. */
static const char *
play(struct asking *asking, void (*work)(void *argument))
{
	const struct smp *smp = asking->survey->smp;
	struct there there = { asking, work, NULL };

	if (asking->core == 0)
		return asking->all->window->play(work, give_back, asking);
	if (!smp->run(smp->context, asking->core, play_there, &there, THERE_NS))
		return "The core did not come back from it in time.";
	return there.why;
}

static void
ask(struct asking *asking, void (*work)(void *argument))
{
	bool awaited = asking->timer->driver->kind == TIMER_AWAITED;

	for (unsigned i = 0; i < WINDOWS_MAX && asking->left > 0 && asking->misses < ASKING_MISSES_MAX; i++) {
		const char *why;

		if (survey_end_if_due(asking->survey) || (awaited && !awaited_approach(asking)))
			return;
		why = play(asking, work);
		if (why) {
			asking_refuse(asking, CLOCK_DISABLED, why);
			return;
		}
	}
	if (asking->tick.value == 0)
		asking_refuse(asking, CLOCK_STUCK, "Its counter does not count down.");
}

static struct report_interval *
add_row(const struct asking *asking, bool periodic, uint64_t asked_ns)
{
	struct report *report = asking->survey->report;
	const struct timer *timer = asking->timer;
	struct report_interval *row = &report->intervals[report->interval_count];

	if (report->interval_count == REPORT_INTERVALS_MAX)
		return NULL;
	report->interval_count++;
	*row = (struct report_interval){
		.source = timer->driver->id, .periodic = periodic, .state = timer->state, .asked_ns = asked_ns,
		.core = report->cores[asking->core].apic_id, .route_kind = timer->route.kind, .pin = timer->route.pin,
	};
	__builtin_memcpy(row->reason, timer->reason, sizeof(row->reason));
	return row;
}

uint64_t
asking_fit_ns(struct asking *asking, uint64_t ns)
{
	const struct timer *timer = asking->timer;
	uint64_t ticks = timer->ticks_max;

	if (timer->state != CLOCK_PRESENT || (!timer->driver->fit && timer->driver->kind != TIMER_AWAITED) ||
	    !asking_know_tick(asking))
		return ns;
	if (timer->driver->fit)
		ticks = timer->driver->fit(timer, asking_ticks(asking, ns));
	return scale_mul_div_nearest(ticks, asking->tick.value, NS_AS);
}

struct plan {
	uint64_t ns;
	size_t count;
};

static void
say_never_due(struct asking *asking)
{
	const struct report_interval *row = asking->row;

	if (row->state == CLOCK_PRESENT && row->asked && !row->delivered && !row->expired && !row->periodic)
		asking_refuse(asking, CLOCK_STUCK, "No interrupt came, and by its own status none was due.");
}

static void
say_never_programmed(struct asking *asking)
{
	const struct report_interval *row = asking->row;

	if (row->state == CLOCK_PRESENT && row->periodic && !row->asked && !asking->left && !row->reason[0])
		say_why_not(asking, "Programming it takes more than a quarter of its period, so its ticks cannot be matched to "
			    "deadlines.");
}

static void
say_scattered(struct asking *asking)
{
	struct report_interval *row = asking->row;

	if (!row->periodic || !lateness_is_scattered(row, asking->all->values, asking->count))
		return;
	row->scattered = true;
	row->early = row->empty = row->losses = row->doubled = 0;
	row->excused = row->expected;
	row->lateness = (struct report_lateness){ .count = 0 };
	say_why_not(asking, "Its ticks are spread over their periods, so none can be matched to its deadline.");
}

/*
 * Returns true if the row also gets a window with masked interrupts: for main sources of the boot core, unless
 * that many periods take longer than a window.
 */
static bool
is_held(const struct asking *asking)
{
	return asking->row->state == CLOCK_PRESENT && asking->row->asked && asking->misses < ASKING_MISSES_MAX &&
	       asking->core == 0 && !asking->timer->driver->secondary && asking->periods >= 2 * PERIODS_HELD;
}

/* Measures one row: the one-shots of PLAN, or as many windows of periods. */
static void
measure(struct asking *asking, const struct plan *plan, bool periodic)
{
	enum timer_kind kind = asking->timer->driver->kind;

	asking->row = add_row(asking, periodic, asking_fit_ns(asking, plan->ns));
	if (!asking->row || asking->timer->state != CLOCK_PRESENT)
		return;
	asking->left = plan->count;
	asking->periods = PERIODS_A_WINDOW;
	asking->count = 0;
	asking->misses = 0;
	asking->row->vector = kind == TIMER_POLLED ? 0 : asking->all->window->vector;
	if (kind == TIMER_POLLED)
		awaited_poll(asking);
	else
		ask(asking, periodic ? periods_window : kind == TIMER_AWAITED ? awaited_window : shots_window);
	lateness_fold(asking->row, asking->all->values, asking->count);
	say_never_due(asking);
	say_never_programmed(asking);
	say_scattered(asking);
	if (periodic && is_held(asking))
		play(asking, periods_hold);
}

static const struct plan *
shots_of(const struct asking *asking)
{
	static const struct plan few[] = { { 100000, 100 }, { 0, 0 } }, none[] = { { 0, 0 } },
				 at_once[] = { { 0, 200 }, { 0, 0 } }, awaited[] = { { 0, 1 }, { 0, 0 } },
				 all[] = {
					 { 20000, 200 }, { 100000, 200 }, { 1000000, 200 }, { 10000000, 20 }, { 0, 0 }
				 };

	switch (asking->timer->driver->kind) {
	case TIMER_RATES:
		return none;
	case TIMER_AWAITED:
	case TIMER_POLLED:
		return awaited;
	case TIMER_AT_ONCE:
		return at_once;
	default:
		return asking->core || asking->timer->driver->secondary || is_quick(asking->survey->report) ? few : all;
	}
}

static void
measure_source(struct survey *survey, struct survey_timers *all, struct timer *timer, size_t core)
{
	const struct report *report = survey->report;
	bool few = core || timer->driver->secondary || is_quick(report);
	const struct plan windows = { PERIOD_NS, few ? 1 : WINDOWS };
	struct asking asking = {
		.survey = survey, .all = all, .timer = timer, .core = core,
		.gap_ticks = scale_ticks(&survey->scale, GAP_NS),
	};

	asking.entry_ticks = scale_ticks(&survey->scale, ENTRY_NS);
	for (const struct plan *plan = shots_of(&asking); plan->count; plan++) {
		measure(&asking, plan, false);
		if (timer->state != CLOCK_PRESENT)
			return; /* one row is enough to report the state */
	}
	if (timer->driver->arm_over && core == 0 && !timer->driver->secondary && asking.misses < ASKING_MISSES_MAX)
		play(&asking, stale_window);
	if (timer->driver->periodic && !timer->no_periods && (core == 0 || report->core_count <= CORES_PERIODS))
		measure(&asking, &windows, true);
}

static bool
is_asked(const struct timer_driver *driver, const struct report *report)
{
	bool all = report->options.irq == IRQ_ALL;

	if (driver->by_pic)
		return report->options.pic;
	return all || (!driver->only_all && (!is_quick(report) || driver->in_quick));
}

/* About how long the tests of a source take on the boot core; for a free-running source, on average. */
static uint64_t
expected_ns(struct survey *survey, const struct timer_driver *driver)
{
	struct timer timer = { .driver = driver };
	const struct asking asking = { .survey = survey, .timer = &timer };
	bool few = driver->secondary || is_quick(survey->report);
	uint64_t ns = driver->periodic ? PERIODS_A_WINDOW * PERIOD_NS * (few ? 1 : WINDOWS) : 0;

	if (driver->kind == TIMER_AWAITED || driver->kind == TIMER_POLLED)
		return AWAITED_NS;
	for (const struct plan *plan = shots_of(&asking); plan->count; plan++)
		ns += plan->ns * plan->count;
	return ns;
}

static uint64_t
expected_from(struct survey *survey, const struct survey_timers *timers, size_t from)
{
	uint64_t ns = 0;

	for (size_t i = from; i < SURVEY_TIMERS_MAX && timers->drivers[i]; i++)
		if (is_asked(timers->drivers[i], survey->report))
			ns += expected_ns(survey, timers->drivers[i]);
	return ns;
}

void
survey_timers(struct survey *survey, struct survey_timers *timers)
{
	uint64_t all_ns = expected_from(survey, timers, 0), begin_ns;

	survey_is_at(survey, SURVEY_AT_TIMERS);
	begin_ns = survey->done_ns;
	for (size_t i = 0; i < SURVEY_TIMERS_MAX && timers->drivers[i] && !survey_end_if_due(survey); i++) {
		struct timer *timer = &timers->timers[i];

		*timer = (struct timer){ .driver = timers->drivers[i] };
		if (!is_asked(timer->driver, survey->report))
			continue;
		timer->driver->open(timers->platform, timer);
		if (timer->unlisted)
			continue;
		survey->hooks.progress(survey->hooks.context, timer->driver->id, survey->done_ns, survey->total_ns);
		measure_source(survey, timers, timer, 0);
		if (all_ns)
			survey->done_ns = begin_ns + scale_mul_div(survey->timers_ns, all_ns - expected_from(survey, timers, i + 1),
								   all_ns);
	}
}

/*
 * Returns true if CORE is tested. With many cores only the first of each package is, because the others have
 * the same LAPIC.
 */
static bool
is_core_asked(const struct survey *survey, size_t core)
{
	const struct report_core *cores = survey->report->cores;

	if (!survey->smp->alive(survey->smp->context, core))
		return false;
	for (size_t i = 0; survey->report->core_count > CORES_EACH && i < core; i++)
		if (cores[i].started && cores[i].facts.package == cores[core].facts.package)
			return false;
	return true;
}

void
survey_core_timers(struct survey *survey, struct survey_timers *timers)
{
	uint64_t end_tsc = survey_pass_end(survey);
	size_t left_out = 0;

	for (size_t i = 0; i < SURVEY_TIMERS_MAX && timers->drivers[i]; i++) {
		const struct timer_driver *driver = timers->drivers[i];

		if (!driver->on_each_core || driver->kind == TIMER_AT_ONCE)
			continue;
		for (size_t core = 1; core < survey->smp->count && !survey_end_if_due(survey); core++) {
			struct timer timer = { .driver = driver };

			if (!is_core_asked(survey, core))
				continue;
			if (survey_pass_is_over(survey, end_tsc)) {
				left_out++;
				continue;
			}
			driver->open(timers->platform, &timer);
			if (timer.state == CLOCK_PRESENT)
				measure_source(survey, timers, &timer, core);
		}
	}
	if (left_out)
		report_note(survey->report, "%zu timer%s of cores other than the boot core %s not checked: that would have taken "
			    "too much of the time up to the deadline.", left_out, left_out == 1 ? "" : "s",
			    left_out == 1 ? "was" : "were");
}
