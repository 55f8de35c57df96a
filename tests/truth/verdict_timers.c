/* Checks a report's statements about timer interrupts. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "tally.h"
#include "timers_truth.h"

/* largest error of the nominal rates of the TSC and of the clock that times the lateness, in ppm */
#define CLAIM_PPM   200
#define ROUNDED_NS  2
/*
 * Number of periods over which ticks are matched to their deadlines. In this time, a wrong rate moves ticks into
 * neighbouring periods.
 */
#define WINDOW_PERIODS 81
/* longest time in ns over which a deadline is predicted from the counter's nominal rate */
#define AWAITED_NS  60e6L
#define STALE       "hpet-stale"
#define FIGURE_PPM  1       /* rates in the report are rounded to this many ppm */

static const char *const rule_of[TIMER_FAULTS] = {
	[FAULT_DROPS] = "irq-lost", [FAULT_DROPS_SHOTS] = "irq-missing", [FAULT_NEVER] = "irq-missing",
	[FAULT_DOUBLES] = "irq-doubled", [FAULT_EARLY] = "irq-early", [FAULT_RATE] = "irq-rate",
	[FAULT_LATE] = "irq-late", [FAULT_STORMS] = "irq-doubled", [FAULT_STALE] = STALE,
	[FAULT_ACCESS] = "clock-broken", [FAULT_LOSES_SHOT] = "irq-missing",
};

static const char *
get_expected_rule(void)
{
	if (timers_truth.fault == FAULT_STICKS)
		return timers_truth.faulty->clock == RTC ? "irq-lost" : "irq-doubled";
	return rule_of[timers_truth.fault];
}

/* Returns true if the drawn rate error moves ticks so far that some periods have two ticks and others none. */
static bool
has_uneven_periods(const struct sim_timer *timer)
{
	return llabs(timer->fast_ppm) * WINDOW_PERIODS > 1000000 / 4;
}

static bool
is_right_rule(const char *rule)
{
	const struct sim_timer *timer = &sim.interrupts.timers[timers_truth.faulty->at];

	if (timers_truth.fault == FAULT_RATE && has_uneven_periods(timer) &&
	    strcmp(rule, timer->fast_ppm > 0 ? "irq-doubled" : "irq-lost") == 0)
		return true;
	return get_expected_rule() && strcmp(get_expected_rule(), rule) == 0;
}

static int
compare_lateness(const void *a, const void *b)
{
	const int64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static long double
get_tolerance_ns(int64_t ns)
{
	return ROUNDED_NS + fabsl((long double)ns) * CLAIM_PPM / 1e6L;
}

/*
 * Returns the step in ps of a counter that moves in uneven steps, because it is calculated from another counter.
 * Returns 0 if the steps are even, or if reads were so fast that the report shows the uneven steps.
 */
static uint64_t
get_uneven_step_ps(const struct report *report, const struct timer_source *source)
{
	const struct sim_counter *counter = source->clock == HPET ? &sim.hpet.counter : &sim.pm.counter;
	const char *id = source->clock == HPET ? "hpet" : "acpi_pm";
	const struct resolution *resolution;

	if (source->clock == TSC)
		return machine.step_1024 % 1024 ? (uint64_t)(machine.step_1024 / 1024.0L * 1e12L / machine.hz[TSC]) : 0;
	if ((source->clock != HPET && source->clock != PM) || !counter->source.den)
		return 0;
	resolution = &report_find_clock(report, id)->resolution;
	if (resolution->repeats && resolution->smallest_ticks > resolution->gcd_ticks)
		return 0;
	return SIM_PS_PER_S * counter->source.den / counter->source.num;
}

static bool
is_near_truth(int64_t told_ns, int64_t true_ps, long double error_ns)
{
	return fabsl(told_ns - true_ps / 1e3L) <= error_ns + get_tolerance_ns(told_ns);
}

static int64_t
get_percentile_ps(const struct times *times, unsigned milli)
{
	size_t rank = (times->count * milli + 99999) / 100000;

	return times->late_ps[rank ? rank - 1 : 0];
}

/*
 * Compares the rate of a timer's ticks with the true one. If the counter moves in uneven steps that no reading shows,
 * a tick may be late by such a step. The rate is from a third of the periods or more.
 */
static void
check_tick_rate(const struct report *report, const struct interval_figures *row, const struct timer_source *source)
{
	long double truth = timers_get_rate_ppb(report, source);
	long double slack = 3 * 1e6L * get_uneven_step_ps(report, source) / (row->test.asked_ns * (long double)WINDOW_PERIODS);

	tally_check(CHECK_TIMER_RATE, row->rate.low <= truth + slack && row->rate.high >= truth - slack,
		    "%s: %lld to %lld ppb, not %.1Lf", row->test.source, (long long)row->rate.low, (long long)row->rate.high, truth);
}

/*
 * Compares the lateness in a row of the report with the true lateness. The row leaves out interrupts that a gap
 * delayed. The percentiles are compared only if the row left out none.
 */
static void
check_lateness(const struct report *report, const struct interval_figures *row, const struct timer_source *source,
		 struct times *times)
{
	const struct report_lateness *told = &row->lateness;
	long double least, most, lasts_ns, drift;

	if (!told->count || !times->count)
		return;
	if (get_uneven_step_ps(report, source)) {
		tally_count_unreported_fault("lateness by a counter whose steps are uneven, which no reading shows", 1);
		return;
	}
	lasts_ns = row->test.periodic ? row->test.asked_ns * WINDOW_PERIODS : source->at == SIM_PM_STATUS ? AWAITED_NS : 0;
	/* Against the source's own counter, the error is the drawn fault alone. */
	drift = fmaxl(fabsl(timers_get_rate_ppb(report, source)) / PPB,
		      llabs(sim.interrupts.timers[source->at].fast_ppm) / 1e6L) * lasts_ns;
	qsort(times->late_ps, times->count, sizeof(times->late_ps[0]), compare_lateness);
	least = times->late_ps[0] / 1e3L;
	most = times->late_ps[times->count - 1] / 1e3L;
	tally_check(CHECK_TIMER_LATE,
		    told->min_ns + (long double)told->error_ns + get_tolerance_ns(told->min_ns) + drift >= least &&
				(row->test.periodic ||
				 told->max_ns - (long double)told->error_ns - get_tolerance_ns(told->max_ns) - drift <= most),
		    "%s%s: %lld to %lld ns, +-%llu, not %.1Lf to %.1Lf", row->test.source, row->test.periodic ? ", periodic" : "",
		    (long long)told->min_ns, (long long)told->max_ns, (unsigned long long)told->error_ns, least, most);
	if (row->test.periodic || told->count != times->count)
		return;
	tally_check(CHECK_TIMER_LATE, is_near_truth(told->p50_ns, get_percentile_ps(times, 50000), told->error_ns + drift) &&
				is_near_truth(told->p99_ns, get_percentile_ps(times, 99000), told->error_ns + drift),
		    "%s: p50 %lld, p99 %lld ns, +-%llu, not %.1Lf and %.1Lf", row->test.source, (long long)told->p50_ns,
		    (long long)told->p99_ns, (unsigned long long)told->error_ns, get_percentile_ps(times, 50000) / 1e3L,
		    get_percentile_ps(times, 99000) / 1e3L);
}

static void
check_interval_row(const struct report *report, const struct interval_figures *row, struct times *times)
{
	const struct timer_source *source = timers_find_source(row->test.source);
	const struct sim_timer *timer = source ? &sim.interrupts.timers[source->at] : NULL;
	bool doubles = timer && (timer->double_every || timer->storms || timer->sticks || has_uneven_periods(timer));
	/* A tick that is late by more than a period arrives together with the next tick. */
	bool merges = timer && row->test.periodic && timer->late_ps * 3 / 2 > row->test.asked_ns * SIM_PS_PER_NS;
	bool drops = timer && (timer->drop_every || timer->never || timer->wrong_pin || timer->stands || merges ||
			       has_uneven_periods(timer));

	if (!source)
		return;
	if (source->lateness)
		check_lateness(report, row, source, times);
	tally_check(CHECK_TIMER_COUNT, !row->doubled || doubles, "%s%s: %llu doubled", row->test.source,
		    row->test.periodic ? ", periodic" : "", (unsigned long long)row->doubled);
	if (row->test.periodic)
		tally_check(CHECK_TIMER_COUNT, !row->empty || drops, "%s: %llu of %llu lost, %llu excused", row->test.source,
			    (unsigned long long)row->empty, (unsigned long long)row->expected, (unsigned long long)row->excused);
	if (row->rate.known)
		check_tick_rate(report, row, source);
	if (row->policy != REPORT_POLICY_UNKNOWN && source != timers_truth.faulty)
		tally_check(CHECK_TIMER_POLICY, (int)row->policy - (int)REPORT_POLICY_DISCARD == (int)timer->policy,
			    "%s: %s, not policy %d", row->test.source, policy_words[row->policy], (int)timer->policy);
}

static bool
is_timer_rule(const char *rule)
{
	return strncmp(rule, "irq-", 4) == 0 || strcmp(rule, STALE) == 0 ||
	       (timers_truth.fault == FAULT_ACCESS && strcmp(rule, "clock-broken") == 0);
}

/* Returns true if the finding says that the lost one-shot was armed before a stop, and only if it was. */
static bool
is_stop_named_if_armed_before(const struct report *report, const struct finding *finding)
{
	bool is_stop_known = timers_truth.is_stopped_while_armed && report->figures.discontinuity_count > 0;

	return is_stop_known == (strstr(finding->text, "armed before the stop") != NULL);
}

/* Returns true if the figure in the finding is right for the drawn fault. */
static bool
is_figure_right(const struct report *report, const struct finding *finding)
{
	const struct sim_timer *timer = &sim.interrupts.timers[timers_truth.faulty->at];
	long double ppm = timers_get_rate_ppb(report, timers_truth.faulty) / 1000;

	switch (timers_truth.fault) {
	case FAULT_RATE:
		return strcmp(finding->rule, "irq-rate") != 0 ||
		       (finding->low - FIGURE_PPM <= ppm && ppm <= finding->high + FIGURE_PPM);
	case FAULT_EARLY:
		return finding->low * 1e3L <=
		       timer->early_ps * 1.001L + get_uneven_step_ps(report, timers_truth.faulty);
	case FAULT_LATE:
		return finding->low * 1e3L <= timer->late_ps * 1.5L + 60e6L;
	case FAULT_LOSES_SHOT:
		return is_stop_named_if_armed_before(report, finding);
	case FAULT_DROPS:
		return finding->low > 0 && finding->low <= (int64_t)timer->dropped;
	case FAULT_DOUBLES:
		return finding->low > 0 && finding->low <= (int64_t)timer->doubled;
	default:
		return true;
	}
}

static bool
check_timer_findings(const struct report *report)
{
	bool named = false;

	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];
		const struct timer_source *source = timers_find_source(finding->clock);
		bool right = source && source == timers_truth.faulty && is_right_rule(finding->rule);

		if (!is_timer_rule(finding->rule))
			continue;
		named |= right;
		tally_check(CHECK_TIMER_NAMED, right && is_figure_right(report, finding), "%s: %s: %s", finding->rule,
			    finding->clock,
			    finding->text);
	}
	return named;
}

static const struct behaviour *
find_behaviour_of_faulty_timer(const struct report *report, const char *rule)
{
	return rule ? rules_find_row(report, rule, timers_truth.faulty->driver->id) : NULL;
}

static bool
was_timer_test_disturbed(const struct report *report)
{
	for (size_t i = 0; i < report->figures.interval_count; i++)
		if (strcmp(report->figures.intervals[i].test.source, timers_truth.faulty->driver->id) == 0 &&
		    (report->figures.intervals[i].excused || report->figures.intervals[i].state != CLOCK_PRESENT))
			return true;
	return false;
}

/* Returns true if the interrupts showed so much of the drawn fault that the report could find it. */
static bool
is_timer_fault_visible(void)
{
	const struct sim_timer *timer = &sim.interrupts.timers[timers_truth.faulty->at];

	switch (timers_truth.fault) {
	case FAULT_DROPS:
	case FAULT_DROPS_SHOTS:
		return timer->dropped > 0;
	case FAULT_DOUBLES:
		return timer->doubled > 0;
	case FAULT_LATE:
		return !timer->late_one_in && timer->late_ps > 120 * SIM_PS_PER_US;
	case FAULT_EARLY:
		return timer->early_ps > 3 * (sim.interrupts.entry_ps + 20 * SIM_PS_PER_US);
	default:
		return true;
	}
}

static void
check_fault_is_reported(const struct report *report)
{
	const char *rule = get_expected_rule();
	const struct behaviour *row = find_behaviour_of_faulty_timer(report, rule);
	enum outcome outcome = row ? rules_get_outcome(row, &report->facts.options) : OUTCOME_NOT_CHECKED;

	if (timers_truth.fault == FAULT_ACCESS)
		tally_check(CHECK_TIMER_SILENT, !timers_truth.has_faulted, "an exception of %s has no finding",
			    timers_truth.faulty->driver->id);
	else if (!rule)
		tally_count_unreported_fault("a fault that a row's sentence describes", 1);
	else if (outcome == OUTCOME_NOT_DETERMINED)
		tally_count_unreported_fault("it is said that it could not be told", 1);
	else if (outcome == OUTCOME_NOT_CHECKED)
		tally_count_unreported_fault("it is said that it was not checked", 1);
	else if (was_timer_test_disturbed(report))
		tally_count_unreported_fault("gaps excused it", 1);
	else if (!is_timer_fault_visible())
		tally_count_unreported_fault("too little of it to be a fault", 1);
	else
		tally_check(CHECK_TIMER_SILENT, false, "%s of %s passed: %s", rule, row->clock, row->text);
}

/* An exception of one source must not end the tests of the others. */
static void
check_all_timers_have_rows(const struct report *report)
{
	for (size_t k = 0; timers_truth.tested[k]; k++) {
		const char *id = timers_truth.tested[k]->driver->id;
		size_t i = 0;

		while (i < report->facts.interval_count && strcmp(report->facts.intervals[i].test.source, id) != 0)
			i++;
		tally_check(CHECK_TIMER_SILENT, i < report->facts.interval_count && !report->facts.run.incomplete,
			    "%s has no row", id);
	}
}

void
verdict_check_timers(const struct report *report)
{
	for (size_t i = 0; i < report->figures.interval_count; i++)
		check_interval_row(report, &report->figures.intervals[i], &timers_truth.times[i]);
	if (!check_timer_findings(report) && timers_truth.faulty)
		check_fault_is_reported(report);
	else if (timers_truth.faulty)
		tally_check(CHECK_TIMER_SILENT, true, "named");
	if (timers_truth.fault == FAULT_ACCESS)
		check_all_timers_have_rows(report);
}
