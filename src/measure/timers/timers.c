/* One-shots and periods, source by source. See survey_timers.h. */
#include "survey_timers.h"

#include "asking.h"
#include "text.h"

#define PERIOD_NS   SURVEY_NS_PER_MS
#define ENTRY_NS    UINT64_C(250000) /* an emulator's way into a handler takes tens of microseconds */
#define WINDOWS_MAX 64u

void
asking_refuse(struct asking *asking, enum clock_state state, const char *why)
{
	struct text reason;

	asking->left = 0;
	asking->row->state = state;
	text_init(&reason, asking->row->reason, sizeof(asking->row->reason));
	text_put(&reason, why);
}

bool
asking_begin(struct asking *asking)
{
	asking->timer->driver->take(asking->timer, asking->all->window->vector);
	if (asking_know_tick(asking) && asking_ticks(asking, asking->row->asked_ns) <= asking->timer->ticks_max)
		return true;
	asking->left = 0;
	return false;
}

static void
give_back(void *argument)
{
	struct asking *asking = argument;

	asking->timer->driver->give_back(asking->timer);
}

static void
ask(struct asking *asking, void (*work)(void *argument))
{
	for (unsigned i = 0; i < WINDOWS_MAX && asking->left > 0 && asking->misses < ASKING_MISSES_MAX; i++) {
		const char *why;

		if (survey_end_if_due(asking->survey))
			return;
		why = asking->all->window->play(work, give_back, asking);
		if (why) {
			asking_refuse(asking, CLOCK_DISABLED, why);
			return;
		}
	}
	if (asking->tick.value == 0)
		asking_refuse(asking, CLOCK_STUCK, "Its counter does not count down.");
}

static struct report_interval *
add_row(struct report *report, const struct timer *timer, bool periodic, uint64_t asked_ns)
{
	struct report_interval *row = &report->intervals[report->interval_count];

	if (report->interval_count == REPORT_INTERVALS_MAX)
		return NULL;
	report->interval_count++;
	*row = (struct report_interval){
		.source = timer->driver->id, .periodic = periodic, .state = timer->state, .asked_ns = asked_ns,
		.route_kind = timer->route.kind, .pin = timer->route.pin,
	};
	__builtin_memcpy(row->reason, timer->reason, sizeof(row->reason));
	return row;
}

struct plan {
	uint64_t ns;
	size_t count;
};

/* One row: shots of PLAN, or so many windows of a period. */
static void
measure(struct asking *asking, const struct plan *plan, bool periodic)
{
	asking->row = add_row(asking->survey->report, asking->timer, periodic, plan->ns);
	if (!asking->row || asking->timer->state != CLOCK_PRESENT)
		return;
	asking->left = plan->count;
	asking->count = 0;
	asking->misses = 0;
	asking->row->vector = asking->all->window->vector;
	ask(asking, periodic ? periods_window : shots_window);
	lateness_fold(asking->row, asking->all->values, asking->count);
	if (!periodic || asking->row->state != CLOCK_PRESENT || asking->misses >= ASKING_MISSES_MAX)
		return;
	asking->all->window->play(periods_hold, give_back, asking);
}

static void
measure_source(struct survey *survey, struct survey_timers *all, struct timer *timer)
{
	static const struct plan quick[] = { { 100000, 100 }, { 0, 0 } };
	static const struct plan standard[] = { { 20000, 200 }, { 100000, 200 }, { 1000000, 200 }, { 10000000, 50 }, { 0, 0 } };
	bool is_quick = survey->report->options.profile == PROFILE_QUICK;
	struct plan windows = { PERIOD_NS, is_quick ? 1 : 10 };
	struct asking asking = {
		.survey = survey, .all = all, .timer = timer,
		.gap_ticks = scale_ticks(&survey->scale, survey->report->options.gap_ns),
	};

	asking.entry_ticks = scale_ticks(&survey->scale, ENTRY_NS);
	if (asking.entry_ticks < asking.gap_ticks)
		asking.entry_ticks = asking.gap_ticks;

	for (const struct plan *plan = is_quick ? quick : standard; plan->count; plan++) {
		measure(&asking, plan, false);
		if (timer->state != CLOCK_PRESENT)
			return; /* one row says so */
	}
	if (timer->driver->periodic)
		measure(&asking, &windows, true);
}

void
survey_timers(struct survey *survey, struct survey_timers *timers)
{
	for (size_t i = 0; i < SURVEY_TIMERS_MAX && timers->drivers[i] && !survey_end_if_due(survey); i++) {
		struct timer *timer = &timers->timers[i];

		*timer = (struct timer){ .driver = timers->drivers[i] };
		timer->driver->open(timers->platform, timer);
		survey->hooks.progress(survey->hooks.context, timer->driver->id, survey->done_ns, survey->total_ns);
		measure_source(survey, timers, timer);
	}
}
