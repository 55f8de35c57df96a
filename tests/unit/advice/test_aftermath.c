/* Late clocks and systems after a discontinuity, its announcement, and timers that still interrupt. */
#include "test.h"
#include "base/set.h"
#include "advice/recommend.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

enum { TSC, HPET, RTC, CLOCKS };

static struct report report;
static struct report_discontinuity *row;
static struct discontinuity_outcome *outcome;
static const struct aftermath *after;

/* Makes a guest with a discontinuity: its groups and the time that each clock showed are set by the tests. */
static void
begin(void)
{
	static const char *const ids[CLOCKS] = { "tsc", "hpet", "rtc" };

	memset(&report, 0, sizeof(report));
	strcpy(report.facts.machine.hypervisor, "KVMKVMKVM");
	report.facts.clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++)
		report.facts.clocks[i].clock = (struct clock){ .id = ids[i], .main = ids[i], .state = CLOCK_PRESENT,
							 .edges_only = i == RTC };
	report.advice.taken_count = 2;
	report.advice.taken[0] = (struct report_taken){ .system = "a", .clock = "tsc" };
	report.advice.taken[1] = (struct report_taken){ .system = "b", .clock = "hpet" };
	report.figures.discontinuity_count = 1;
	row = report.figures.discontinuities;
	outcome = report.outcomes.discontinuities;
	after = report.advice.aftermaths;
	row->at_tsc = 1000;
	row->clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++)
		row->clocks[i].clock = (uint8_t)i;
}

TEST_FIXTURE(begin, NULL);

static void
add_group(uint32_t clocks, int64_t ns, int64_t within_ns)
{
	struct report_group *group = &row->groups[row->group_count++];

	*group = (struct report_group){ .clocks = clocks, .elapsed = { true, ns, ns - within_ns, ns + within_ns } };
	for (size_t i = 0; i < CLOCKS; i++) {
		if (!set_has(clocks, i))
			continue;
		group->members[group->clock_count++] = (uint8_t)i;
		row->clocks[i].elapsed = group->elapsed;
	}
}

static void
assert_late(const struct interval_ns *late, int64_t low, int64_t high)
{
	assert_true(late->known);
	assert_int_equal(late->low, low);
	assert_int_equal(late->high, high);
	assert_in_range(late->value - low, 0, high - low);
}

TEST(a_guest_that_was_stopped_is_late_by_what_its_rtc_shows)
{
	outcome->class = DISCONTINUITY_STOPPED;
	outcome->alone = set_of(RTC);
	add_group(set_of(TSC) | set_of(HPET), 100 * MS, 1 * MS);
	add_group(set_of(RTC), 64 * S, 50 * MS);
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->right, 1);
	assert_late(&after->clocks[TSC], 64 * S - 151 * MS, 64 * S - 49 * MS);
	assert_late(&after->clocks[RTC], -100 * MS, 100 * MS);
	assert_late(&after->systems[0], 64 * S - 151 * MS, 64 * S - 49 * MS);
	assert_late(&after->systems[1], 64 * S - 151 * MS, 64 * S - 49 * MS);
}

/* A snapshot that is restored 5 s later: the TSC and the RTC show the later time. */
TEST(after_a_snapshot_only_systems_that_take_the_hpet_are_late)
{
	add_group(set_of(TSC) | set_of(RTC), 5 * S, 1 * MS);
	add_group(set_of(HPET), 10 * MS, 2 * MS);
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->right, 0);
	assert_late(&after->systems[0], -2 * MS, 2 * MS);
	assert_late(&after->systems[1], 5 * S - 13 * MS, 5 * S - 7 * MS);
}

TEST(a_clock_that_jumped_ahead_is_early)
{
	outcome->class = DISCONTINUITY_JUMPED;
	outcome->alone = set_of(TSC);
	report.facts.machine.hypervisor[0] = '\0';
	add_group(set_of(HPET) | set_of(RTC), 100 * MS, 0);
	add_group(set_of(TSC), 400 * MS, 1 * MS);
	recommend_describe_aftermath(&report, &report.advice);
	assert_late(&after->systems[0], -301 * MS, -299 * MS);
	assert_late(&after->systems[1], 0, 0);
}

TEST(nothing_is_late_if_nothing_shows_the_true_time)
{
	add_group(set_of(TSC), 400 * MS, 1 * MS);
	add_group(set_of(HPET), 100 * MS, 1 * MS); /* the RTC is too inexact for a group */
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->right, REPORT_GROUPS_MAX);
	assert_false(after->systems[0].known || after->systems[1].known || after->clocks[TSC].known);
	report.facts.machine.hypervisor[0] = '\0'; /* on bare metal an RTC that is ahead may have been set */
	row->group_count = 0;
	add_group(set_of(TSC) | set_of(HPET), 100 * MS, 1 * MS);
	add_group(set_of(RTC), 5 * S, 1 * MS);
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->right, REPORT_GROUPS_MAX);
}

TEST(a_signal_announces_the_only_discontinuity)
{
	add_group(set_of(TSC), 5 * S, 1 * MS);
	add_group(set_of(HPET), 10 * MS, 1 * MS);
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->announced, ANNOUNCED_UNKNOWN);
	report.facts.signals = (struct signals){ .count = 1, .list = { { .id = "vmclock" } } };
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->announced, ANNOUNCED_NO);
	report.facts.signals.list[0].changed = true;
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->announced, ANNOUNCED_YES);
	report.figures.discontinuity_count = 2;
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->announced, ANNOUNCED_PERHAPS);
	report.facts.signals.list[0] = (struct signal){ .id = "vmclock", .unusable = true };
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->announced, ANNOUNCED_UNKNOWN);
}

static void
add_test(const char *source, uint32_t core, uint64_t armed_tsc, uint64_t came_tsc)
{
	report.figures.intervals[report.figures.interval_count++] =
		(struct interval_figures){ .test = { .source = source, .core = core }, .armed_tsc = armed_tsc, .came_tsc = came_tsc };
}

/* The discontinuity ends at 1000. */
TEST(a_timer_survives_if_it_interrupts_afterwards_on_each_tested_core)
{
	add_test("lapic", 0, 2000, 2100);
	add_test("lapic", 1, 500, 600); /* this core was tested before only */
	add_test("lapic_deadline", 0, 2000, 2100);
	add_test("lapic_deadline", 1, 2000, 900);
	add_test("hpet0", 0, 500, 600);
	add_test("pit0", 0, 2000, 0);
	add_test("pit0", 0, 3000, 3100); /* with another period, the PIT interrupts */
	add_test("hpet1", 0, 0, 0);      /* not tested at all */
	recommend_describe_aftermath(&report, &report.advice);
	assert_int_equal(after->source_count, 4);
	assert_int_equal(after->sources[0].survives, SURVIVES_YES);
	assert_int_equal(after->sources[1].survives, SURVIVES_NO);
	assert_int_equal(after->sources[2].survives, SURVIVES_UNKNOWN);
	assert_int_equal(after->sources[3].survives, SURVIVES_YES);
	assert_string_equal(after->sources[3].source, "pit0");
}
