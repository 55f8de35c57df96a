/*
 * Finds which clock Linux, Windows and PostgreSQL take here, by their own criteria. Linux's criteria are the ratings of
 * its clocksources as of 6.6, and its reasons to mark the TSC unstable. The ratings are from arch/x86/kernel/tsc.c,
 * kvmclock.c, hpet.c, arch/x86/xen/time.c, drivers/clocksource/acpi_pm.c and hyperv_timer.c, and are part of each
 * driver's struct clock. For Windows the source is Microsoft, "Acquiring high-resolution time stamps", and for
 * partition reference time the Hyper-V TLFS.
 */
#include "judge/recommend/recommend.h"

#include "base/number.h"
#include "base/text.h"
#include "rules/rules.h"

#define TSC_RATING 300 /* Linux's rating of the TSC, whether it is invariant or not */

static const struct {
	const char *id, *name; /* baretick's id of the clock, and Linux's name */
} linux_names[] = {
	{ "tsc", "tsc" }, { "hpet", "hpet" }, { "acpi_pm", "acpi_pm" }, { "kvmclock", "kvm-clock" },
	{ "hv_ref", "hyperv_clocksource_msr" }, { "hv_page", "hyperv_clocksource_tsc_page" },
	{ "xen", "xen" },
};

static const char *
linux_clocksource_name(const char *id)
{
	for (size_t i = 0; i < sizeof(linux_names) / sizeof(linux_names[0]); i++)
		if (text_equal(linux_names[i].id, id))
			return linux_names[i].name;
	return NULL;
}

struct phrase
recommend_explain_unstable_tsc(const struct report *report)
{
	static const char *const watched_rules[] = { "clock-stuck", "clock-backward", "clock-jumped", "rate-changed" };
	struct phrase why = { "" };
	bool watched = false;

	if (report->linux_distrusts_tsc)
		why = phrase("the CPU is not Intel's, has several cores, and reports no invariant TSC "
			     "(\"Marking TSC unstable due to TSCs unsynchronized\")");
	/* if Linux already distrusts the TSC, it does not run its check of two cores: arch/x86/kernel/tsc_sync.c */
	else if (report_count_warps(&report->skew))
		why = phrase("Linux's check of two cores finds warps (\"Marking TSC unstable due to "
			"check_tsc_sync_source failed\")");
	for (size_t i = 0; i < sizeof(watched_rules) / sizeof(watched_rules[0]); i++)
		watched |= rules_find_finding(report, watched_rules[i], "tsc") != NULL;
	if (watched)
		phrase_add(&why, "%sLinux's watchdog sees the TSC stop, jump or change its rate (\"Marking TSC "
			   "unstable due to clocksource watchdog\")", why.bytes[0] ? ", and " : "");
	return why;
}

/*
 * Returns true if CLOCK belongs to the hypervisor interface that Linux uses. If there are several interfaces, Linux
 * uses the one with the highest CPUID leaves: arch/x86/kernel/cpu/hypervisor.c.
 */
static bool
is_used_by_linux(const struct report *report, const struct clock *clock)
{
	const struct paravirtual *all = &report->paravirtual;

	return !clock->by_tsc || (all->count && all->interfaces[all->count - 1].kind == clock->paravirtual.offered_by);
}

static unsigned
get_linux_rating(const struct clock *clock)
{
	return text_equal(clock->id, "tsc") ? TSC_RATING : clock->rating;
}

/* Returns the clock that Linux rates highest, without the clock NOT. Returns NULL if none was tested. */
static const struct clock *
find_best_rated_clock(const struct report *report, const struct clock *not)
{
	const struct clock *found = NULL;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct clock *clock = &report->clocks[i].clock;

		if (clock == not || (clock->state != CLOCK_PRESENT && !clock->paravirtual.falls_back) ||
		    !linux_clocksource_name(clock->id) || !is_used_by_linux(report, clock) ||
		    (text_equal(clock->id, "tsc") && recommend_explain_unstable_tsc(report).bytes[0]))
			continue;
		if (!found || get_linux_rating(clock) > get_linux_rating(found))
			found = clock;
	}
	return found;
}

static struct text
add_row_of_chosen_clock(struct report *report, const char *system, const char *clock)
{
	struct report_taken *row = &report->taken[report->taken_count++];
	struct text text;

	row->system = system;
	row->clock = clock;
	text_init(&text, row->reason, sizeof(row->reason));
	return text;
}

/*
 * Returns a clause on Linux's choice of FIRST over NEXT (may be NULL), or "". If one of them is the TSC and the other a
 * clock of the hypervisor, the clause explains why. Otherwise it may explain why Linux may later stop using the TSC.
 */
static const char *
explain_linux_preference(const struct report *report, const struct clock *first, const struct clock *next)
{
	bool above = report_has_clock(report, "tsc") && first->by_tsc && get_linux_rating(first) > TSC_RATING;
	bool below = text_equal(first->id, "tsc") && next && next->by_tsc;

	if (above && first->paravirtual.offered_by == PARAVIRTUAL_XEN && report->tsc_is_invariant)
		return "; Xen may emulate the TSC, so Linux takes Xen's clock first";
	if (above)
		return "; the TSC is not reported as invariant, so the hypervisor's clock comes first";
	if (below && next->paravirtual.offered_by == PARAVIRTUAL_XEN)
		return "; if the TSC is reported as invariant and Xen never emulates the TSC, Linux ranks Xen's clock "
			"below the TSC";
	if (below)
		return "; if the TSC is reported as invariant, Linux ranks the hypervisor's clock below the TSC";
	if (text_equal(first->id, "tsc") && !report->tsc_is_invariant && !report->hypervisor[0])
		return "; Linux marks the TSC unstable once a core sleeps deeply, because the TSC is not reported as "
			"invariant";
	return "";
}

/* Lists clocks that rank above FIRST but are absent or do not work. */
static void
put_higher_rated_missing_clocks(struct text *text, const struct report *report, const struct clock *first)
{
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct clock *clock = &report->clocks[i].clock;

		if (clock->state != CLOCK_PRESENT && !clock->paravirtual.falls_back &&
		    linux_clocksource_name(clock->id) && is_used_by_linux(report, clock) &&
		    get_linux_rating(clock) > get_linux_rating(first))
			text_printf(text, "; %s, %u, is %s", linux_clocksource_name(clock->id), get_linux_rating(clock),
				    clock_state_word(clock->state));
	}
}

static void
predict_clock_of_linux(struct report *report)
{
	const struct clock *first = find_best_rated_clock(report, NULL);
	const struct clock *next = first ? find_best_rated_clock(report, first) : NULL;
	struct phrase unstable = recommend_explain_unstable_tsc(report);
	struct text text;

	if (!first)
		return;
	report->answer.linux_takes = first->id;
	text = add_row_of_chosen_clock(report, "Linux", first->id);
	text_printf(&text, "clocksource %s, rating %u", linux_clocksource_name(first->id), get_linux_rating(first));
	if (next)
		text_printf(&text, ", before %s, %u", linux_clocksource_name(next->id), get_linux_rating(next));
	/*
	 * Linux registers this clocksource even without a valid page. read_hv_clock_tsc() in hyperv_timer.c then reads
	 * the MSR.
	 */
	if (first->paravirtual.falls_back)
		text_put(&text, "; the sequence number of the clock's page is 0, so each read of the clock reads the "
			"MSR");
	put_higher_rated_missing_clocks(&text, report, first);
	if (unstable.bytes[0] && report_has_clock(report, "tsc"))
		text_printf(&text, "; Linux marks the TSC unstable: %s", unstable.bytes);
	text_printf(&text, "%s.", explain_linux_preference(report, first, next));
}

/*
 * Finds the clock that Windows takes. Of all hypervisors' interfaces, Windows uses only Hyper-V's; the row names a
 * clock feature that this interface lacks. A TSC that Linux would mark unstable counts as unsuited for Windows, too.
 */
static void
predict_clock_of_windows(struct report *report)
{
	const struct paravirtual_interface *hyperv = paravirtual_find(&report->paravirtual, PARAVIRTUAL_HYPERV);
	bool tsc = report_has_clock(report, "tsc") && report->tsc_is_invariant &&
		   !recommend_explain_unstable_tsc(report).bytes[0];
	const char *const order[] = { "hv_page", "hv_ref", tsc ? "tsc" : "hpet", "hpet", "acpi_pm" };
	const char *id = NULL;
	struct text text;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !id; i++)
		if (report_has_clock(report, order[i]))
			id = order[i];
	if (!id)
		return;
	text = add_row_of_chosen_clock(report, "Windows", id);
	if (text_equal(id, "hv_page"))
		text_put(&text, "Hyper-V's reference time, which is read from a page of the hypervisor.");
	else if (text_equal(id, "hv_ref"))
		text_put(&text, "Hyper-V's reference counter, which is read from an MSR: there is no page that may be used.");
	else if (text_equal(id, "tsc"))
		text_put(&text, "the TSC is reported as invariant, and nothing was found against it.");
	else
		text_printf(&text, "the platform's counter, because the TSC is %s.", report->tsc_is_invariant ? "not reliable here" :
			    "not reported as invariant");
	if (hyperv && hyperv->missing)
		text_printf(&text, " CPUID 40000003h lacks %s.", hyperv->missing);
}

static bool
has_tsc_adjust(const struct report *report)
{
	return report->core_count && report->cores->facts_known && report->cores->facts.has_tsc_adjust;
}

/* Returns why PostgreSQL does not read the TSC itself; NULL if it does. */
static const char *
explain_why_postgresql_avoids_tsc(const struct report *report, const char *linux_takes)
{
	if (!report_has_clock(report, "tsc") || !report->tsc_is_invariant)
		return "the TSC is not reported as invariant";
	if (!report_has_clock(report, "tsc_rdtscp"))
		return "there is no RDTSCP";
	if (!has_tsc_adjust(report))
		return linux_takes && text_equal(linux_takes, "tsc") ? NULL :
		       "CPUID reports no TSC_ADJUST, and Linux's clocksource is not the TSC";
	return NULL;
}

/*
 * Finds the clock that PostgreSQL 19 takes with timing_clock_source=auto: see src/common/instr_time.c,
 * tsc_detect_frequency() and tsc_use_by_default(). PostgreSQL reads the TSC if the TSC is invariant, RDTSCP exists, the
 * TSC's rate is found, and CPUID reports TSC_ADJUST or Linux's clocksource is the TSC. Otherwise it reads the system's
 * clock.
 */
static void
predict_clock_of_postgresql(struct report *report)
{
	const char *linux_takes = report->answer.linux_takes;
	const char *why_not = explain_why_postgresql_avoids_tsc(report, linux_takes);
	uint64_t read_ps = recommend_get_read_cost_ps(report, "tsc");
	const struct report_calibration *loop = recommend_find_calibration_loop(report, "postgresql");
	struct text text;

	if (why_not && !linux_takes)
		return;
	text = add_row_of_chosen_clock(report, "PostgreSQL 19", why_not ? linux_takes : "tsc");
	if (why_not) {
		text_printf(&text, "it reads Linux's clocksource, because %s.", why_not);
		return;
	}
	text_printf(&text, "it reads the TSC directly, because the TSC is reported as invariant and %s",
		    has_tsc_adjust(report) ? "CPUID reports TSC_ADJUST" : "Linux takes the TSC");
	if (read_ps)
		text_printf(&text, "; a read costs %s", number_from_ps(read_ps).text);
	if (loop && loop->worst.known)
		text_printf(&text, "; if CPUID gives no rate, PostgreSQL measures it by a loop, whose largest error in %lu run%s "
			    "here was %s", loop->runs - loop->refused, loop->runs - loop->refused == 1 ? "" : "s",
			    recommend_describe_worst_error(loop).bytes);
	text_put_char(&text, '.');
}

/* If the options excluded clocks, the result is unknown, because Linux or Windows might take one of these. */
void
recommend_predict_clocksources(struct report *report)
{
	report->taken_count = 0;
	report->answer.linux_takes = NULL;
	if (report->options.clocks.count)
		return;
	predict_clock_of_linux(report);
	predict_clock_of_windows(report);
	predict_clock_of_postgresql(report);
}
