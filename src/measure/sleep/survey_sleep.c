/* Runs the sleep tests of all states, and records their readings. See survey_sleep.h. */
#include "measure/sleep/survey_sleep.h"

#include "base/text.h"
#include "measure/sleep/sleep_test.h"

#define BOOT_WAKES_MAX 8u   /* number of interrupts after which the boot core has slept long enough */
#define TRIPS          100u /* number of round trips that measure an offset */
#define TRIES          4u   /* maximum number of ping-pongs for an offset */
#define ENOUGH_NS      UINT64_C(1000) /* width of an interval that is narrow enough */
#define PINGPONG_NS    (20 * SURVEY_NS_PER_MS)
/* Maximum time for the first ping-pong of each core before or after a sleep. Further cores have no known offset. */
#define OFFSETS_NS     (250 * SURVEY_NS_PER_MS)
/* Time after which no ping-pong is repeated, counted from the first one of the first core. */
#define REPEATS_NS     (20 * SURVEY_NS_PER_MS)

_Static_assert(REPEATS_NS + PINGPONG_NS <= SLEEP_OFFSET_NS, "the ping-pongs of an offset take at most this time");
_Static_assert(sizeof(struct sleeper) <= SURVEY_CONTENDED_SAMPLES * sizeof(struct sample),
	       "a core's samples of the phase contended have the space for a sleeper");

/* Measures the offset of CORE against the boot core. */
static struct offset
measure_offset(struct survey *survey, uint32_t core)
{
	struct record_exchange exchange;

	if (!core || !survey->smp->alive(survey->smp->context, core))
		return OFFSET_UNKNOWN;
	survey->memory.batch_cores[0] = 0;
	survey->memory.batch_cores[1] = core;
	survey_run_pingpongs(survey, 1, TRIPS, PINGPONG_NS, &exchange);
	return pingpong_get_result(&survey->memory.pingpongs[0], survey->tsc.resolution_ticks).offset;
}

/*
 * Measures the offset of each sleeper's core, or of its partner. On a busy host a ping-pong may have no short round
 * trip, so it is repeated if there is time.
 */
static void
measure_offsets(struct sleep_test *test, bool is_after)
{
	struct survey *survey = test->survey;
	uint64_t begin = survey->hooks.tsc_ordered(), enough_ticks = sleep_test_ticks(test, ENOUGH_NS);

	for (size_t i = 0; i < TRIES * test->count; i++) {
		struct record_sleep *entry = &test->sleepers[i % test->count]->entry;
		struct record_apart *apart = is_after ? &entry->after : &entry->before;
		struct offset offset = i < test->count ? OFFSET_UNKNOWN : (struct offset){ apart->low, apart->high }, latest;
		uint64_t ticks_max = sleep_test_ticks(test, i < test->count ? OFFSETS_NS : REPEATS_NS);

		if (survey->hooks.tsc_ordered() - begin < ticks_max && offset_width(offset) > enough_ticks)
			latest = measure_offset(survey, entry->core | entry->partner);
		else
			latest = OFFSET_UNKNOWN;
		/* the TSC moved since the earlier ping-pongs, perhaps because the core was idle, and so in HLT */
		if (offset_gap_between(offset, latest))
			offset = OFFSET_UNKNOWN;
		offset = offset_intersect(offset, latest);
		*apart = (struct record_apart){ offset.low, offset.high,
						offset_is_known(latest) || !apart->tsc ? survey->hooks.tsc_ordered() :
											 apart->tsc };
	}
}

/* Lists the chipset's clocks that are compared with the TSC: those with a nominal rate of their own. */
static void
list_clocks(struct sleep_test *test)
{
	static const char *const ids[SLEEP_CLOCKS_MAX] = { "hpet", "acpi_pm" };
	const struct report *report = test->survey->report;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		for (size_t id = 0; id < SLEEP_CLOCKS_MAX; id++)
			if (text_equal(report->facts.clocks[i].clock.id, ids[id]) && survey_usable(&report->facts.clocks[i]))
				test->clocks[test->clock_count++].clock = (uint16_t)i;
}

/* Adds CORE to the sleepers of the test, unless it does not work any more. */
static void
add_sleeper(struct sleep_test *test, uint32_t core, uint32_t partner)
{
	struct sleeper *sleeper = sleep_test_get_sleeper(test, core);

	if (core >= test->survey->memory.cores || test->count == REPORT_SLEEPERS_MAX ||
	     !test->survey->smp->alive(test->survey->smp->context, core))
		return;
	*sleeper = (struct sleeper){ .core = core, .entry = { .core = core, .partner = partner, .state = test->state,
							     .counters = test->counters } };
	test->sleepers[test->count++] = sleeper;
}

/* Lets the sleepers sleep by SLEEP, and records the readings. */
static void
test_sleepers(struct sleep_test *test, void (*sleep)(struct sleep_test *test))
{
	struct survey *survey = test->survey;
	struct record_slept slept = { test->state, !test->sleepers[0]->core };

	measure_offsets(test, false);
	sleep(test);
	measure_offsets(test, true);
	for (size_t i = 0; i < test->count; i++) {
		struct sleeper *sleeper = test->sleepers[i];

		__builtin_memcpy(&sleeper->entry.resident, sleeper->resident, sizeof(sleeper->resident));
		if (sleeper->progress == SLEEP_LEFT_OUT)
			test->leaves_out = true;
		else
			record_put(&survey->record, RECORD_SLEEP, &sleeper->entry, sleeper->wakes, sleeper->wake_count);
	}
	record_put(&survey->record, RECORD_SLEPT, &slept, test->clocks, test->clock_count);
}

/* Tests the state on all cores but the boot core at the same time, while the boot core observes them. */
static void
test_other_cores(struct sleep_test *test)
{
	test->count = 0;
	for (uint32_t core = 1; core < test->survey->smp->count; core++)
		add_sleeper(test, core, 0);
	if (test->count)
		test_sleepers(test, sleep_test_run_job);
}

/* Lets the boot core sleep until the firmware's tick has woken it some times. The other cores are idle in HLT. */
static void
let_boot_core_sleep(struct sleep_test *test)
{
	const struct survey_hooks *hooks = &test->survey->hooks;
	struct record_sleep *entry = &test->sleepers[0]->entry;
	uint64_t ticks = sleep_test_ticks(test, SLEEP_LONG_NS);
	uint64_t adjust = sleep_test_read_adjust(test);

	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, begin));
	sleep_test_wait(test, SLEEP_AWAKE_NS, NULL, NULL);
	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, asleep));
	sleep_test_read_counters(test, test->sleepers[0]);
	entry->asleep.end = hooks->tsc_ordered();
	for (unsigned i = 0; i < BOOT_WAKES_MAX && hooks->tsc_ordered() - entry->asleep.end < ticks; i++)
		test->driver->enter(test->state, test);
	entry->awake.begin = hooks->tsc_ordered();
	sleep_test_read_counters(test, test->sleepers[0]);
	sleep_test_read_clocks(test, offsetof(struct record_slept_clock, awake));
	entry->adjusted = (int64_t)(sleep_test_read_adjust(test) - adjust);
}

/* Tests HLT on the boot core. Its TSC is compared with the TSC of another core, and with the chipset's clocks. */
static void
test_boot_core(struct sleep_test *test)
{
	uint32_t partner = 1;

	while (partner < test->survey->smp->count && !test->survey->smp->alive(test->survey->smp->context, partner))
		partner++;
	test->count = 0;
	add_sleeper(test, 0, partner < test->survey->smp->count ? partner : 0);
	test_sleepers(test, let_boot_core_sleep);
}

static void
test_state(struct sleep_test *test, bool may_others_sleep, bool may_boot_core_sleep)
{
	const struct sleep_hooks *hooks = test->survey->hooks.sleep;
	bool is_deep = test->state != SLEEP_BY_HLT;
	char name[SLEEP_NAME_SIZE], shown[64];

	sleep_print_name(name, test->state);
	if (survey_end_run_if_due(test->survey) || text_equal(test->survey->report->facts.sleep_left_out, name))
		return;
	if (hooks->state_starts)
		hooks->state_starts(hooks->context, name);
	text_format(shown, sizeof(shown), is_deep ? "sleep state %s; a core may hang in it" : "sleep state %s", name);
	survey_show_progress(test->survey, shown, 0);
	if (may_others_sleep)
		test_other_cores(test);
	if (may_boot_core_sleep && !is_deep)
		test_boot_core(test);
}

void
survey_test_sleep_states(struct survey *survey, bool may_others_sleep, bool may_boot_core_sleep)
{
	struct sleep_test test = { .survey = survey, .driver = survey->hooks.sleep->driver, .state = SLEEP_BY_HLT };
	uint32_t states[SLEEP_STATES_MAX];
	size_t count = 0;

	list_clocks(&test);
	test.counters = test.driver->find_counters(survey->hooks.guarded);
	test_state(&test, may_others_sleep, may_boot_core_sleep);
	if (survey->report->facts.options.cores.sleep == SLEEP_DEEP && may_others_sleep) {
		count = test.driver->list_deep_states(states, survey->hooks.guarded);
		if (!count)
			notes_add(&survey->report->notes,
				  "No sleep state by MWAIT or an I/O port was found, so only HLT was tested.");
	}
	if (count || !report_is_guest(survey->report))
		notes_add(&survey->report->notes,
			  "The authors ran the tests of sleep states on simulated and emulated machines only.");
	for (size_t i = 0; i < count; i++) {
		test.state = states[i];
		test_state(&test, true, false);
	}
	if (test.leaves_out)
		notes_add(&survey->report->notes,
			  "Cores whose local APIC timer could not be used were left out of the tests of sleep states.");
}
