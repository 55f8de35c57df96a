/*
 * Lists the rules that apply to the machine and have neither a finding nor a row, so that each run of one configuration
 * has a result for the same rules. The configuration is the machine's clocks and cores, and the options. A rule without
 * a finding has passed if its figures were measured. Otherwise the list has the obstacle. See coverage.h.
 */
#include "judge/coverage/coverage.h"

#include "judge/judge_internal.h"

#include "base/text.h"

/* Returns true if a rule applies to ENTRY in this configuration. ENTRY is NULL for a rule about the machine. */
typedef bool is_applicable(const struct report *report, const struct report_clock *entry);
/* Returns why ENTRY, or the machine, could not be judged in this run. Returns NULL if it was judged. */
typedef const char *find_obstacle(const struct report *report, const struct report_clock *entry);

/* ---- where rules apply ---- */

static bool
is_tsc(const struct report_clock *entry)
{
	return text_equal(entry->clock.id, "tsc");
}

static bool
has_24_bits(const struct report *, const struct report_clock *entry)
{
	return entry->clock.width_bits == 24;
}

static bool
has_32_bits(const struct report *, const struct report_clock *entry)
{
	return entry->clock.width_bits == 32;
}

static bool
is_page_of_hypervisor(const struct report *, const struct report_clock *entry)
{
	return text_equal(entry->clock.id, "kvmclock") || text_equal(entry->clock.id, "xen") ||
	       text_equal(entry->clock.id, "hv_page");
}

/* A clock that failed when it was opened has no nominal rate, but might have had one. */
static bool
has_nominal_rate(const struct report *report, const struct report_clock *entry)
{
	return report_get_claimed_rate(report, entry).den || entry->clock.state != CLOCK_PRESENT || is_tsc(entry);
}

static bool
are_sleep_states_asked_for(const struct report *report, const struct report_clock *)
{
	return report->facts.options.cores.sleep != SLEEP_OFF;
}

static bool
has_trend(const struct report *report, const struct report_clock *entry)
{
	return has_nominal_rate(report, entry) && !report_is_guest(report) &&
	       report->facts.options.profile == PROFILE_SOAK && !entry->clock.edges_only;
}

static bool
are_several_cores_asked_for(const struct report *report, const struct report_clock *)
{
	return report->facts.options.cores.method != CORES_OFF && report->facts.core_count > 1 &&
	       report->facts.options.cores.max > 1;
}

/* On hardware, reads of devices queue, so that clock-contended is only about guests and the TSC. */
static bool
is_contention_judged(const struct report *report, const struct report_clock *entry)
{
	return are_several_cores_asked_for(report, entry) && (report_is_guest(report) || is_tsc(entry));
}

static bool
is_bare_metal(const struct report *report, const struct report_clock *)
{
	return !report_is_guest(report);
}

static bool
is_hypervisors_clock_of_several_cores(const struct report *report, const struct report_clock *entry)
{
	return entry->clock.by_tsc && are_several_cores_asked_for(report, entry);
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
is_tsc_rate_claimed(const struct report *report, const struct report_clock *)
{
	return is_rate_claimed(report, false);
}

static bool
is_lapic_rate_claimed(const struct report *report, const struct report_clock *)
{
	return is_rate_claimed(report, true);
}

/* ---- why a rule could not be judged ---- */

static const char *
find_obstacle_of_state(const struct report *, const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT ? NULL : "The clock did not work to the end, see its reason.";
}

static const char *
find_obstacle_of_reads(const struct report *report, const struct report_clock *entry)
{
	if (!entry->monotonic.reads)
		return "The clock was not read.";
	if (!is_tsc(entry) && judge_has_tsc_stepped_or_jumped(report))
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
	bool any = !entry || is_tsc(entry);

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
find_obstacle_of_disagreement(const struct report *report, const struct report_clock *)
{
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
find_obstacle_of_tsc_claims(const struct report *report, const struct report_clock *)
{
	return find_obstacle_of_claims(report, false);
}

static const char *
find_obstacle_of_lapic_claims(const struct report *report, const struct report_clock *)
{
	return find_obstacle_of_claims(report, true);
}

static const char *
find_obstacle_of_warps(const struct report *report, const struct report_clock *)
{
	const struct warp_checks *checks = &report->facts.warp_checks;

	if (!checks->locked.measured || !checks->lock_free.measured)
		return "Not all warp checks were made.";
	if (report_count_warps(report) > rules_get_limit_by_id(report, "tsc-warp"))
		return "There were warps, which another finding explains.";
	return checks->locked.starved || checks->lock_free.starved ? "A core had too few turns in a warp check." : NULL;
}

static const char *
find_obstacle_of_offsets(const struct report *report, const struct report_clock *)
{
	const struct report_skew *skew = &report->figures.skew;

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
find_obstacle_of_contradictions(const struct report *report, const struct report_clock *)
{
	return report->figures.skew.pass_count ? NULL : "The cores' offsets were not measured.";
}

static const char *
find_obstacle_of_adjust(const struct report *report, const struct report_clock *)
{
	return report_collect_tsc_adjusts(report).cores ? NULL : "TSC_ADJUST was not read, or no core has it.";
}

static const char *
find_obstacle_of_resolution(const struct report *, const struct report_clock *entry)
{
	return entry->resolution.steps ? NULL : "Its resolution was not measured.";
}

/* A test of a sleep state adds its row, if it runs. */
static const char *
find_obstacle_of_sleep(const struct report *, const struct report_clock *)
{
	return "No sleep state was tested, or the clock was not read in it.";
}

/* A check of a device adds its row, if it runs. */
static const char *
find_obstacle_of_check(const struct report *report, const struct report_clock *entry)
{
	const char *obstacle = find_obstacle_of_state(report, entry);

	return obstacle ? obstacle : "The run ended before this check, or the clock could not be used for it.";
}

#define ANY "any"

/*
 * The rules that add only findings, and the rules whose rows are missing if a run ends early or a clock fails. The
 * rules on timers are not in this list, because irq_findings.c adds their rows in each run.
 */
static const struct other_rule {
	const char *rule, *clock; /* CLOCK is the id of a clock, ANY for each clock, or NULL for the machine */
	is_applicable *applies;   /* NULL if the rule always applies to CLOCK */
	find_obstacle *obstacle;  /* NULL if nothing can prevent the judgement */
} other_rules[] = {
	{ "clock-backward", ANY, NULL, find_obstacle_of_steps_back },
	{ "clock-stuck", ANY, NULL, find_obstacle_of_state },
	{ "clock-broken", ANY, NULL, find_obstacle_of_state },
	{ "clock-jumped", ANY, NULL, find_obstacle_of_jumps },
	{ "clocks-parted", NULL, NULL, NULL },
	{ "clocks-parted", "tsc", NULL, NULL },
	{ "clock-slow", ANY, NULL, find_obstacle_of_cost },
	{ "clock-contended", ANY, is_contention_judged, find_obstacle_of_contention },
	{ "no-reference", NULL, NULL, NULL },
	{ "rate-changed", ANY, has_nominal_rate, find_obstacle_of_rate_change },
	{ "rate-changed", NULL, NULL, find_obstacle_of_rate_change },
	{ "rate-trend", ANY, has_trend, find_obstacle_of_trend },
	{ "rate-disagree", NULL, NULL, find_obstacle_of_disagreement },
	{ "tsc-claim", NULL, is_tsc_rate_claimed, find_obstacle_of_tsc_claims },
	{ "lapic-claim", NULL, is_lapic_rate_claimed, find_obstacle_of_lapic_claims },
	{ "tsc-warp", "tsc", are_several_cores_asked_for, find_obstacle_of_warps },
	{ "tsc-offset", "tsc", are_several_cores_asked_for, find_obstacle_of_offsets },
	{ "tsc-drift", "tsc", are_several_cores_asked_for, find_obstacle_of_drift },
	{ "tsc-contradiction", "tsc", are_several_cores_asked_for, find_obstacle_of_contradictions },
	{ "tsc-adjust", "tsc", NULL, find_obstacle_of_adjust },
	{ "tsc-adjust-unequal", "tsc", are_several_cores_asked_for, find_obstacle_of_adjust },
	{ "tsc-sleeps", "tsc", are_sleep_states_asked_for, find_obstacle_of_sleep },
	{ "tsc-adjust-sleeps", "tsc", are_sleep_states_asked_for, find_obstacle_of_sleep },
	{ "clock-sleeps", "hpet", are_sleep_states_asked_for, find_obstacle_of_sleep },
	{ "clock-sleeps", "acpi_pm", are_sleep_states_asked_for, find_obstacle_of_sleep },
	{ "tsc-not-invariant", "tsc", is_bare_metal, find_obstacle_of_reads },
	{ "tsc-step", "tsc", NULL, find_obstacle_of_resolution },
	{ "core-missing", NULL, are_several_cores_asked_for, NULL },
	{ "acpi-table", NULL, NULL, NULL },
	{ "hpet-period", "hpet", NULL, find_obstacle_of_check },
	{ "hpet-base", "hpet", NULL, find_obstacle_of_check },
	{ "hpet-stops", "hpet", NULL, find_obstacle_of_check },
	{ "hpet-torn", "hpet", NULL, find_obstacle_of_check },
	{ "hpet-pc10", "hpet", NULL, find_obstacle_of_check },
	{ "pm-width", "acpi_pm", has_32_bits, find_obstacle_of_check },
	{ "pm-high-bits", "acpi_pm", has_24_bits, find_obstacle_of_check },
	{ "pm-glitch", "acpi_pm", NULL, find_obstacle_of_check },
	{ "pit-step", "pit", NULL, find_obstacle_of_check },
	{ "pit-latch", "pit", NULL, find_obstacle_of_check },
	{ "pit-status", "pit", NULL, find_obstacle_of_check },
	{ "pit-out", "pit", NULL, find_obstacle_of_check },
	{ "pit-end", "pit", NULL, find_obstacle_of_check },
	{ "pit-modes", "pit", NULL, find_obstacle_of_check },
	{ "rtc-update", "rtc", NULL, find_obstacle_of_check },
	{ "rtc-seconds", "rtc", NULL, find_obstacle_of_check },
	{ "rtc-periodic", "rtc", NULL, find_obstacle_of_check },
	{ "rtc-battery", "rtc", NULL, find_obstacle_of_check },
	{ "pv-claim", ANY, is_page_of_hypervisor, find_obstacle_of_check },
	{ "pv-fallback", "hv_page", NULL, find_obstacle_of_check },
	{ "pv-page-apart", "hv_page", NULL, find_obstacle_of_check },
	{ "pv-warp", ANY, is_hypervisors_clock_of_several_cores, find_obstacle_of_check },
};

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
	if (!has_finding(report, rule, entry) &&
	    !rules_find_row(report, rule, entry ? entry->clock.id : BEHAVIOUR_OF_MACHINE) &&
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
		const struct behaviour *other = rules_find_row(report, rules_of_rate[!i], entry->clock.id);
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

/* Lists RULE for ENTRY, or for the machine if ENTRY is NULL, if it applies. */
static void
list_rule_if_it_applies(const struct report *report, struct outcomes *outcomes, const struct other_rule *rule,
			const struct report_clock *entry)
{
	if (!rule->applies || rule->applies(report, entry))
		list_rule(report, outcomes, rule->rule, entry, rule->obstacle ? rule->obstacle(report, entry) : NULL);
}

void
coverage_list_other_rules(const struct report *report, struct outcomes *outcomes)
{
	for (size_t r = 0; r < sizeof(other_rules) / sizeof(other_rules[0]); r++) {
		const struct other_rule *rule = &other_rules[r];

		if (!rule->clock)
			list_rule_if_it_applies(report, outcomes, rule, NULL);
		for (size_t i = 0; i < report->facts.clock_count && rule->clock; i++) {
			const struct report_clock *entry = &report->facts.clocks[i];

			if (is_clock_of_configuration(entry) &&
			    (text_equal(rule->clock, ANY) || text_equal(rule->clock, entry->clock.id)))
				list_rule_if_it_applies(report, outcomes, rule, entry);
		}
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (is_clock_of_configuration(&report->facts.clocks[i]))
			list_rate_rules(report, outcomes, &report->facts.clocks[i]);
}
