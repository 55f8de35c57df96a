/* What the drivers saw of their devices, and what the figures of a clock are good for. See rules.h. */
#include "rules_internal.h"

#include "scale.h"
#include "text.h"

#define PS_PER_NS 1000

/* The whole interval is beyond the limit, on either side. */
static bool
is_beyond(const struct behaviour *row, uint64_t limit)
{
	int64_t bound = limit > INT64_MAX ? INT64_MAX : (int64_t)limit;

	return row->low > bound || row->high < -bound;
}

static bool
is_broken(const struct report *report, const struct behaviour *row, const struct rule *rule)
{
	if (!row->seen || !rule)
		return false;
	return row->has_figure ? is_beyond(row, rules_limit(rule, &report->options)) : row->broken;
}

bool
rules_misbehaves(const struct report *report, const struct clock *clock)
{
	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];
		const struct rule *rule = rules_find(row->rule);

		if (text_equal(row->clock, clock->main) && is_broken(report, row, rule) &&
		    rule->severity == VERDICT_FAIL)
			return true;
	}
	return false;
}

void
rules_judge_behaviours(struct report *report)
{
	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];
		const struct rule *rule = rules_find(row->rule);
		struct finding *finding;

		if (!is_broken(report, row, rule))
			continue;
		finding = rules_add_finding(report, row->rule, row->clock, REPORT_NO_CORE, "%s: %s", row->clock,
					    row->text);
		if (row->has_figure)
			rules_set_figure(finding, row->measured, row->low, row->high,
					 rules_limit(rule, &report->options));
	}
}

/* The median is known within a bucket of the histogram, which the clock is given the benefit of. */
static void
judge_cost(struct report *report, const struct report_clock *entry)
{
	uint64_t limit_ns = rules_limit_of(report, "clock-slow");
	uint64_t median_ns;

	if (!entry->latency || !entry->latency->count || !report_clock_is_main(entry))
		return;
	median_ns = latency_percentile_ns(entry->latency, 50000);
	if (histogram_bucket_low(histogram_bucket(median_ns)) <= limit_ns)
		return;
	rules_set_count(rules_add_finding(report, "clock-slow", entry->clock.id, REPORT_NO_CORE,
					  "A read of %s takes %lu ns in the median, %lu ns at best.", entry->clock.id,
					  median_ns, entry->latency->min_ns),
			median_ns, limit_ns);
}

static void
judge_step(struct report *report, const struct report_clock *entry)
{
	uint64_t limit_ns = rules_limit_of(report, "tsc-step");
	uint64_t step_ps = report_clock_ps(entry, entry->resolution.gcd_ticks);

	if (!text_equal(entry->clock.id, "tsc") || !entry->resolution.steps || step_ps / PS_PER_NS <= limit_ns)
		return;
	rules_set_count(rules_add_finding(report, "tsc-step", "tsc", REPORT_NO_CORE,
					  "The TSC counts in steps of %lu ticks, which are %lu ns.",
					  entry->resolution.gcd_ticks, step_ps / PS_PER_NS),
			step_ps / PS_PER_NS, limit_ns);
}

/* Whether CLOCK was asked for and could say something of the TSC. */
static bool
is_witness(const struct report_clock *entry)
{
	return report_clock_is_main(entry) && entry->clock.state == CLOCK_PRESENT &&
	       !text_equal(entry->clock.id, "tsc");
}

static void
judge_references(struct report *report)
{
	size_t asked = 0, witnesses = 0;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];

		asked += report_clock_is_main(entry) && !text_equal(entry->clock.id, "tsc");
		witnesses += is_witness(entry);
	}
	if (asked && !witnesses)
		rules_add_finding(report, "no-reference", NULL, REPORT_NO_CORE,
				  "None of %zu clocks that could vouch for the TSC is there and counts.", asked);
}

void
rules_judge_fitness(struct report *report)
{
	bool tsc_read = false;

	for (size_t i = 0; i < report->clock_count; i++) {
		judge_cost(report, &report->clocks[i]);
		judge_step(report, &report->clocks[i]);
		tsc_read |= text_equal(report->clocks[i].clock.id, "tsc") && report->clocks[i].monotonic.reads;
	}
	/* A hypervisor hides the bit where it might move its guest: that is no fault of a clock. */
	if (tsc_read && !report->tsc_is_invariant && !report->hypervisor[0])
		rules_add_finding(report, "tsc-not-invariant", "tsc", REPORT_NO_CORE,
				  "CPUID 80000007h EDX[8] is 0: the TSC is not called invariant.");
	judge_references(report);
}
