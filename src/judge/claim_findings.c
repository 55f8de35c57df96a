/*
 * Judges each claim: a rate of the TSC, the LAPIC timer or the crystal that CPUID, a register or a hypervisor's page
 * states. A claim that contradicts the measured rate gets the finding tsc-claim or lapic-claim, which names the systems
 * that would use the claim. See judge_internal.h.
 */
#include "judge/rate_vote.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

#define PERCENT_FROM_PPB UINT64_C(50000000) /* an error of 5 % or more is printed in percent */
#define PPB_PER_TENTH_PERCENT UINT64_C(1000000)
/* 10 ppm: a smaller change of a rate is ignored, because separate crystals differ by as much */
#define CHANGE_PPB       10000u
/*
 * From this error on, pg_test_timing of PostgreSQL 19 warns of the rate in use. See its commit "pg_test_timing: Show
 * additional TSC clock source debug info" of April 2026.
 */
#define POSTGRESQL_WARNS_PPB 100000000u
#define CLAIM_FIRST_BASE 0x40000000u /* CPUID leaf at which systems look for a hypervisor's leaves first */
#define AGREEING_MIN     2 /* number of clocks that must agree with each other to prove a claim wrong */
/* if this many claims on the TSC's rate agree with each other, and the clocks contradict them, the TSC is wrong */
#define CLAIMS_AGAINST_CLOCK 2

static bool
is_cpu_intel(const struct report *report)
{
	return text_equal(report->facts.machine.cpu_vendor, "GenuineIntel");
}

/* Returns the first claim of SOURCE on CLOCK, with or without a rate, or NULL. */
static const struct claim *
find_claim(const struct report *report, enum claim_source source, enum claim_clock clock)
{
	for (size_t i = 0; i < report->facts.claim_count; i++)
		if (report->facts.claims[i].claim.source == source && report->facts.claims[i].claim.clock == clock)
			return &report->facts.claims[i].claim;
	return NULL;
}

/*
 * Returns true if Linux gets the TSC's rate from the hypervisor instead of CPUID 15h and 16h. Linux does if
 * arch/x86/kernel/kvmclock.c, cpu/mshyperv.c, cpu/vmware.c, cpu/acrn.c, xen/time.c or coco/sev/core.c sets
 * x86_platform.calibrate_tsc. Sources of May 2026 (github.com/CachyOS/linux, d77c58de7881).
 */
static bool
does_linux_get_rate_from_hypervisor(const struct report *report)
{
	return find_claim(report, CLAIM_HYPERV, CLAIM_OF_TSC) || find_claim(report, CLAIM_KVM_PAGE, CLAIM_OF_TSC) ||
	       find_claim(report, CLAIM_SECURE_TSC, CLAIM_OF_TSC) ||
	       paravirtual_find(&report->facts.machine.paravirtual, PARAVIRTUAL_XEN) ||
	       paravirtual_find(&report->facts.machine.paravirtual, PARAVIRTUAL_VMWARE) ||
	       paravirtual_find(&report->facts.machine.paravirtual, PARAVIRTUAL_ACRN);
}

static enum paravirtual_kind
find_paravirtual_kind_at_cpuid_leaf(const struct report *report, uint32_t base)
{
	for (size_t i = 0; i < report->facts.machine.paravirtual.count; i++)
		if (report->facts.machine.paravirtual.interfaces[i].base == base)
			return report->facts.machine.paravirtual.interfaces[i].kind;
	return PARAVIRTUAL_VIRTUALBOX; /* any kind of interface whose rates no system uses */
}

/*
 * Returns true if Linux uses CLAIM and does not measure the rate itself. It does not if X86_FEATURE_TSC_KNOWN_FREQ or
 * lapic_timer_period is set: by native_calibrate_tsc() in arch/x86/kernel/tsc.c, or by the files that
 * does_linux_get_rate_from_hypervisor() lists. On KVM, Linux uses kvmclock's page. Linux does not use CPUID 16h without
 * 15h, because 16h states the rate of the core: cpu_khz_from_cpuid().
 */
static bool
does_linux_use_claim(const struct report *report, const struct claim *claim)
{
	switch (claim->source) {
	case CLAIM_LEAF_15:
	case CLAIM_LEAF_15_FIXED:
		return is_cpu_intel(report) && !does_linux_get_rate_from_hypervisor(report) && claim->clock != CLAIM_OF_CRYSTAL;
	case CLAIM_LEAF_15_16:
		return is_cpu_intel(report) && !does_linux_get_rate_from_hypervisor(report);
	case CLAIM_KHZ_LEAF:
		return find_paravirtual_kind_at_cpuid_leaf(report, claim->base) == PARAVIRTUAL_ACRN;
	case CLAIM_HYPERV:
	case CLAIM_KVM_PAGE:
	case CLAIM_XEN_PAGE:
	case CLAIM_HYPERV_PAGE:
	case CLAIM_SECURE_TSC:
		return true;
	default:
		return false;
	}
}

/*
 * Returns true if PostgreSQL 19 uses CLAIM without a measurement. See src/port/pg_cpu_x86.c, x86_tsc_frequency_khz(),
 * commit 2ef57e636fc9. In a guest it uses only CPUID 40000010h of VMware or KVM. Otherwise it uses CPUID 15h or, if 15h
 * states no rate of the crystal, 16h without a correction.
 */
static bool
does_postgresql_use_claim(const struct report *report, const struct claim *claim)
{
	enum paravirtual_kind kind = find_paravirtual_kind_at_cpuid_leaf(report, claim->base);
	const struct claim *crystal = find_claim(report, CLAIM_LEAF_15, CLAIM_OF_CRYSTAL);

	if (claim->clock != CLAIM_OF_TSC)
		return false;
	if (report_is_guest(report))
		return claim->source == CLAIM_KHZ_LEAF && claim->base == CLAIM_FIRST_BASE &&
		       (kind == PARAVIRTUAL_KVM || kind == PARAVIRTUAL_VMWARE);
	return claim->source == CLAIM_LEAF_15 ||
	       (claim->source == CLAIM_LEAF_16 && !(crystal && crystal->hz.den));
}

/* FreeBSD 14, sys/x86/x86/tsc.c, tsc_freq_cpuid_vm(); local_apic.c, lapic_calibrate_initcount_cpuid_vm() */
static bool
does_freebsd_use_claim(const struct report *, const struct claim *claim)
{
	return claim->source == CLAIM_KHZ_LEAF && claim->base == CLAIM_FIRST_BASE;
}

/* UefiCpuPkg/Library/CpuTimerLib/CpuTimerLib.c, CpuidCoreClockCalculateTscFrequency(), 9148ed440686 */
static bool
does_edk2_use_claim(const struct report *, const struct claim *claim)
{
	return claim->source == CLAIM_LEAF_15 && claim->clock == CLAIM_OF_TSC;
}

/* Valkey is not in this list: it measures the TSC by the system's clock (src/monotonic.c, commit 0148137a1e38). */
static const struct {
	const char *name;
	bool (*uses_claim)(const struct report *report, const struct claim *claim); /* true: without a measurement */
	/* printed before the error of the TSC's stated rate, and after it, if the TSC is faster or slower than stated */
	const char *before, *if_faster, *if_slower;
	const char *warning; /* printed after it if the error is above 10 %; NULL for nothing */
} systems[] = {
	{ "Linux", does_linux_use_claim, "Linux's clock would run ", " fast until NTP corrects it",
	  " slow until NTP corrects it", NULL },
	{ "FreeBSD", does_freebsd_use_claim, "FreeBSD's clock would run ", " fast until NTP corrects it",
	  " slow until NTP corrects it", NULL },
	{ "EDK II", does_edk2_use_claim, "EDK II's delays would be ", " too short", " too long", NULL },
	{ "PostgreSQL 19", does_postgresql_use_claim, "PostgreSQL 19 would show times ", " too long", " too short",
	  " (pg_test_timing warns above 10 %)" },
};

#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

static void
list_systems_that_use_claim(const struct report *report, const struct claim *claim, struct claim_outcome *row)
{
	_Static_assert(SYSTEMS == REPORT_CLAIM_USERS, "each may use each claim");
	for (size_t i = 0; i < SYSTEMS && claim->hz.den; i++)
		if (systems[i].uses_claim(report, claim))
			row->users[row->user_count++] = systems[i].name;
}

/* How far the measured rate of the TSC can be relied on. */
enum trust {
	TRUST_NONE,     /* no clock measured it, or only clocks that are derived from the TSC */
	TRUST_OPEN,     /* the clocks disagree with each other, or one jumped or changed its rate during the run */
	TRUST_DISPUTED, /* the clocks agree with each other, and only the TSC's claim contradicts them */
	TRUST_FULL,     /* a majority of independent sources agrees */
};

/* Returns the number of clocks that measured the TSC's rate if all of them agree, otherwise 0. */
static size_t
count_clocks_that_agree_on_tsc_rate(const struct report *report)
{
	struct vote vote = { .report = report };
	size_t count = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (vote_is_rate_compared(report, entry) && !text_equal(entry->clock.id, "tsc") && !entry->clock.by_tsc &&
		    !vote_may_clock_jump(report, entry))
			vote.rates[i] = report->figures.clocks[i].implied;
		count += vote.rates[i].known;
	}
	vote_on_rates(&vote, vote.rates, judge_rate_limit_ppb(report));
	return vote.found.undecided || vote.found.falsetickers ? 0 : count;
}

/*
 * Returns true if some clock's rate is proven to have changed. Its mean rate over the run then proves nothing about a
 * claim.
 */
static bool
has_any_clock_changed_rate(const struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (rate_is_beyond(&report->figures.clocks[i].change, CHANGE_PPB))
			return true;
	return false;
}

static enum trust
find_trust_in_tsc_rate(const struct report *report)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	const struct report_clock *by = report_find_clock(report, report->figures.relative_to ?
							  report->figures.relative_to : "");

	if (!tsc || !report_get_figures(report, tsc)->measured.known || !by || by->clock.by_tsc ||
	    judge_has_tsc_stepped_or_jumped(report))
		return TRUST_NONE;
	if (report->figures.discontinuity_count || has_any_clock_changed_rate(report) ||
	    rate_changes_may_tsc_have_changed(report))
		return TRUST_OPEN;
	if (report_get_figures(report, tsc)->absolute.known)
		return TRUST_FULL;
	return count_clocks_that_agree_on_tsc_rate(report) >= AGREEING_MIN ? TRUST_DISPUTED : TRUST_OPEN;
}

static uint64_t
multiply_by_ratio(uint64_t value, const struct rate *ratio, enum scale_rounding rounding)
{
	return ratio->den ? scale_mul_div_wide(value, ratio->num, ratio->den, rounding) : value;
}

static void
set_measured_rate_of_claim(const struct report *report, const struct claim *claim, struct claim_outcome *row)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct interval_millihz rate = claim->clock == CLAIM_OF_LAPIC ? report->facts.lapic :
				       report_get_figures(report, tsc)->measured;

	row->measured = (struct interval_millihz){
		rate.known, multiply_by_ratio(rate.value, &claim->per_tsc, SCALE_NEAREST),
		multiply_by_ratio(rate.low, &claim->per_tsc, SCALE_DOWN),
		multiply_by_ratio(rate.high, &claim->per_tsc, SCALE_UP),
	};
}

static struct rate_interval
millihz_interval_to_microhz(const struct interval_millihz *rate)
{
	return (struct rate_interval){ rate->known, rate->value * MICROHZ_PER_MILLIHZ, rate->low * MICROHZ_PER_MILLIHZ,
				       rate->high * MICROHZ_PER_MILLIHZ };
}

static const char *
find_rule_for_claim(const struct claim *claim)
{
	return claim->clock == CLAIM_OF_LAPIC ? "lapic-claim" : "tsc-claim";
}

/* Returns the largest error at which CLAIM counts as right: the rule's limit plus the rounding of CLAIM. */
static uint64_t
allowed_claim_error_ppb(const struct report *report, const struct claim *claim)
{
	return vote_limit_ppb(report, find_rule_for_claim(claim)) +
	       scale_mul_div_wide((unsigned __int128)claim->within_hz * claim->hz.den, PPB, claim->hz.num, SCALE_UP);
}

static void
judge_claimed_rate(const struct report *report, const struct claim *claim, enum trust trust, struct claim_outcome *row)
{
	struct behaviour error = { .checked = true, .open = trust == TRUST_OPEN, .has_figure = true };

	*row = (struct claim_outcome){ .outcome = OUTCOME_NOT_CHECKED };
	list_systems_that_use_claim(report, claim, row);
	if (trust == TRUST_NONE || !claim->hz.den)
		return;
	set_measured_rate_of_claim(report, claim, row);
	struct rate_interval rate = millihz_interval_to_microhz(&row->measured);
	row->error = rate_error_against_claim(&rate, claim->hz);
	if (!row->error.known)
		return;
	behaviour_set_figure(&error, row->error.value, row->error.low, row->error.high);
	row->outcome = behaviour_get_outcome(&error, allowed_claim_error_ppb(report, claim));
}

/*
 * Returns true if there are at least two claims on the TSC's rate, and all agree with each other and contradict the
 * clocks. Then the TSC is wrong, and not the claims.
 */
static bool
do_all_claims_contradict_clocks(const struct report *report)
{
	const struct claim_outcome *first = NULL;
	uint64_t limit = judge_rate_limit_ppb(report);
	size_t count = 0;

	for (size_t i = 0; i < report->facts.claim_count; i++) {
		const struct claim *claim = &report->facts.claims[i].claim;
		const struct claim_outcome *row = &report->outcomes.claims[i];

		if (claim->clock != CLAIM_OF_TSC || !claim->hz.den || claim_is_only_compared(claim))
			continue;
		if (row->outcome != OUTCOME_FAILED)
			return false;
		first = first ? first : row;
		if (offset_gap_between(rate_bounds(&first->error), rate_bounds(&row->error)) > limit)
			return false;
		count++;
	}
	return count >= CLAIMS_AGAINST_CLOCK;
}

static bool
is_same_rate(const struct rate *a, const struct rate *b)
{
	return a->den && b->den && (unsigned __int128)a->num * b->den == (unsigned __int128)b->num * a->den;
}

bool
judge_is_tsc_claim_wrong(const struct report *report)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct rate used = tsc ? report_get_claimed_rate(report, tsc) : (struct rate){ 0, 0 };

	for (size_t i = 0; tsc && i < report->facts.claim_count; i++) {
		const struct claim *claim = &report->facts.claims[i].claim;

		if (claim->clock == CLAIM_OF_TSC && report->outcomes.claims[i].outcome == OUTCOME_FAILED &&
		    is_same_rate(&claim->hz, &used))
			return !do_all_claims_contradict_clocks(report);
	}
	return false;
}

/* Returns an error as "1740 ppm" or, from 5 % on, as "180.0 %". */
static struct phrase
describe_rate_error(int64_t ppb)
{
	uint64_t size = ppb < 0 ? 0 - (uint64_t)ppb : (uint64_t)ppb;
	uint64_t tenths = (size + PPB_PER_TENTH_PERCENT / 2) / PPB_PER_TENTH_PERCENT;

	if (size >= PERCENT_FROM_PPB)
		return phrase("%lu.%lu %%", tenths / 10, tenths % 10);
	return phrase("%lu ppm", (size + PPB_PER_PPM / 2) / PPB_PER_PPM);
}

/* Returns a phrase on how the wrong rate affects the systems that use it. */
static struct phrase
describe_effects_of_wrong_rate(const struct report *report, const struct claim *claim, const struct claim_outcome *row)
{
	struct phrase effects = { "" }, error = describe_rate_error(row->error.value);
	bool is_fast = row->error.value > 0;

	for (size_t i = 0; i < SYSTEMS; i++) {
		if (!systems[i].uses_claim(report, claim))
			continue;
		phrase_add(&effects, effects.bytes[0] ? ", and " : ": ");
		if (claim->clock == CLAIM_OF_LAPIC)
			phrase_add(&effects, "%s's timers would fire %s too %s", systems[i].name, error.bytes,
				   is_fast ? "early" : "late");
		else
			phrase_add(&effects, "%s%s%s%s", systems[i].before, error.bytes,
				   is_fast ? systems[i].if_faster : systems[i].if_slower,
				   systems[i].warning && rate_is_beyond(&row->error, POSTGRESQL_WARNS_PPB) ?
				   systems[i].warning : "");
	}
	phrase_add(&effects, effects.bytes[0] ? "." : ". No system that baretick knows uses this rate.");
	return effects;
}

static void
add_claim_finding(const struct report *report, struct outcomes *outcomes, size_t i, enum trust trust)
{
	static const char *const whose[] = {
		[CLAIM_OF_TSC] = "the TSC", [CLAIM_OF_LAPIC] = "the LAPIC's timer", [CLAIM_OF_CRYSTAL] = "the crystal",
	};
	const struct claim *claim = &report->facts.claims[i].claim;
	const struct claim_outcome *row = &report->outcomes.claims[i];
	uint64_t claimed_millihz = scale_mul_div_nearest(claim->hz.num, MILLIHZ_PER_HZ, claim->hz.den);
	uint64_t failing_ppb = vote_limit_ppb(report, "rate-wrong");
	bool fails = trust == TRUST_FULL && row->user_count && rate_is_beyond(&row->error, failing_ppb);
	const struct rule *rule = rules_find(find_rule_for_claim(claim));
	struct finding *finding = rules_begin_finding(report, outcomes, rule,
						      fails ? VERDICT_FAIL : rules_get_severity(rule, report), NULL,
						      REPORT_NO_CORE);

	rules_add_text_to_finding(finding, "%s states %s for %s, which runs at %s as measured by %s%s%s", claim->by,
				  number_from_millihz(claimed_millihz).text, whose[claim->clock],
				  number_from_millihz(row->measured.value).text, report->figures.relative_to,
				  trust == TRUST_DISPUTED ? " (this claim or these clocks are wrong)" : "",
				  describe_effects_of_wrong_rate(report, claim, row).bytes);
	vote_set_finding_figure(finding, &row->error);
}

void
judge_claims(const struct report *report, struct outcomes *outcomes)
{
	enum trust trust = find_trust_in_tsc_rate(report);

	for (size_t i = 0; i < report->facts.claim_count; i++)
		judge_claimed_rate(report, &report->facts.claims[i].claim, trust, &outcomes->claims[i]);
}

/*
 * Returns true if a wrong CLAIM gets a finding here. A wrong rate of the crystal gets no finding, because it makes the
 * TSC's rate in the same CPUID leaf wrong, and that rate gets a finding. The page of a hypervisor's clock gets no
 * finding, because the rules pv-rate and pv-claim judge it. The CPU's name gets a note, because it states the base
 * frequency, which may differ from the TSC's rate on a healthy machine.
 */
bool
judge_does_wrong_claim_cause_finding(const struct claim *claim)
{
	return claim->clock != CLAIM_OF_CRYSTAL && claim->source != CLAIM_KVM_PAGE && claim->source != CLAIM_XEN_PAGE &&
	       claim->source != CLAIM_HYPERV_PAGE && claim->source != CLAIM_CPU_NAME;
}

/*
 * Adds a note if the rate in the CPU's name is not the TSC's, because some programs parse the name. In a guest, all
 * devices may follow one clock of the host, which is wrong while it catches up after a stop (VirtualBox issue 43).
 */
static void
note_rate_in_cpu_name(const struct report *report, struct outcomes *outcomes, size_t i)
{
	const struct claim *claim = &report->facts.claims[i].claim;
	const struct claim_outcome *row = &report->outcomes.claims[i];
	uint64_t claimed_millihz = scale_mul_div_nearest(claim->hz.num, MILLIHZ_PER_HZ, claim->hz.den);
	bool guest = report_is_guest(report);

	if (claim->source == CLAIM_CPU_NAME && row->outcome == OUTCOME_FAILED)
		notes_add(&outcomes->notes,
			  "The CPU's name states %s, but the TSC runs at %s%s: %s %s. A program that takes the TSC's "
			  "rate from the name measures %s times.", number_from_millihz(claimed_millihz).text,
			  number_from_millihz(row->measured.value).text,
			  guest ? " by this guest's clocks, which may be wrong together" : "",
			  describe_rate_error(row->error.value).bytes, row->error.value < 0 ? "slower" : "faster",
			  guest ? "other" : "wrong");
}

void
judge_add_claim_findings(const struct report *report, struct outcomes *outcomes)
{
	enum trust trust = find_trust_in_tsc_rate(report);
	bool is_tsc_wrong = do_all_claims_contradict_clocks(report);

	for (size_t i = 0; i < report->facts.claim_count; i++) {
		const struct claim *claim = &report->facts.claims[i].claim;

		if (report->outcomes.claims[i].outcome == OUTCOME_FAILED && judge_does_wrong_claim_cause_finding(claim) &&
		    !(claim->clock == CLAIM_OF_TSC && is_tsc_wrong))
			add_claim_finding(report, outcomes, i, trust);
		note_rate_in_cpu_name(report, outcomes, i);
	}
}
