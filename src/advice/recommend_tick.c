/*
 * Finds which timer Linux takes for its tick, by the ratings of its clock event devices as of 6.6. See recommend.h.
 *
 * - arch/x86/kernel/apic/apic.c, setup_APIC_timer(): rating 100, or 150 if the LAPIC timer never stops. Linux uses its
 * TSC-deadline mode if CPUID has it.
 *
 * - hpet.c: rating 110 for a comparator that sends its interrupts as messages, if the LAPIC timer may stop. Rating 50
 * for the comparator that replaces the PIT.
 *
 * - drivers/clocksource/i8253.c (the PIT): rating 0. hyperv_timer.c: rating 1000. arch/x86/xen/time.c: rating 500.
 */
#include "advice/recommend.h"

#include "base/text.h"
#include "base/units.h"
#include "rules/rules.h"

#define SHOT_NS         UINT64_C(100000)
#define RATING_RUNS     150u
#define RATING_MAY_STOP 100u

/*
 * Returns the boot core's test of SOURCE with one-shots of 100 us. Without such a test, returns the boot core's first
 * test of SOURCE, or NULL if there is none.
 */
static const struct interval_figures *
find_timer_test(const struct report *report, const char *source)
{
	const struct interval_figures *first = NULL;

	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];

		if (!text_equal(row->test.source, source) ||
		    (report->facts.core_count && row->test.core != report->facts.cores[0].apic_id))
			continue;
		if (!row->test.periodic && row->test.asked_ns == SHOT_NS)
			return row;
		if (!first)
			first = row;
	}
	return first;
}

static bool
is_timer_tested(const struct report *report, const char *source)
{
	const struct interval_figures *row = find_timer_test(report, source);

	return row && row->state == CLOCK_PRESENT;
}

/*
 * Returns true if the report has the clock ID, or if its interrupt source SOURCE was tested. The option clocks= may
 * exclude the clock, but it does not exclude interrupts.
 */
static bool
has_clock_or_tested_timer(const struct report *report, const char *id, const char *source)
{
	return report_has_clock(report, id) || is_timer_tested(report, source);
}

/*
 * Writes how late the timer's interrupts are. The sentence only informs the reader: Linux does not choose its timer by
 * these figures.
 */
static void
put_lateness(const struct report *report, struct text *reason, const struct interval_figures *row)
{
	size_t passed = rules_count_outcomes(report, row->test.source, OUTCOME_PASSED);
	size_t tests = passed + rules_count_outcomes(report, row->test.source, OUTCOME_NOT_DETERMINED) +
		       rules_count_outcomes(report, row->test.source, OUTCOME_NOT_CHECKED);
	bool named = false;

	if (row->lateness.count)
		text_printf(reason, " Half of the timer's %s of %lu us %s.", row->test.periodic ? "periods" : "one-shots",
			    row->test.asked_ns / NS_PER_US, phrase_median_lateness(&row->lateness).bytes);
	else
		text_put(reason, " No figure of this run shows how late the timer's interrupts come.");
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (finding->clock && text_equal(finding->clock, row->test.source)) {
			text_printf(reason, named ? ", %s" : " But see %s", finding->rule);
			named = true;
		}
	}
	if (!named && tests)
		text_printf(reason, " Of %zu tests of the timer's interrupts, %zu passed and none failed.", tests, passed);
	else if (named)
		text_printf(reason, ": %s.", text_equal(row->test.source, "lapic_deadline") ?
			    "lapic=notscdeadline lets Linux use the timer without TSC deadlines" : "nolapic_timer "
			    "makes Linux use another timer");
}

/*
 * Returns the timer of the hypervisor interface that Linux uses. If there are several interfaces, Linux uses the one
 * with the highest CPUID leaves: arch/x86/kernel/cpu/hypervisor.c.
 */
static const char *
describe_hypervisor_timer(const struct report *report)
{
	const struct paravirtual *all = &report->facts.machine.paravirtual;

	if (!all->count)
		return "";
	switch (all->interfaces[all->count - 1].kind) {
	case PARAVIRTUAL_HYPERV: return " If Hyper-V offers its own timer, Linux takes that (rating 1000).";
	case PARAVIRTUAL_XEN: return " If Xen's own timer is available, Linux takes it (rating 500).";
	default: return "";
	}
}

/* Writes which timer wakes a core whose own timer has stopped. */
static void
put_timer_that_wakes_core(const struct report *report, struct text *reason)
{
	text_put(reason, ", but it may stop in deep sleep (CPUID 6 EAX[2] is 0");
	text_put(reason, report_is_guest(report) ? ", as reported by the hypervisor)" : ")");
	if (has_clock_or_tested_timer(report, "hpet", "hpet0"))
		text_put(reason, "; then the HPET (rating 50) wakes the core.");
	else if (has_clock_or_tested_timer(report, "pit", "pit0"))
		text_put(reason, "; then the PIT (rating 0) wakes the core.");
	else
		text_put(reason, ", and no HPET or PIT that could wake the core was tested.");
	if (is_timer_tested(report, "hpet_fsb"))
		text_put(reason, " If the HPET's third or a later comparator can send its interrupt to a core as a "
				 "message, that core uses it (rating 110).");
}

static void
predict_lapic_timer(const struct report *report, struct advice *advice, struct text *reason, bool deadline)
{
	const char *source = deadline ? "lapic_deadline" : "lapic";

	advice->tick.source = source;
	text_printf(reason, "Linux's %s, rated %u: each core has its own", deadline ? "lapic-deadline" : "lapic",
		    report->facts.machine.lapic_always_runs ? RATING_RUNS : RATING_MAY_STOP);
	if (deadline)
		text_put(reason, ", which compares with the TSC");
	if (report->facts.machine.lapic_always_runs)
		text_put(reason, ", and it runs in deep sleep, too.");
	else
		put_timer_that_wakes_core(report, reason);
	text_put(reason, describe_hypervisor_timer(report));
	put_lateness(report, reason, find_timer_test(report, source));
}

/* Writes which timer all cores share, if their local APIC timers cannot be used. */
static void
predict_shared_timer(const struct report *report, struct advice *advice, struct text *reason)
{
	bool hpet = has_clock_or_tested_timer(report, "hpet", "hpet0");

	if (!hpet && !has_clock_or_tested_timer(report, "pit", "pit0")) {
		text_put(reason, "No usable timer is known: the local APIC's timer can't be used, and no HPET or PIT "
			 "was tested.");
		return;
	}
	advice->tick.source = hpet ? "hpet0" : "pit0";
	text_printf(reason, "Linux's %s: all cores share this timer, because the local APIC's timer can't be used.",
		    hpet ? "hpet, rated 50" : "pit, rated 0");
	text_put(reason, describe_hypervisor_timer(report));
	if (is_timer_tested(report, advice->tick.source))
		put_lateness(report, reason, find_timer_test(report, advice->tick.source));
}

void
recommend_predict_tick_timer(const struct report *report, struct advice *advice)
{
	advice->tick.source = NULL;
	struct text reason = text_start(advice->tick.reason, sizeof(advice->tick.reason));
	if (!find_timer_test(report, "lapic"))
		return; /* if no timer was tested, nothing is known */
	if (is_timer_tested(report, "lapic_deadline"))
		predict_lapic_timer(report, advice, &reason, true);
	else if (is_timer_tested(report, "lapic"))
		predict_lapic_timer(report, advice, &reason, false);
	else
		predict_shared_timer(report, advice, &reason);
}
