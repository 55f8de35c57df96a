/* Checks the rates in a report against the drawn rates. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples.h"
#include "tally.h"

#define NOTICED_PS   (50 * SIM_PS_PER_MS) /* smallest jump that a run certainly notices */
/* the best possible width is calculated in one of WIDTHS_SHARE trials only, because this calculation takes long */
#define WIDTHS_SHARE 8
/*
 * A host is busy if it preempts the core more often than once in this number of accesses. Batches of samples then lose
 * some readings, and rates are up to 2.5 times as wide as the best.
 */
#define QUIET_ACCESSES 5000
/* if the interval of two clocks' ratio is at most this wide, the report marks them if they may share an oscillator */
#define SAME_SOURCE_PPB 10000

static bool
is_truth_inside(long double low, long double truth, long double high)
{
	return low <= truth && truth <= high;
}

static long double
get_claimed_hz(int clock)
{
	return (long double)machine.claimed[clock].num / machine.claimed[clock].den;
}

long double
verdict_get_tsc_hz(const struct report *report)
{
	int scale = find_clock_number(report->figures.relative_to);

	return scale == CLOCKS ? machine.hz[TSC] : machine.hz[TSC] * get_claimed_hz(scale) / machine.hz[scale];
}

bool
verdict_must_jump_be_noticed(void)
{
	return machine.event == EVENT_JUMP && strcmp(machine.phase, "latency") == 0 && machine.clock != RTC &&
	       machine.clock != PIT && machine.by_ps > NOTICED_PS;
}

/* Returns true if no event changed the clocks in the time over which the report measured the rates. */
static bool
is_rate_constant_in_window(const struct report *report)
{
	bool whole_run = false;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		whole_run |= report->figures.clocks[i].rate_whole_run;
	/* A rate over the whole run includes a TSC step that was too small to be noticed. */
	if (whole_run && machine.core[0].steps_at_ps != SIM_NEVER)
		return false;
	return machine.at_ps == SIM_NEVER || machine.at_ps > (whole_run ? machine.run.to_ps : machine.rates.to_ps) ||
	       (whole_run && verdict_must_jump_be_noticed());
}

static bool
is_rate_constant_in_run(void)
{
	return machine.at_ps == SIM_NEVER && machine.core[0].steps_at_ps == SIM_NEVER;
}

static void
check_rate_of_pair(const struct report_rate *rate)
{
	int a = find_clock_number(rate->a), b = find_clock_number(rate->b);
	long double truth = (machine.hz[a] / get_claimed_hz(a) / (machine.hz[b] / get_claimed_hz(b)) - 1) * PPB;

	tally_check(CHECK_PAIR_RATE, is_truth_inside(rate->ppb.low, truth, rate->ppb.high),
		    "%s against %s: %lld to %lld ppb, not %.3Lf",
		    rate->a, rate->b, (long long)rate->ppb.low, (long long)rate->ppb.high, truth);
	if (machine.cores == 1 && machine.source[a] == machine.source[b] && b != RTC &&
	    rate->ppb.high - rate->ppb.low <= SAME_SOURCE_PPB)
		tally_check(CHECK_SAME_SOURCE, rate->same_source, "%s and %s share an oscillator", rate->a, rate->b);
	if (rate->same_source)
		tally_check(CHECK_SAME_SOURCE, fabsl(truth) <= SAME_SOURCE_PPB, "%s and %s differ by %.0Lf ppb", rate->a, rate->b,
			    truth);
}

/*
 * Returns true if the clock that sets the time scale is right within a crystal's tolerance. Otherwise no figure in Hz
 * can be right. Other checks test whether the report names such a clock.
 */
static bool
is_crystal_right(const struct report *report)
{
	int scale = find_clock_number(report->figures.relative_to);

	return scale == CLOCKS || fabsl(machine_get_rate_error_ppb(scale)) <= REPORT_CRYSTAL_PPB;
}

/* Checks that the parts of a rate's error budget add up to the whole error. */
static void
check_error_budget(const struct report_clock *entry, const struct clock_figures *figures)
{
	const struct rate_budget *budget = &figures->budget;
	long double whole = ((long double)figures->measured.high / figures->measured.low - 1) / 2 * PPB;
	long double sum = (budget->bracket + budget->resolution + budget->tsc_resolution + budget->tsc_rate + budget->claim +
			   budget->conversion) / 1000.0L;

	tally_check(CHECK_BUDGET, budget->known && sum >= whole * (1 - 1e-6L) && sum <= whole + 0.2L + whole / 100,
		    "%s: %.3Lf of %.3Lf ppb", entry->clock.id, sum, whole);
}

static void
check_hz(const struct report *report, const struct report_clock *entry, int clock)
{
	long double truth = machine.hz[clock] * 1000;
	long double relative = truth * verdict_get_tsc_hz(report) / machine.hz[TSC];
	const struct clock_figures *figures = report_get_figures(report, entry);
	const struct interval_millihz *hz = &figures->measured;

	if (!hz->known)
		return;
	tally_check(CHECK_HZ, is_truth_inside(hz->low, relative, hz->high), "%s: %llu to %llu mHz, not %.3Lf", entry->clock.id,
		    (unsigned long long)hz->low, (unsigned long long)hz->high, relative);
	check_error_budget(entry, figures);
	hz = &figures->absolute;
	if (!hz->known || !is_crystal_right(report))
		return;
	tally_check(CHECK_HZ_ABSOLUTE, is_truth_inside(hz->low, truth, hz->high), "%s: %llu to %llu mHz, not %.3Lf",
		    entry->clock.id,
		    (unsigned long long)hz->low, (unsigned long long)hz->high, truth);
}

static void
check_rate_changes(const struct report_clock *entry, const struct clock_figures *figures, int clock)
{
	const struct interval_ppb *halves = &figures->change_halves, *since = &figures->change_since;
	const struct rate_interval *implied = &figures->implied_since;
	long double truth = clock == TSC ? 0 : get_claimed_hz(clock) * machine.hz[TSC] / machine.hz[clock] * 1e6L;

	if (halves->known && (machine.at_ps == SIM_NEVER || machine.at_ps > machine.rates.to_ps))
		tally_check(CHECK_CHANGE, is_truth_inside(halves->low, 0, halves->high),
			    "%s: by %lld to %lld ppb within the window",
			    entry->clock.id, (long long)halves->low, (long long)halves->high);
	if (since->known && is_rate_constant_in_run())
		tally_check(CHECK_CHANGE, is_truth_inside(since->low, 0, since->high),
			    "%s: by %lld to %lld ppb since the window",
			    entry->clock.id, (long long)since->low, (long long)since->high);
	if (implied->known && is_rate_constant_in_run() && clock != TSC)
		tally_check(CHECK_SINCE, is_truth_inside(implied->low, truth, implied->high),
			    "%s implies %llu to %llu uHz, not %.3Lf",
			    entry->clock.id, (unsigned long long)implied->low, (unsigned long long)implied->high, truth);
}

/* Checks the rate error of the RTC's periodic flag, in ppm. The true error is calculated in seconds of the report. */
static void
check_rtc_periodic_rate(const struct report *report)
{
	long double truth = (machine.hz[RTC] * verdict_get_tsc_hz(report) / machine.hz[TSC] - 1) * 1e6L;

	for (size_t i = 0; i < report->outcomes.behaviours.count && is_rate_constant_in_run(); i++) {
		const struct behaviour *row = &report->outcomes.behaviours.rows[i];

		if (strcmp(row->rule, "rtc-periodic") == 0 && row->has_figure)
			tally_check(CHECK_PERIODIC, is_truth_inside(row->low, truth, row->high),
				    "%s %lld to %lld ppm, not %.1Lf", row->text,
				    (long long)row->low, (long long)row->high, truth);
	}
}

static void
check_rate_width(const struct report_clock *entry, const struct clock_figures *figures, int clock)
{
	static const enum width widths[CLOCKS] = { WIDTHS, WIDTH_HPET, WIDTH_PM, WIDTH_PIT, WIDTHS };
	const struct rate_interval *implied = &figures->implied;
	long double width, best;

	if (widths[clock] == WIDTHS || !implied->known || (machine.preempt_every && machine.preempt_every < QUIET_ACCESSES))
		return;
	width = ((long double)implied->high / implied->low - 1) * PPB - 2 * (long double)entry->clock.claimed_within_ppb;
	best = samples_get_best_rate_width_ppb(clock, figures->rate_whole_run);
	if (best <= 0)
		return;
	tally_record_width(widths[clock], width);
	tally_record_width(widths[clock] + WIDTH_HPET_BEST, width / best);
}

void
verdict_check_rates(const struct bench *bench)
{
	static unsigned trials;
	const struct report *report = &bench->run.report;
	bool widths = trials++ % WIDTHS_SHARE == 0;

	tally_check(CHECK_END, !machine.expired, "the TSC is said to have %llu / %llu Hz, %s",
		    (unsigned long long)report->figures.tsc.num,
		    (unsigned long long)report->figures.tsc.den, report->figures.tsc_source);
	tally_check(CHECK_BUDGET, bench->run.survey.tsc.resolution_ticks << 10 >= machine.step_1024,
		    "steps of the TSC: %llu ticks", (unsigned long long)bench->run.survey.tsc.resolution_ticks);
	for (size_t i = 0; i < report->figures.rate_count && is_rate_constant_in_window(report); i++)
		check_rate_of_pair(&report->figures.rates[i]);
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		int clock = find_clock_number(entry->clock.id);

		if (clock == CLOCKS)
			continue;
		if (is_rate_constant_in_window(report))
			check_hz(report, entry, clock);
		if (is_rate_constant_in_window(report) && widths)
			check_rate_width(entry, report_get_figures(report, entry), clock);
		check_rate_changes(entry, report_get_figures(report, entry), clock);
	}
	check_rtc_periodic_rate(report);
}
