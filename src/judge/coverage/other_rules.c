/*
 * Lists the rules that apply to the machine and have neither a finding nor a row, so that each run of one configuration
 * has a result for the same rules. The configuration is the machine's clocks and cores, and the options. A rule without
 * a finding has passed if its figures were measured. Otherwise the list has the obstacle. See coverage.h.
 */
#include "judge/coverage/coverage.h"

#include "judge/judge_internal.h"

#include "base/text.h"

/* Returns true if RULE applies to ENTRY in this configuration. ENTRY is NULL for a rule about the machine. */
typedef bool is_applicable(const struct report *report, const struct report_clock *entry);
/* Returns why ENTRY, or the machine, could not be judged in this run. Returns NULL if it was judged. */
typedef const char *find_obstacle(const struct report *report, const struct report_clock *entry);

/* ---- where rules apply ---- */

static bool
is_any_clock(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return entry != NULL;
}

static bool
is_tsc(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return entry && text_equal(entry->clock.id, "tsc");
}

static bool
is_machine(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return !entry;
}

static bool
has_id(const struct report_clock *entry, const char *id)
{
	return entry && text_equal(entry->clock.id, id);
}

static bool
is_hpet(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return has_id(entry, "hpet");
}

static bool
is_pm_timer(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return has_id(entry, "acpi_pm");
}

static bool
is_pm_timer_of_24_bits(const struct report *report, const struct report_clock *entry)
{
	return is_pm_timer(report, entry) && entry->clock.width_bits == 24;
}

static bool
is_pm_timer_of_32_bits(const struct report *report, const struct report_clock *entry)
{
	return is_pm_timer(report, entry) && entry->clock.width_bits == 32;
}

static bool
is_pit(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return has_id(entry, "pit");
}

static bool
is_rtc(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return has_id(entry, "rtc");
}

static bool
is_hyperv_page(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return has_id(entry, "hv_page");
}

static bool
is_page_of_hypervisor(const struct report *report, const struct report_clock *entry)
{
	return has_id(entry, "kvmclock") || has_id(entry, "xen") || is_hyperv_page(report, entry);
}

/* A clock that failed when it was opened has no nominal rate, but might have had one. */
static bool
has_nominal_rate(const struct report *report, const struct report_clock *entry)
{
	return entry && (report_get_claimed_rate(report, entry).den || entry->clock.state != CLOCK_PRESENT ||
			 is_tsc(report, entry));
}

static bool
is_tsc_asked_to_sleep(const struct report *report, const struct report_clock *entry)
{
	return is_tsc(report, entry) && report->facts.options.cores.sleep != SLEEP_OFF;
}

static bool
is_chipset_asked_to_sleep(const struct report *report, const struct report_clock *entry)
{
	return (is_hpet(report, entry) || is_pm_timer(report, entry)) && report->facts.options.cores.sleep != SLEEP_OFF;
}

static bool
has_trend(const struct report *report, const struct report_clock *entry)
{
	return has_nominal_rate(report, entry) && !report_is_guest(report) &&
	       report->facts.options.profile == PROFILE_SOAK && !entry->clock.edges_only;
}

static bool
are_several_cores_asked_for(const struct report *report)
{
	return report->facts.options.cores.method != CORES_OFF && report->facts.core_count > 1 &&
	       report->facts.options.cores.max > 1;
}

static bool
is_tsc_of_several_cores(const struct report *report, const struct report_clock *entry)
{
	return is_tsc(report, entry) && are_several_cores_asked_for(report);
}

/* On hardware, reads of devices queue, so that clock-contended is only about guests and the TSC. */
static bool
is_contention_judged(const struct report *report, const struct report_clock *entry)
{
	return entry && are_several_cores_asked_for(report) && (report_is_guest(report) || is_tsc(report, entry));
}

static bool
is_tsc_of_bare_metal(const struct report *report, const struct report_clock *entry)
{
	return is_tsc(report, entry) && !report_is_guest(report);
}

static bool
is_hypervisors_clock_of_several_cores(const struct report *report, const struct report_clock *entry)
{
	return entry && entry->clock.by_tsc && are_several_cores_asked_for(report);
}

static bool
is_machine_of_several_cores(const struct report *report, const struct report_clock *entry)
{
	return !entry && are_several_cores_asked_for(report);
}

static bool
is_rate_claimed(const struct report *report, bool of_lapic)
{
	for (size_t i = 0; i < report->facts.claim_count; i++)
		if (judge_does_wrong_claim_cause_finding(&report->facts.claims[i].claim) &&
		    report->facts.claims[i].claim.hz.den && (report->facts.claims[i].claim.clock == CLAIM_OF_LAPIC) == of_lapic)
			return true;
	return false;
}

static bool
is_tsc_rate_claimed(const struct report *report, const struct report_clock *entry)
{
	return !entry && is_rate_claimed(report, false);
}

static bool
is_lapic_rate_claimed(const struct report *report, const struct report_clock *entry)
{
	return !entry && is_rate_claimed(report, true);
}

/* ---- why a rule could not be judged ---- */

static const char *
find_no_obstacle(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	(void)entry;
	return NULL;
}

static const char *
find_obstacle_of_state(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return entry->clock.state == CLOCK_PRESENT ? NULL : "The clock did not work to the end, see its reason.";
}

static const char *
find_obstacle_of_reads(const struct report *report, const struct report_clock *entry)
{
	if (!entry->monotonic.reads)
		return "The clock was not read.";
	if (!is_tsc(report, entry) && judge_has_tsc_stepped_or_jumped(report))
		return "The TSC, which times the reads, stepped back or jumped.";
	return find_obstacle_of_state(report, entry);
}

static const char *
find_obstacle_of_steps_back(const struct report *report, const struct report_clock *entry)
{
	if (entry->monotonic.backward > rules_get_limit_by_id(report, "clock-backward"))
		return "The clocks diverged when this clock stepped back, see the discontinuities.";
	return find_obstacle_of_reads(report, entry);
}

static const char *
find_obstacle_of_jumps(const struct report *report, const struct report_clock *entry)
{
	if (entry->monotonic.leaps > rules_get_limit_by_id(report, "clock-jumped"))
		return "The clocks diverged when this clock jumped, see the discontinuities.";
	return find_obstacle_of_reads(report, entry);
}

static const char *
find_obstacle_of_cost(const struct report *report, const struct report_clock *entry)
{
	if (!report_get_figures(report, entry)->cost.read_ps.known || !report->figures.tsc.den)
		return "The cost of a read is not known.";
	return find_obstacle_of_reads(report, entry);
}

static const char *
find_obstacle_of_contention(const struct report *report, const struct report_clock *entry)
{
	for (size_t i = 0; i < report->facts.core_count; i++)
		if (report->facts.cores[i].contended[entry - report->facts.clocks].count)
			return NULL;
	return "It was not measured while several cores read it.";
}

/* Returns true if the rate of ENTRY's clock was measured twice, or of any clock if ENTRY is NULL or the TSC's. */
static bool
is_rate_change_known(const struct report *report, const struct report_clock *entry)
{
	bool any = !entry || is_tsc(report, entry);

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock_figures *figures = &report->figures.clocks[i];

		if ((any || &report->facts.clocks[i] == entry) && (figures->change_halves.known || figures->change_since.known))
			return true;
	}
	return false;
}

static const char *
find_obstacle_of_rate_change(const struct report *report, const struct report_clock *entry)
{
	if (judge_has_tsc_stepped_or_jumped(report) || judge_has_tsc_diverged(report))
		return "The TSC, which times this, stepped, jumped or diverged.";
	if (!is_rate_change_known(report, entry))
		return "No rate was measured twice.";
	return entry ? find_obstacle_of_state(report, entry) : NULL;
}

static const char *
find_obstacle_of_trend(const struct report *report, const struct report_clock *entry)
{
	return report->facts.series.count > 1 ? find_obstacle_of_rate_change(report, entry) : "The soak has too few rows.";
}

static const char *
find_obstacle_of_disagreement(const struct report *report, const struct report_clock *entry)
{
	(void)entry;
	if (judge_has_tsc_stepped_or_jumped(report) || judge_has_tsc_diverged(report))
		return "The TSC, which times this, stepped, jumped or diverged.";
	return report->figures.rate_count ? NULL : "No rate was measured against another clock.";
}

static const char *
find_obstacle_of_claims(const struct report *report, bool of_lapic)
{
	for (size_t i = 0; i < report->facts.claim_count; i++)
		if (report->outcomes.claims[i].outcome == OUTCOME_PASSED &&
		    (report->facts.claims[i].claim.clock == CLAIM_OF_LAPIC) == of_lapic)
			return NULL;
	return "No claimed rate could be compared with a measured one.";
}

static const char *
find_obstacle_of_tsc_claims(const struct report *report, const struct report_clock *entry)
{
	(void)entry;
	return find_obstacle_of_claims(report, false);
}

static const char *
find_obstacle_of_lapic_claims(const struct report *report, const struct report_clock *entry)
{
	(void)entry;
	return find_obstacle_of_claims(report, true);
}

static const char *
find_obstacle_of_warps(const struct report *report, const struct report_clock *entry)
{
	const struct warp_checks *checks = &report->facts.warp_checks;

	(void)entry;
	if (!checks->locked.measured || !checks->lock_free.measured)
		return "Not all warp checks were made.";
	if (report_count_warps(report) > rules_get_limit_by_id(report, "tsc-warp"))
		return "There were warps, which another finding explains.";
	return checks->locked.starved || checks->lock_free.starved ? "A core had too few turns in a warp check." : NULL;
}

static const char *
find_obstacle_of_offsets(const struct report *report, const struct report_clock *entry)
{
	const struct report_skew *skew = &report->figures.skew;

	(void)entry;
	if (!skew->pass_count)
		return "The cores' offsets were not measured.";
	return offsets_are_conclusive(&skew->passes[0].summary) &&
	       offsets_are_conclusive(&report_get_last_pass(report)->summary) ? NULL :
	       "The cores' offsets are not all known, or they contradict each other.";
}

static const char *
find_obstacle_of_drift(const struct report *report, const struct report_clock *entry)
{
	return report->figures.skew.pass_count > 1 ? find_obstacle_of_offsets(report, entry) :
	       "The cores' offsets were not measured twice.";
}

static const char *
find_obstacle_of_contradictions(const struct report *report, const struct report_clock *entry)
{
	(void)entry;
	return report->figures.skew.pass_count ? NULL : "The cores' offsets were not measured.";
}

static const char *
find_obstacle_of_adjust(const struct report *report, const struct report_clock *entry)
{
	(void)entry;
	return report_collect_tsc_adjusts(report).cores ? NULL : "TSC_ADJUST was not read, or no core has it.";
}

static const char *
find_obstacle_of_resolution(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	return entry->resolution.steps ? NULL : "Its resolution was not measured.";
}

/* A test of a sleep state adds its row, if it runs. */
static const char *
find_obstacle_of_sleep(const struct report *report, const struct report_clock *entry)
{
	(void)report;
	(void)entry;
	return "No sleep state was tested, or the clock was not read in it.";
}

/* A check of a device adds its row, if it runs. */
static const char *
find_obstacle_of_check(const struct report *report, const struct report_clock *entry)
{
	const char *obstacle = find_obstacle_of_state(report, entry);

	return obstacle ? obstacle : "The run ended before this check, or the clock could not be used for it.";
}

/*
 * The rules that add only findings, and the rules whose rows are missing if a run ends early or a clock fails. The
 * rules on timers are not in this list, because irq_findings.c adds their rows in each run.
 */
static const struct other_rule {
	const char *rule;
	is_applicable *applies;
	find_obstacle *obstacle;
} other_rules[] = {
	{ "clock-backward", is_any_clock, find_obstacle_of_steps_back },
	{ "clock-stuck", is_any_clock, find_obstacle_of_state },
	{ "clock-broken", is_any_clock, find_obstacle_of_state },
	{ "clock-jumped", is_any_clock, find_obstacle_of_jumps },
	{ "clocks-parted", is_machine, find_no_obstacle },
	{ "clocks-parted", is_tsc, find_no_obstacle },
	{ "clock-slow", is_any_clock, find_obstacle_of_cost },
	{ "clock-contended", is_contention_judged, find_obstacle_of_contention },
	{ "no-reference", is_machine, find_no_obstacle },
	{ "rate-changed", has_nominal_rate, find_obstacle_of_rate_change },
	{ "rate-changed", is_machine, find_obstacle_of_rate_change },
	{ "rate-trend", has_trend, find_obstacle_of_trend },
	{ "rate-disagree", is_machine, find_obstacle_of_disagreement },
	{ "tsc-claim", is_tsc_rate_claimed, find_obstacle_of_tsc_claims },
	{ "lapic-claim", is_lapic_rate_claimed, find_obstacle_of_lapic_claims },
	{ "tsc-warp", is_tsc_of_several_cores, find_obstacle_of_warps },
	{ "tsc-offset", is_tsc_of_several_cores, find_obstacle_of_offsets },
	{ "tsc-drift", is_tsc_of_several_cores, find_obstacle_of_drift },
	{ "tsc-contradiction", is_tsc_of_several_cores, find_obstacle_of_contradictions },
	{ "tsc-adjust", is_tsc, find_obstacle_of_adjust },
	{ "tsc-adjust-unequal", is_tsc_of_several_cores, find_obstacle_of_adjust },
	{ "tsc-sleeps", is_tsc_asked_to_sleep, find_obstacle_of_sleep },
	{ "clock-sleeps", is_chipset_asked_to_sleep, find_obstacle_of_sleep },
	{ "tsc-not-invariant", is_tsc_of_bare_metal, find_obstacle_of_reads },
	{ "tsc-step", is_tsc, find_obstacle_of_resolution },
	{ "core-missing", is_machine_of_several_cores, find_no_obstacle },
	{ "acpi-table", is_machine, find_no_obstacle },
	{ "hpet-period", is_hpet, find_obstacle_of_check },
	{ "hpet-base", is_hpet, find_obstacle_of_check },
	{ "hpet-stops", is_hpet, find_obstacle_of_check },
	{ "hpet-torn", is_hpet, find_obstacle_of_check },
	{ "hpet-pc10", is_hpet, find_obstacle_of_check },
	{ "pm-width", is_pm_timer_of_32_bits, find_obstacle_of_check },
	{ "pm-high-bits", is_pm_timer_of_24_bits, find_obstacle_of_check },
	{ "pm-glitch", is_pm_timer, find_obstacle_of_check },
	{ "pit-step", is_pit, find_obstacle_of_check },
	{ "pit-latch", is_pit, find_obstacle_of_check },
	{ "pit-status", is_pit, find_obstacle_of_check },
	{ "pit-out", is_pit, find_obstacle_of_check },
	{ "pit-end", is_pit, find_obstacle_of_check },
	{ "pit-modes", is_pit, find_obstacle_of_check },
	{ "rtc-update", is_rtc, find_obstacle_of_check },
	{ "rtc-seconds", is_rtc, find_obstacle_of_check },
	{ "rtc-periodic", is_rtc, find_obstacle_of_check },
	{ "rtc-battery", is_rtc, find_obstacle_of_check },
	{ "pv-claim", is_page_of_hypervisor, find_obstacle_of_check },
	{ "pv-fallback", is_hyperv_page, find_obstacle_of_check },
	{ "pv-page-apart", is_hyperv_page, find_obstacle_of_check },
	{ "pv-warp", is_hypervisors_clock_of_several_cores, find_obstacle_of_check },
};

static const struct behaviour *
find_row(const struct report *report, const char *rule, const char *clock)
{
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		if (text_equal(report->outcomes.behaviours.rows[i].rule, rule) &&
		    text_equal(report->outcomes.behaviours.rows[i].clock, clock))
			return &report->outcomes.behaviours.rows[i];
	return NULL;
}

/*
 * Returns true if RULE has a finding on a read method of ENTRY's device, or without a clock if ENTRY is NULL.
 */
static bool
has_finding(const struct report *report, const char *rule, const struct report_clock *entry)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];
		const struct report_clock *named = finding->clock ? report_find_clock(report, finding->clock) : NULL;

		if (text_equal(finding->rule, rule) && (entry ? named && text_equal(named->clock.main, entry->clock.id) :
							 !finding->clock))
			return true;
	}
	return false;
}

static void
list_rule(const struct report *report, struct outcomes *outcomes, const char *rule, const struct report_clock *entry,
	  const char *obstacle)
{
	if (!has_finding(report, rule, entry) && !find_row(report, rule, entry ? entry->clock.id : BEHAVIOUR_OF_MACHINE) &&
	    outcomes->other_rule_count < REPORT_OTHER_RULES_MAX)
		outcomes->other_rules[outcomes->other_rule_count++] = (struct report_other_rule){
			rule, entry ? entry->clock.id : NULL, obstacle
		};
}

/*
 * Lists the rules on ENTRY's rate that have no row. A rate has one figure and two limits, and only one of the two rules
 * has a row.
 */
static void
list_rate_rules(const struct report *report, struct outcomes *outcomes, const struct report_clock *entry)
{
	const char *const rules_of_rate[] = { "rate-off", entry->clock.by_tsc ? "pv-rate" : "rate-wrong" };

	for (size_t i = 0; i < 2 && has_nominal_rate(report, entry); i++) {
		const struct behaviour *other = find_row(report, rules_of_rate[!i], entry->clock.id);
		struct behaviour row = other ? *other : (struct behaviour){ .checked = false };

		row.rule = rules_of_rate[i];
		list_rule(report, outcomes, rules_of_rate[i], entry,
			  rules_get_outcome(&row, &report->facts.options) == OUTCOME_PASSED ? NULL :
			  other ? "The other rule on this rate has the result." : "The clock's rate was not measured.");
	}
}

/* An absent or disabled clock belongs to the configuration. The table of clocks has its reason. */
static bool
is_clock_of_configuration(const struct report_clock *entry)
{
	return report_clock_is_main_of_device(entry) && entry->clock.state != CLOCK_ABSENT &&
	       entry->clock.state != CLOCK_DISABLED;
}

void
coverage_list_other_rules(const struct report *report, struct outcomes *outcomes)
{
	for (size_t r = 0; r < sizeof(other_rules) / sizeof(other_rules[0]); r++) {
		const struct other_rule *rule = &other_rules[r];

		if (rule->applies(report, NULL))
			list_rule(report, outcomes, rule->rule, NULL, rule->obstacle(report, NULL));
		for (size_t i = 0; i < report->facts.clock_count; i++) {
			const struct report_clock *entry = &report->facts.clocks[i];

			if (is_clock_of_configuration(entry) && rule->applies(report, entry))
				list_rule(report, outcomes, rule->rule, entry, rule->obstacle(report, entry));
		}
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (is_clock_of_configuration(&report->facts.clocks[i]))
			list_rate_rules(report, outcomes, &report->facts.clocks[i]);
}
