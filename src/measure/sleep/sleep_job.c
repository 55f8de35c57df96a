/* The job of a sleep test: the loops of the sleeping cores, and of the boot core that wakes them. See sleep_test.h. */
#include "measure/sleep/sleep_test.h"

#define SHORT_NS     SURVEY_NS_PER_MS
#define SLEEPS       (1 + 2 * SLEEP_SHORTS)   /* the long sleep, the sleeps ended by an IPI, and those by the timer */
/* Maximum wait until all cores have begun to sleep. A busy host may run a core as late as this. */
#define BEGIN_NS     (2 * SURVEY_NS_PER_S)
#define LATE_NS      (400 * SURVEY_NS_PER_MS) /* maximum wait for a core after each IPI */
#define TIMER_NS     (20 * SURVEY_NS_PER_MS)  /* maximum wait for a timer after its deadline */
#define WAKE_TRIES   5u                       /* number of IPIs that are sent to a core that does not wake */
/*
 * Maximum wait for a timer that has not ended when an IPI wakes the core, because the host may have delayed the timer's
 * interrupt together with the core. Far shorter than a short sleep.
 */
#define PENDING_NS   UINT64_C(100000)
#define READS        4u                       /* number of readings of a clock; the shortest counts */
#define JOB_EXTRA_NS (2 * SURVEY_NS_PER_S)    /* maximum time from the last wake-up to the end of the job */
#define POLLS_MAX    (UINT32_C(1) << 26)      /* bound of a wait in a core whose TSC may have stopped */

bool
sleep_test_wait(const struct sleep_test *test, uint64_t ns, bool (*is_over)(const void *argument), const void *argument)
{
	const struct survey_hooks *hooks = &test->survey->hooks;
	uint64_t begin = hooks->tsc_ordered(), ticks = sleep_test_ticks(test, ns);

	for (uint64_t polls = 0; polls < ns && hooks->tsc_ordered() - begin < ticks; polls++) {
		if (is_over && is_over(argument))
			return true;
		hooks->pause();
	}
	return is_over && is_over(argument);
}

void
sleep_test_read_clocks(struct sleep_test *test, size_t offset)
{
	for (size_t i = 0; i < test->clock_count; i++) {
		const struct clock *clock = &test->survey->report->facts.clocks[test->clocks[i].clock].clock;
		struct sample samples[READS], best;

		clock->sample(clock->device, samples, READS);
		best = rate_shortest_sample(samples, READS);
		__builtin_memcpy((char *)&test->clocks[i] + offset, &best, sizeof(best));
	}
}

uint64_t
sleep_test_read_adjust(const struct sleep_test *test)
{
	struct core_facts facts;

	test->survey->hooks.core_facts(&facts);
	return (uint64_t)facts.tsc_adjust;
}

void
sleep_test_read_counters(const struct sleep_test *test, struct sleeper *sleeper)
{
	for (size_t i = 0; i < SLEEP_COUNTERS; i++)
		if (test->counters >> i & 1)
			sleeper->resident[i] = test->driver->read_counter(i) - sleeper->resident[i];
}

static bool
has_timer_ended(const void *argument)
{
	return timer_has_expired(argument);
}

/*
 * Sleeps until the boot core has sent IPI number K, or the timer has ended. Returns the TSC after the last wake-up.
 * Returns 0 if an IPI had to end the sleep because the timer never did.
 */
static uint64_t
sleep_until_woken(const struct sleep_test *test, struct sleeper *sleeper, uint32_t k)
{
	const struct survey_hooks *hooks = &test->survey->hooks;
	const struct timer *timer = SLEEP_IS_BY_TIMER(k) ? &sleeper->timer : NULL;
	uint64_t woke;

	for (uint32_t polls = 0; polls < POLLS_MAX; polls++) {
		if (polls < SLEEP_EARLY_MAX)
			test->driver->enter(test->state, sleeper->line);
		else
			hooks->pause();
		woke = hooks->tsc_ordered();
		if (timer && has_timer_ended(timer))
			return woke;
		if (__atomic_load_n(&sleeper->sent, __ATOMIC_ACQUIRE) >= k)
			return !timer || sleep_test_wait(test, PENDING_NS, has_timer_ended, timer) ? woke : 0;
		sleeper->entry.early += k == 1;
	}
	return 0;
}

/* Lets this core use the timer of DRIVER. Returns false if the CPU lacks it. */
static bool
take_timer(const struct sleep_test *test, struct sleeper *sleeper, const struct timer_driver *driver)
{
	struct timer timer = { .driver = driver };

	driver->open(NULL, &timer);
	if (timer.state != CLOCK_PRESENT)
		return false;
	if (sleeper->timer.driver)
		sleeper->timer.driver->restore(&sleeper->timer);
	sleeper->timer = timer;
	driver->set_up(&sleeper->timer, test->driver->vector);
	return true;
}

/*
 * Programs this core's timer to end a short sleep. Returns the TSC at which it is to end. The rate of a timer without
 * TSC deadlines is known from the time before the long sleep.
 */
static uint64_t
arm_timer(const struct sleep_test *test, struct sleeper *sleeper)
{
	const struct record_sleep *entry = &sleeper->entry;
	uint64_t ticks = sleep_test_ticks(test, SHORT_NS), awake_ticks = entry->asleep.end - entry->begin.end, count = 0;
	struct timer *timer = &sleeper->timer;

	if (timer->by_tsc)
		return timer->driver->arm(timer, ticks, false);
	if (awake_ticks)
		count = scale_mul_div(entry->begin.ticks - entry->asleep.ticks, ticks, awake_ticks);
	timer->driver->arm(timer, survey_clamp(count, 1, timer->ticks_max), false);
	return test->survey->hooks.tsc_ordered() + ticks;
}

/* Sleeps for the K-th time. */
static void
sleep_once(const struct sleep_test *test, struct sleeper *sleeper, uint32_t k)
{
	bool by_timer = SLEEP_IS_BY_TIMER(k);
	uint64_t due_tsc = by_timer ? arm_timer(test, sleeper) : 0, woke_tsc;

	if (k == 1)
		sleep_test_read_counters(test, sleeper);
	__atomic_store_n(&sleeper->progress, SLEEP_BEGUN(k), __ATOMIC_RELEASE);
	woke_tsc = sleep_until_woken(test, sleeper, k);
	if (k == 1) {
		sleeper->entry.awake = survey_read_ticks_left(test->survey, &sleeper->timer);
		sleep_test_read_counters(test, sleeper);
	} else {
		sleeper->wakes[sleeper->wake_count++] =
			(struct record_woken){ by_timer, by_timer ? due_tsc : sleeper->sent_tsc, woke_tsc };
	}
	__atomic_store_n(&sleeper->progress, SLEEP_ENDED(k), __ATOMIC_RELEASE);
}

/*
 * Reads the local APIC's timer while this core is awake, and lets it count over the long sleep. In the short sleeps it
 * has a TSC deadline, if the CPU offers deadlines.
 */
static void
run_sleeper(const struct sleep_test *test, struct sleeper *sleeper)
{
	struct timer *timer = &sleeper->timer;
	uint64_t adjust = sleep_test_read_adjust(test);

	if (!take_timer(test, sleeper, test->driver->counter)) {
		__atomic_store_n(&sleeper->progress, SLEEP_LEFT_OUT, __ATOMIC_RELEASE);
		return;
	}
	timer->driver->arm(timer, timer->ticks_max, false);
	sleeper->entry.begin = survey_read_ticks_left(test->survey, timer);
	sleep_test_wait(test, SLEEP_AWAKE_NS, NULL, NULL);
	sleeper->entry.asleep = survey_read_ticks_left(test->survey, timer);
	sleep_once(test, sleeper, 1);
	take_timer(test, sleeper, test->driver->deadline);
	for (uint32_t k = 2; k <= SLEEPS; k++)
		sleep_once(test, sleeper, k);
	timer->driver->restore(timer);
	sleeper->entry.adjusted = (int64_t)(sleep_test_read_adjust(test) - adjust);
}

/* Returns true if the core has the awaited progress, or is lost. */
static bool
has_reached(const struct sleep_test *test, const struct sleeper *sleeper)
{
	return sleeper->entry.lost || __atomic_load_n(&sleeper->progress, __ATOMIC_ACQUIRE) >= test->awaited;
}

static bool
have_all_reached(const void *argument)
{
	const struct sleep_test *test = argument;

	for (size_t i = 0; i < test->count; i++)
		if (!has_reached(test, test->sleepers[i]))
			return false;
	return true;
}

/* Marks the cores without the awaited progress as lost. The end of the job stops them. */
static void
give_up_others(const struct sleep_test *test)
{
	for (size_t i = 0; i < test->count; i++)
		test->sleepers[i]->entry.lost |= !has_reached(test, test->sleepers[i]);
}

/* Sends an IPI to each core that has not ended the present sleep. The first IPI of each sleep counts. */
static void
wake_all(const struct sleep_test *test)
{
	for (size_t i = 0; i < test->count; i++) {
		struct sleeper *sleeper = test->sleepers[i];

		if (has_reached(test, sleeper))
			continue;
		if (sleeper->sent < test->k) {
			sleeper->sent_tsc = test->survey->hooks.tsc_ordered();
			__atomic_store_n(&sleeper->sent, test->k, __ATOMIC_RELEASE);
		}
		test->driver->wake(test->survey->report->facts.cores[sleeper->core].apic_id);
	}
}

/* Wakes all cores from the present sleep. */
static void
end_sleep(const struct sleep_test *test)
{
	for (unsigned i = 0; i < WAKE_TRIES; i++) {
		wake_all(test);
		if (sleep_test_wait(test, LATE_NS, have_all_reached, test))
			return;
	}
	give_up_others(test);
}

/* Waits while all cores are in the long sleep, and reads the chipset's clocks at its start and end. */
static void
watch_long_sleep(struct sleep_test *test)
{
	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, asleep));
	uint64_t begin = test->survey->hooks.tsc_ordered();
	sleep_test_wait(test, SLEEP_LONG_NS, NULL, NULL);
	test->seen_ticks = test->survey->hooks.tsc_ordered() - begin;
	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, awake));
}

/* Observes the sleeping cores from the boot core. */
static void
observe_sleepers(struct sleep_test *test)
{
	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, begin));
	for (test->k = 1; test->k <= SLEEPS; test->k++) {
		uint64_t wait_ns = SHORT_NS + (SLEEP_IS_BY_TIMER(test->k) ? TIMER_NS : 0);

		test->awaited = SLEEP_BEGUN(test->k);
		if (!sleep_test_wait(test, BEGIN_NS, have_all_reached, test))
			give_up_others(test);
		test->awaited = SLEEP_ENDED(test->k);
		if (test->k == 1)
			watch_long_sleep(test);
		else if (sleep_test_wait(test, wait_ns, have_all_reached, test))
			continue;
		end_sleep(test);
	}
}

static void
run_on_core(void *argument, size_t core)
{
	struct sleep_test *test = argument;

	if (core == 0)
		observe_sleepers(test);
	else
		run_sleeper(test, sleep_test_get_sleeper(test, core));
}

void
sleep_test_run_job(struct sleep_test *test)
{
	const struct smp *smp = test->survey->smp;
	uint32_t cores[REPORT_SLEEPERS_MAX + 1] = { 0 };

	for (size_t i = 0; i < test->count; i++)
		cores[i + 1] = test->sleepers[i]->core;
	smp->run_some(smp->context, cores, test->count + 1, run_on_core, test, JOB_EXTRA_NS);
	for (size_t i = 0; i < test->count; i++) {
		struct record_sleep *entry = &test->sleepers[i]->entry;

		entry->lost |= !smp->alive(smp->context, entry->core);
		entry->seen_ticks = entry->lost ? 0 : test->seen_ticks;
	}
}
