/* Which clocks a report names, and which are sick. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "tally.h"

#define HEALTHY_PPB (50 * PPM) /* what an oscillator may be off, and two of them so against each other */

static long double
limit_ppb(const char *rule)
{
	return (long double)rules_find(rule)->limit * PPM;
}

/* Whether the clock itself is off by more than RULE's limit; near it, against others that may be off too, it may be. */
static bool
is_off(int clock, const char *rule)
{
	long double limit = limit_ppb(rule);

	return fabsl(machine_off_ppb(clock)) > (limit > 4 * HEALTHY_PPB ? limit - 2 * HEALTHY_PPB : limit);
}

/* What says nothing of who keeps time. */
static bool
is_beside(const char *rule)
{
	static const char *const beside[] = { "clock-slow", "tsc-step", "no-reference", "core-missing", "tsc-offset",
					      "tsc-drift", "tsc-warp", "tsc-contradiction" };

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (strcmp(rule, beside[i]) == 0)
			return true;
	return false;
}

static bool
has_fault(int clock, const char *rule)
{
	bool is_periodic = strcmp(rule, "rtc-periodic") == 0;

	if (clock == CLOCKS)
		return false;
	if (strcmp(rule, "rate-off") == 0 || strcmp(rule, "rate-wrong") == 0 || is_periodic)
		return is_off(clock, rule) || machine_broke(clock);
	if (strncmp(rule, "rate-changed", 12) == 0 || strncmp(rule, "clock-", 6) == 0)
		return machine_broke(clock);
	return false;
}

bool
verdict_names_nobody(const struct finding *finding)
{
	return strstr(finding->text, "can't be told") || strstr(finding->text, "nothing tells which");
}

/* Two clocks of which one is said to be off, or to have changed. */
static bool
is_true_of_two(const struct finding *finding)
{
	char first[32] = "", second[32] = "";
	int a, b;

	if (sscanf(finding->text, "By their claims %31s runs %*s ppm (%*s to %*[^)]) faster than %31[^;]", first,
		   second) != 2 &&
	    sscanf(finding->text, "The rate of %31s against %31s", first, second) != 2)
		return false;
	a = clock_of(first);
	b = clock_of(second);
	if (a == CLOCKS || b == CLOCKS)
		return false;
	if (machine.at_ps != SIM_NEVER)
		return machine_broke(a) || machine_broke(b) || machine.event == EVENT_PAUSE || machine.event == EVENT_SNAPSHOT;
	return strcmp(finding->rule, "rate-disagree") == 0 &&
	       fabsl(machine_off_ppb(a) - machine_off_ppb(b)) > limit_ppb(finding->rule) - 1;
}

static void
look_at_finding(const struct finding *finding)
{
	int clock = clock_of(finding->clock);

	if (is_beside(finding->rule))
		return;
	if (!finding->clock)
		tally(CHECK_SENTENCE, is_true_of_two(finding), "%s: %s", finding->rule, finding->text);
	else
		tally(CHECK_CLOCK_NAMED, has_fault(clock, finding->rule), "%s: %s", finding->rule, finding->text);
}

/* A clock that says of the TSC's rate what counts: its own claim is exact. */
static bool
is_witness(int clock)
{
	return machine.has[clock] && machine.claimed[clock].den && (clock != TSC || machine.within_hz <= 1000);
}

static bool
is_sick(int clock)
{
	return is_off(clock, "rate-off");
}

/* Whether most of the oscillators are right. */
static bool
are_most_right(void)
{
	unsigned right = 0, all = 0, seen = 0;

	for (int i = 0; i < CLOCKS; i++) {
		if (!is_witness(i) || seen >> machine.source[i] & 1)
			continue;
		seen |= 1u << machine.source[i];
		all++;
		right += !is_sick(i);
	}
	return right * 2 > all;
}

static bool
is_named(const struct report *report, int clock, bool alone)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if (clock_of(finding->clock) == clock && !is_beside(finding->rule))
			return true;
		if (!alone && !finding->clock && strstr(finding->text, clock_ids[clock]))
			return true;
	}
	return false;
}

/* How many healthy oscillators a sick clock is proven to differ from by more than the limit. */
static unsigned
count_proofs(const struct report *report, int clock)
{
	unsigned proofs = 0;

	for (size_t i = 0; i < report->rate_count; i++) {
		const struct report_rate *rate = &report->rates[i];
		int a = clock_of(rate->a), b = clock_of(rate->b), other = a == clock ? b : a;
		long double limit = limit_ppb("rate-off");

		if ((a != clock && b != clock) || is_sick(other) || !is_witness(other))
			continue;
		if (rate->ppb.low > limit || rate->ppb.high < -limit)
			proofs |= 1u << machine.source[other];
	}
	return (unsigned)__builtin_popcount(proofs);
}

static void
look_at_silence(const struct report *report, int clock)
{
	long double size = fabsl(machine_off_ppb(clock)) / limit_ppb("rate-off");
	bool could_be_told = are_most_right() && count_proofs(report, clock) > 1;

	if (could_be_told)
		tally(CHECK_CLOCK_SILENT, is_named(report, clock, true), "%s is off by %.0Lf ppm, limit %.0Lf%s",
		      clock_ids[clock], machine_off_ppb(clock) / PPM, limit_ppb("rate-off") / PPM,
		      is_named(report, clock, false) ? ": told as one of two" : "");
	else if (is_named(report, clock, true))
		return;
	else if (is_named(report, clock, false))
		tally_silent("a clock told as one of two", size);
	else if (!are_most_right())
		tally_silent("no most of the oscillators are right", size);
	else
		tally_silent("clocks whose intervals are too wide", size);
}

static void
look_at_scale(const struct report *report)
{
	char id[32] = "";

	if (sscanf(report->tsc_source, "measured against %31s", id) == 1 && machine.at_ps == SIM_NEVER && are_most_right())
		tally(CHECK_SCALE, !is_sick(clock_of(id)), "all times rest on %s, which is off by %.0Lf ppm", id,
		      machine_off_ppb(clock_of(id)) / PPM);
}

/* Two that are within the limit of each other do agree. */
static void
look_at_notes(const struct report *report)
{
	bool any = false;

	for (int a = HPET; a < CLOCKS; a++)
		for (int b = a + 1; b < CLOCKS; b++)
			any |= machine.has[a] && machine.has[b] &&
			       fabsl(machine_off_ppb(a) - machine_off_ppb(b)) <= limit_ppb("rate-disagree");
	for (size_t i = 0; i < report->note_count && machine.at_ps == SIM_NEVER; i++)
		if (strstr(report->notes[i], "No two clocks agree"))
			tally(CHECK_NOTE, !any, "%s", report->notes[i]);
}

/* An interval wider than all that the limit allows shows nothing, wherever it lies. */
static void
look_at_passes(const struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];
		int64_t width = entry->error.high - entry->error.low;

		if (clock_of(entry->clock.id) != TSC && entry->verdict == VERDICT_PASS && entry->error.known)
			tally(CHECK_PASSED_WIDE, width <= 2 * limit_ppb("rate-off"), "%s: %lld to %lld ppb", entry->clock.id,
			      (long long)entry->error.low, (long long)entry->error.high);
	}
	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];

		if (row->has_figure && rules_outcome(row, &report->options) == OUTCOME_PASSED)
			tally(CHECK_PROMISE_WIDE, row->high - row->low <= 2 * (int64_t)rules_find(row->rule)->limit,
			      "%s: %s %lld to %lld", row->rule, row->text, (long long)row->low, (long long)row->high);
	}
}

void
verdict_clocks(const struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++)
		look_at_finding(&report->findings[i]);
	look_at_scale(report);
	look_at_notes(report);
	for (int i = 0; i < CLOCKS && machine.at_ps == SIM_NEVER; i++)
		if (is_witness(i) && fabsl(machine_off_ppb(i)) >= 2 * limit_ppb("rate-off"))
			look_at_silence(report, i);
	look_at_passes(report);
}
