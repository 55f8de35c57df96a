/* Judges which clocks are too slow, and finds the reads that exit to a hypervisor. */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"
#include "report/phrase.h"

/* the reference for the cost of an exit: VMX always makes CPUID exit, and hypervisors on SVM intercept it */
#define CPUID_CLOCK    "tsc_cpuid"
#define EXIT_NS_MIN    300u              /* a CPUID that took less time than this did not exit to the hypervisor */
/* a read that costs at least 1/2 as much as CPUID also exits to the hypervisor */
#define EXIT_SHARE_MIN 2u
/* A read that costs at most 1/4 of CPUID's cost does not exit. Between 1/4 and 1/2, an exit is possible. */
#define NO_EXIT_SHARE  4u
#define MEDIAN         50000u            /* 50 % in units of 1/1000 % */

/* Returns the median duration of ENTRY's reads in ns, or 0 if it was not read. */
static uint64_t
median_latency_ns(const struct report_clock *entry)
{
	bool read = entry && entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count;

	return read ? latency_percentile_ns(entry->latency, MEDIAN) : 0;
}

/* Returns a list of the clocks whose median read takes FROM_NS to TO_NS, without CPUID itself and the null clock. */
static struct phrase
list_clocks_in_median_range(const struct report *report, uint64_t from_ns, uint64_t to_ns)
{
	struct phrase phrase = { "" };

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const char *id = report->facts.clocks[i].clock.id;
		uint64_t ns = median_latency_ns(&report->facts.clocks[i]);

		if (ns && ns >= from_ns && ns <= to_ns && !text_equal(id, CPUID_CLOCK) && !text_equal(id, "null"))
			phrase_add(&phrase, "%s%s", phrase.bytes[0] ? ", " : "", id);
	}
	if (!phrase.bytes[0])
		phrase_add(&phrase, "none");
	return phrase;
}

void
judge_note_reads_with_vm_exit(const struct report *report, struct outcomes *outcomes)
{
	uint64_t exit_ns = median_latency_ns(report_find_clock(report, CPUID_CLOCK));

	if (!report_is_guest(report) || report_is_machine_emulated(report) || exit_ns < EXIT_NS_MIN)
		return;
	notes_add(&outcomes->notes, "Reads that exit to the hypervisor, as shown by their cost (at least about CPUID's, %s): "
		  "%s. Reads without an exit: %s.", number_from_ns(exit_ns).text,
		  list_clocks_in_median_range(report, exit_ns / EXIT_SHARE_MIN, UINT64_MAX).bytes,
		  list_clocks_in_median_range(report, 0, exit_ns / NO_EXIT_SHARE).bytes);
}

/*
 * Adds a finding if a read of ENTRY's clock is proven to cost more than the limit on each core. Other read methods of
 * its counter are judged only if its main method is slow, because kernels read by the main method or a cheaper one.
 */
static void
judge_read_cost(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry)
{
	const struct report_clock *main = report_find_clock(report, entry->clock.main);
	const struct interval_ns *cost = &report_get_figures(report, entry)->cost.read_ps;
	const struct interval_ns *of_main = main ? &report_get_figures(report, main)->cost.read_ps : NULL;
	int64_t limit_ps = (int64_t)(rules_get_limit_by_id(report, "clock-slow") * PS_PER_NS);
	struct finding *finding;

	if (!cost->known || cost->low <= limit_ps || (of_main && of_main->low <= limit_ps) ||
	    !report->figures.tsc.den ||
	    (judge_has_tsc_stepped_or_jumped(report) && !text_equal(entry->clock.main, "tsc")))
		return;
	finding = rules_add_finding(report, outcomes, "clock-slow", entry->clock.id, REPORT_NO_CORE,
				    "A read of %s costs %s (without the bracket): more than the limit of %lu ns.", entry->clock.id,
				    phrase_read_cost(report, entry->clock.id).bytes, (uint64_t)limit_ps / PS_PER_NS);
	rules_set_figure(finding, cost->value / PS_PER_NS, cost->low / PS_PER_NS, cost->high / PS_PER_NS);
	if (!finding || !entry->clock.caveat)
		return;
	/* No kernel uses this clock as its clocksource, so the rule's advice (another clocksource=) does not help. */
	text_format(finding->advice, sizeof(finding->advice),
		    "Read this clock seldom; kernels do not keep time by it: %s.", entry->clock.caveat);
}

void
judge_slow_clocks(const struct report *report, struct outcomes *outcomes)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		judge_read_cost(report, outcomes, &report->facts.clocks[i]);
}
