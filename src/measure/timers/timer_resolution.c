/* Length of a tick of the source's counter, and the lateness of an interrupt in that unit. See timer_test.h. */
#include "measure/timers/timer_test.h"

#define CALIBRATE_NS    (10 * SURVEY_NS_PER_MS)
#define CALIBRATE_READS 16u /* the tightest of them is used */
#define AS_PER_PS       1000000u

int64_t
asking_tsc_ps(const struct asking *asking, uint64_t ticks)
{
	return (int64_t)scale_ns(&asking->survey->scale, ticks * ASKING_PS_PER_NS);
}

int64_t
asking_ticks_ps(uint64_t ticks, uint64_t tick_as)
{
	return (int64_t)scale_mul_div(ticks, tick_as, AS_PER_PS);
}

uint64_t
asking_ticks(const struct asking *asking, uint64_t ns)
{
	return scale_mul_div_nearest(ns * ASKING_PS_PER_NS, AS_PER_PS, asking->tick.value);
}

/* Step of the counter that the source is compared with, in ticks. */
static uint64_t
step_of(const struct asking *asking)
{
	const char *clock = asking->timer->clock;
	const struct report_clock *entry = clock ? report_find_clock(asking->survey->report, clock) : NULL;

	return entry && entry->resolution.gcd_ticks ? entry->resolution.gcd_ticks : 1;
}

/* A reading is valid until the next step, and the deadline may have been reached anywhere within a step. */
static struct lateness
by_counter(const struct asking *asking, int64_t late_ps, uint64_t tick_as)
{
	uint64_t step = step_of(asking);

	return (struct lateness){ late_ps - asking_ticks_ps(step - 1, tick_as), late_ps + asking_ticks_ps(step, tick_as) };
}

struct lateness
asking_lateness(const struct asking *asking, const struct arming *arming, uint64_t ticks,
		const struct timer_event *event)
{
	const struct timer *timer = asking->timer;
	const struct tick *tick = &asking->tick;

	if (timer->counter_address) {
		/* Lateness is modulo the counter's range, from a quarter of the range early. */
		uint64_t early = timer->count_mask / 4;
		int64_t late = (int64_t)((event->count - arming->due + early) & timer->count_mask) - (int64_t)early;
		int64_t low = asking_ticks_ps(late < 0 ? (uint64_t)-late : (uint64_t)late, tick->value);

		return by_counter(asking, late < 0 ? -low : low, tick->value);
	}
	if (timer->by_tsc) {
		int64_t late = (int64_t)(event->tsc - arming->due);
		int64_t low = asking_tsc_ps(asking, late < 0 ? (uint64_t)-late : (uint64_t)late);

		return by_counter(asking, late < 0 ? -low : low, tick->high);
	}
	/* Each of the two TSC readings is valid until the TSC's next step. */
	int64_t step_ps = asking_tsc_ps(asking, asking->survey->tsc_resolution_ticks - 1);

	return (struct lateness){
		asking_tsc_ps(asking, event->tsc - arming->after) - asking_ticks_ps(ticks + timer->phase_ticks, tick->high) -
			step_ps,
		asking_tsc_ps(asking, event->tsc - arming->before) - asking_ticks_ps(ticks, tick->low) + step_ps,
	};
}

/* A reading of the ticks left, in the tightest of several brackets. */
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

/*
 * Measures the tick of a source without a nominal frequency by the TSC. Returns false if the source does not
 * count down.
 */
static bool
calibrate(struct asking *asking)
{
	uint64_t bound = scale_ticks(&asking->survey->scale, CALIBRATE_NS), polls = CALIBRATE_NS * ASKING_POLLS_PER_NS;
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
	uint64_t low_ps = (uint64_t)asking_tsc_ps(asking, last.begin - first.end);
	uint64_t high_ps = (uint64_t)asking_tsc_ps(asking, last.end - first.begin);

	asking->tick = (struct tick){ .low = scale_mul_div(low_ps, AS_PER_PS, ticks + 1),
				      .high = scale_mul_div_up(high_ps, AS_PER_PS, ticks - 1) };
	asking->tick.value = asking->tick.low + (asking->tick.high - asking->tick.low) / 2;
	return true;
}

bool
asking_know_tick(struct asking *asking)
{
	const struct rate *hz = asking->timer->by_tsc ? &asking->survey->scale.hz : &asking->timer->hz;

	if (asking->tick.value)
		return true;
	if (!asking->timer->by_tsc && !hz->den)
		return calibrate(asking);
	asking->tick.value = asking->tick.low = asking->tick.high =
		scale_mul_div(UINT64_C(1000000000000000000), hz->den, hz->num);
	return asking->tick.value != 0;
}
