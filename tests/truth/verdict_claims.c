/* Checks the findings about CPUID leaves that state the TSC's rate. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include "tally.h"
#include "verdict_clocks.h"

#define OBVIOUS_PPB (2000.0L * PPM) /* if a leaf's rate is off by more than this, the report must name the leaf */

/*
 * Returns the error of the leaf's rate against the TSC, in ppb. If the leaf is rounded, only the part beyond the
 * rounding counts.
 */
static long double
get_leaf_error_ppb(const struct leaf *leaf)
{
	long double hz = (long double)leaf->hz.num / leaf->hz.den;
	long double low = (machine.hz[TSC] / (hz - leaf->within_hz) - 1) * PPB;
	long double high = (machine.hz[TSC] / (hz + leaf->within_hz) - 1) * PPB;

	return low < 0 ? low : high > 0 ? high : 0;
}

/* Returns the leaf whose name is at the start of TEXT. */
static const struct leaf *
find_leaf(const char *text)
{
	for (size_t i = 0; i < machine.leaf_count; i++) {
		size_t length = strlen(machine.leaves[i].by);

		if (strncmp(text, machine.leaves[i].by, length) == 0 && strncmp(text + length, " states ", 8) == 0)
			return &machine.leaves[i];
	}
	return NULL;
}

/*
 * Sets machine.claimed to the leaf that the report uses as the nominal rate, because the report's other figures refer
 * to this leaf. Fails if the report uses none of the drawn leaves.
 */
static void
set_claimed_rate_to_leaf_in_report(const struct report *report)
{
	struct rate claimed = report_get_claimed_rate(report, report_find_clock(report, "tsc"));
	bool is_known = !claimed.den;

	machine.claimed[TSC] = (struct rate){ 0, 0 };
	for (size_t i = 0; claimed.den && i < machine.leaf_count; i++) {
		const struct leaf *leaf = &machine.leaves[i];

		if ((unsigned __int128)leaf->hz.num * claimed.den != (unsigned __int128)claimed.num * leaf->hz.den)
			continue;
		machine.claimed[TSC] = leaf->hz;
		machine.within_hz = leaf->within_hz;
		is_known = true;
	}
	tally_check(CHECK_SENTENCE, is_known, "a claim of the TSC that no leaf has: %llu / %llu",
		    (unsigned long long)claimed.num,
		    (unsigned long long)claimed.den);
}

/* Checks a finding on a machine with drawn leaves. The TSC of such a machine is right, and only a leaf can be wrong. */
static void
check_finding(const struct report *report, const struct finding *finding)
{
	int by = find_clock_number(report->figures.relative_to);
	const struct leaf *leaf;
	long double apart;

	if (strncmp(finding->rule, "rate-", 5) == 0) {
		tally_check(CHECK_CLOCK_NAMED, find_clock_number(finding->clock) != TSC, "%s: %s", finding->rule,
			    finding->text);
		return;
	}
	if (strcmp(finding->rule, "tsc-claim") != 0)
		return;
	leaf = find_leaf(finding->text);
	if (!tally_check(CHECK_SENTENCE, leaf && leaf->is_wrong && by != CLOCKS && by != TSC, "of no wrong leaf: %s",
			 finding->text))
		return;
	apart = (machine.hz[TSC] * leaf->hz.den / leaf->hz.num / (1 + machine_get_rate_error_ppb(by) / PPB) - 1) * 1e6L;
	tally_check(CHECK_SENTENCE, finding->low - 1 <= apart && apart <= finding->high + 1, "%s, not %.1Lf ppm",
		    finding->text,
		    apart);
}

static void
check_verdict_on_leaf(const struct report *report, const struct leaf *leaf)
{
	long double off = fabsl(get_leaf_error_ppb(leaf));
	bool is_named = false;

	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		is_named |= strcmp(report->outcomes.findings[i].rule, "tsc-claim") == 0 &&
			    find_leaf(report->outcomes.findings[i].text) == leaf;
	for (size_t i = 0; i < report->facts.claim_count; i++)
		if (strcmp(report->facts.claims[i].claim.by, leaf->by) == 0 &&
		    report->facts.claims[i].claim.clock == CLAIM_OF_TSC)
			tally_check(CHECK_PASSED_OFF,
				    report->outcomes.claims[i].outcome != (leaf->is_wrong ? OUTCOME_PASSED :
									   OUTCOME_FAILED),
				    "%s is off by %.0Lf ppm", leaf->by, off / PPM);
	if (!leaf->is_wrong)
		return;
	if (off >= OBVIOUS_PPB)
		tally_check(CHECK_CLOCK_SILENT, is_named, "%s is off by %.0Lf ppm", leaf->by, off / PPM);
	else if (!is_named)
		tally_count_unreported_fault("a leaf off by less than 2000 ppm",
					     off / clocks_get_limit_ppb("tsc-claim"));
}

void
verdict_check_claims(const struct bench *bench)
{
	const struct report *report = &bench->run.report;

	if (!machine.leaf_count)
		return;
	set_claimed_rate_to_leaf_in_report(report);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		check_finding(report, &report->outcomes.findings[i]);
	for (size_t i = 0; i < machine.leaf_count; i++)
		check_verdict_on_leaf(report, &machine.leaves[i]);
}
