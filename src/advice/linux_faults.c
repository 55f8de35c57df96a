/*
 * Predicts what Linux does about the faults that were found: whether it notices them, which clock it blames, and how
 * wrong its time then is. See systems.h. The sources are named in linux_clocksource.c.
 */
#include "advice/systems.h"

#include "base/offset.h"
#include "base/text.h"
#include "advice/recommend.h"
#include "rules/rules.h"

/*
 * tsc_refine_calibration_work() in arch/x86/kernel/tsc.c compares the TSC for a second with the reference. It uses the
 * result if it differs from the first calibration by at most 1 %.
 */
#define REFINED_PPB_MAX INT64_C(10000000)

/* any version of the watchdog notices an offset above this, which is 1,000 ppm of 0.5 s */
#define OFFSET_NS_MIN UINT64_C(500000)

#define WATCHES_PER_S 2 /* checks of the watchdog in a second */

struct situation {
	const struct report *report;
	const struct linux_versions *versions;
	const struct linux_choice *choice;
	const struct finding *finding;
};

static bool
is_beyond(const struct interval_ppb *rate, int64_t limit_ppb)
{
	return rate->known && (rate->value > limit_ppb || rate->value < -limit_ppb);
}

static bool
is_tsc_rate_known(const struct report *report)
{
	return systems_find_used_claim(report, "Linux") != NULL;
}

static int64_t
get_rate_limit_ppb(const struct situation *at)
{
	return is_tsc_rate_known(at->report) ? at->versions->known_limit_ppb : at->versions->refined_limit_ppb;
}

/*
 * Returns true if Linux's own calibration by the PIT, quick_pit_calibrate(), gave a rate in most runs of baretick's
 * copy of it. Otherwise Linux calibrates the TSC by the HPET or the PM timer from the start.
 */
static bool
does_quick_calibration_work(const struct report *report)
{
	const struct calibration_figures *loop = recommend_find_calibration_loop(report, "linux_pit");

	return loop && loop->refused * 2 < loop->runs;
}

/* Returns the change of the clock's rate that the finding "rate-changed" is about. */
static struct interval_ppb
get_change(const struct finding *finding)
{
	return (struct interval_ppb){ finding->has_measured, finding->measured * PPB_PER_PPM, finding->low * PPB_PER_PPM,
				      finding->high * PPB_PER_PPM };
}

static struct response
drop_tsc(enum taken_blames blames)
{
	return (struct response){ .notices = TAKEN_NOTICES_YES, .blames = blames, .drops_tsc = true };
}

static struct response
ignore_fault(const struct situation *)
{
	return (struct response){ .notices = TAKEN_NOTICES_NO };
}

/* Returns the largest proven distance between the TSCs of two started cores, in ns; 0 if none is proven. */
static uint64_t
get_largest_offset_ns(const struct report *report)
{
	const struct report_pass *last = report_get_last_pass(report), *first = report->figures.skew.passes;
	uint64_t largest_ns = 0;

	for (const struct report_pass *pass = first; report->figures.skew.pass_count && pass <= last; pass++) {
		uint64_t ns = offset_min_abs(report_offset_to_ns(report, pass->summary.worst));

		if (pass->offsets.cores > 1 && ns > largest_ns)
			largest_ns = ns;
	}
	return largest_ns;
}

/* Returns true if the first pass over the cores, at the start of the run, already shows an offset or warps. */
static bool
is_offset_from_start(const struct report *report)
{
	return report->facts.warp_checks.locked.warps || report->facts.warp_checks.lock_free.warps ||
	       (report->figures.skew.pass_count && offset_excludes_zero(report->figures.skew.passes[0].summary.worst));
}

/*
 * Returns true if the watchdog notices the offset between the cores' TSCs. Linux 7.1 in a guest often prints "Watchdog
 * remote CPU 1 read timed out" instead, so it does not surely notice an offset that begins later.
 */
static bool
does_watchdog_notice_offset(const struct situation *at)
{
	if (at->choice->watch != LINUX_WATCHES_TSC)
		return false;
	if (get_largest_offset_ns(at->report) > OFFSET_NS_MIN)
		return true;
	return at->versions->compares_cores && report_count_warps(at->report) != 0 &&
	       (!report_is_guest(at->report) || is_offset_from_start(at->report));
}

/*
 * Linux's check of two cores (arch/x86/kernel/tsc_sync.c) compares each new core with a running one. With TSC_ADJUST it
 * first makes the values within a package equal, and then checks only the first core of each package. A warp that it
 * finds there is compensated by TSC_ADJUST, in up to 3 runs. Later only the watchdog compares cores.
 *
 * The check lasts 2 ms for a further core of a package. In a guest the two cores may not run at the same time, and then
 * it finds nothing. Linux 6.12.117 on two cores of QEMU kept a TSC that was 2.5 us ahead. A core whose TSC stepped
 * during the run passed the check at the start.
 */
static struct response
respond_to_offset(const struct situation *at)
{
	bool warps = report_count_warps(at->report) != 0 && is_offset_from_start(at->report);

	if (systems_has_tsc_adjust(at->report) &&
	    (report_collect_tsc_adjusts(at->report).odd || (warps && systems_count_packages(at->report) > 1)))
		return (struct response){ .notices = TAKEN_NOTICES_YES, .repairs = true };
	if (!systems_has_tsc_adjust(at->report) && warps && report_is_guest(at->report) &&
	    !does_watchdog_notice_offset(at))
		return (struct response){ .notices = TAKEN_NOTICES_PERHAPS };
	if (!systems_has_tsc_adjust(at->report) && warps)
		return (struct response){ .notices = TAKEN_NOTICES_YES, .blames = TAKEN_BLAMES_RIGHT, .drops_tsc = true,
					  .by_check = true };
	return does_watchdog_notice_offset(at) ? drop_tsc(TAKEN_BLAMES_RIGHT) : ignore_fault(at);
}

/* A drift becomes an offset that the watchdog notices, but only after some time. */
static struct response
respond_to_slow_fault(const struct situation *at)
{
	return (struct response){ .notices = at->choice->watch == LINUX_WATCHES_TSC ? TAKEN_NOTICES_PERHAPS :
				  TAKEN_NOTICES_NO };
}

/* Returns the group of ROW with the clock ID, or NULL if the clock is in no group. */
static const struct report_group *
find_group_of_clock(const struct report *report, const struct report_discontinuity *row, const char *id)
{
	for (size_t i = 0; i < row->group_count; i++)
		for (size_t j = 0; j < row->groups[i].clock_count; j++)
			if (text_equal(report_clock_id(report, row->groups[i].members[j]), id))
				return &row->groups[i];
	return NULL;
}

/*
 * Returns whether the watchdog notices that the TSC gained GAIN_NS on the reference between two checks. It does not
 * compare the clocks if one of them advanced by too much: WATCHDOG_INTERVAL_MAX_NS in 6.1.176 and 6.12.117, and
 * max_idle_ns in 7.1.
 */
static enum taken_notices
does_watchdog_notice_gain(const struct situation *at, struct offset gain_ns)
{
	uint64_t limit_ns = (uint64_t)get_rate_limit_ppb(at) / WATCHES_PER_S;

	if (at->choice->watch != LINUX_WATCHES_TSC || offset_max_abs(gain_ns) <= limit_ns)
		return TAKEN_NOTICES_NO;
	return offset_min_abs(gain_ns) > limit_ns && offset_max_abs(gain_ns) < at->versions->gain_ns_max ?
	       TAKEN_NOTICES_YES : TAKEN_NOTICES_PERHAPS;
}

/* Returns the response to a gain of the TSC on the reference at ROW; NOTICES is unknown if ROW shows no gain. */
static struct response
respond_to_discontinuity(const struct situation *at, const struct report_discontinuity *row)
{
	const struct report_group *tsc = find_group_of_clock(at->report, row, "tsc");
	const struct report_group *other = find_group_of_clock(at->report, row, at->choice->reference->id);
	const struct discontinuity_outcome *outcome = report_get_discontinuity_outcome(at->report, row);
	bool proven = outcome->class == DISCONTINUITY_JUMPED;
	enum taken_notices notices;

	if (!tsc || !other || tsc == other || !tsc->elapsed.known || !other->elapsed.known)
		return (struct response){ .notices = TAKEN_NOTICES_UNKNOWN };
	notices = does_watchdog_notice_gain(at, (struct offset){ tsc->elapsed.low - other->elapsed.high,
								 tsc->elapsed.high - other->elapsed.low });
	if (notices != TAKEN_NOTICES_YES)
		return (struct response){ .notices = notices };
	return drop_tsc(proven && outcome->alone == tsc->clocks ? TAKEN_BLAMES_RIGHT :
			proven && outcome->alone == other->clocks ? TAKEN_BLAMES_WRONG : TAKEN_BLAMES_NONE);
}

/*
 * The TSC and the reference diverged. The watchdog takes this for a fault of the TSC, whichever of them was right.
 * Returns the response to the discontinuity that it notices most surely.
 */
static struct response
respond_to_divergence(const struct situation *at)
{
	struct response most = { .notices = TAKEN_NOTICES_UNKNOWN };

	for (size_t i = 0; at->choice->reference && i < at->report->figures.discontinuity_count; i++) {
		struct response one = respond_to_discontinuity(at, &at->report->figures.discontinuities[i]);

		if (one.notices > most.notices)
			most = one;
	}
	return most;
}

/* Returns the response to a jump of the TSC or the reference. A jump may lack a row that has its size. */
static struct response
respond_to_jump(const struct situation *at)
{
	struct response divergence = respond_to_divergence(at);

	return divergence.notices == TAKEN_NOTICES_UNKNOWN ? respond_to_slow_fault(at) : divergence;
}

/* Steps back that are too small for a discontinuity are also too small for the watchdog. */
static struct response
respond_to_step_back(const struct situation *at)
{
	struct response divergence = respond_to_divergence(at);

	return divergence.notices == TAKEN_NOTICES_UNKNOWN ? ignore_fault(at) : divergence;
}

static struct response
respond_to_change_of_tsc(const struct situation *at)
{
	struct interval_ppb change = get_change(at->finding);

	if (at->choice->watch == LINUX_WATCHES_TSC && is_beyond(&change, get_rate_limit_ppb(at)))
		return drop_tsc(TAKEN_BLAMES_RIGHT);
	return (struct response){ .notices = TAKEN_NOTICES_NO, .error = change };
}

/* A rate that CPUID or an MSR states, and that Linux uses without measuring it. */
static struct response
respond_to_stated_rate(const struct situation *at)
{
	const struct claim_outcome *claim = systems_find_used_claim(at->report, "Linux");

	if (!claim || claim->outcome != OUTCOME_FAILED)
		return (struct response){ .notices = TAKEN_NOTICES_UNKNOWN };
	if (at->choice->watch == LINUX_WATCHES_TSC && is_beyond(&claim->error, at->versions->known_limit_ppb))
		return drop_tsc(TAKEN_BLAMES_RIGHT);
	return (struct response){ .notices = TAKEN_NOTICES_NO, .error = claim->error };
}

/*
 * The reference had a wrong rate from the start. Unless the TSC's rate is known, Linux measures the TSC by it, and is
 * then wrong with it. If Linux found the TSC's rate by the PIT, and the reference differs by more than 1 %, the
 * watchdog sees the difference, but it marks the TSC.
 */
static struct response
respond_to_rate_of_reference(const struct situation *at)
{
	const struct report_clock *reference = report_find_clock(at->report, at->choice->reference->id);
	struct interval_ppb error = report_get_figures(at->report, reference)->error;
	bool adopted = !is_tsc_rate_known(at->report) &&
		       (!is_beyond(&error, REFINED_PPB_MAX) || !does_quick_calibration_work(at->report));

	if (adopted)
		return (struct response){ .notices = TAKEN_NOTICES_NO, .error = error };
	if (at->choice->watch == LINUX_WATCHES_TSC && is_beyond(&error, get_rate_limit_ppb(at)))
		return drop_tsc(TAKEN_BLAMES_WRONG);
	return (struct response){ .notices = TAKEN_NOTICES_UNKNOWN };
}

static struct response
respond_to_change_of_reference(const struct situation *at)
{
	struct interval_ppb change = get_change(at->finding);

	if (at->choice->watch == LINUX_WATCHES_TSC && is_beyond(&change, get_rate_limit_ppb(at)))
		return drop_tsc(TAKEN_BLAMES_WRONG);
	return (struct response){ .notices = TAKEN_NOTICES_UNKNOWN };
}

/* The reference stopped. The watchdog sees a TSC that is too fast. */
static struct response
respond_to_stop_of_reference(const struct situation *at)
{
	return at->choice->watch == LINUX_WATCHES_TSC ? drop_tsc(TAKEN_BLAMES_WRONG) :
	       (struct response){ .notices = TAKEN_NOTICES_UNKNOWN };
}

/* The faults of the TSC and of the reference that matter to a kernel which takes the TSC. */
static const struct {
	const char *rule;
	bool of_reference;
	struct response (*respond)(const struct situation *at);
} faults[] = {
	{ "tsc-warp", false, respond_to_offset },
	{ "tsc-offset", false, respond_to_offset },
	{ "tsc-drift", false, respond_to_slow_fault },
	{ "clock-backward", false, respond_to_step_back },
	{ "clock-jumped", false, respond_to_jump },
	{ "clocks-parted", false, respond_to_divergence },
	{ "rate-changed", false, respond_to_change_of_tsc },
	{ "tsc-claim", false, respond_to_stated_rate },
	{ "rate-wrong", true, respond_to_rate_of_reference },
	{ "rate-off", true, respond_to_rate_of_reference },
	{ "rate-changed", true, respond_to_change_of_reference },
	{ "clock-stuck", true, respond_to_stop_of_reference },
	{ "clock-backward", true, respond_to_jump },
	{ "clock-jumped", true, respond_to_jump },
};

/* Adds ONE to ALL, the response to several faults. */
static void
add_response(struct response *all, const struct response *one)
{
	if (one->notices == TAKEN_NOTICES_UNKNOWN)
		return;
	/* the fault that is noticed least, or that misleads the system, is the one that the sentences name */
	if (all->notices == TAKEN_NOTICES_UNKNOWN || one->notices < all->notices ||
	    one->blames == TAKEN_BLAMES_WRONG) {
		all->rule = one->rule;
		all->clock = one->clock;
	}
	if (all->notices == TAKEN_NOTICES_UNKNOWN || one->notices < all->notices)
		all->notices = one->notices;
	if (one->blames > all->blames)
		all->blames = one->blames;
	all->drops_tsc |= one->drops_tsc;
	all->by_check |= one->by_check;
	all->repairs |= one->repairs;
	if (one->error.known && (!all->error.known || offset_abs(one->error.value) > offset_abs(all->error.value)))
		all->error = one->error;
}

/* Returns by how much the time of a system that counts CLOCK runs too fast, according to FINDING. */
static struct interval_ppb
get_error_of_clock(const struct report *report, const struct clock *clock, const struct finding *finding)
{
	if (text_equal(finding->rule, "rate-changed"))
		return get_change(finding);
	if (text_equal(finding->rule, "rate-wrong") || text_equal(finding->rule, "rate-off"))
		return report_get_figures(report, report_find_clock(report, clock->id))->error;
	return (struct interval_ppb){ .known = false };
}

void
linux_add_faults_of_taken_clock(const struct report *report, const struct clock *clock, struct response *response)
{
	static const char *const rules_of_time[] = { "clock-stuck", "clock-backward", "clock-jumped", "rate-wrong",
						     "rate-off", "rate-changed" };

	for (size_t i = 0; i < sizeof(rules_of_time) / sizeof(rules_of_time[0]); i++) {
		const struct finding *finding = rules_find_finding(report, rules_of_time[i], clock->id);
		struct response one = { .notices = TAKEN_NOTICES_NO, .rule = rules_of_time[i], .clock = clock->id };

		if (!finding)
			continue;
		one.error = get_error_of_clock(report, clock, finding);
		/* the watchdog has noticed this fault, and blamed the TSC for it */
		if (response->blames == TAKEN_BLAMES_WRONG && text_equal(response->clock, clock->id))
			response->error = one.error;
		else
			add_response(response, &one);
	}
}

struct response
linux_respond_to_faults(const struct report *report, const struct linux_versions *versions,
			const struct linux_choice *choice)
{
	struct situation at = { .report = report, .versions = versions, .choice = choice };
	struct response all = { .notices = TAKEN_NOTICES_UNKNOWN };

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const char *clock = !faults[i].of_reference ? "tsc" : choice->reference ? choice->reference->id : NULL;
		/* these rules are about the machine, so their findings may name no clock */
		bool names_clock = !text_equal(faults[i].rule, "tsc-claim") && !text_equal(faults[i].rule, "clocks-parted");

		at.finding = clock ? rules_find_finding(report, faults[i].rule, names_clock ? clock : NULL) : NULL;
		if (!at.finding)
			continue;
		struct response one = faults[i].respond(&at);
		one.rule = faults[i].rule;
		one.clock = clock;
		add_response(&all, &one);
	}
	return all;
}
