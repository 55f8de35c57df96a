/*
 * Free-running sources, such as the RTC's update: waits with the firmware alive, then opens a window around the
 * next event. See timer_test.h.
 */
#include "measure/timers/timer_test.h"

/* A window opens this long before the deadline, and closes this long after it. */
#define NEAR_NS   (40 * SURVEY_NS_PER_MS)
/* A source that is polled is watched from this long before its deadline. */
#define POLLED_NS (5 * SURVEY_NS_PER_MS)
#define LATE_NS   (20 * SURVEY_NS_PER_MS)
#define EDGE_NS   (1500 * SURVEY_NS_PER_MS)
#define FAR_NS    (3000 * SURVEY_NS_PER_MS)

static uint64_t
now_tsc(const struct asking *asking)
{
	return asking->survey->hooks.tsc_ordered();
}

static uint64_t
tsc_ticks(const struct asking *asking, uint64_t ns)
{
	return scale_ticks(&asking->survey->scale, ns);
}

/*
 * Waits for the next step of a counter that steps when the source fires. A value read in the middle of a step
 * is not stable, so two readings must agree. The wait lasts seconds, so it also ends with the run's deadline
 * and if the TSC stops.
 */
static bool
find_edge(struct asking *asking)
{
	const struct timer *timer = asking->timer;
	uint64_t first = timer->driver->left(timer), begin = now_tsc(asking), bound = tsc_ticks(asking, EDGE_NS);

	while (now_tsc(asking) - begin < bound && !survey_end_if_due(asking->survey)) {
		uint64_t left = timer->driver->left(timer);

		asking->survey->hooks.pause();
		if (left == first || left != timer->driver->left(timer))
			continue;
		asking->due_tsc = now_tsc(asking) + tsc_ticks(asking, asking->row->asked_ns);
		return true;
	}
	if (!asking->survey->report->incomplete)
		asking_refuse(asking, CLOCK_STUCK, "It does not count.");
	return false;
}

static bool
find_due(struct asking *asking)
{
	const struct timer *timer = asking->timer;
	uint64_t left_ns;

	if (timer->ticks_max == 1) {
		if (asking->due_tsc == 0)
			return find_edge(asking);
		asking->due_tsc += tsc_ticks(asking, asking->row->asked_ns);
		return true;
	}
	left_ns = (uint64_t)asking_ticks_ps(timer->driver->left(timer), asking->tick.value) / ASKING_PS_PER_NS;
	if (left_ns > FAR_NS) {
		asking_refuse(asking, CLOCK_DISABLED, "It is due in more than three seconds: that was not waited for.");
		return false;
	}
	asking->due_tsc = now_tsc(asking) + tsc_ticks(asking, left_ns);
	return true;
}

static bool
approach(struct asking *asking, uint64_t near_ns)
{
	uint64_t near = tsc_ticks(asking, near_ns);

	if (!asking_know_tick(asking) || !find_due(asking))
		return false;
	while ((int64_t)(asking->due_tsc - now_tsc(asking)) > (int64_t)near && !survey_end_if_due(asking->survey))
		asking->survey->hooks.pause();
	return !asking->survey->report->incomplete;
}

bool
awaited_approach(struct asking *asking)
{
	return approach(asking, NEAR_NS);
}

/* The deadline by the source's own counter, as if the source had been armed now. */
static struct arming
arming_of_counter(const struct asking *asking, uint64_t *ticks)
{
	struct arming arming = { .before = now_tsc(asking) };

	*ticks = asking->timer->driver->left(asking->timer);
	arming.after = now_tsc(asking);
	return arming;
}

void
awaited_window(void *argument)
{
	struct asking *asking = argument;
	struct report_interval *row = asking->row;
	const struct timer_slot *slot = asking->all->window->slot;
	const struct timer_driver *driver = asking->timer->driver;
	struct arming arming;
	uint64_t ticks = 0;
	bool expired;

	if (!asking_begin(asking))
		return;
	asking->left--;
	asking_arm(asking, 1, false);
	arming = arming_of_counter(asking, &ticks);
	asking_watch(asking, arming.after, asking->due_tsc + tsc_ticks(asking, NEAR_NS), 1);
	expired = driver->expired(asking->timer);
	driver->disarm(asking->timer);
	if (asking_is_storm(asking))
		return;
	row->asked++;
	row->expected++;
	row->delivered += slot->taken != 0;
	row->empty += !slot->taken;
	row->doubled += slot->taken > 1;
	row->expired += !slot->taken && expired;
	asking->misses = slot->taken ? 0 : asking->misses + 1;
	if (slot->taken && asking->timer->ticks_max > 1)
		asking->all->values[asking->count++] = asking_lateness(asking, &arming, ticks, &slot->events[0]);
	else if (slot->taken)
		asking->due_tsc = slot->events[0].tsc;
}

/*
 * Waits for the source's status. It became set between FROM and TO; FROM is 0 if the first look found it set.
 * Returns false if it is not set within the bound.
 */
static bool
see_status(const struct asking *asking, uint64_t *from, uint64_t *to)
{
	const struct timer *timer = asking->timer;
	uint64_t until = asking->due_tsc + tsc_ticks(asking, LATE_NS), polls = (POLLED_NS + LATE_NS) * ASKING_POLLS_PER_NS;
	uint64_t begin = now_tsc(asking);
	bool expired;

	*from = 0;
	do { /* one more look after the bound, because the core may have been preempted */
		expired = timer->driver->expired(timer);
		*to = now_tsc(asking);
		if (expired)
			break;
		*from = begin;
		begin = *to;
	} while (*from < until && polls-- > 0);
	return expired;
}

/* Arms the source twice, because it may have come due again right after its status was cleared. */
static bool
can_be_cleared(struct timer *timer)
{
	timer->driver->arm(timer, 0, false);
	return !timer->driver->expired(timer);
}

/*
 * Polling needs no interrupt, so the source is armed long before its deadline. The core may be preempted when
 * it is due.
 */
static void
poll(struct asking *asking)
{
	struct report_interval *row = asking->row;
	uint64_t interrupts, ticks, from, to;
	struct arming arming;
	bool seen;

	if (!can_be_cleared(asking->timer) && !can_be_cleared(asking->timer)) {
		asking_refuse(asking, CLOCK_BROKEN, "Its status stays set: it can't be cleared.");
		return;
	}
	if (!approach(asking, POLLED_NS))
		return;
	interrupts = asking->survey->hooks.interrupts_mask();
	arming = arming_of_counter(asking, &ticks);
	seen = see_status(asking, &from, &to);
	asking->survey->hooks.interrupts_restore(interrupts);
	row->asked++;
	row->expected++;
	row->delivered += seen;
	row->empty += !seen;
	row->excused += seen && !from;
	if (seen && from) {
		struct lateness begin = asking_lateness(asking, &arming, ticks, &(struct timer_event){ .tsc = from });
		struct lateness end = asking_lateness(asking, &arming, ticks, &(struct timer_event){ .tsc = to });

		asking->all->values[asking->count++] = (struct lateness){ begin.low, end.high };
	}
}

void
awaited_poll(struct asking *asking)
{
	asking->timer->driver->take(asking->timer, 0);
	poll(asking);
	asking->timer->driver->give_back(asking->timer);
}
