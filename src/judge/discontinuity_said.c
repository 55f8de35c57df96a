/* Notes and findings on discontinuities. See discontinuity_said.h. */
#include "judge/discontinuity_said.h"

#include "base/text.h"
#include "judge/judge_internal.h"

#define NS_PER_MS   INT64_C(1000000)
#define MS_DECIMALS 3
#define US_DECIMALS 6
#define VAGUE_NS    (200 * NS_PER_MS) /* if the error is larger, both ends are printed */
#define TENTHS_MS   1000              /* from this on tenths of a second are enough */
#define SMALL_NS    (10 * NS_PER_MS)  /* below this microseconds are printed */
#define NS_PER_US   INT64_C(1000)

static void
put_clocks(struct text *text, const struct report *report, const struct report_group *group)
{
	for (size_t i = 0; i < group->clock_count; i++)
		text_printf(text, "%s%s", !i ? "" : i + 1 == group->clock_count ? " and " : ", ",
			    report_clock_id(report, group->members[i]));
}

static void
put_seconds(struct text *text, int64_t ns, unsigned decimals)
{
	uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	text_put(text, ns < 0 ? "-" : "");
	if (decimals <= MS_DECIMALS)
		text_put_decimal(text, (size_ns + NS_PER_MS / 2) / NS_PER_MS, MS_DECIMALS, decimals);
	else
		text_put_decimal(text, (size_ns + NS_PER_US / 2) / NS_PER_US, US_DECIMALS, decimals);
}

/* Decimals of seconds that are enough to distinguish two times this far apart. */
static unsigned
decimals_of(int64_t apart_ns)
{
	return apart_ns < SMALL_NS && apart_ns > -SMALL_NS ? US_DECIMALS : MS_DECIMALS;
}

void
discontinuity_note_stop(struct report *report, const struct report_discontinuity *row, const struct report_group *rtc)
{
	const struct report_group *other = &row->groups[rtc == &row->groups[0]];
	int64_t low = rtc->elapsed.low - other->elapsed.high, high = rtc->elapsed.high - other->elapsed.low;
	int64_t middle = rtc->elapsed.value - other->elapsed.value;
	unsigned decimals = middle >= TENTHS_MS * NS_PER_MS ? 1 : 2;
	char bytes[REPORT_SENTENCE];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	text_put(&text, rtc->elapsed.known ? "The machine was stopped for " : "The machine was stopped before ");
	if (!rtc->elapsed.known) {
		/* the duration is printed after the time */
	} else if (high - low > VAGUE_NS) {
		put_seconds(&text, low, decimals);
		text_put(&text, " to ");
		put_seconds(&text, high, decimals);
	} else {
		put_seconds(&text, middle, decimals);
	}
	text_put(&text, rtc->elapsed.known ? " s at " : "");
	report_put_moment(&text, report, row->at_tsc);
	text_printf(&text, " (by the %s)%s.", report_clock_id(report, rtc->members[0]),
		    rtc->elapsed.known ? "" : "; for how long is not known");
	report_note(report, "%s", bytes);
}

static bool
is_named(const struct report *report, const char *rule, const char *clock)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (text_equal(report->findings[i].rule, rule) && text_equal(report->findings[i].clock, clock))
			return true;
	return false;
}

/* Sets when the clock failed. A TSC that is not in the report has no row for it. */
static void
set_turned_sick(struct report *report, size_t clock, uint64_t at_ms)
{
	if (clock >= report->clock_count || report->clocks[clock].turned_sick)
		return;
	report->clocks[clock].turned_sick = true;
	report->clocks[clock].turned_sick_ms = at_ms;
}

/* Jumps of the clock that its own readings showed against the TSC. */
static uint64_t
leaps_of(const struct report *report, size_t clock)
{
	return clock < report->clock_count ? report->clocks[clock].monotonic.leaps : 0;
}

void
discontinuity_name_jump(struct report *report, const struct report_discontinuity *row, const struct report_group *alone)
{
	const struct report_group *other = &row->groups[alone == &row->groups[0]];
	const char *id = report_clock_id(report, alone->members[0]);
	bool back = alone->elapsed.known && other->elapsed.known && alone->elapsed.value < other->elapsed.value;
	const char *rule = back ? "clock-backward" : "clock-jumped";
	uint64_t limit = rules_limit_of(report, rule), jumps = discontinuity_jumps(report, id);
	uint64_t leaps = back ? 0 : leaps_of(report, alone->members[0]);
	char by[REPORT_SENTENCE], more[64] = "";
	struct finding *finding;
	struct text text;

	if (jumps <= limit || is_named(report, rule, id))
		return;
	set_turned_sick(report, alone->members[0], row->at_ms);
	text_init(&text, by, sizeof(by));
	if (alone->elapsed.known && other->elapsed.known) {
		int64_t ns = alone->elapsed.value - other->elapsed.value;

		text_put(&text, back ? " back by " : " ahead by ");
		put_seconds(&text, ns < 0 ? -ns : ns, decimals_of(ns));
		text_put(&text, " s");
	}
	text_put(&text, " at ");
	report_put_moment(&text, report, row->at_tsc);
	text_put(&text, "; ");
	put_clocks(&text, report, other);
	text_init(&text, more, sizeof(more));
	if (leaps > jumps)
		text_printf(&text, " By the TSC it jumped ahead %lu times in all.", leaps);
	finding = rules_add_finding(report, rule, id, REPORT_NO_CORE, "%s jumped%s went on together.%s", id, by, more);
	rules_set_count(finding, leaps > jumps ? leaps : jumps, limit);
	if (finding)
		finding->one_way = false; /* other clocks prove it for every read method */
}

/* Decimals that are enough to distinguish the groups of ROW. */
static unsigned
decimals_of_groups(const struct report_discontinuity *row)
{
	unsigned decimals = MS_DECIMALS;

	for (size_t i = 1; i < row->group_count; i++) {
		const struct interval_ns *elapsed = &row->groups[i].elapsed, *before = &row->groups[i - 1].elapsed;

		if (elapsed->known && before->known && decimals_of(elapsed->value - before->value) > decimals)
			decimals = US_DECIMALS;
	}
	return decimals;
}

void
discontinuity_name_parted(struct report *report, const struct report_discontinuity *row)
{
	unsigned decimals = decimals_of_groups(row);
	char bytes[REPORT_SENTENCE];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	text_put(&text, "At ");
	report_put_moment(&text, report, row->at_tsc);
	text_put(&text, " the clocks diverged: ");
	for (size_t i = 0; i < row->group_count; i++) {
		const struct report_group *group = &row->groups[i];

		text_put(&text, !i ? "" : i + 1 == row->group_count ? " and " : ", ");
		put_clocks(&text, report, group);
		text_put(&text, " advanced by ");
		if (group->elapsed.known) {
			put_seconds(&text, group->elapsed.value, decimals);
			text_put(&text, " s");
		} else {
			text_put(&text, "an unknown time");
		}
		text_put(&text, i + 1 < row->group_count ? "" : ".");
	}
	rules_add_finding(report, "clocks-parted", NULL, REPORT_NO_CORE, "%s", bytes);
}
