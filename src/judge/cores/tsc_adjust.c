/* Judges IA32_TSC_ADJUST: the ticks that software has added to a core's TSC since reset. See judge_cores.h. */
#include "judge/cores/judge_cores.h"
#include "rules/rules.h"

/*
 * Returns the APIC id of the only core whose value differs, or REPORT_NO_CORE. All other cores must have the same
 * value, and must be more than half of the started cores. (A run that ended at its deadline may have read the registers
 * of only a few cores.) With several packages it is not known which core was written.
 */
static uint32_t
find_core_with_differing_adjust(const struct report *report, const struct tsc_adjusts *adjusts)
{
	if (adjusts->packages > 1 || adjusts->cores < 3 ||
	    adjusts->cores - 1 <= report->facts.machine.cores_started / 2 ||
	    adjusts->least_count + adjusts->most_count != adjusts->cores)
		return REPORT_NO_CORE;
	if (adjusts->most_count == 1)
		return adjusts->most->apic_id;
	return adjusts->least_count == 1 ? adjusts->least->apic_id : REPORT_NO_CORE;
}

/* Adds a finding on LARGER and SMALLER, the two extreme values. WRITER is the program that may have written them. */
static void
add_unequal_adjust_finding(const struct report *report, struct outcomes *outcomes, const struct tsc_adjusts *adjusts,
			   const struct report_core *larger, const struct report_core *smaller, const char *writer)
{
	uint32_t odd = find_core_with_differing_adjust(report, adjusts);
	struct finding *finding = rules_add_finding(report, outcomes, "tsc-adjust-unequal", "tsc", odd,
						    "TSC_ADJUST is %ld ticks on core %u and %ld on core %u: %s wrote their "
						    "TSCs differently.", larger->facts.tsc_adjust, larger->apic_id,
						    smaller->facts.tsc_adjust, smaller->apic_id, writer);

	rules_set_count(finding, report_get_adjust_difference(larger, smaller));
	if (odd == REPORT_NO_CORE)
		rules_set_pair_of_cores(finding, larger->apic_id, smaller->apic_id);
}

/*
 * Adds a finding if the boot core's package has a value that is not 0. Linux sets the boot core's value to 0. Other
 * packages may be reset at another time, so their values may differ from 0.
 */
static void
judge_adjust_of_boot_package(const struct report *report, struct outcomes *outcomes, const struct tsc_adjusts *adjusts,
			     const char *writer)
{
	const struct report_core *core = adjusts->packages > 1 ? report->facts.cores :
					 offset_abs(adjusts->least->facts.tsc_adjust) >
					 offset_abs(adjusts->most->facts.tsc_adjust) ? adjusts->least : adjusts->most;
	bool all = adjusts->packages == 1;
	bool differ = report_get_adjust_difference(adjusts->most, adjusts->least) != 0;
	struct finding *finding;

	if (offset_abs(core->facts.tsc_adjust) <= rules_get_limit_by_id(report, "tsc-adjust"))
		return;
	if (all || !differ)
		finding = rules_add_finding(report, outcomes, "tsc-adjust", "tsc", REPORT_NO_CORE,
					    "TSC_ADJUST is %s%ld ticks on %s%zu cores: %s wrote the TSC after reset.",
					    differ ? "up to " : "", core->facts.tsc_adjust,
					    adjusts->known < report->facts.machine.cores_started ? "" : "all ",
						    adjusts->cores, writer);
	else
		finding = rules_add_finding(report, outcomes, "tsc-adjust", "tsc", REPORT_NO_CORE,
					    "TSC_ADJUST is %ld ticks in the package of the boot core: %s wrote the TSC after "
					    "reset.", core->facts.tsc_adjust, writer);
	rules_set_count(finding, offset_abs(core->facts.tsc_adjust));
}

/*
 * Reports unequal values within a package or, if all are equal, a value that is not 0. Unequal values are the worse
 * fault, and one finding is enough.
 */
void
judge_tsc_adjust(const struct report *report, struct outcomes *outcomes)
{
	struct tsc_adjusts adjusts = report_collect_tsc_adjusts(report);
	const struct report_core *larger = adjusts.packages > 1 ? adjusts.odd : adjusts.most;
	const struct report_core *smaller = adjusts.packages > 1 ? adjusts.first : adjusts.least;
	const char *writer = report_is_guest(report) ? "the firmware or the hypervisor" : "the firmware";

	if (!adjusts.cores)
		return;
	if (larger && offset_abs(smaller->facts.tsc_adjust) > offset_abs(larger->facts.tsc_adjust)) {
		const struct report_core *other = larger;

		larger = smaller;
		smaller = other;
	}
	if (larger && report_get_adjust_difference(larger, smaller) > rules_get_limit_by_id(report, "tsc-adjust-unequal"))
		add_unequal_adjust_finding(report, outcomes, &adjusts, larger, smaller, writer);
	else
		judge_adjust_of_boot_package(report, outcomes, &adjusts, writer);
}
