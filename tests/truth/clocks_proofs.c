/*
 * Finds the machine's clocks with wrong rates, and calculates which rate errors a report's intervals prove for them.
 * See verdict_clocks.h.
 */
#include "verdict_clocks.h"

#include <math.h>

#include "rules/rules.h"

/* largest rate error of a healthy oscillator, measured against true time or against another healthy oscillator */
#define HEALTHY_PPB (50 * PPM)

long double
clocks_get_limit_ppb(const char *rule)
{
	return (long double)rules_find(rule)->limit * PPM;
}

/*
 * Returns true if the clock's own rate error is beyond the limit of RULE. A limit above 200 ppm is lowered by 100 ppm,
 * which is twice the largest error of the clocks with which the report compares this clock.
 */
bool
clocks_is_rate_wrong(int clock, const char *rule)
{
	long double limit = clocks_get_limit_ppb(rule);

	return fabsl(machine_get_rate_error_ppb(clock)) > (limit > 4 * HEALTHY_PPB ? limit - 2 * HEALTHY_PPB : limit);
}

/* Returns true for a clock whose nominal rate is exact, so that the report can derive the TSC's rate from it. */
bool
clocks_has_exact_rate(int clock)
{
	return machine.has[clock] && machine.claimed[clock].den && (clock != TSC || machine.within_hz <= 1000);
}

bool
clocks_has_fault(int clock)
{
	return clocks_is_rate_wrong(clock, "rate-off");
}

/*
 * Returns true if more than half of the oscillators, and also more than half of the clocks, have the right rate. The
 * clocks count too, because the report cannot show which clocks share an oscillator.
 */
bool
clocks_is_majority_right(void)
{
	unsigned right = 0, all = 0, seen = 0, right_clocks = 0, clocks = 0;

	for (int i = 0; i < CLOCKS; i++) {
		if (!clocks_has_exact_rate(i))
			continue;
		clocks++;
		right_clocks += !clocks_has_fault(i);
		if (seen >> machine.source[i] & 1)
			continue;
		seen |= 1u << machine.source[i];
		all++;
		right += !clocks_has_fault(i);
	}
	return right * 2 > all && right_clocks * 2 > clocks;
}

static const struct interval_ppb *
find_rate_difference(const struct report *report, int a, int b)
{
	for (size_t i = 0; i < report->figures.rate_count; i++) {
		const struct report_rate *rate = &report->figures.rates[i];
		int first = find_clock_number(rate->a), second = find_clock_number(rate->b);

		if ((first == a && second == b) || (first == b && second == a))
			return &rate->ppb;
	}
	return NULL;
}

/*
 * Returns true if A and B may share an oscillator. All clocks of a guest except the TSC follow one oscillator of the
 * host, even if one of them has a fault. The TSC follows it, too, if its ratio is exact. On other machines, two
 * clocks except the RTC may share an oscillator if the report does not prove that their rates differ.
 */
static bool
may_share_oscillator(const struct report *report, int a, int b)
{
	const struct interval_ppb *ppb = find_rate_difference(report, a, b);

	if (machine.is_guest)
		return (a != TSC && b != TSC) || (a != RTC && b != RTC && ppb && ppb->low <= 0 && ppb->high >= 0);
	return a != RTC && b != RTC && (!ppb || (ppb->low <= 0 && ppb->high >= 0));
}

static bool
are_rates_too_different(const struct report *report, int a, int b)
{
	const struct interval_ppb *ppb = find_rate_difference(report, a, b);
	long double limit = clocks_get_limit_ppb("rate-off");

	return ppb && (ppb->low > limit || ppb->high < -limit);
}

/* Returns the number of different oscillators that the report proves for the COUNT clocks in SET. */
static size_t
count_sources_of_clocks(const struct report *report, const int *set, size_t count)
{
	int sources[CLOCKS];
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < found; k++)
			is_new &= !may_share_oscillator(report, sources[k], set[i]);
		if (is_new)
			sources[found++] = set[i];
	}
	return found;
}

/*
 * Returns true if the clock's rate intervals are narrow enough to show with which clocks it agrees. The report must
 * prove that the clock differs from another clock. If two clocks provably differ from each other, the clock must
 * provably differ from at least one of the two.
 */
static bool
is_rate_narrow_enough(const struct report *report, int clock)
{
	bool knows = false;

	for (int a = 0; a < CLOCKS; a++) {
		knows |= clocks_has_exact_rate(a) && are_rates_too_different(report, clock, a);
		for (int b = 0; b < CLOCKS; b++)
			if (clocks_has_exact_rate(a) && clocks_has_exact_rate(b) &&
			    are_rates_too_different(report, a, b) &&
			    !are_rates_too_different(report, clock, a) &&
			    !are_rates_too_different(report, clock, b))
				return false;
	}
	return knows && clocks_has_exact_rate(clock);
}

/*
 * Considers only clocks with narrow enough intervals. Returns true if more of these clocks have a right rate than a
 * wrong rate, and the right clocks come from more oscillators than the wrong clocks.
 */
bool
clocks_is_majority_of_narrow_rates_right(const struct report *report)
{
	int right[CLOCKS], wrong[CLOCKS];
	size_t rights = 0, wrongs = 0;

	for (int a = 0; a < CLOCKS; a++) {
		bool knows = is_rate_narrow_enough(report, a);

		if (knows && clocks_has_fault(a))
			wrong[wrongs++] = a;
		else if (knows)
			right[rights++] = a;
	}
	return rights > wrongs &&
	       count_sources_of_clocks(report, right, rights) > count_sources_of_clocks(report, wrong, wrongs);
}

/*
 * Counts the healthy oscillators for which the report proves that the faulty clock's rate differs from theirs by more
 * than the limit.
 */
size_t
clocks_count_proofs_of_fault(const struct report *report, int clock)
{
	int proofs[CLOCKS];
	size_t count = 0;

	for (int other = 0; other < CLOCKS; other++)
		if (!clocks_has_fault(other) && clocks_has_exact_rate(other) &&
		    are_rates_too_different(report, clock, other))
			proofs[count++] = other;
	return count_sources_of_clocks(report, proofs, count);
}
