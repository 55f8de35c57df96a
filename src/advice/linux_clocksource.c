/*
 * Predicts which clocksource Linux takes. Its criteria are the ratings of its clocksources, and its reasons to mark the
 * TSC unstable or to trust it. The ratings are from arch/x86/kernel/tsc.c, kvmclock.c, hpet.c, arch/x86/xen/time.c,
 * drivers/clocksource/acpi_pm.c and hyperv_timer.c, and are part of each driver's struct clock.
 *
 * Read in Debian's linux-source-6.1 (6.1.192) and linux-source-6.12 (6.12.117), and in the patch "clocksource: Rewrite
 * watchdog code completely" (763aacf86f1b, Linux 7.1). See systems.h.
 */
#include "advice/systems.h"

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "advice/recommend.h"
#include "rules/rules.h"

#define TSC_RATING 300 /* Linux's rating of the TSC, whether it is invariant or not */

static const struct {
	const char *id, *name; /* baretick's id of the clock, and Linux's name */
} linux_names[] = {
	{ "tsc", "tsc" }, { "hpet", "hpet" }, { "acpi_pm", "acpi_pm" }, { "kvmclock", "kvm-clock" },
	{ "hv_ref", "hyperv_clocksource_msr" }, { "hv_page", "hyperv_clocksource_tsc_page" },
	{ "xen", "xen" },
};

const char *
linux_get_clocksource_name(const char *id)
{
	for (size_t i = 0; i < sizeof(linux_names) / sizeof(linux_names[0]); i++)
		if (text_equal(linux_names[i].id, id))
			return linux_names[i].name;
	return NULL;
}

/*
 * Returns true if CLOCK belongs to the hypervisor interface that Linux uses. If there are several interfaces, Linux
 * uses the one with the highest CPUID leaves: arch/x86/kernel/cpu/hypervisor.c.
 */
static bool
is_used_by_linux(const struct report *report, const struct clock *clock)
{
	const struct paravirtual *all = &report->facts.machine.paravirtual;

	return !clock->by_tsc || (all->count && all->interfaces[all->count - 1].kind == clock->paravirtual.offered_by);
}

static bool
is_tsc(const struct clock *clock)
{
	return text_equal(clock->id, "tsc");
}

static unsigned
get_linux_rating(const struct clock *clock)
{
	return is_tsc(clock) ? TSC_RATING : clock->rating;
}

/* Returns true if CLOCK works when Linux starts. A clock that worked at first, and stopped later in the run, counts. */
static bool
works_at_start(const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT || entry->clock.paravirtual.falls_back ||
	       (entry->clock.state == CLOCK_STUCK && entry->failed_tsc);
}

/*
 * Returns the clock that Linux rates highest, without the clock NOT, and without the TSC unless USE_TSC is set. Linux
 * switches off an HPET that PC10 stops: hpet_is_pc10_damaged() in arch/x86/kernel/hpet.c.
 */
static const struct clock *
find_best_rated_clock(const struct report *report, const struct clock *not, bool use_tsc)
{
	const struct clock *found = NULL;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;

		if (clock == not || !works_at_start(&report->facts.clocks[i]) ||
		    !linux_get_clocksource_name(clock->id) || !is_used_by_linux(report, clock) ||
		    (is_tsc(clock) && !use_tsc) || rules_find_finding(report, "hpet-pc10", clock->id))
			continue;
		if (!found || get_linux_rating(clock) > get_linux_rating(found))
			found = clock;
	}
	return found;
}

/*
 * Returns true if Linux distrusts the TSC without a check: unsynchronized_tsc() in arch/x86/kernel/tsc.c. 6.1.192 asks
 * for num_possible_cpus() > 1. Since e7ff4ebffe3b (6.12) it asks for topology_max_packages() > 1.
 */
static bool
is_tsc_distrusted(const struct report *report, const struct linux_versions *versions)
{
	return report->facts.machine.linux_distrusts_tsc &&
	       (!versions->counts_packages || systems_count_packages(report) > 1);
}

/*
 * Returns whether the watchdog compares the TSC with CHOICE->reference. check_system_tsc_reliable() in
 * arch/x86/kernel/tsc.c switches it off; cpu/vmware.c sets TSC_RELIABLE, which does the same. In Linux 7.1
 * watchdog_check_freq() in kernel/time/clocksource.c drops a reading if two reads of the reference are more than 50 us
 * apart (WATCHDOG_READOUT_MAX_NS).
 */
static enum linux_watch
find_watch(const struct report *report, const struct linux_versions *versions, const struct linux_choice *choice)
{
	if (text_equal(report->facts.machine.hypervisor, "VMwareVMware") ||
	    (report->facts.machine.tsc_is_invariant && systems_has_tsc_adjust(report) &&
	     systems_count_packages(report) <= versions->unwatched_packages_max))
		return LINUX_TRUSTS_TSC;
	if (!choice->reference)
		return LINUX_LACKS_REFERENCE;
	if (versions->reference_read_ns_max &&
	    choice->reference_read_ps > versions->reference_read_ns_max * PS_PER_NS)
		return LINUX_REFERENCE_IS_TOO_SLOW;
	return LINUX_WATCHES_TSC;
}

struct linux_choice
linux_choose_clocksource(const struct report *report, const struct linux_versions *versions)
{
	struct linux_choice choice = { .reference = find_best_rated_clock(report, NULL, false) };

	if (choice.reference && report->figures.tsc.den)
		choice.reference_read_ps = (uint64_t)recommend_get_read_cost_ps(report,
						systems_get_linux_read_row(report, choice.reference->id)).value;
	choice.watch = find_watch(report, versions, &choice);
	if (report_has_clock(report, "tsc"))
		choice.tsc = is_tsc_distrusted(report, versions) ? LINUX_TSC_UNSYNCHRONIZED : LINUX_TSC_KEPT;
	choice.first = find_best_rated_clock(report, NULL, choice.tsc == LINUX_TSC_KEPT);
	if (choice.first && is_tsc(choice.first))
		choice.response = linux_respond_to_faults(report, versions, &choice);
	if (choice.response.drops_tsc)
		choice.tsc = choice.response.by_check ? LINUX_TSC_WARPS : LINUX_TSC_DROPPED;
	choice.first = find_best_rated_clock(report, NULL, choice.tsc == LINUX_TSC_KEPT);
	if (choice.first && !is_tsc(choice.first))
		linux_add_faults_of_taken_clock(report, choice.first, &choice.response);
	if (choice.first)
		choice.next = find_best_rated_clock(report, choice.first, choice.tsc == LINUX_TSC_KEPT);
	return choice;
}

/*
 * Returns a clause on Linux's choice of FIRST over NEXT (may be NULL), or "". If one of them is the TSC and the other a
 * clock of the hypervisor, the clause explains why. Otherwise it may explain why Linux may later stop using the TSC.
 * For Hyper-V's clocks, Linux does not ask whether CPUID 80000007h reports the TSC as invariant. It asks for
 * AccessTscInvariantControls (CPUID 40000003h EAX[15]): drivers/clocksource/hyperv_timer.c.
 */
static const char *
explain_linux_preference(const struct report *report, const struct clock *first, const struct clock *next)
{
	bool above = report_has_clock(report, "tsc") && first->by_tsc && get_linux_rating(first) > TSC_RATING;
	bool below = is_tsc(first) && next && next->by_tsc;
	const struct clock *other = above ? first : next;
	bool hyperv = (above || below) && other->paravirtual.offered_by == PARAVIRTUAL_HYPERV;

	if (hyperv && above)
		return "; Hyper-V does not offer control of an invariant TSC (CPUID 40000003h), so its clock comes first";
	if (hyperv)
		return "; if Hyper-V offers control of an invariant TSC (CPUID 40000003h), Linux ranks its clock below the TSC";
	if (above && first->paravirtual.offered_by == PARAVIRTUAL_XEN && report->facts.machine.tsc_is_invariant)
		return "; Xen may emulate the TSC, so Linux takes Xen's clock first";
	if (above)
		return "; the TSC is not reported as invariant, so the hypervisor's clock comes first";
	if (below && next->paravirtual.offered_by == PARAVIRTUAL_XEN)
		return "; if the TSC is reported as invariant and Xen never emulates the TSC, Linux ranks Xen's clock "
			"below the TSC";
	if (below)
		return "; if the TSC is reported as invariant, Linux ranks the hypervisor's clock below the TSC";
	if (is_tsc(first) && !report->facts.machine.tsc_is_invariant && !report_is_guest(report))
		return "; Linux marks the TSC unstable once a core sleeps deeply, because the TSC is not reported as "
			"invariant";
	return "";
}

/* Lists clocks that rank above FIRST but are absent or do not work. */
static void
put_higher_rated_missing_clocks(struct text *text, const struct report *report, const struct clock *first)
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;

		if (!works_at_start(&report->facts.clocks[i]) && linux_get_clocksource_name(clock->id) &&
		    is_used_by_linux(report, clock) && get_linux_rating(clock) > get_linux_rating(first))
			text_printf(text, "; %s, %u, is %s", linux_get_clocksource_name(clock->id),
				    get_linux_rating(clock), clock_state_words[clock->state]);
	}
}

/* Writes why Linux marks the TSC unstable. The texts in quotation marks are its messages. */
static void
put_distrust_of_tsc(struct text *text, const struct linux_versions *versions, const struct linux_choice *choice)
{
	switch (choice->tsc) {
	case LINUX_TSC_UNSYNCHRONIZED:
		text_printf(text, "; Linux marks the TSC unstable: the CPU is not Intel's, has several %s, and reports no "
			    "invariant TSC (\"TSCs unsynchronized\")", versions->counts_packages ? "packages" : "cores");
		break;
	case LINUX_TSC_WARPS:
		text_put(text, "; Linux marks the TSC unstable: its check of two cores finds warps "
			 "(\"check_tsc_sync_source failed\")");
		break;
	case LINUX_TSC_DROPPED:
		text_printf(text, "; Linux's watchdog, which compares it with %s, marks the TSC unstable",
			    choice->reference->id);
		break;
	default:
		break;
	}
}

/* Returns the size of ERROR as "2.0 %" or "120 ppm". */
static struct phrase
describe_error(const struct interval_ppb *error)
{
	uint64_t ppb = (uint64_t)(error->value < 0 ? -error->value : error->value);

	if (ppb >= 10000000)
		return phrase("%s %%", number_as_percent(ppb, 1000000000, 1).text);
	return phrase("%lu ppm", (ppb + PPB_PER_PPM / 2) / PPB_PER_PPM);
}

/* Writes what Linux does about the faults that were found. */
static void
put_response(struct text *text, const struct linux_versions *versions, const struct linux_choice *choice)
{
	const struct response *response = &choice->response;
	bool keeps_tsc = choice->first && is_tsc(choice->first);

	if (response->notices == TAKEN_NOTICES_UNKNOWN)
		return;
	if (keeps_tsc && choice->watch == LINUX_TRUSTS_TSC && response->notices == TAKEN_NOTICES_NO)
		text_printf(text, " Linux does not watch this TSC and keeps it, although it breaks the rule %s%s%s%s.",
			    response->rule, versions->watch_option ? " (" : "",
			    versions->watch_option ? versions->watch_option : "",
			    versions->watch_option ? " makes Linux watch it)" : "");
	else if (response->repairs)
		text_put(text, " Linux notices that the cores differ, and makes their TSCs equal by TSC_ADJUST.");
	else if (response->notices == TAKEN_NOTICES_NO)
		text_printf(text, " It does not notice %s (%s).", response->rule, response->clock);
	else if (response->notices == TAKEN_NOTICES_PERHAPS)
		text_printf(text, " It may notice %s (%s), depending on its size and time.", response->rule, response->clock);
	if (response->blames == TAKEN_BLAMES_WRONG)
		text_printf(text, " It blames the wrong clock: %s is wrong, and not the TSC.", response->clock);
	if (choice->first && choice->first->state == CLOCK_STUCK)
		text_put(text, " Its time then stands still.");
	if (response->error.known && response->error.value)
		text_printf(text, " Its seconds are then %s too %s.", describe_error(&response->error).bytes,
			    response->error.value > 0 ? "short" : "long");
}

static void
put_limits_of_watchdog(struct text *text, const struct report *report, const struct linux_versions *versions,
		       const struct linux_choice *choice)
{
	if (!is_tsc(choice->first))
		return;
	if (choice->watch == LINUX_REFERENCE_IS_TOO_SLOW)
		text_printf(text, " It cannot check the TSC here: a read of %s takes %s (limit %lu us).", choice->reference->id,
			    number_from_ps(choice->reference_read_ps).text, versions->reference_read_ns_max / 1000);
	else if (choice->watch == LINUX_WATCHES_TSC && versions->pm_timer_may_drop_tsc &&
		 report_is_guest(report) &&
		 text_equal(choice->reference->id, "acpi_pm"))
		text_put(text, " This holds if the watchdog, which compares it with acpi_pm, does not drop it on a busy host.");
}

void
linux_explain_choice(const struct report *report, const struct linux_versions *versions, struct text *reason)
{
	struct linux_choice choice = linux_choose_clocksource(report, versions);

	text_printf(reason, "clocksource %s, rating %u", linux_get_clocksource_name(choice.first->id),
		    get_linux_rating(choice.first));
	if (choice.next)
		text_printf(reason, ", before %s, %u", linux_get_clocksource_name(choice.next->id),
			    get_linux_rating(choice.next));
	/*
	 * Linux registers this clocksource even without a valid page. read_hv_clock_tsc() in hyperv_timer.c then reads
	 * the MSR.
	 */
	if (choice.first->paravirtual.falls_back)
		text_put(reason, "; the sequence number of the clock's page is 0, so each read of the clock reads the "
			"MSR");
	put_higher_rated_missing_clocks(reason, report, choice.first);
	put_distrust_of_tsc(reason, versions, &choice);
	text_printf(reason, "%s.", explain_linux_preference(report, choice.first, choice.next));
	put_limits_of_watchdog(reason, report, versions, &choice);
	put_response(reason, versions, &choice);
}
