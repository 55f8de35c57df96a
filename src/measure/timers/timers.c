/* One-shots and periods, source by source. See survey_timers.h. */
#include "survey_timers.h"

#include "survey_internal.h"
#include "text.h"

#define PS_PER_NS        1000
#define AS_PER_PS        1000000u
#define WINDOW_NS        (70 * SURVEY_NS_PER_MS) /* a shot and its bound behind it: the tick is stopped for 100 ms at most */
#define PERIOD_NS        SURVEY_NS_PER_MS
#define PERIODS_A_WINDOW 80u
#define HELD_PERIODS     20u
#define BOUND_NS         (20 * SURVEY_NS_PER_MS) /* behind a deadline; a missing one is then missing */
#define MISSES_MAX       3u   /* in a row, and the source is given up */
#define CALIBRATE_NS     (10 * SURVEY_NS_PER_MS)
#define CALIBRATE_READS  16u  /* of which the tightest counts */
#define POLLS_PER_NS     1u   /* no poll is shorter: bounds a wait where the TSC stands */
#define ENTRY_NS         UINT64_C(250000) /* an emulator's way into a handler takes tens of microseconds */
#define ARM_TRIES        8u
#define WINDOWS_MAX      64u

struct tick { /* of the source's counter, in attoseconds */
	uint64_t value, low, high;
};

struct asking {
	struct survey *survey;
	struct survey_timers *all;
	struct timer *timer;
	struct report_interval *row;
	struct tick tick;       /* value 0: not known yet */
	uint64_t gap_ticks, entry_ticks; /* of the TSC; the way into a handler may take longer than what is a gap else */
	size_t gap_count;       /* of all->gaps, since the source was armed; SURVEY_AWAY_MAX: too many to be told apart */
	size_t left;            /* shots, or windows */
	size_t count;           /* of values */
	unsigned misses;
};

struct arming { /* the TSC before and after the source was armed, and when it is due by its own counter */
	uint64_t before, after, due;
};

static int64_t
tsc_ps(const struct asking *asking, uint64_t ticks)
{
	return (int64_t)scale_ns(&asking->survey->scale, ticks * PS_PER_NS);
}

static int64_t
ticks_ps(uint64_t ticks, uint64_t tick_as)
{
	return (int64_t)scale_mul_div(ticks, tick_as, AS_PER_PS);
}

/* The core's time went on from FROM to TO: a gap if by more than MOST. */
static void
look_for_gap(struct asking *asking, uint64_t from, uint64_t to, uint64_t most)
{
	if (to <= from || to - from <= most || asking->gap_count == SURVEY_AWAY_MAX)
		return;
	asking->all->gaps[asking->gap_count++] = (struct survey_away){ from, to };
}

/* Whether the core was away for longer than MOST at some time from FROM to TO. */
static bool
was_away(const struct asking *asking, uint64_t from, uint64_t to, uint64_t most)
{
	for (size_t i = 0; i < asking->gap_count; i++) {
		const struct survey_away *gap = &asking->all->gaps[i];

		if (gap->from < to && gap->to > from && gap->to - gap->from > most)
			return true;
	}
	return asking->gap_count == SURVEY_AWAY_MAX;
}

static struct arming
arm(struct asking *asking, uint64_t ticks, bool periodic)
{
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	struct timer_slot *slot = asking->all->window->slot;
	struct arming arming;

	slot->taken = slot->strays = 0;
	slot->space = TIMER_EVENTS_MAX;
	slot->counter_address = asking->timer->counter_address;
	arming.before = tsc();
	arming.due = asking->timer->driver->arm(asking->timer, ticks, periodic);
	arming.after = tsc();
	asking->gap_count = 0;
	look_for_gap(asking, arming.before, arming.after, asking->gap_ticks);
	return arming;
}

/* How long after it was due for the first time, TICKS after it was armed, EVENT came. */
static struct lateness
lateness_of(const struct asking *asking, const struct arming *arming, uint64_t ticks, const struct timer_event *event)
{
	const struct timer *timer = asking->timer;
	const struct tick *tick = &asking->tick;

	if (timer->counter_address) {
		/* From a quarter of its range early: it came at a reading that lasts for a tick. */
		uint64_t early = timer->count_mask / 4;
		int64_t late = (int64_t)((event->count - arming->due + early) & timer->count_mask) - (int64_t)early;
		int64_t low = ticks_ps(late < 0 ? (uint64_t)-late : (uint64_t)late, tick->value);

		low = late < 0 ? -low : low;
		return (struct lateness){ low, low + ticks_ps(1, tick->value) };
	}
	return (struct lateness){
		tsc_ps(asking, event->tsc - arming->after) - ticks_ps(ticks, tick->high),
		tsc_ps(asking, event->tsc - arming->before) - ticks_ps(ticks, tick->low),
	};
}

/* A reading of what is left, in the tightest bracket of several. */
static struct sample
read_left(const struct asking *asking)
{
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	struct sample best = { 0, 0, UINT64_MAX };

	for (unsigned i = 0; i < CALIBRATE_READS; i++) {
		struct sample sample;

		sample.begin = tsc();
		sample.ticks = asking->timer->driver->left(asking->timer);
		sample.end = tsc();
		if (sample.end - sample.begin < best.end - best.begin)
			best = sample;
	}
	return best;
}

/* A tick of a source that claims no rate, by the TSC. False: it does not count down. */
static bool
calibrate(struct asking *asking)
{
	uint64_t bound = scale_ticks(&asking->survey->scale, CALIBRATE_NS), polls = CALIBRATE_NS * POLLS_PER_NS;
	struct sample first, last;
	uint64_t ticks;

	asking->timer->driver->arm(asking->timer, asking->timer->ticks_max, false);
	first = read_left(asking);
	while (asking->survey->hooks.tsc_ordered() - first.end < bound && polls-- > 0)
		asking->survey->hooks.pause();
	last = read_left(asking);
	asking->timer->driver->disarm(asking->timer);
	ticks = first.ticks - last.ticks;
	if (last.ticks >= first.ticks || ticks < 2)
		return false;
	uint64_t low_ps = (uint64_t)tsc_ps(asking, last.begin - first.end);
	uint64_t high_ps = (uint64_t)tsc_ps(asking, last.end - first.begin);

	asking->tick = (struct tick){ .low = scale_mul_div(low_ps, AS_PER_PS, ticks + 1),
				      .high = scale_mul_div_up(high_ps, AS_PER_PS, ticks - 1) };
	asking->tick.value = asking->tick.low + (asking->tick.high - asking->tick.low) / 2;
	return true;
}

static bool
know_tick(struct asking *asking)
{
	const struct rate *hz = &asking->timer->hz;

	if (asking->tick.value)
		return true;
	if (!hz->den)
		return calibrate(asking);
	asking->tick.value = asking->tick.low = asking->tick.high =
		scale_mul_div(UINT64_C(1000000000000000000), hz->den, hz->num);
	return asking->tick.value != 0;
}

/*
 * Interrupts are open until TAKEN have come, or UNTIL. The handler's own reading of the TSC is one of the polls: what it
 * takes is no gap.
 */
static void
watch(struct asking *asking, uint64_t from, uint64_t until, uint64_t taken)
{
	const struct timer_window *window = asking->all->window;
	const volatile struct timer_slot *slot = window->slot;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t polls = scale_ns(&asking->survey->scale, until - from) * POLLS_PER_NS, last = from, seen = 0;

	window->open();
	while (polls-- > 0) {
		uint64_t now = tsc();

		for (; seen < slot->taken && seen < TIMER_EVENTS_MAX; seen++) {
			look_for_gap(asking, last, slot->events[seen].tsc, asking->entry_ticks);
			last = slot->events[seen].tsc > last ? slot->events[seen].tsc : last;
		}
		look_for_gap(asking, last, now, asking->gap_ticks);
		last = now > last ? now : last;
		if (seen >= taken || now >= until)
			break;
		asking->survey->hooks.pause();
	}
	window->close();
}

static void
refuse(struct asking *asking, enum clock_state state, const char *why)
{
	struct text reason;

	asking->left = 0;
	asking->row->state = state;
	text_init(&reason, asking->row->reason, sizeof(asking->row->reason));
	text_put(&reason, why);
}

/* More than anything that was asked for: the recorder has ended it. */
static bool
is_storm(struct asking *asking)
{
	if (asking->all->window->slot->taken <= TIMER_EVENTS_MAX)
		return false;
	asking->timer->state = CLOCK_BROKEN;
	refuse(asking, CLOCK_BROKEN, "Its interrupts came without an end: it was not asked on.");
	return true;
}

static void
shoot(struct asking *asking, uint64_t ticks)
{
	struct report_interval *row = asking->row;
	const struct timer_slot *slot = asking->all->window->slot;
	uint64_t bound = scale_ticks(&asking->survey->scale, row->asked_ns + BOUND_NS);
	struct arming arming = arm(asking, ticks, false);
	bool away, expired;

	watch(asking, arming.after, arming.after + bound, 1);
	expired = asking->timer->driver->expired(asking->timer);
	asking->timer->driver->disarm(asking->timer);
	if (is_storm(asking))
		return;
	away = was_away(asking, arming.before + scale_ticks(&asking->survey->scale, row->asked_ns),
			slot->taken ? slot->events[0].tsc : UINT64_MAX, asking->gap_ticks);
	row->asked++;
	row->excused += away;
	asking->misses = slot->taken ? 0 : asking->misses + 1;
	row->delivered += slot->taken != 0;
	row->empty += !slot->taken && !away;
	row->doubled += slot->taken > 1;
	row->expired += !slot->taken && expired;
	if (slot->taken && !away)
		asking->all->values[asking->count++] = lateness_of(asking, &arming, ticks, &slot->events[0]);
}

static uint64_t
ticks_of(const struct asking *asking, uint64_t ns)
{
	return scale_mul_div_nearest(ns * PS_PER_NS, AS_PER_PS, asking->tick.value);
}

static bool
begin_window(struct asking *asking)
{
	asking->timer->driver->take(asking->timer, asking->all->window->vector);
	if (know_tick(asking) && ticks_of(asking, asking->row->asked_ns) <= asking->timer->ticks_max)
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
shoot_window(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t begin = tsc(), enough = scale_ticks(&asking->survey->scale, WINDOW_NS - asking->row->asked_ns);

	if (!begin_window(asking))
		return;
	do {
		asking->left--;
		shoot(asking, ticks_of(asking, asking->row->asked_ns));
	} while (asking->left > 0 && asking->misses < MISSES_MAX && tsc() - begin < enough);
}

/* Whether the core was away about slot K, from a quarter period before its deadline to the next one's. */
static bool
is_excused(const struct asking *asking, const struct arming *arming, uint64_t period, size_t k)
{
	uint64_t due = arming->before + (k + 1) * period;

	return was_away(asking, due - period / 4, due + period, asking->entry_ticks);
}

/* What came in one window goes into its slots. */
static void
fold_periods(struct asking *asking, const struct arming *arming, uint64_t ticks, size_t count)
{
	struct report_interval *row = asking->row;
	const struct timer_slot *slot = asking->all->window->slot;
	/* And one more: what falls into that may be late for the last. */
	struct slots slots = { (uint64_t)ticks_ps(ticks, asking->tick.value), count + 1, asking->all->slots };
	uint64_t period = scale_ticks(&asking->survey->scale, row->asked_ns);

	__builtin_memset(slots.taken, 0, slots.count);
	for (size_t i = 0; i < slot->taken && i < TIMER_EVENTS_MAX; i++) {
		struct lateness late = lateness_of(asking, arming, ticks, &slot->events[i]);
		size_t k = slots_of(&slots, late.low + (late.high - late.low) / 2);

		if (k == SIZE_MAX)
			continue;
		if (k > 0 && !slots.taken[k - 1] && late.high < ticks_ps(k * ticks, asking->tick.low))
			k--; /* not early for its deadline: late by most of a period for the one before */
		if (k == count)
			continue;
		row->delivered++;
		slots.taken[k] = slots.taken[k] ? 2 : 1; /* 2: or more */
		if (slots.taken[k] > 1 || asking->count == TIMER_EVENTS_MAX ||
		    was_away(asking, arming->before + (k + 1) * period, slot->events[i].tsc, asking->gap_ticks))
			continue;
		/* What the period is not known to adds up from slot to slot. */
		late.low -= ticks_ps(k * ticks, asking->tick.high);
		late.high -= ticks_ps(k * ticks, asking->tick.low);
		asking->all->values[asking->count++] = late;
	}
	row->asked += count;
	for (size_t k = 0; k < count; k++) {
		bool excused = is_excused(asking, arming, period, k);

		row->excused += excused;
		row->doubled += slots.taken[k] > 1 && !excused;
		row->empty += !slots.taken[k] && !excused;
	}
}

/* On a busy host the first deadline may be over before it is programmed, and nothing is due then until the counter wraps. */
static bool
arm_period(struct asking *asking, uint64_t ticks, uint64_t period, struct arming *arming)
{
	for (unsigned tries = 0; tries < ARM_TRIES; tries++) {
		*arming = arm(asking, ticks, true);
		if (arming->after - arming->before < period / 4)
			return true;
		asking->timer->driver->disarm(asking->timer);
	}
	return false;
}

static void
tick_window(void *argument)
{
	struct asking *asking = argument;
	struct arming arming;
	uint64_t ticks, period;

	if (!begin_window(asking))
		return;
	asking->left--;
	ticks = ticks_of(asking, asking->row->asked_ns);
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	if (!arm_period(asking, ticks, period, &arming))
		return;
	watch(asking, arming.after, arming.before + (PERIODS_A_WINDOW + 1) * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	if (is_storm(asking))
		return;
	fold_periods(asking, &arming, ticks, PERIODS_A_WINDOW);
	asking->misses = asking->all->window->slot->taken ? 0 : MISSES_MAX;
}

/* Interrupts stay masked for so many periods, and are open for as many: what comes beyond those was kept. */
static void
hold_window(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t period, polls = HELD_PERIODS * PERIOD_NS * POLLS_PER_NS;
	struct arming arming;

	if (!begin_window(asking))
		return;
	period = scale_ticks(&asking->survey->scale, asking->row->asked_ns);
	if (!arm_period(asking, ticks_of(asking, asking->row->asked_ns), period, &arming))
		return;
	while (tsc() - arming.after < HELD_PERIODS * period + period / 2 && polls-- > 0)
		asking->survey->hooks.pause();
	uint64_t opened = tsc();

	watch(asking, opened, opened + HELD_PERIODS * period, UINT64_MAX);
	asking->timer->driver->disarm(asking->timer);
	asking->row->held_ns = (uint64_t)tsc_ps(asking, opened - arming.after) / PS_PER_NS;
	asking->row->held_delivered = asking->all->window->slot->taken;
	is_storm(asking);
}

static void
ask(struct asking *asking, void (*work)(void *argument))
{
	for (unsigned i = 0; i < WINDOWS_MAX && asking->left > 0 && asking->misses < MISSES_MAX; i++) {
		const char *why;

		if (survey_end_if_due(asking->survey))
			return;
		why = asking->all->window->play(work, give_back, asking);
		if (why) {
			refuse(asking, CLOCK_DISABLED, why);
			return;
		}
	}
	if (asking->tick.value == 0)
		refuse(asking, CLOCK_STUCK, "Its counter does not count down.");
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
	ask(asking, periodic ? tick_window : shoot_window);
	lateness_fold(asking->row, asking->all->values, asking->count);
	if (!periodic || asking->row->state != CLOCK_PRESENT || asking->misses >= MISSES_MAX)
		return;
	asking->all->window->play(hold_window, give_back, asking);
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
