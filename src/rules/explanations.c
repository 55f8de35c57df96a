/* The table of faults that explain a failed check, and the search in it. See rules.h. */
#include "rules/rules.h"

#include "base/offset.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

/*
 * A fault that only makes reads slow (clock-slow, clock-contended) explains nothing. Neither does hpet-pc10: in PC10 a
 * real stop of the HPET is expected.
 */
const struct explanation explanations[] = {
	/* The timer counts this clock, or its interrupt is this flag of the RTC. A change may be larger than its mean. */
	{ .rule = "irq-rate", .by = { "clock-broken", "clock-backward", "clock-jumped", "rate-changed", "rtc-periodic" },
	  .words = ": a finding on its clock explains that" },
	/* A few wrong readings look like a stop. */
	{ .rule = "clock-sleeps",
	  .by = { "clock-stuck", "clock-broken", "clock-backward", "clock-jumped", "rate-changed", "hpet-torn", "pm-width",
		  "pm-glitch" },
	  .words = ", but the clock has another fault, too" },
	/*
	 * The loss is against the clock's own rate before the sleep, so a wrong rate causes none. But a counter at twice
	 * its rate or more may wrap unseen in the sleep.
	 */
	{ .rule = "clock-sleeps", .raises_limit = true, .by = { "rate-wrong" },
	  .words = ", but the clock's own rate is off" },
	{ .rule = "efi-rate", .clock = "efi_time", .by_clock = "rtc",
	  .by = { "clock-stuck", "clock-broken", "clock-backward", "clock-jumped", "rate-changed", "rtc-update", "rtc-seconds",
		  "rtc-periodic", "rtc-battery", "irq-rate" },
	  .words = "; the RTC has a fault, and the firmware may read the time of day from it" },
	{ .rule = "efi-rate", .clock = "efi_time", .by_clock = "rtc", .raises_limit = true, .by = { "rate-off", "rate-wrong" },
	  .words = "; the firmware may read the time of day from the RTC, whose rate is off" },
	/* The rate changed at an unknown time in the run, so the error of such a rate may be larger than the change. */
	{ .unit = "ppm", .by_clock = "tsc", .by = { "rate-changed", "rate-disagree" },
	  .words = ", but the test was timed by a TSC whose own rate is uncertain" },
	{ .unit = "ppm", .unchecked = true, .by = { "clock-stuck" }, .words = ", but the clock itself is stuck" },
	/* The periods of a timer that counts this clock have the same error. */
	{ .unit = "ppm", .unchecked = true, .raises_limit = true,
	  .by = { "rate-wrong", "pv-rate", "rate-off", "rate-changed" },
	  .words = ", but the clock's own rate is off" },
	{ .words = NULL },
};

/*
 * Returns by how much FAULT, the error of a rate in ppm, can change the figure of ROW. The second of a clock that runs
 * at half its rate lasts twice as long. A figure in ns belongs to a sleep, so its change is at most this share of the
 * longest sleep.
 */
static uint64_t
bound_change_of_figure(const struct report *report, const struct behaviour *row, const struct rule_fault *fault)
{
	uint64_t ppm = offset_max_abs(fault->figure), longest_ns = 0;
	uint64_t slow_ppm = fault->figure.low < 0 ? offset_abs(fault->figure.low) : 0;
	uint64_t longer_ppm = slow_ppm < PPM ? scale_mul_div_nearest(slow_ppm, PPM, PPM - slow_ppm) : 0;

	if (longer_ppm > ppm)
		ppm = longer_ppm;
	for (size_t i = 0; i < report->figures.sleeps.count; i++)
		if (report->figures.sleeps.rows[i].slept_ns > longest_ns)
			longest_ns = report->figures.sleeps.rows[i].slept_ns;
	return text_equal(rules_find(row->rule)->unit, "ns") ? scale_mul_div_up(ppm, longest_ns, PPM) : ppm;
}

/* Returns true if FAULT explains the failure of ROW by PAIR. A fault on no clock may be one of the TSC. */
static bool
does_fault_explain(const struct report *report, const struct explanation *pair, const struct behaviour *row,
		   const struct rule_fault *fault)
{
	uint64_t limit = rules_get_limit_by_id(report, row->rule) + bound_change_of_figure(report, row, fault);
	const char *clock = fault->clock ? fault->clock : "tsc";
	size_t i = 0;

	while (pair->by[i] && !text_equal(pair->by[i], fault->rule))
		i++;
	return pair->by[i] && clock[0] &&
	       (pair->by_clock ? text_equal(clock, pair->by_clock) : text_begins_with(row->clock, clock)) &&
	       (!pair->raises_limit || behaviour_get_outcome(row, limit) != OUTCOME_FAILED);
}

static bool
does_pair_explain(const struct report *report, const struct explanation *pair, const struct behaviour *row,
		  struct rule_fault *fault)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		*fault = rules_get_fault(&report->outcomes.findings[i]);
		if (does_fault_explain(report, pair, row, fault))
			return true;
	}
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++) {
		const struct behaviour *other = &report->outcomes.behaviours.rows[i];

		*fault = (struct rule_fault){ other->rule, other->clock, rules_get_failed_core(other),
					       { other->low, other->high } };
		if (rules_has_check_failed(report, other) && does_fault_explain(report, pair, row, fault))
			return true;
	}
	return false;
}

const struct explanation *
rules_find_explanation(const struct report *report, const struct behaviour *row, struct rule_fault *fault)
{
	for (const struct explanation *pair = explanations; pair->words; pair++)
		if ((!pair->rule || text_equal(pair->rule, row->rule)) && (!pair->clock || text_equal(pair->clock, row->clock)) &&
		    (!pair->unit || text_equal(pair->unit, rules_find(row->rule)->unit)) &&
		    does_pair_explain(report, pair, row, fault))
			return pair;
	return NULL;
}
