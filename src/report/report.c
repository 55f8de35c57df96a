/* Names for values in the report, and values that all renderers calculate from it in the same way. */
#include "report/report.h"

#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

#define TICKS_MAX      (INT64_C(1) << 60) /* 12 years at 3 GHz */
/*
 * report_clock_rate_millihz() returns the nominal frequency instead of a coarse measurement, whose interval contains
 * the nominal frequency and is wider than 1/COARSE_SHARE of the nominal frequency.
 */
#define COARSE_SHARE        1000
#define PS_MILLIHZ_PER_TICK UINT64_C(1000000000000000) /* 10^12 ps in a second, times MILLIHZ_PER_HZ */

const char *const verdict_words[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_WARN] = "warn",
	[VERDICT_FAIL] = "fail",
	[VERDICT_INCOMPLETE] = "incomplete",
	[VERDICT_ABSENT] = "absent",
};

const char *const clock_state_words[] = {
	[CLOCK_ABSENT] = "absent",
	[CLOCK_PRESENT] = "present",
	[CLOCK_DISABLED] = "disabled",
	[CLOCK_STUCK] = "stuck",
	[CLOCK_BROKEN] = "broken",
};

const char *const tsc_difference_words[] = {
	[DIFFERENCE_NONE] = "", [DIFFERENCE_AHEAD] = "ahead", [DIFFERENCE_BEHIND] = "behind",
	[DIFFERENCE_STEPPED_AHEAD] = "stepped ahead", [DIFFERENCE_STEPPED_BACK] = "stepped back",
	[DIFFERENCE_FASTER] = "faster", [DIFFERENCE_SLOWER] = "slower",
};

const char *const policy_words[] = {
	[REPORT_POLICY_UNKNOWN] = "", [REPORT_POLICY_DISCARD] = "discard", [REPORT_POLICY_CATCH_UP] = "catch up",
	[REPORT_POLICY_DELAY] = "delay",
};

const char *const rate_fit_words[] = {
	[RATE_FIT_NONE] = "", [RATE_FIT_ALL] = "all", [RATE_FIT_ENDS] = "ends",
	[RATE_FIT_UNEVEN] = "uneven", [RATE_FIT_TWO] = "two",
};

const char *const taken_notices_words[] = { "", "no", "perhaps", "yes" };
const char *const taken_blames_words[] = { "", "right", "wrong" };
const char *const taken_safety_words[] = { "", "yes", "no", "not proven" };
const char *const announced_words[] = { "", "no", "perhaps", "yes" };
const char *const survives_words[] = { "", "no", "yes" };
const char *const taken_evidence_words[] = { "boots", "source", "documentation" };

void
report_add_claim(struct report *report, const struct claim *claim)
{
	if (report->facts.claim_count < CLAIMS_MAX)
		report->facts.claims[report->facts.claim_count++] = (struct report_claim){ .claim = *claim };
}

const struct firmware_words report_firmware_words[FIRMWARE_SERVICES] = {
	[FIRMWARE_STALL] = { "efi_stall", "Stall()" },
	[FIRMWARE_RELATIVE] = { "efi_timer", "timer event" },
	[FIRMWARE_PERIODIC] = { "efi_timer", "timer tick" },
	[FIRMWARE_TIME] = { "efi_time", "GetTime()" },
	[FIRMWARE_STAMP] = { "efi_stamp", "EFI_TIMESTAMP_PROTOCOL" },
	[FIRMWARE_COUNTER] = { "efi_counter", "GetNextMonotonicCount()" },
	[FIRMWARE_CPU] = { "efi_cpu", "GetTimerValue()" },
	[FIRMWARE_FPDT] = { "fpdt", "table FPDT" },
};

const char *const report_firmware_ticks[FIRMWARE_TICKS] = {
	[FIRMWARE_TICK_HPET] = "hpet", [FIRMWARE_TICK_LAPIC] = "lapic", [FIRMWARE_TICK_PIT] = "pit",
};

const char *const claim_clock_ids[] = {
	[CLAIM_OF_TSC] = "tsc", [CLAIM_OF_LAPIC] = "lapic", [CLAIM_OF_CRYSTAL] = "crystal",
};

const char *
report_machine_name(const struct report *report)
{
	const struct report_identity *identity = &report->facts.machine.identity;

	if (report->facts.options.label[0])
		return report->facts.options.label;
	return identity->serial[0] ? identity->serial : identity->product;
}

bool
report_is_machine_emulated(const struct report *report)
{
	return text_equal(report->facts.machine.accelerator, "tcg");
}

const char *
report_clock_id(const struct report *report, size_t i)
{
	return i < report->facts.clock_count ? report->facts.clocks[i].clock.id : "tsc";
}

const struct report_core *
report_find_core(const struct report *report, uint32_t apic_id)
{
	for (size_t i = 0; i < report->facts.core_count; i++)
		if (report->facts.cores[i].apic_id == apic_id)
			return &report->facts.cores[i];
	return NULL;
}

const struct report_clock *
report_find_clock(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (text_equal(report->facts.clocks[i].clock.id, id))
			return &report->facts.clocks[i];
	return NULL;
}

const struct clock_figures *
report_get_figures(const struct report *report, const struct report_clock *entry)
{
	return &report->figures.clocks[entry - report->facts.clocks];
}

const struct series_rate *
report_get_soak_rate(const struct report *report, const struct series_clock *clock)
{
	return &report->figures.soak_rates[clock - report->facts.series.rows[0].clocks];
}

const struct core_figures *
report_get_core_figures(const struct report *report, const struct report_core *core)
{
	return &report->figures.cores[core - report->facts.cores];
}

uint64_t
report_get_failure_tsc(const struct report *report, const struct report_clock *entry)
{
	return entry->failed_tsc ? entry->failed_tsc : report->outcomes.clocks[entry - report->facts.clocks].jumped_tsc;
}

bool
report_has_clock(const struct report *report, const char *id)
{
	const struct report_clock *entry = report_find_clock(report, id);

	return entry && entry->clock.state == CLOCK_PRESENT;
}

bool
report_clock_is_main_of_device(const struct report_clock *entry)
{
	return text_equal(entry->clock.id, entry->clock.main) && !text_equal(entry->clock.id, "null");
}

struct rate
report_get_claimed_rate(const struct report *report, const struct report_clock *entry)
{
	const struct claim *claim = report->figures.tsc_claim;

	return claim && text_equal(entry->clock.main, "tsc") ? claim->hz : entry->clock.claimed;
}

static uint64_t
claimed_millihz(struct rate claimed)
{
	return claimed.den ? scale_mul_div_nearest(claimed.num, MILLIHZ_PER_HZ, claimed.den) : 0;
}

/*
 * Returns the clock in the report that has the measured rate of ENTRY's counter. This clock is ENTRY, or
 * the main clock of its device if ENTRY and the main clock read the same counter.
 */
static const struct report_clock *
find_clock_with_measured_rate(const struct report *report, const struct report_clock *entry)
{
	for (size_t i = 0; i < report->facts.clock_count && !report_get_figures(report, entry)->measured.known; i++) {
		const struct report_clock *main = &report->facts.clocks[i];

		if (text_equal(main->clock.id, entry->clock.main) &&
		    main->clock.claimed.num == entry->clock.claimed.num)
			return main;
	}
	return entry;
}

uint64_t
report_clock_rate_millihz(const struct report *report, const struct report_clock *entry)
{
	const struct report_clock *of = find_clock_with_measured_rate(report, entry);
	const struct interval_millihz *measured = &report_get_figures(report, of)->measured;
	uint64_t claimed = claimed_millihz(report_get_claimed_rate(report, entry));
	bool is_claim_inside = measured->low <= claimed && claimed <= measured->high;

	if (!measured->known || (is_claim_inside && measured->high - measured->low > claimed / COARSE_SHARE))
		return claimed;
	return measured->value;
}

uint64_t
report_clock_ticks_to_ps(const struct report *report, const struct report_clock *entry, uint64_t ticks)
{
	uint64_t millihz = report_clock_rate_millihz(report, entry);

	return millihz ? scale_mul_div_nearest(ticks, PS_MILLIHZ_PER_TICK, millihz) : 0;
}

uint64_t
report_count_warps(const struct report *report)
{
	const struct warp_checks *checks = &report->facts.warp_checks;

	return report->figures.skew.warps + checks->locked.warps + checks->lock_free.warps;
}

uint64_t
report_get_worst_warp_ns(const struct report *report, const struct report_contended *check)
{
	struct scale scale = report_get_tsc_scale(report);

	return scale_ns(&scale, check->worst_ticks);
}

struct offset
report_get_offset_of_ranks(const struct offsets *offsets, size_t a, size_t b)
{
	return a < offsets->cores && b < offsets->cores ? offsets_get_offset(offsets, a, b) : OFFSET_UNKNOWN;
}

struct offset
report_get_pair_drift(const struct report *report, size_t a, size_t b)
{
	return report_get_offset_of_ranks(&report->figures.skew.drifts, a, b);
}

struct offset
report_get_core_drift(const struct report *report, const struct report_core *core)
{
	return report_get_pair_drift(report, 0, report_get_core_figures(report, core)->rank);
}

const struct discontinuity_outcome *
report_get_discontinuity_outcome(const struct report *report, const struct report_discontinuity *row)
{
	return &report->outcomes.discontinuities[row - report->figures.discontinuities];
}

const struct core_outcome *
report_get_core_outcome(const struct report *report, const struct report_core *core)
{
	return &report->outcomes.sync.cores[core - report->facts.cores];
}

const struct core_outcome *
report_get_outcome_of_rank(const struct report *report, size_t rank)
{
	return report_get_core_outcome(report, report_get_core_of_rank(report, rank));
}

struct core_faults
report_count_core_faults(const struct report *report)
{
	struct core_faults faults = { 0, 0, 0, 0 };

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct core_outcome *core = &report->outcomes.sync.cores[i];

		faults.off_majority += core->off_majority;
		faults.drifting += core->drifts;
		faults.stepped += core->stepped;
		faults.stepping_back += core->steps_back;
	}
	return faults;
}

const struct report_core *
report_get_first_core_of_package(const struct report *report, size_t i)
{
	const struct report_core *core = &report->facts.cores[i];

	for (size_t j = 0; j < i && core->facts_known; j++)
		if (report->facts.cores[j].facts_known && report->facts.cores[j].facts.package == core->facts.package)
			return &report->facts.cores[j];
	return core;
}

uint64_t
report_get_adjust_difference(const struct report_core *a, const struct report_core *b)
{
	return a->facts.tsc_adjust > b->facts.tsc_adjust ? (uint64_t)a->facts.tsc_adjust - (uint64_t)b->facts.tsc_adjust :
	       (uint64_t)b->facts.tsc_adjust - (uint64_t)a->facts.tsc_adjust;
}

struct tsc_adjusts
report_collect_tsc_adjusts(const struct report *report)
{
	struct tsc_adjusts adjusts = { .known = 0 };

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i],
						 *first = report_get_first_core_of_package(report, i);

		adjusts.known += core->facts_known;
		if (!core->facts_known || !core->facts.has_tsc_adjust)
			continue;
		adjusts.packages += first == core;
		if (report_get_adjust_difference(core, first) >
		    (adjusts.odd ? report_get_adjust_difference(adjusts.odd, adjusts.first) : 0)) {
			adjusts.odd = core;
			adjusts.first = first;
		}
		if (!adjusts.cores || core->facts.tsc_adjust < adjusts.least->facts.tsc_adjust) {
			adjusts.least = core;
			adjusts.least_count = 0;
		}
		if (!adjusts.cores || core->facts.tsc_adjust > adjusts.most->facts.tsc_adjust) {
			adjusts.most = core;
			adjusts.most_count = 0;
		}
		adjusts.least_count += core->facts.tsc_adjust == adjusts.least->facts.tsc_adjust;
		adjusts.most_count += core->facts.tsc_adjust == adjusts.most->facts.tsc_adjust;
		adjusts.cores++;
	}
	return adjusts;
}

struct scale
report_get_tsc_scale(const struct report *report)
{
	struct scale scale;

	scale_init(&scale, report->figures.tsc);
	if (report->figures.tsc_within.known)
		scale_set_rate_bounds(&scale, report->figures.tsc_within.low, report->figures.tsc_within.high);
	return scale;
}

struct offset
report_offset_to_ns(const struct report *report, struct offset offset)
{
	struct scale scale = report_get_tsc_scale(report);

	if (!report->figures.skew.pass_count || !offset_is_known(offset))
		return OFFSET_UNKNOWN;
	return (struct offset){ scale_ticks_to_ns_down(&scale, offset.low), scale_ticks_to_ns_up(&scale, offset.high) };
}

struct offset
report_ticks_to_ns(const struct report *report, uint64_t ticks)
{
	struct scale scale = report_get_tsc_scale(report);
	int64_t size = ticks < (uint64_t)TICKS_MAX ? (int64_t)ticks : TICKS_MAX;

	return (struct offset){ scale_ticks_to_ns_down(&scale, size), scale_ticks_to_ns_up(&scale, size) };
}

uint64_t
report_ticks_to_ms(const struct report *report, uint64_t ticks)
{
	return ((uint64_t)report_ticks_to_ns(report, ticks).high + NS_PER_MS - 1) / NS_PER_MS;
}

uint64_t
report_get_bound_of_pass_ns(const struct report *report, const struct report_pass *pass)
{
	return (uint64_t)report_ticks_to_ns(report, pass->summary.bound_ticks).high;
}

uint64_t
report_run_time_ns(const struct report *report, uint64_t tsc)
{
	uint64_t start_tsc = report->facts.run.start_tsc;
	struct scale scale;

	scale_init(&scale, report->figures.tsc);
	return tsc > start_tsc ? scale_ns(&scale, tsc - start_tsc) : 0;
}

/*
 * Returns an upper bound in ns of the time that passed according to counters during the discontinuity ROW. A guest's
 * RTC is ignored, because it also counts while the guest is paused.
 */
static uint64_t
max_elapsed_in_discontinuity_ns(const struct report *report, const struct report_discontinuity *row)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < row->group_count; i++) {
		const struct report_group *group = &row->groups[i];
		size_t clock = group->members[0];

		if (group->elapsed.known && group->elapsed.high > most_ns &&
		    (clock >= report->facts.clock_count || !report->facts.clocks[clock].clock.edges_only))
			most_ns = group->elapsed.high;
	}
	return (uint64_t)most_ns;
}

uint64_t
report_max_run_time_ns(const struct report *report, uint64_t tsc)
{
	uint64_t ns = report_run_time_ns(report, tsc), most_ns = ns;

	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];
		uint64_t from_ns = report_run_time_ns(report, row->from_tsc);
		uint64_t at_ns = report_run_time_ns(report, row->at_tsc);
		uint64_t counted_ns = max_elapsed_in_discontinuity_ns(report, row);

		if (from_ns > at_ns && ns + counted_ns >= at_ns)
			most_ns += from_ns - at_ns + counted_ns;
	}
	return most_ns;
}

const struct report_pass *
report_get_last_pass(const struct report *report)
{
	return &report->figures.skew.passes[report->figures.skew.pass_count ? report->figures.skew.pass_count - 1 : 0];
}

const struct report_pass *
report_get_shown_pass(const struct report *report)
{
	return &report->figures.skew.passes[report->outcomes.sync.shown];
}

const struct report_core *
report_get_core_of_rank(const struct report *report, size_t rank)
{
	return &report->facts.cores[report->figures.skew.core_of[rank]];
}

uint32_t
report_get_apic_id_of_rank(const struct report *report, size_t rank)
{
	return report_get_core_of_rank(report, rank)->apic_id;
}

struct offset
report_get_core_offset(const struct report *report, const struct report_pass *pass, const struct report_core *core)
{
	size_t rank = report_get_core_figures(report, core)->rank;

	return rank < pass->offsets.cores ? pass->core_offsets[rank] : OFFSET_UNKNOWN;
}

void
notes_add_all(struct notes *notes, const struct notes *more)
{
	for (size_t i = 0; i < more->count; i++)
		notes_add(notes, "%s", more->sentences[i]);
}

void
notes_add(struct notes *notes, const char *format, ...)
{
	va_list arguments;

	if (notes->count == REPORT_NOTES_MAX)
		return;
	struct text note = text_start(notes->sentences[notes->count++], REPORT_SENTENCE);
	va_start(arguments, format);
	text_vprintf(&note, format, arguments);
	va_end(arguments);
}
