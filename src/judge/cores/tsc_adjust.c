/* Judges IA32_TSC_ADJUST: the ticks that software has added to a core's TSC since reset. See judge_cores.h. */
#include "judge/cores/judge_cores.h"
#include "rules/rules.h"

static uint64_t
largest_tsc_adjust_difference(const struct tsc_adjusts *adjusts)
{
	return (uint64_t)adjusts->most->facts.tsc_adjust - (uint64_t)adjusts->least->facts.tsc_adjust;
}

/*
 * Returns the APIC id of the only core whose value differs, or REPORT_NO_CORE. All other cores must have the same
 * value, and must be more than half of the started cores. (A run that ended at its deadline may have read the registers
 * of only a few cores.)
 */
static uint32_t
find_core_with_differing_adjust(const struct report *report, const struct tsc_adjusts *adjusts)
{
	if (adjusts->cores < 3 || adjusts->cores - 1 <= report->cores_started / 2 ||
	    adjusts->least_count + adjusts->most_count != adjusts->cores)
		return REPORT_NO_CORE;
	if (adjusts->most_count == 1)
		return adjusts->most->apic_id;
	return adjusts->least_count == 1 ? adjusts->least->apic_id : REPORT_NO_CORE;
}

/* Adds a finding on LARGER and SMALLER, the two extreme values. WRITER is the program that may have written them. */
static void
add_unequal_adjust_finding(struct report *report, const struct tsc_adjusts *adjusts, const struct report_core *larger,
			   const struct report_core *smaller, const char *writer)
{
	uint32_t odd = find_core_with_differing_adjust(report, adjusts);
	struct finding *finding = rules_add_finding(report, "tsc-adjust-unequal", "tsc", odd,
						    "TSC_ADJUST is %ld ticks on core %u and %ld on core %u: %s wrote their "
						    "TSCs differently.", larger->facts.tsc_adjust, larger->apic_id,
						    smaller->facts.tsc_adjust, smaller->apic_id, writer);

	rules_set_count(finding, largest_tsc_adjust_difference(adjusts));
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
	struct tsc_adjusts adjusts = report_collect_tsc_adjusts(report);
	const struct report_core *larger = adjusts.most, *smaller = adjusts.least;
	const char *writer = report->hypervisor[0] ? "the firmware or the hypervisor" : "the firmware";

	if (!adjusts.cores)
		return;
	if (offset_abs(smaller->facts.tsc_adjust) > offset_abs(larger->facts.tsc_adjust)) {
		larger = adjusts.least;
		smaller = adjusts.most;
	}
	if (largest_tsc_adjust_difference(&adjusts) > rules_get_limit_by_id(report, "tsc-adjust-unequal"))
		add_unequal_adjust_finding(report, &adjusts, larger, smaller, writer);
	else if (offset_abs(larger->facts.tsc_adjust) > rules_get_limit_by_id(report, "tsc-adjust"))
		rules_set_count(rules_add_finding(report, "tsc-adjust", "tsc", REPORT_NO_CORE,
						  "TSC_ADJUST is %s%ld ticks on %s%zu cores: %s wrote the TSC after reset.",
						  largest_tsc_adjust_difference(&adjusts) ? "up to " : "", larger->facts.tsc_adjust,
						  adjusts.known < report->cores_started ? "" : "all ", adjusts.cores, writer),
				offset_abs(larger->facts.tsc_adjust));
}
