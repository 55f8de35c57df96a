/* Judges IA32_TSC_ADJUST: the ticks that software has added to a core's TSC since reset. See judge_cores.h. */
#include "judge/cores/judge_cores.h"
#include "rules/rules.h"

struct extremes {
	size_t asked; /* number of cores whose registers were read */
	size_t cores; /* number of cores that have TSC_ADJUST */
	const struct report_core *least, *most;
	size_t least_count, most_count; /* numbers of cores with the same value as LEAST and as MOST */
};

static struct extremes
find_extreme_tsc_adjusts(const struct report *report)
{
	struct extremes extremes = { .asked = 0 };

	for (size_t i = 0; i < report->core_count; i++) {
		const struct report_core *core = &report->cores[i];

		extremes.asked += core->facts_known;
		if (!core->facts_known || !core->facts.has_tsc_adjust)
			continue;
		if (!extremes.cores || core->facts.tsc_adjust < extremes.least->facts.tsc_adjust) {
			extremes.least = core;
			extremes.least_count = 0;
		}
		if (!extremes.cores || core->facts.tsc_adjust > extremes.most->facts.tsc_adjust) {
			extremes.most = core;
			extremes.most_count = 0;
		}
		extremes.least_count += core->facts.tsc_adjust == extremes.least->facts.tsc_adjust;
		extremes.most_count += core->facts.tsc_adjust == extremes.most->facts.tsc_adjust;
		extremes.cores++;
	}
	return extremes;
}

static uint64_t
largest_tsc_adjust_difference(const struct extremes *extremes)
{
	return (uint64_t)extremes->most->facts.tsc_adjust - (uint64_t)extremes->least->facts.tsc_adjust;
}

static uint64_t
absolute_ticks(int64_t ticks)
{
	return ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
}

/*
 * Returns the APIC id of the only core whose value differs, or REPORT_NO_CORE. All other cores must have the same
 * value, and must be more than half of the started cores. (A run that ended at its deadline may have read the registers
 * of only a few cores.)
 */
static uint32_t
find_core_with_differing_adjust(const struct report *report, const struct extremes *extremes)
{
	if (extremes->cores < 3 || extremes->cores - 1 <= report->cores_started / 2 ||
	    extremes->least_count + extremes->most_count != extremes->cores)
		return REPORT_NO_CORE;
	if (extremes->most_count == 1)
		return extremes->most->apic_id;
	return extremes->least_count == 1 ? extremes->least->apic_id : REPORT_NO_CORE;
}

/* Adds a finding on LARGER and SMALLER, the two extreme values. WRITER is the program that may have written them. */
static void
add_unequal_adjust_finding(struct report *report, const struct extremes *extremes, const struct report_core *larger,
			   const struct report_core *smaller, const char *writer)
{
	uint32_t odd = find_core_with_differing_adjust(report, extremes);
	struct finding *finding = rules_add_finding(report, "tsc-adjust-unequal", "tsc", odd,
						    "TSC_ADJUST is %ld ticks on core %u and %ld on core %u: %s wrote their "
						    "TSCs differently.", larger->facts.tsc_adjust, larger->apic_id,
						    smaller->facts.tsc_adjust, smaller->apic_id, writer);

	rules_set_count(finding, largest_tsc_adjust_difference(extremes));
	if (odd == REPORT_NO_CORE)
		rules_set_pair_of_cores(finding, larger->apic_id, smaller->apic_id);
}

/*
 * Reports unequal values or, if all are equal, a value that is not 0. Unequal values are the worse fault, and one
 * finding is enough.
 */
void
judge_tsc_adjust(struct report *report)
{
	struct extremes extremes = find_extreme_tsc_adjusts(report);
	const struct report_core *larger = extremes.most, *smaller = extremes.least;
	const char *writer = report->hypervisor[0] ? "the firmware or the hypervisor" : "the firmware";

	if (!extremes.cores)
		return;
	if (absolute_ticks(smaller->facts.tsc_adjust) > absolute_ticks(larger->facts.tsc_adjust)) {
		larger = extremes.least;
		smaller = extremes.most;
	}
	if (largest_tsc_adjust_difference(&extremes) > rules_get_limit_by_id(report, "tsc-adjust-unequal"))
		add_unequal_adjust_finding(report, &extremes, larger, smaller, writer);
	else if (absolute_ticks(larger->facts.tsc_adjust) > rules_get_limit_by_id(report, "tsc-adjust"))
		rules_set_count(rules_add_finding(report, "tsc-adjust", "tsc", REPORT_NO_CORE,
						  "TSC_ADJUST is %s%ld ticks on %s%zu cores: %s wrote the TSC after reset.",
						  largest_tsc_adjust_difference(&extremes) ? "up to " : "", larger->facts.tsc_adjust,
						  extremes.asked < report->cores_started ? "" : "all ", extremes.cores, writer),
				absolute_ticks(larger->facts.tsc_adjust));
}
