/* Judges steps back of each core's TSC, which two readings on one core prove. See judge_cores.h. */
#include "base/text.h"
#include "judge/cores/judge_cores.h"
#include "report/phrase.h"
#include "rules/rules.h"

/*
 * Each reading of the boot core's TSC as a clock is between two other TSC reads (the bracket). Steps back are counted
 * separately for these readings and for the brackets. For the boot core, the larger count is returned, because one
 * step may be in both.
 */
struct tsc_steps
judge_count_steps_back_on_core(const struct report *report, size_t core)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct tsc_steps steps = core < report->facts.core_count ? report->facts.cores[core].tsc :
				 (struct tsc_steps){ .reads = 0 };

	if (core || !tsc || tsc->monotonic.backward <= steps.backward)
		return steps;
	return (struct tsc_steps){ tsc->monotonic.reads, tsc->monotonic.backward, tsc->monotonic.worst_ticks };
}

bool
judge_mark_cores_that_step_back(const struct report *report, struct outcomes *outcomes, uint64_t allowed)
{
	struct core_outcome *cores = outcomes->sync.cores;
	bool any = false;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		cores[i].steps_back = judge_count_steps_back_on_core(report, i).backward > allowed;
		any |= cores[i].steps_back;
	}
	return any;
}

/* Returns " on core 1", " on cores 1, 2 and 5", " on 12 cores (core 3 among them)" or " on all 4 cores". */
static struct phrase
describe_cores_that_step_back(const struct report *report, size_t count)
{
	struct phrase cores = { "" };
	size_t named = 0;

	if (count == report->facts.core_count)
		return count > 1 ? phrase(" on all %zu cores", count) : cores;
	for (size_t i = 0; i < report->facts.core_count; i++) {
		if (!report->outcomes.sync.cores[i].steps_back)
			continue;
		if (count > REPORT_FINDING_CORES)
			return phrase(" on %zu cores (core %u among them)", count, report->facts.cores[i].apic_id);
		phrase_add(&cores, "%s%u", phrase_list_separator(named++, count), report->facts.cores[i].apic_id);
	}
	return phrase(" on core%s %s", count == 1 ? "" : "s", cores.bytes);
}

static void
set_finding_cores(const struct report *report, struct finding *finding, size_t count)
{
	for (size_t i = 0; finding && i < report->facts.core_count; i++) {
		if (!report->outcomes.sync.cores[i].steps_back)
			continue;
		if (count == 1)
			finding->core = report->facts.cores[i].apic_id;
		else
			rules_add_core_to_finding(finding, report->facts.cores[i].apic_id);
	}
}

void
judge_add_step_back_findings(const struct report *report, struct outcomes *outcomes)
{
	struct tsc_steps seen = { .reads = 0 }; /* the steps back of all cores together */
	size_t stepping = 0, clean = 0;         /* numbers of cores with steps back, and of cores without */
	uint64_t clean_reads = 0;
	struct phrase rest = { "" };
	bool by_brackets = false;
	struct finding *finding;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct tsc_steps steps = judge_count_steps_back_on_core(report, i);

		if (report->outcomes.sync.cores[i].steps_back) {
			stepping++;
			seen.reads += steps.reads;
			seen.backward += steps.backward;
			if (steps.worst_ticks > seen.worst_ticks)
				seen.worst_ticks = steps.worst_ticks;
		} else if (steps.reads && !steps.backward) {
			clean++;
			clean_reads += steps.reads;
		}
		by_brackets |= report->facts.cores[i].tsc.backward > 0;
	}
	if (clean)
		rest = phrase(" No step back was seen on %zu other core%s in %lu reads.", clean,
			      clean == 1 ? "" : "s", clean_reads);
	finding = rules_add_finding(report, outcomes, "clock-backward", "tsc", REPORT_NO_CORE,
				    "tsc stepped back %lu time%s%s in %lu reads, at worst by %lu ticks.%s",
				    seen.backward, seen.backward == 1 ? "" : "s",
				    describe_cores_that_step_back(report, stepping).bytes, seen.reads,
				    seen.worst_ticks, rest.bytes);
	rules_set_count(finding, seen.backward);
	if (report->facts.core_count > 1)
		set_finding_cores(report, finding, stepping);
	if (finding && by_brackets)
		/*
		 * the TSC reads around each reading (the brackets) use another read method and stepped back, too, so
		 * the finding is on all read methods of the TSC
		 */
		finding->one_way = false;
}
