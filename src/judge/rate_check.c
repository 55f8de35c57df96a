/*
 * Adds a row (the result of one check) for each clock's rate: within its limit, beyond it, or not determined. See
 * judge_internal.h.
 */
#include "judge/rate_vote.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"
#include "report/clock_sources.h"

/* the longest run, in seconds, that a sentence suggests with duration=; for a longer run it suggests profile=soak */
#define ASK_S_MAX 3600u

/* Returns the finding that CLOCK's rate is wrong, or NULL. */
static const struct finding *
find_rate_finding(const struct report *report, const char *clock)
{
	const struct finding *off = rules_find_finding(report, "rate-off", clock);

	return off ? off : rules_find_finding(report, "rate-wrong", clock);
}

static bool
is_clock_healthy(const struct report *report, const char *clock)
{
	const struct report_clock *entry = report_find_clock(report, clock);

	return entry && entry->clock.state == CLOCK_PRESENT && !find_rate_finding(report, clock) &&
	       !(text_equal(clock, "tsc") && judge_is_tsc_claim_wrong(report));
}

/* How much faster a clock runs than the clock OTHER. OTHER is NULL if there is no such pair. */
struct pair_rate {
	const char *other;
	struct interval_ppb ppb;
};

/* Returns the rate of CLOCK against the other clock of the pair RATE. If CLOCK is not in the pair, OTHER is NULL. */
static struct pair_rate
rate_against_paired_clock(const struct report_rate *rate, const char *clock)
{
	if (text_equal(rate->a, clock))
		return (struct pair_rate){ rate->b, rate->ppb };
	return (struct pair_rate){ text_equal(rate->b, clock) ? rate->a : NULL,
				   { rate->ppb.known, -rate->ppb.value, -rate->ppb.high, -rate->ppb.low } };
}

/* The next two functions return the lower and the upper bound of the absolute value of the pair's rate. */
static uint64_t
min_error_ppb(const struct pair_rate *pair)
{
	return offset_min_abs(rate_bounds(&pair->ppb));
}

static uint64_t
max_error_ppb(const struct pair_rate *pair)
{
	return offset_max_abs(rate_bounds(&pair->ppb));
}

/*
 * Returns the rate of CLOCK against a clock of the set OTHERS. It chooses the clock for which the largest possible
 * error of the rate is smallest.
 */
static struct pair_rate
find_pair_with_smallest_rate_error(const struct report *report, const char *clock, uint32_t others)
{
	struct pair_rate nearest = { .other = NULL };

	for (size_t i = 0; i < report->figures.rate_count; i++) {
		struct pair_rate pair = rate_against_paired_clock(&report->figures.rates[i], clock);

		if (pair.ppb.known && pair.other && is_clock_healthy(report, pair.other) &&
		    (others & judge_get_clock_bit(report, pair.other)) &&
		    (!nearest.other || max_error_ppb(&pair) < max_error_ppb(&nearest)))
			nearest = pair;
	}
	return nearest;
}

/* Returns true if so much time was stolen that a longer run may not help. */
static bool
is_host_busy(const struct report_interference *all)
{
	return all->measured &&
	       all->total_ns >= scale_mul_div_nearest(all->observed_ns, STOLEN_MAX_MILLIPERCENT, MILLIPERCENT);
}

/*
 * Returns a clause on how to get a result. The error comes from the readings at the two ends of the run, so in a run
 * that is TIMES times as long, the error is smaller by this factor. On a busy host this need not be so, because the
 * readings may be less exact.
 */
static struct phrase
advise_longer_run(const struct report *report, uint64_t times)
{
	uint64_t seconds = (report->duration_ns + NS_PER_S - 1) / NS_PER_S;

	if (report->facts.run.ended_early)
		return phrase("; a run that is not ended by a key may decide this check.");
	if (is_host_busy(&report->figures.interference))
		return phrase("; %s %% of the time was stolen, so a run on a less busy host may decide this check.",
			      number_as_percent(report->figures.interference.total_ns,
						report->figures.interference.observed_ns, 1).text);
	if (seconds && times <= ASK_S_MAX / seconds)
		return phrase("; a run %lu times as long would decide this check (duration=%lus).", times,
			      seconds * times);
	return phrase("; a run %lu times as long would decide this check (profile=soak).", times);
}

static struct phrase
describe_pair_rate(const struct pair_rate *pair, const char *clock)
{
	return phrase("%s: %s to %s ppm against %s", clock, phrase_signed_ppm(pair->ppb.low).bytes,
		      phrase_signed_ppm(pair->ppb.high).bytes, pair->other);
}

/*
 * Fills the row of a clock that agrees only with clocks of its own source (oscillator). That proves the common source,
 * but not the rate. The row refers to the row of a clock with another source, so that a wrong rate is reported only
 * once.
 */
static void
fill_row_confirmed_by_same_source(struct behaviour *row, const struct pair_rate *same, const struct pair_rate *rate)
{
	struct phrase agrees = describe_pair_rate(same, row->clock);

	row->against = same->other;
	if (rate->other)
		behaviour_set_text(row, "%s, which shares this clock's source; see the row of %s, which has "
				   "another source.",
				   agrees.bytes, rate->other);
	else
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE,
					 "%s, which shares this clock's source; no clock has another source.",
					 agrees.bytes);
}

/*
 * Returns true if the pair SAME, with a clock of the same source, confirms the rate, and the pair RATE, with a clock of
 * another source, neither confirms it nor contradicts it.
 */
static bool
is_confirmed_by_same_source_only(const struct report *report, const struct pair_rate *same,
				 const struct pair_rate *rate, uint64_t limit_ppb)
{
	if (!same->other || rules_find_finding(report, "rate-disagree", NULL) || judge_has_tsc_stepped_or_jumped(report))
		return false;
	/*
	 * In a guest one oscillator of the host drives all devices, so even a longer run has no other source. It is
	 * enough that the two clocks do not contradict each other.
	 */
	if (!rate->other && report_is_guest(report))
		return min_error_ppb(same) <= limit_ppb;
	return max_error_ppb(same) <= limit_ppb &&
	       (!rate->other || (max_error_ppb(rate) > limit_ppb && min_error_ppb(rate) <= limit_ppb));
}

/* Returns the clocks of a guest whose ratio to CLOCK is exactly the nominal one, which proves a common source. */
static uint32_t
find_clocks_of_exact_ratio(const struct report *report, const char *clock)
{
	uint32_t exact = 0;

	for (size_t i = 0; i < report->figures.rate_count && report_is_guest(report); i++) {
		struct pair_rate pair = rate_against_paired_clock(&report->figures.rates[i], clock);

		if (pair.other && report->figures.rates[i].same_source)
			exact |= judge_get_clock_bit(report, pair.other);
	}
	return exact;
}

/* Returns the set of clocks with another source (oscillator) than ENTRY's clock. */
static uint32_t
find_clocks_of_other_source(const struct report *report, const struct report_clock *entry)
{
	struct rate_interval rates[REPORT_CLOCKS_MAX] = { { .known = false } };
	uint32_t exact = find_clocks_of_exact_ratio(report, entry->clock.id);

	for (size_t i = 0; i < report->facts.clock_count; i++)
		rates[i] = report->figures.clocks[i].implied;
	return find_clock_sources_for_rates(report, rates).separate[entry - report->facts.clocks] & ~exact;
}

/*
 * Fills the row of ENTRY's clock from PAIR, its rate against another clock. The clock's error in the report is relative
 * to the clock that sets the scale. If that error may exceed the limit, the row must not pass.
 */
static void
fill_rate_row_from_pair(const struct report *report, const struct report_clock *entry, struct behaviour *row,
			const struct pair_rate *pair)
{
	uint64_t limit = rules_get_limit_by_id(report, row->rule);
	const struct interval_ppb *error = &report_get_figures(report, entry)->error;
	struct interval_ppm ppm = interval_in_ppm(&pair->ppb);
	struct phrase end = { "." };

	row->checked = true;
	row->against = pair->other;
	behaviour_set_figure(row, ppm.value, ppm.low, ppm.high);
	bool contradicted = rules_find_finding(report, "rate-disagree", NULL) ||
			    (error->known && offset_max_abs(rate_bounds(error)) / PPB_PER_PPM >= limit &&
			     behaviour_get_outcome(row, limit) == OUTCOME_PASSED);
	row->open = contradicted || judge_has_tsc_stepped_or_jumped(report) ||
		    behaviour_get_outcome(row, limit) != OUTCOME_PASSED;
	if (row->open && judge_has_tsc_stepped_or_jumped(report))
		end = phrase(", timed by a TSC that stepped or jumped.");
	else if (contradicted || min_error_ppb(pair) > limit * PPB_PER_PPM)
		end = phrase(", and nothing shows which clocks are right.");
	else if (row->open)
		end = advise_longer_run(report, judge_interval_shrink_factor(row->low, row->high, limit));
	behaviour_set_text(row, "%s%s", describe_pair_rate(pair, row->clock).bytes, end.bytes);
}

/* Fills the row of a clock whose rate has no finding. */
static void
fill_rate_row(const struct report *report, const struct report_clock *entry, struct behaviour *row)
{
	uint32_t others = find_clocks_of_other_source(report, entry);
	struct pair_rate rate = find_pair_with_smallest_rate_error(report, row->clock, others);
	struct pair_rate same = find_pair_with_smallest_rate_error(report, row->clock, ~others);

	if (entry->stops_in_ticks) {
		row->checked = row->open = true;
		behaviour_set_text(row, "%s: this clock drives the firmware's tick, which could not be stopped; the tick "
			"may stop the clock's counter for short times.", row->clock);
	} else if (report_get_figures(report, entry)->uncounted) {
		behaviour_set_text(row, "%s: other clocks contradict the number of its wraps, so its rate is not known.",
				   row->clock);
	} else if (!rate.other && !same.other) {
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE, "%s: no other clock measured its rate.", row->clock);
	} else if (is_confirmed_by_same_source_only(report, &same, &rate,
						    rules_get_limit_by_id(report, row->rule) * PPB_PER_PPM)) {
		fill_row_confirmed_by_same_source(row, &same, &rate);
	} else {
		fill_rate_row_from_pair(report, entry, row, rate.other ? &rate : &same);
	}
}

/*
 * Returns an empty row for CLOCK's rate, or NULL if there is no space. If a device check has already added such a row,
 * its result is discarded.
 */
static struct behaviour *
reset_rate_row(const struct report *report, struct outcomes *outcomes, const char *clock)
{
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		struct behaviour *row = &outcomes->behaviours.rows[i];

		if (text_equal(row->clock, clock) &&
		    (text_equal(row->rule, "rate-off") || text_equal(row->rule, "rate-wrong"))) {
			*row = (struct behaviour){ .rule = "rate-off", .clock = clock };
			return row;
		}
	}
	return behaviour_add_row(&outcomes->behaviours, "rate-off", clock);
}

static void
judge_rate_of_clock(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry)
{
	const struct finding *finding = find_rate_finding(report, entry->clock.id);
	bool is_tsc = text_equal(entry->clock.id, "tsc");
	struct behaviour *row;

	if (entry->clock.state != CLOCK_PRESENT || !report_clock_is_main_of_device(entry) ||
	    (!report_get_claimed_rate(report, entry).den && !is_tsc) ||
	    !(row = reset_rate_row(report, outcomes, entry->clock.id)))
		return;
	if (is_tsc && judge_is_tsc_claim_wrong(report)) {
		row->explained_by = rules_get_fault(rules_find_finding(report, "tsc-claim", NULL));
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE,
					 "tsc: the claimed rate is wrong, so the measured rate cannot be checked: see the "
					 "finding.");
	} else if (!report_get_claimed_rate(report, entry).den) {
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE,
					 "tsc: CPUID claims no rate, so the measured rate cannot be checked; tsc_hz= gives a "
					 "rate.");
	} else if (!finding) {
		fill_rate_row(report, entry, row);
	} else {
		row->rule = finding->rule;
		row->checked = true;
		behaviour_set_figure(row, finding->measured, finding->low, finding->high);
		if (report_get_figures(report, entry)->uncounted)
			behaviour_set_text(row, "%s: at least %ld ppm, see the finding.", row->clock, finding->low);
		else
			behaviour_set_text(row, "%s: %ld to %ld ppm, see the finding.", row->clock, finding->low,
					   finding->high);
	}
}

void
judge_add_rate_rows(const struct report *report, struct outcomes *outcomes)
{
	for (size_t i = 0; i < report->facts.clock_count && report->figures.rate_count; i++)
		judge_rate_of_clock(report, outcomes, &report->facts.clocks[i]);
}
