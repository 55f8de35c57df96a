/* Checks that the clocks named in a report are the faulty ones. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "tally.h"
#include "timers_truth.h"
#include "verdict_clocks.h"

#define NOTE_ROUNDED_PPM 0.1L
#define MOST_OFF_PPB (50 * PPM) /* largest rate error of a healthy oscillator, in ppb */

/* Returns true for rules that are not about a clock's rate. */
static bool
is_rule_not_about_rate(const char *rule)
{
	static const char *const beside[] = { "clock-slow", "tsc-step", "no-reference", "core-missing", "tsc-offset",
					      "tsc-drift", "tsc-warp", "tsc-contradiction", "tsc-adjust",
					      "tsc-adjust-unequal" };

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (strcmp(rule, beside[i]) == 0)
			return true;
	return strncmp(rule, "irq-", 4) == 0 || strcmp(rule, "hpet-stale") == 0 || /* rules that verdict_timers.c checks */
	       strcmp(rule, "pv-steal") == 0 || strcmp(rule, "pv-untold") == 0; /* verdict_host.c checks these rules */
}

static bool
has_fault(int clock, const char *rule)
{
	bool is_periodic = strcmp(rule, "rtc-periodic") == 0;

	if (clock == CLOCKS)
		return false;
	if (strcmp(rule, "rate-off") == 0 || strcmp(rule, "rate-wrong") == 0 || is_periodic)
		return clocks_is_rate_wrong(clock, rule) || machine_has_broken_clock(clock);
	if (strncmp(rule, "rate-changed", 12) == 0 || strncmp(rule, "clock-", 6) == 0)
		return machine_has_broken_clock(clock);
	return false;
}

/* Returns the drawn clocks in LIST as a set of bits. */
static unsigned
get_drawn_clocks(const struct report *report, const struct clock_list *list)
{
	unsigned group = 0;

	for (size_t i = 0; i < list->count; i++) {
		int clock = find_clock_number(report_clock_id(report, list->at[i]));

		group |= clock == CLOCKS ? 0 : 1u << clock;
	}
	return group;
}

/*
 * Returns true if each clock in GROUP is faster than each clock in OTHERS. Each difference must be within the range in
 * FINDING, and above LIMIT (ppb).
 */
static bool
are_clocks_faster(unsigned group, unsigned others, const struct finding *finding, long double limit)
{
	for (int a = 0; a < CLOCKS; a++)
		for (int b = 0; b < CLOCKS; b++) {
			long double by = ((PPB + machine_get_rate_error_ppb(a)) / (PPB + machine_get_rate_error_ppb(b)) - 1) * PPB;

			if (!(group >> a & 1) || !(others >> b & 1))
				continue;
			if (by <= limit - 1 || by < finding->low * (long double)PPM || by > finding->high * (long double)PPM)
				return false;
		}
	return group && others;
}

/*
 * Returns true if the clocks of the two groups really diverged: the machine was paused or restored, or a clock in one
 * group jumped, stopped or changed its rate.
 */
static bool
have_groups_diverged(unsigned group, unsigned others)
{
	bool any = machine.event == EVENT_PAUSE || machine.event == EVENT_SNAPSHOT;

	for (int i = 0; i < CLOCKS; i++)
		any |= (group | others) >> i & 1 && machine_has_broken_clock(i);
	return group && others && any;
}

/*
 * Returns true if FINDING gives a rate change of the clocks in GROUP that has the sign of the drawn change and is not
 * larger. It may be smaller, because the rate may have changed in the middle of a half of the rate window.
 */
static bool
is_rate_change_true(const struct finding *finding, unsigned group)
{
	bool is_bent = false;
	long double by;

	for (int i = 0; i < CLOCKS; i++)
		is_bent |= group >> i & 1 && machine.source[i] == machine.source[machine.clock];
	by = is_bent ? machine.bend_ppm : -(long double)machine.bend_ppm;
	if (machine.event != EVENT_BEND || strncmp(finding->rule, "rate-changed", 12) != 0)
		return true;
	return by > 0 ? finding->high > 0 && finding->low <= by * 1.01L : finding->low < 0 && finding->high >= by * 1.01L;
}

/* Returns true if a finding about two groups of clocks is true: the groups diverged, or their rates differ. */
static bool
is_group_finding_true(const struct report *report, const struct finding *finding)
{
	unsigned group = get_drawn_clocks(report, &finding->clocks), others = get_drawn_clocks(report, &finding->others);

	if (!finding->clocks.count || !finding->others.count)
		return false;
	if (machine.at_ps != SIM_NEVER || (strcmp(finding->rule, "rate-changed") == 0 &&
					   /*
					    * a step of the boot core's TSC looks like a change of the clocks' rates,
					    * because all clocks are compared with this TSC
					    */
					   machine.core[0].steps_at_ps != SIM_NEVER))
		return have_groups_diverged(group, others) && is_rate_change_true(finding, group);
	return strcmp(finding->rule, "rate-disagree") == 0 &&
	       are_clocks_faster(group, others, finding, clocks_get_limit_ppb(finding->rule));
}

/* Returns how far an event of the machine puts the clock ahead of the other clocks, in ns. */
static long double
get_event_shift_ns(int clock)
{
	long double by_ns = machine.by_ps / 1e3L;

	switch (machine.event) {
	case EVENT_PAUSE:
		return clock == RTC ? by_ns : 0;
	case EVENT_SNAPSHOT:
		return clock == RTC || clock == TSC ? by_ns : 0;
	case EVENT_TSC_STOP:
		return clock == TSC ? 0 : by_ns;
	case EVENT_JUMP:
		return clock == machine.clock ? by_ns : 0;
	default:
		return 0;
	}
}

static int
get_first_clock(const struct report *report, const struct report_group *group)
{
	return find_clock_number(report_clock_id(report, group->members[0]));
}

/*
 * Returns true if the interval LOW to HIGH contains the gain of 1 to COUNT stops. It may be fewer than COUNT, because
 * the RTC may not have been read since the last stops.
 */
static bool
is_gain_true(long double low, long double high, long double truth_of_one, size_t count)
{
	long double slack = fabsl(truth_of_one) * 2 * MOST_OFF_PPB / PPB;

	for (size_t i = count; i > 0; i--)
		if (low <= i * (truth_of_one + slack) && high >= i * (truth_of_one - slack))
			return true;
	return false;
}

/* COUNT is the number of the machine's events between the two comparisons, at least 1. */
static void
check_elapsed_time(const struct report *report, const struct report_group *a, const struct report_group *b,
		   size_t count)
{
	int first = get_first_clock(report, a), other = get_first_clock(report, b);
	long double truth = get_event_shift_ns(first) - get_event_shift_ns(other);
	long double low = a->elapsed.low - b->elapsed.high, high = a->elapsed.high - b->elapsed.low;

	if (!a->elapsed.known || !b->elapsed.known || machine.event == EVENT_BACK || machine.event == EVENT_HALTS ||
	    machine.event == EVENT_STUCK)
		return;
	tally_check(CHECK_ELAPSED, is_gain_true(low, high, truth, count),
		    "%s against %s: %.6Lf to %.6Lf s, not %.6Lf, %zu times", clock_ids[first],
		    clock_ids[other], low / 1e9L, high / 1e9L, truth / 1e9L, count);
}

/*
 * Returns true if the event at AT_PS happened between the two comparisons of clocks in ROW. ROW gives the times of the
 * comparisons as readings of the boot core's TSC. The event may be a step of this TSC.
 */
static bool
is_time_in_row(const struct report_discontinuity *row, uint64_t at_ps)
{
	return at_ps != SIM_NEVER && machine_get_tsc_at(0, at_ps - 1) >= row->from_tsc * TICK &&
	       machine_get_tsc_at(0, at_ps) <= row->at_tsc * TICK;
}

/* Returns how many events of the machine happened between the two comparisons of clocks in ROW. */
static size_t
count_events_in_row(const struct report_discontinuity *row)
{
	size_t count = 0;

	for (size_t i = 0; i < machine.stop_count; i++)
		count += is_time_in_row(row, machine.stops_at_ps[i]);
	return machine.stop_count ? count : is_time_in_row(row, machine.at_ps);
}

static void
check_discontinuities(const struct report *report)
{
	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];
		size_t count = count_events_in_row(row);
		bool then = machine.event == EVENT_BACK || machine.event == EVENT_HALTS || count;

		tally_check(CHECK_DISCONTINUITY, is_time_in_row(row, machine.core[0].steps_at_ps) ||
			    (machine.event != EVENT_BEND && then),
			    "from %.3f to %.3f ms", (double)report_run_time_ns(report, row->from_tsc) / 1e6,
			    (double)report_run_time_ns(report, row->at_tsc) / 1e6);
		for (size_t g = 1; g < row->group_count && machine.at_ps != SIM_NEVER; g++)
			check_elapsed_time(report, &row->groups[g], &row->groups[0], count ? count : 1);
	}
}

/* Returns true if a finding about a stated rate leaves open whether this rate or the other clocks are wrong. */
static bool
does_finding_leave_culprit_open(const struct finding *finding)
{
	return strstr(finding->text, "(this claim or these clocks are wrong)");
}

/* Returns the largest rounding error of the TSC's nominal rate, in ppm of this rate. */
static long double
get_rounding_of_tsc_claim_ppm(void)
{
	const struct rate *claimed = &machine.claimed[TSC];

	return claimed->num ? 1e6L * machine.within_hz * claimed->den / claimed->num : 0;
}

/*
 * Returns true if a finding about the TSC's nominal rate is true. The TSC must be off by the stated amount against the
 * clock that sets the time scale. This clock must be right, unless the finding leaves open which of the two is wrong.
 */
static bool
is_claim_finding_true(const struct report *report, const struct finding *finding)
{
	int by = find_clock_number(report->figures.relative_to);
	bool is_open = does_finding_leave_culprit_open(finding);
	long double apart;

	if (by == CLOCKS || by == TSC)
		return false;
	if (machine.event == EVENT_BEND && machine_has_broken_clock(TSC) && !machine_has_broken_clock(by))
		return finding->low * (machine.bend_ppm > 0 ? 1 : -1) <=
		       llabs(machine.bend_ppm) + 2 * MOST_OFF_PPB / PPM + get_rounding_of_tsc_claim_ppm();
	if (machine.at_ps != SIM_NEVER)
		return is_open && have_groups_diverged(1u << TSC, 1u << by);
	apart = ((PPB + machine_get_rate_error_ppb(TSC)) / (PPB + machine_get_rate_error_ppb(by)) - 1) * 1e6L;
	return fabsl(apart) * PPM > clocks_get_limit_ppb(finding->rule) && finding->low - 1 <= apart &&
	       apart <= finding->high + 1 &&
	       (is_open || !clocks_has_fault(by));
}

static void
check_finding(const struct report *report, const struct finding *finding)
{
	const struct report_clock *entry = finding->clock ? report_find_clock(report, finding->clock) : NULL;
	int clock = find_clock_number(entry ? entry->clock.main : finding->clock); /* the clock of the finding's read method */

	if (is_rule_not_about_rate(finding->rule))
		return;
	if (machine.leaf_count && strcmp(finding->rule, "tsc-claim") == 0)
		return; /* verdict_claims.c checks these findings */
	if (strcmp(finding->rule, "clock-broken") == 0 && timers_find_source(finding->clock))
		return; /* verdict_timers.c checks these findings */
	if (strcmp(finding->rule, "clocks-parted") == 0)
		return; /* check_discontinuities() checks these findings */
	if (strcmp(finding->rule, "clock-backward") == 0 && (finding->core != REPORT_NO_CORE || finding->core_count))
		return; /* verdict_core_names.c checks these findings */
	if (strcmp(finding->rule, "tsc-claim") == 0 && machine.at_ps == SIM_NEVER &&
	    !clocks_is_majority_of_narrow_rates_right(report))
		tally_count_unreported_fault("a claim blamed by most of those that know, which are off alike", 0);
	else if (strcmp(finding->rule, "tsc-claim") == 0)
		tally_check(CHECK_SENTENCE, is_claim_finding_true(report, finding), "%s: %s", finding->rule, finding->text);
	else if (!finding->clock)
		tally_check(CHECK_SENTENCE, is_group_finding_true(report, finding), "%s: %s", finding->rule, finding->text);
	else if (machine.at_ps == SIM_NEVER && !has_fault(clock, finding->rule) &&
		 !clocks_is_majority_of_narrow_rates_right(report))
		tally_count_unreported_fault("a clock named by most of those that know, which are off alike", 0);
	else
		tally_check(CHECK_CLOCK_NAMED, has_fault(clock, finding->rule) &&
			    is_rate_change_true(finding, 1u << clock), "%s: %s",
			    finding->rule, finding->text);
}

static bool
is_clock_named(const struct report *report, int clock, bool alone)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (find_clock_number(finding->clock) == clock && !is_rule_not_about_rate(finding->rule))
			return true;
		/*
		 * A finding about the TSC's nominal rate names the TSC. If ALONE is true, the finding does not count if
		 * its text says that the other clocks may be wrong instead.
		 */
		if (clock == TSC && strcmp(finding->rule, "tsc-claim") == 0 &&
		    (!alone || !does_finding_leave_culprit_open(finding)))
			return true;
		if (!alone && !finding->clock && strstr(finding->text, clock_ids[clock]))
			return true;
	}
	return false;
}

static bool
is_in_any_note(const struct report *report, const char *words)
{
	for (size_t i = 0; i < report->notes.count; i++)
		if (strstr(report->notes.sentences[i], words))
			return true;
	return false;
}

/*
 * Returns true if a note gives the RTC's true rate against a clock that is right, and says that the RTC's later rate is
 * not known. The rate of a drawn RTC never changes, so a note about a change would explain nothing.
 */
static bool
is_rtc_rate_noted(const struct report *report)
{
	for (size_t i = 0; i < report->notes.count; i++) {
		long double value, low, high, truth;
		char other[16];
		int end = 0, clock;

		sscanf(report->notes.sentences[i],
		       "rtc ran %Lf ppm (%Lf to %Lf) off %15s while the rates were measured, and its rate after that "
		       "is not known: the whole machine may have been stopped.%n", &value, &low, &high, other, &end);
		clock = end ? find_clock_number(other) : CLOCKS;
		if (clock == CLOCKS || clocks_has_fault(clock))
			continue;
		truth = ((PPB + machine_get_rate_error_ppb(RTC)) / (PPB + machine_get_rate_error_ppb(clock)) - 1) * 1e6L;
		if (truth >= low - NOTE_ROUNDED_PPM && truth <= high + NOTE_ROUNDED_PPM)
			return true;
	}
	return false;
}

/*
 * Returns true if the RTC's rate may be right in the rate window or after it, by the report's intervals. A stop of a
 * guest makes an RTC look wrong in one of the two, so a guest's RTC is only named if it is wrong in both.
 */
static bool
is_rtc_rate_right_in_a_stretch(const struct report *report)
{
	const struct report_clock *rtc = report_find_clock(report, "rtc");
	const struct clock_figures *figures = report_get_figures(report, rtc);
	const struct rate_interval *stretches[] = { &figures->implied_window, &figures->implied_since };
	long double limit = clocks_get_limit_ppb("rate-off") / PPB, microhz = verdict_get_tsc_hz(report) * 1e6L;

	for (size_t i = 0; i < 2; i++)
		if (!stretches[i]->known ||
		    (stretches[i]->low < microhz * (1 + limit) && stretches[i]->high > microhz * (1 - limit)))
			return true;
	return false;
}

static void
check_fault_is_reported(const struct report *report, int clock)
{
	long double size = fabsl(machine_get_rate_error_ppb(clock)) / clocks_get_limit_ppb("rate-off");
	bool can_be_named = clocks_is_majority_right() && clocks_is_majority_of_narrow_rates_right(report) &&
			    clocks_count_proofs_of_fault(report, clock) > 1;

	if (can_be_named && clock == RTC && machine.is_guest && is_rtc_rate_noted(report))
		tally_count_unreported_fault("a guest's RTC that a note gives as off in one stretch", size);
	else if (can_be_named && clock == RTC && machine.is_guest && is_rtc_rate_right_in_a_stretch(report) &&
		 !is_clock_named(report, clock, false))
		tally_count_unreported_fault("a guest's RTC that only one stretch proves to be off", size);
	else if (can_be_named)
		tally_check(CHECK_CLOCK_SILENT, is_clock_named(report, clock, true), "%s is off by %.0Lf ppm, limit %.0Lf%s",
			    clock_ids[clock], machine_get_rate_error_ppb(clock) / PPM,
			    clocks_get_limit_ppb("rate-off") / PPM,
			    is_clock_named(report, clock, false) ? ": told as one of two" : "");
	else if (is_clock_named(report, clock, true))
		return;
	else if (machine.is_drawn && is_in_any_note(report, "its rate after that is not known"))
		tally_count_unreported_fault("a clock whose second rate is not known, and that has no check", size);
	else if (machine.is_obvious)
		tally_check(CHECK_CLOCK_SILENT, is_clock_named(report, clock, false), "%s is off by %.0Lf ppm",
			    clock_ids[clock],
			    machine_get_rate_error_ppb(clock) / PPM);
	else if (is_clock_named(report, clock, false))
		tally_count_unreported_fault("a clock told as one of two", size);
	else if (!clocks_is_majority_right())
		tally_count_unreported_fault("no most of the oscillators are right", size);
	else
		tally_count_unreported_fault("clocks whose intervals are too wide", size);
}

static void
check_reference_clock_of_tsc(const struct report *report)
{
	int clock = find_clock_number(report->figures.relative_to);

	if (clock == CLOCKS || machine.at_ps != SIM_NEVER || !clocks_is_majority_right())
		return;
	if (is_in_any_note(report, "which may be wrong"))
		tally_count_unreported_fault("a scale said to be in doubt", 0);
	else
		tally_check(CHECK_SCALE, !clocks_has_fault(clock), "all times rest on %s, which is off by %.0Lf ppm",
			    clock_ids[clock], machine_get_rate_error_ppb(clock) / PPM);
}

static bool
do_clocks_share_source(int a, int b)
{
	bool by_host = machine.is_guest && a != TSC && b != TSC && a != RTC && b != RTC;

	return a == CLOCKS || b == CLOCKS || machine.source[a] == machine.source[b] || by_host;
}

/*
 * A clock with a wrong rate must not pass because it agrees with a clock of the same oscillator, which has the same
 * error. The check ignores machines in which clocks of several oscillators have the same error.
 */
static void
check_rate_that_passed(const struct behaviour *row)
{
	int clock = find_clock_number(row->clock);

	if (strcmp(row->rule, "rate-off") != 0 || clock == CLOCKS || machine.at_ps != SIM_NEVER)
		return;
	tally_check(CHECK_PASSED_OFF,
		    fabsl(machine_get_rate_error_ppb(clock)) <= 2 * clocks_get_limit_ppb("rate-off") ||
		      !do_clocks_share_source(clock, find_clock_number(row->against)),
		    "%s It is off by %.0Lf ppm", row->text, machine_get_rate_error_ppb(clock) / PPM);
}

/* If one wrong source drives all clocks, the answer must say that nothing independent confirms their rates. */
static void
check_answer_on_single_source(const struct report *report)
{
	const struct report_answer *answer = &report->advice.answer;

	for (int clock = 0; clock < CLOCKS; clock++)
		if (!machine.is_guest || machine.at_ps != SIM_NEVER || !machine.claimed[TSC].den ||
		    (machine.has[clock] && machine.source[clock] != machine.source[TSC]))
			return;
	tally_check(CHECK_PASSED_OFF, fabsl(machine_get_rate_error_ppb(TSC)) <= 2 * clocks_get_limit_ppb("rate-off") ||
				      answer->no_reference, "%s All clocks are off by %.0Lf ppm", answer->text,
		    machine_get_rate_error_ppb(TSC) / PPM);
}

/* A rule must not pass if its interval is wider than twice the limit, because such an interval proves nothing. */
static void
check_rules_that_passed(const struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		const struct interval_ppb *error = &report->figures.clocks[i].error;
		int64_t width = error->high - error->low;

		if (find_clock_number(entry->clock.id) != TSC && report->outcomes.clocks[i].verdict == VERDICT_PASS &&
		    !report->outcomes.clocks[i].open &&
		    error->known)
			tally_check(CHECK_PASSED_WIDE, width <= 2 * clocks_get_limit_ppb("rate-off"),
				    "%s: %lld to %lld ppb", entry->clock.id,
				    (long long)error->low, (long long)error->high);
	}
	check_answer_on_single_source(report);
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (!row->has_figure || rules_get_outcome(row, &report->facts.options) != OUTCOME_PASSED)
			continue;
		check_rate_that_passed(row);
		tally_check(CHECK_PROMISE_WIDE, row->high - row->low <= 2 * (int64_t)rules_find(row->rule)->limit,
			    "%s: %s %lld to %lld", row->rule, row->text, (long long)row->low, (long long)row->high);
	}
}

/*
 * Returns true if the report's intervals prove that a clock changed its rate by more than the limit. No rate of the
 * machine changes except by its event.
 */
static bool
is_rate_change_proven(const struct clock_figures *figures)
{
	/* judge allows for unequal lengths of the measured intervals */
	long double limit = clocks_get_limit_ppb("rate-changed") * 1.1L;

	return (figures->change_halves.known && (figures->change_halves.low > limit ||
						 figures->change_halves.high < -limit)) ||
	       (figures->change_since.known && (figures->change_since.low > limit || figures->change_since.high < -limit));
}

/* Returns true if the event was so early and so large that the report must name the clock. */
static bool
must_event_be_named(void)
{
	if (machine.at_ps == SIM_NEVER)
		return false;
	return machine.event == EVENT_STUCK || verdict_must_jump_be_noticed();
}

/* Checks that an event which the report's own figures prove has a finding or a note. */
static void
check_event_is_reported(const struct report *report)
{
	bool is_proven = false, is_found = false;

	for (size_t i = 0; i < report->facts.clock_count && machine.event == EVENT_BEND; i++)
		is_proven |= find_clock_number(report->facts.clocks[i].clock.id) < RTC &&
			     is_rate_change_proven(&report->figures.clocks[i]);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		is_found |= strncmp(report->outcomes.findings[i].rule, "rate-changed", 12) == 0;
	if (is_proven)
		tally_check(CHECK_CHANGE_SILENT, is_found, "%s: a change by %lld ppm", clock_ids[machine.clock],
			    (long long)machine.bend_ppm);
	if (must_event_be_named())
		tally_check(CHECK_EVENT_SILENT, is_clock_named(report, machine.clock, false), "%s, by %.3f s",
			    clock_ids[machine.clock], machine.by_ps / 1e12);
}

void
verdict_check_clocks(const struct report *report)
{
	check_discontinuities(report);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		check_finding(report, &report->outcomes.findings[i]);
	check_reference_clock_of_tsc(report);
	for (int i = 0; i < CLOCKS && machine.at_ps == SIM_NEVER; i++)
		if (clocks_has_exact_rate(i) &&
		    fabsl(machine_get_rate_error_ppb(i)) >= 2 * clocks_get_limit_ppb("rate-off"))
			check_fault_is_reported(report, i);
	if (machine.is_obvious && machine.at_ps != SIM_NEVER)
		tally_check(CHECK_STOP_SILENT, report->figures.discontinuity_count > 0 &&
			    (report->notes.count || report->outcomes.finding_count),
			    "the machine was stopped for %.1f s", machine.by_ps / 1e12);
	check_event_is_reported(report);
	check_rules_that_passed(report);
}
