/*
 * Judges which clock's rate changed: in the rate window, after it, or slowly over a soak (a long run in rows). In each
 * row, a clock's rate is an interval that contains the true rate. So the two rows whose intervals are furthest apart
 * show the largest proven change. See rate_vote.h.
 */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"
#include "base/units.h"

#define UNCHANGED       UINT64_C(1000000000000000) /* ratio of an unchanged rate (1), in units of 10^-15 */
#define PER_PPB         INT64_C(1000000)           /* a change of the ratio by 1 ppb */
#define STOP_MAX_NS     INT64_C(10000000)          /* 10 ms: a longer stop of the TSC is found as a discontinuity */
/*
 * Two clocks are measured over slightly different time intervals. The lengths of these differ by at most 1/64, because
 * they last a second or more and start within milliseconds of each other.
 */
#define LENGTHS_SHARE 64

enum change_kind {
	CHANGE_HALVES, /* between the halves of the rate window */
	CHANGE_SINCE,  /* from the rate window to the run's end */
	CHANGE_TREND,  /* between two rows of a soak's series */
};

struct change {
	struct vote *vote;
	enum change_kind kind;
	const char *rule;
	const struct series_row *from, *to; /* the two rows of the series, for CHANGE_TREND */
};

/*
 * Returns CHANGE, a clock's change against the TSC, as a ratio near 1. A change of the TSC appears equally in the
 * changes of all clocks, but each clock was measured over a slightly different time interval. Therefore the ratio is
 * widened by 1/LENGTHS_SHARE of the change.
 */
static struct rate_interval
rate_change_to_ratio(const struct interval_ppb *change)
{
	int64_t apart = (change->value < 0 ? -change->value : change->value) / LENGTHS_SHARE;
	int64_t low = change->low - apart, high = change->high + apart;

	if (!change->known || low <= -PPB || high > INT64_MAX / PER_PPB - PPB)
		return (struct rate_interval){ .known = false };
	return (struct rate_interval){ true, UNCHANGED + (uint64_t)(change->value * PER_PPB),
				       UNCHANGED + (uint64_t)(low * PER_PPB),
				       UNCHANGED + (uint64_t)(high * PER_PPB) };
}

/*
 * Returns true if QEMU may have moved its emulated TSC ahead, so that the TSC has no vote. QEMU never lets this TSC go
 * back: if a reading would be below an earlier reading, QEMU moves the TSC ahead for good. When several cores read the
 * TSC at once, these moves add up to milliseconds.
 */
static bool
may_emulator_have_moved_tsc(const struct change *change)
{
	const struct report *report = change->vote->report;

	return change->kind == CHANGE_SINCE && report_is_machine_emulated(report) &&
	       report->facts.machine.cores_started > 1;
}

static const struct rate_interval *
get_implied_rate_in_row(const struct change *change, const struct series_row *row, size_t clock)
{
	return &report_get_soak_rate(change->vote->report, &row->clocks[clock])->implied;
}

/* Returns the change of clock I against the TSC. The TSC's own change is 0 by definition, a ratio of 1. */
static struct rate_interval
rate_change_of_clock(const struct change *change, size_t i)
{
	const struct report *report = change->vote->report;
	const struct report_clock *entry = &report->facts.clocks[i];
	const struct clock_figures *figures = &report->figures.clocks[i];

	if (!vote_is_rate_compared(report, entry) || vote_may_clock_jump(report, entry))
		return (struct rate_interval){ .known = false };
	if (text_equal(entry->clock.id, "tsc"))
		return (struct rate_interval){ !may_emulator_have_moved_tsc(change), UNCHANGED, UNCHANGED, UNCHANGED };
	if (change->kind != CHANGE_TREND)
		return rate_change_to_ratio(change->kind == CHANGE_HALVES ? &figures->change_halves : &figures->change_since);
	struct interval_ppb by = rate_relative_difference(get_implied_rate_in_row(change, change->to, i),
							  get_implied_rate_in_row(change, change->from, i));
	return rate_change_to_ratio(&by);
}

/*
 * Lets the clocks vote on their changes. Which clocks have independent sources is seen from their rates in the rate
 * window, because the changes do not show it.
 */
static struct falseticker_sources
vote_on_changes(const struct change *change)
{
	struct rate_interval implied[REPORT_CLOCKS_MAX];
	struct vote *vote = change->vote;

	for (size_t i = 0; i < vote->report->facts.clock_count; i++) {
		vote->rates[i] = rate_change_of_clock(change, i);
		implied[i] = vote->report->figures.clocks[i].implied_window;
	}
	return vote_on_rates(vote, implied, vote_limit_ppb(vote->report, change->rule));
}

static struct phrase
describe_time_of_change(const struct change *change)
{
	const struct report *report = change->vote->report;

	if (change->kind != CHANGE_TREND)
		return phrase(change->kind == CHANGE_HALVES ? " while the rates were measured" : " after the rates were measured");
	return phrase(", from its rate between %s and %s to its rate between %s and %s",
		      phrase_tsc_time(report, change->from->from_tsc).bytes,
		      phrase_tsc_time(report, change->from->to_tsc).bytes,
		      phrase_tsc_time(report, change->to->from_tsc).bytes,
		      phrase_tsc_time(report, change->to->to_tsc).bytes);
}

/* Two sets of clocks whose rates changed against each other. CLOCK is in CLOCKS and OTHER is in OTHERS. */
struct changed {
	size_t clock, other;
	uint32_t clocks, others;
};

/* Adds a finding that the rate of SUBJECT changed. NAMED is the clock that the finding blames, or NULL. */
static void
add_rate_change_finding(const struct change *change, const char *named, struct phrase subject, struct changed changed,
			struct phrase end)
{
	struct vote *vote = change->vote;
	struct interval_ppb by = rate_relative_difference(&vote->rates[changed.other], &vote->rates[changed.clock]);
	struct finding *finding = rules_add_finding(vote->report, vote->outcomes, change->rule, named, REPORT_NO_CORE,
						    "The rate of %s changed by %s%s%s", subject.bytes, phrase_ppm(&by).bytes,
						    describe_time_of_change(change).bytes, end.bytes);

	vote_set_finding_figure(finding, &by);
	rules_set_clocks(finding, changed.clocks, changed.others);
}

/*
 * Returns true if a stop of the TSC may explain CLOCK's change against OTHER. CLOCK must be an edge clock, which is
 * read only at its ticks, like the RTC. At both ends of a time interval, edge clocks are read before all others. A TSC
 * that stops after the reading of an edge clock, but before the other readings, affects the rate of the edge clock
 * only.
 */
static bool
may_tsc_stop_explain_change(const struct change *change, size_t clock, size_t other)
{
	const struct report *report = change->vote->report;
	const struct clock_figures *figures = &report->figures.clocks[clock];
	struct interval_ppb by = rate_relative_difference(&change->vote->rates[other], &change->vote->rates[clock]);
	uint64_t measured_ns = change->kind == CHANGE_HALVES ? figures->window_ns / 2 :
			      by.value < 0 ? figures->window_ns : figures->since_ns;
	unsigned __int128 stop = (unsigned __int128)(by.value < 0 ? -by.value : by.value) * measured_ns;

	return change->kind != CHANGE_TREND && report->facts.clocks[clock].clock.edges_only &&
	       stop < (unsigned __int128)STOP_MAX_NS * PPB;
}

/*
 * Returns true if CLOCK's change may be due to a stop of the TSC. In a guest, one clock of the host drives all devices,
 * so the rates of two devices cannot change against each other. If they seem to, the TSC may have stopped between the
 * readings of the two devices.
 */
static bool
may_tsc_change_explain_change(const struct change *change, const struct falseticker_sources *sources, size_t clock)
{
	const struct vote *vote = change->vote;

	return may_tsc_stop_explain_change(change, clock, vote_find_reference_clock(&vote->found)) ||
	       (report_is_guest(vote->report) && set_has(sources->same_source, clock) &&
		(vote_find_clocks_as_evidence(&vote->found) & sources->same_source));
}

/*
 * Adds a finding that CLOCK's rate changed against the group OTHERS, or that the TSC stopped. OTHER represents the
 * group.
 */
static void
add_change_or_tsc_stop_finding(const struct change *change, size_t clock, size_t other, uint32_t others)
{
	struct vote *vote = change->vote;

	vote->changed |= set_of(clock);
	vote->maybe_tsc |= set_of(clock);
	add_rate_change_finding(
		change, NULL,
		phrase("%s against %s", vote_clock_id(vote, clock), phrase_clocks_of_group(vote, others).bytes),
		(struct changed){ clock, other, set_of(clock), others | judge_get_clock_bit(vote->report, "tsc") },
		phrase(", or the TSC stopped between two of their readings."));
}

static void
judge_changed_clock(const struct change *change, const struct falseticker_sources *sources, size_t clock)
{
	struct vote *vote = change->vote;
	size_t reference = vote_find_reference_clock(&vote->found);
	uint32_t evidence = vote_find_clocks_as_evidence(&vote->found);
	const char *id = vote_clock_id(vote, clock);

	vote->changed |= set_of(clock);
	if (vote->by_doubtful_tsc)
		return;
	if (may_tsc_change_explain_change(change, sources, clock))
		add_change_or_tsc_stop_finding(change, clock, reference, evidence);
	else
		add_rate_change_finding(change, id, phrase("%s", id),
					(struct changed){ clock, reference, set_of(clock), evidence },
					phrase("; the rates of %s did not.", phrase_clocks_of_group(vote, evidence).bytes));
}

static void
judge_disagreeing_groups(const struct change *change)
{
	struct vote *vote = change->vote;
	const struct falseticker *found = &vote->found;

	vote->changed |= found->group_a | found->group_b | found->others;
	if (found->group_a == set_of(found->a) && may_tsc_stop_explain_change(change, found->a, found->b))
		add_change_or_tsc_stop_finding(change, found->a, found->b, found->group_b);
	else if (found->group_b == set_of(found->b) && may_tsc_stop_explain_change(change, found->b, found->a))
		add_change_or_tsc_stop_finding(change, found->b, found->a, found->group_a);
	else
		add_rate_change_finding(change, NULL,
					phrase("%s against %s", phrase_clocks_of_group(vote, found->group_a).bytes,
					       phrase_clocks_of_group(vote, found->group_b).bytes),
					(struct changed){ found->a, found->b, found->group_a, found->group_b },
					phrase("; nothing shows %s changed.%s",
					       phrase_which_of_clocks_or_groups(found->group_a, found->group_b),
					       phrase_clocks_of_neither_group(vote).bytes));
}

/*
 * Returns true if both groups are devices of a guest. One clock of the host drives these, so their rates cannot differ.
 * The TSC may have stopped between their readings instead.
 */
static bool
are_groups_of_emulated_clocks(const struct vote *vote, const struct falseticker_sources *sources)
{
	return report_is_guest(vote->report) &&
	       !((vote->found.group_a | vote->found.group_b) & ~sources->same_source);
}

/*
 * Adds a note if the TSC gained on all other clocks because QEMU moved it ahead. No clock is at fault, but rates after
 * the rate window are of no use.
 */
static void
note_tsc_gain_of_emulator(const struct vote *vote)
{
	int64_t limit_ppb = (int64_t)vote_limit_ppb(vote->report, "rate-changed");
	struct interval_ppb gained = { .known = false };
	uint32_t others = 0;

	for (size_t i = 0; i < vote->report->facts.clock_count; i++) {
		const struct interval_ppb *change = &vote->report->figures.clocks[i].change_since;

		if (!vote->rates[i].known)
			continue;
		if (change->high >= -limit_ppb)
			return;
		gained = (struct interval_ppb){ true, -change->value, -change->high, -change->low };
		others |= set_of(i);
	}
	if (others)
		notes_add(&vote->outcomes->notes,
			  "tsc: It gained %s on %s after the rates were measured. QEMU's emulation moves the TSC "
			  "ahead when several cores read it at once, so this is no fault. All rates are from the "
			  "time before.", phrase_ppm(&gained).bytes, phrase_clocks_of_group(vote, others).bytes);
}

static void
judge_rate_change(const struct change *change)
{
	struct vote *vote = change->vote;
	struct falseticker_sources sources = vote_on_changes(change);

	if (may_emulator_have_moved_tsc(change))
		note_tsc_gain_of_emulator(vote);
	for (size_t i = 0; i < vote->report->facts.clock_count; i++)
		if (set_has(vote->found.falsetickers, i) && !set_has(vote->changed, i))
			judge_changed_clock(change, &sources, i);
	if (vote_has_unreported_groups(vote) && !are_groups_of_emulated_clocks(vote, &sources))
		judge_disagreeing_groups(change);
}

/*
 * Sets CHANGE to the two rows between which the rate of clock I is proven to have changed most. Returns false if that
 * change is within the limit.
 */
static bool
find_largest_change(struct change *change, size_t i)
{
	const struct series *series = &change->vote->report->facts.series;
	const struct rate_interval *lowest = NULL, *highest = NULL;
	const struct series_row *low = NULL, *high = NULL;

	for (size_t r = 0; r < series->count; r++) {
		const struct series_row *row = &series->rows[r];
		const struct rate_interval *rate = get_implied_rate_in_row(change, row, i);

		if (!rate->known || change->vote->report->facts.clocks[i].clock.edges_only)
			continue;
		if (!low || rate->high < lowest->high)
			low = row, lowest = rate;
		if (!high || rate->low > highest->low)
			high = row, highest = rate;
	}
	if (!low || low == high)
		return false;
	struct interval_ppb by = rate_relative_difference(lowest, highest);
	change->from = low < high ? low : high;
	change->to = low < high ? high : low;
	return rate_is_beyond(&by, vote_limit_ppb(change->vote->report, change->rule));
}

/* Returns true if a clock that is not derived from the TSC changed its rate against the TSC by less than the limit. */
static bool
is_tsc_steady_against_any_clock(const struct change *change)
{
	const struct report *report = change->vote->report;
	uint64_t limit = vote_limit_ppb(report, change->rule) * (uint64_t)PER_PPB;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock *clock = &report->facts.clocks[i].clock;
		const struct rate_interval *ratio = &change->vote->rates[i];

		if (ratio->known && !clock->by_tsc && !text_equal(clock->id, "tsc") && ratio->low + limit >= UNCHANGED &&
		    ratio->high <= UNCHANGED + limit)
			return true;
	}
	return false;
}

bool
rate_changes_may_tsc_have_changed(const struct report *report)
{
	struct vote vote = { .report = report };
	struct change change = { .vote = &vote, .rule = "rate-changed" };
	uint32_t tsc = judge_get_clock_bit(report, "tsc");

	if (judge_has_tsc_diverged(report))
		return true;
	for (change.kind = CHANGE_HALVES; change.kind <= CHANGE_SINCE; change.kind++) {
		vote_on_changes(&change);
		if (vote.found.undecided && (vote.found.group_a == tsc || vote.found.group_b == tsc) &&
		    !is_tsc_steady_against_any_clock(&change))
			return true;
	}
	return false;
}

/*
 * A trend is not judged in a guest: its devices count the host's clock, which NTP slews, and its TSC may stop between
 * two readings.
 */
void
rate_changes_judge(struct vote *vote)
{
	struct change change = { .vote = vote, .rule = "rate-changed" };

	for (change.kind = CHANGE_HALVES; change.kind <= CHANGE_SINCE; change.kind++)
		judge_rate_change(&change);
	change = (struct change){ .vote = vote, .kind = CHANGE_TREND, .rule = "rate-trend" };
	for (size_t i = 0; i < vote->report->facts.clock_count && !report_is_guest(vote->report) &&
	     !vote->by_doubtful_tsc; i++)
		if (!set_has(vote->changed, i) && find_largest_change(&change, i))
			judge_rate_change(&change);
}
