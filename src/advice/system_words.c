/* The sentences on systems other than Linux. See system_words.h. The sources are named in systems.c. */
#include "advice/system_words.h"

#include "base/number.h"
#include "advice/recommend.h"
#include "advice/systems.h"
#include "rules/rules.h"

void
system_explain_xen(const struct report *, const struct report_taken *, struct text *reason)
{
	text_put(reason, "its platform timer is the first of HPET, PM timer and PIT that works; Xen calibrates the TSC by "
		 "it.");
}

void
system_explain_windows(const struct report *report, const struct report_taken *row, struct text *reason)
{
	const struct paravirtual_interface *hyperv = paravirtual_find(&report->facts.machine.paravirtual,
								      PARAVIRTUAL_HYPERV);

	if (text_equal(row->clock, "hv_page"))
		text_put(reason, "Hyper-V's reference time, which is read from a page of the hypervisor.");
	else if (text_equal(row->clock, "hv_ref"))
		text_put(reason, "Hyper-V's reference counter, which is read from an MSR: there is no page that may be used.");
	else if (text_equal(row->clock, "tsc"))
		text_put(reason, "the TSC is reported as invariant, and nothing was found against it.");
	else
		text_printf(reason, "the platform's counter, because the TSC is %s.",
			    report->facts.machine.tsc_is_invariant ?
			    "not reliable here" : "not reported as invariant");
	if (hyperv && hyperv->missing)
		text_printf(reason, " CPUID 40000003h lacks %s.", hyperv->missing);
	text_put(reason, " This follows from Microsoft's documentation; Windows was not run.");
}

const char *
system_explain_why_postgresql_avoids_tsc(const struct report *report)
{
	const char *linux_takes = report->advice.answer.linux_takes;

	if (!report_has_clock(report, "tsc") || !report->facts.machine.tsc_is_invariant)
		return "the TSC is not reported as invariant";
	if (!report_has_clock(report, "tsc_rdtscp"))
		return "there is no RDTSCP";
	if (!systems_has_tsc_adjust(report))
		return linux_takes && text_equal(linux_takes, "tsc") ? NULL :
		       "CPUID reports no TSC_ADJUST, and Linux's clocksource is not the TSC";
	return NULL;
}

/* Writes WHY the program of ROW reads Linux's clock, and which other clocks older kernels take. */
static void
put_use_of_linux_clock(struct text *reason, const struct report *report, const struct report_taken *row,
		       const char *why)
{
	text_printf(reason, "it reads Linux's clocksource, because %s.", why);
	for (size_t i = 0; i < report->advice.taken_count; i++) {
		const struct report_taken *kernel = &report->advice.taken[i];

		if ((!kernel->since && !kernel->until) || text_equal(kernel->clock, row->clock))
			continue;
		text_printf(reason, " On %s that is %s", kernel->system, kernel->clock);
		if (kernel->read_ps)
			text_printf(reason, " (%s)", phrase_read_cost(report, kernel->read_by).bytes);
		text_put_char(reason, '.');
	}
}

static void
put_error_of_loop(const struct report *report, struct text *reason)
{
	const struct calibration_figures *loop = recommend_find_calibration_loop(report, "postgresql");

	if (loop && loop->worst.known)
		text_printf(reason, "; if CPUID gives no rate, PostgreSQL measures it by a loop, whose largest error in %lu "
			    "run%s here was %s", loop->runs - loop->refused, loop->runs - loop->refused == 1 ? "" : "s",
			    recommend_describe_worst_error(loop).bytes);
}

void
system_explain_postgresql(const struct report *report, const struct report_taken *row, struct text *reason)
{
	const char *why_not = system_explain_why_postgresql_avoids_tsc(report);
	bool is_rdtscp_known = recommend_get_read_cost_ps(report, "tsc_rdtscp").value != 0;

	if (why_not) {
		put_use_of_linux_clock(reason, report, row, why_not);
		return;
	}
	text_printf(reason, "it reads the TSC directly, because the TSC is reported as invariant and %s",
		    systems_has_tsc_adjust(report) ? "CPUID reports TSC_ADJUST" : "Linux takes the TSC");
	if (row->read_ps && is_rdtscp_known)
		text_printf(reason, "; it executes RDTSC (%s) and RDTSCP (%s)", phrase_read_cost(report, row->read_by).bytes,
			    phrase_read_cost(report, "tsc_rdtscp").bytes);
	put_error_of_loop(report, reason);
	text_put_char(reason, '.');
}

void
system_explain_valkey(const struct report *report, const struct report_taken *row, struct text *reason)
{
	if (!report->facts.machine.tsc_is_invariant) {
		put_use_of_linux_clock(reason, report, row, "the TSC is not reported as invariant");
		return;
	}
	text_put(reason, "it reads the TSC directly on all cores, because the TSC is reported as invariant. It does not ask "
		 "whether Linux takes the TSC.");
	if (system_explain_safety_of_tsc(report, NULL) == TAKEN_UNSAFE)
		text_put(reason, " That is not safe here: timers may stop or fire at once (valkey issues 4345 and 4691). A "
			 "build with -DNO_PROCESSOR_CLOCK does not do it.");
}

/* The difference of one core's TSC from another's in ns. */
struct core_difference {
	const struct report_core *core, *other;
	struct offset ns;
};

/* Returns true if the TSC of RANK in PASS differs from the TSCs of most cores. */
static bool
is_core_off(const struct report *report, const struct report_pass *, size_t rank)
{
	return report_get_outcome_of_rank(report, rank)->off_majority;
}

/* Returns the core that differs most from a core of the majority; CORE is NULL if none is proven to differ. */
static struct core_difference
find_largest_core_difference(const struct report *report)
{
	const struct report_pass *pass = report_get_shown_pass(report);
	struct core_difference worst = { .core = NULL };
	size_t right = 0;

	if (pass->offsets.cores < 2)
		return worst;
	while (right < pass->offsets.cores && is_core_off(report, pass, right))
		right++;
	if (right == pass->offsets.cores || !report_count_core_faults(report).off_majority) {
		worst.core = report_get_core_of_rank(report, pass->summary.worst_b);
		worst.other = report_get_core_of_rank(report, pass->summary.worst_a);
		worst.ns = report_offset_to_ns(report, pass->summary.worst);
	}
	for (size_t rank = 0; rank < pass->offsets.cores && !worst.other; rank++) {
		struct offset ns = report_offset_to_ns(report, report_get_offset_of_ranks(&pass->offsets, right, rank));

		if (is_core_off(report, pass, rank) && (!worst.core || offset_is_worse(ns, worst.ns))) {
			worst.core = report_get_core_of_rank(report, rank);
			worst.ns = ns;
		}
	}
	if (!offset_excludes_zero(worst.ns))
		worst.core = NULL;
	return worst;
}

static void
put_core_difference(struct text *reason, const struct core_difference *found)
{
	uint64_t ns = offset_min_abs(found->ns);
	bool ahead = found->ns.low > 0;

	text_printf(reason, "core %u is ", found->core->apic_id);
	text_printf(reason, "%s%s", phrase_bound_ns(ns).bytes, ahead ? " ahead" : " behind");
	if (found->other)
		text_printf(reason, "%s core %u", ahead ? " of" : "", found->other->apic_id);
}

const char *
system_find_rule_against_tsc(const struct report *report)
{
	static const char *const faults[] = { "tsc-offset", "tsc-warp", "tsc-drift", "clock-backward", "clock-jumped",
					      "rate-changed" };

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (rules_find_finding(report, faults[i], "tsc"))
			return faults[i];
	return NULL;
}

/* Returns why it is not proven that a program may read the TSC on all cores; NULL if it is proven. */
static const char *
explain_missing_proof(const struct report *report)
{
	if (rules_find_finding(report, "clocks-parted", NULL))
		return "the clocks diverged, and nothing shows whether the TSC was right";
	if (report->facts.machine.cores_started < report->facts.machine.cores_listed)
		return "not all cores were started";
	if (report->facts.machine.cores_started > 1 && report->outcomes.sync.one_is_exact)
		return "only one of two passes was exact enough to show that the cores' TSCs agree";
	if (report->facts.machine.cores_started > 1 &&
	    !(report->outcomes.sync.synchronised && report->outcomes.sync.within_known))
		return "it is not determined whether the cores' TSCs agree";
	if (!report->facts.machine.tsc_is_invariant && !report_is_guest(report))
		return "the TSC is not reported as invariant, so it may stop or change its rate";
	return report->facts.run.incomplete ? "the run did not end" : NULL;
}

enum taken_safety
system_explain_safety_of_tsc(const struct report *report, struct text *reason)
{
	const char *rule = system_find_rule_against_tsc(report), *why = explain_missing_proof(report);
	struct core_difference found = find_largest_core_difference(report);
	enum taken_safety safety = rule ? TAKEN_UNSAFE : why ? TAKEN_SAFETY_UNPROVEN : TAKEN_SAFE;

	if (!reason)
		return safety;
	if (safety == TAKEN_SAFE) {
		text_put(reason, "safe on all cores");
	} else if (safety == TAKEN_SAFETY_UNPROVEN) {
		text_printf(reason, "not proven: %s", why);
	} else {
		text_put(reason, "not safe: ");
		if (found.core)
			put_core_difference(reason, &found);
		else
			text_printf(reason, "see %s", rule);
	}
	text_put_char(reason, '.');
	return safety;
}

void
system_explain_reader_of_tsc(const struct report *report, const struct report_taken *, struct text *reason)
{
	system_explain_safety_of_tsc(report, reason);
}
