/* Judges which clock's rate changed. See rate_vote.h. */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"

#define PPB             INT64_C(1000000000)
#define UNCHANGED       UINT64_C(1000000000000000) /* a ratio of 1 */
#define PER_PPB         INT64_C(1000000)           /* a change of the ratio by 1 ppb */
#define STOP_MAX_NS     INT64_C(10000000)          /* 10 ms: a longer stop of the TSC is found as a discontinuity */
/* Two clocks' time intervals differ by at most 1/64: they last a second or more, and start milliseconds apart. */
#define STRETCHES_SHARE 64

const struct rate_interval vote_unchanged = { true, UNCHANGED, UNCHANGED, UNCHANGED };

/*
 * A change of the TSC appears equally in the changes of all clocks, except that each clock was measured over a
 * slightly different time interval. The ratio is widened by that difference.
 */
struct rate_interval
vote_ratio(const struct interval_ppb *change)
{
	int64_t apart = (change->value < 0 ? -change->value : change->value) / STRETCHES_SHARE;
	int64_t low = change->low - apart, high = change->high + apart;

	if (!change->known || low <= -PPB || high > INT64_MAX / PER_PPB - PPB)
		return (struct rate_interval){ .known = false };
	return (struct rate_interval){ true, UNCHANGED + (uint64_t)(change->value * PER_PPB),
				       UNCHANGED + (uint64_t)(low * PER_PPB),
				       UNCHANGED + (uint64_t)(high * PER_PPB) };
}

/*
 * Returns true if QEMU may have moved its emulated TSC ahead, so that the TSC has no vote. QEMU never lets this TSC go
 * back: if a reading would be below an earlier one, it moves the TSC ahead for good. When several cores read the TSC at
 * once, as in the contended checks, this adds up to milliseconds.
 */
static bool
may_have_moved_tsc(const struct report *report, bool halves)
{
	return !halves && report_is_emulated(report) && report->cores_started > 1;
}

/* Sets vote->rates to each clock's change against the TSC, whose own change is 0 by definition. */
static void
collect_changes(struct vote *vote, bool halves)
{
	for (size_t i = 0; i < vote->report->clock_count; i++) {
		const struct report_clock *entry = &vote->report->clocks[i];

		vote->rates[i] = (struct rate_interval){ .known = false };
		if (!vote_includes_clock(vote->report, entry) || vote_may_jump(vote->report, entry))
			continue;
		if (!text_equal(entry->clock.id, "tsc"))
			vote->rates[i] = vote_ratio(halves ? &entry->change_halves : &entry->change_since);
		else if (!may_have_moved_tsc(vote->report, halves))
			vote->rates[i] = vote_unchanged;
	}
}

static const char *
when_phrase(bool halves)
{
	return halves ? "while the rates were measured" : "after the rates were measured";
}

static void
add_change_finding(struct vote *vote, size_t clock, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[vote_reference(&vote->found)], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", vote_clock_id(vote, clock), REPORT_NO_CORE,
				     "The rate of %s changed by %s %s; the rates of %s did not.", vote_clock_id(vote, clock),
				     phrase_ppm(&by).bytes, when_phrase(halves),
				     phrase_group(vote, vote_evidence(&vote->found)).bytes),
		   &by, limit);
}

/*
 * Returns true if a stop of the TSC may explain CLOCK's change against OTHER. CLOCK must be an edge clock, which is
 * read only at its ticks, like the RTC. At both ends of a time interval, edge clocks are read before all others. A TSC
 * that stops between these readings affects the rate of the edge clock only.
 */
static bool
may_be_tsc_stop(const struct vote *vote, size_t clock, size_t other, bool halves)
{
	const struct report_clock *entry = &vote->report->clocks[clock];
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);
	uint64_t stretch_ns = halves ? entry->window_ns / 2 : by.value < 0 ? entry->window_ns : entry->since_ns;
	unsigned __int128 stop = (unsigned __int128)(by.value < 0 ? -by.value : by.value) * stretch_ns;

	return entry->clock.edges_only && stop < (unsigned __int128)STOP_MAX_NS * PPB;
}

/*
 * Returns true if CLOCK's change may be due to a stop of the TSC. In a guest all devices count one clock of the host.
 * If one device changed against another, the TSC may have stopped between the readings of the two instead.
 */
static bool
may_be_due_to_tsc(const struct vote *vote, const struct falseticker_sources *sources, size_t clock, bool halves)
{
	return may_be_tsc_stop(vote, clock, vote_reference(&vote->found), halves) ||
	       (vote->report->hypervisor[0] && set_has(sources->siblings, clock) &&
		(vote_evidence(&vote->found) & sources->siblings));
}

/*
 * Returns true if both groups are devices of a guest. These have one source, so they cannot differ. The TSC may have
 * stopped between their readings instead.
 */
static bool
are_guest_devices(const struct vote *vote, const struct falseticker_sources *sources)
{
	uint32_t groups = vote->found.group_a | vote->found.group_b;

	return vote->report->hypervisor[0] && vote->found.undecided && !(groups & ~sources->siblings);
}

/*
 * Adds a finding on a change of CLOCK against the group OTHERS, which may also be a stop of the TSC. OTHER represents
 * the group.
 */
static void
add_change_or_stop(struct vote *vote, size_t clock, size_t other, uint32_t others, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
					  "The rate of %s against %s changed by %s %s, or the TSC stopped between two of their "
					  "readings.",
					  vote_clock_id(vote, clock), phrase_group(vote, others).bytes,
					  phrase_ppm(&by).bytes,
					  when_phrase(halves)),
			&by, limit);
}

static void
add_group_finding(struct vote *vote, bool halves, uint64_t limit)
{
	const struct falseticker *found = &vote->found;
	struct interval_ppb by = rate_compare(&vote->rates[found->b], &vote->rates[found->a]);

	vote->changed |= found->group_a | found->group_b | found->others;
	if (found->group_a == set_of(found->a) && may_be_tsc_stop(vote, found->a, found->b, halves)) {
		add_change_or_stop(vote, found->a, found->b, found->group_b, halves, limit);
		return;
	}
	if (found->group_b == set_of(found->b) && may_be_tsc_stop(vote, found->b, found->a, halves)) {
		add_change_or_stop(vote, found->b, found->a, found->group_a, halves, limit);
		return;
	}
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
					  "The rate of %s against %s changed by %s %s; nothing shows %s changed.%s",
					  phrase_group(vote, found->group_a).bytes,
					  phrase_group(vote, found->group_b).bytes,
					  phrase_ppm(&by).bytes, when_phrase(halves),
					  phrase_which(found->group_a, found->group_b), phrase_others(vote).bytes),
			&by, limit);
}

/*
 * Adds a note if the TSC gained on all other clocks because QEMU moved it ahead. No clock is at fault, but rates after
 * the rate window are of no use.
 */
static void
note_tsc_gain(struct vote *vote, uint64_t limit_ppb)
{
	struct interval_ppb gained = { .known = false };
	uint32_t others = 0;

	for (size_t i = 0; i < vote->report->clock_count; i++) {
		const struct interval_ppb *change = &vote->report->clocks[i].change_since;

		if (!vote->rates[i].known)
			continue;
		if (change->high >= -(int64_t)limit_ppb)
			return;
		gained = (struct interval_ppb){ true, -change->value, -change->high, -change->low };
		others |= set_of(i);
	}
	if (others)
		report_note(vote->report, "tsc: It gained %s on %s after the rates were measured. QEMU's emulation "
					  "moves the TSC ahead when several cores read it at once, so this does not "
					  "count as a fault. All rates are from the time before.",
			    phrase_ppm(&gained).bytes, phrase_group(vote, others).bytes);
}

struct falseticker_sources
vote_on_changes(struct vote *vote, uint64_t limit_ppb)
{
	struct rate_interval implied[REPORT_CLOCKS_MAX];

	for (size_t i = 0; i < vote->report->clock_count; i++)
		implied[i] = vote->report->clocks[i].implied_window;
	return vote_on_rates(vote, implied, limit_ppb);
}

static struct falseticker_sources
vote_on_rate_changes(struct vote *vote, bool halves)
{
	collect_changes(vote, halves);
	return vote_on_changes(vote, vote_limit_ppb(vote->report, "rate-changed"));
}

bool
rate_changes_doubt_tsc(struct vote *vote)
{
	uint32_t tsc = judge_set_of_tsc(vote->report);

	if (judge_tsc_diverged(vote->report))
		return true;
	for (int halves = 0; halves < 2; halves++) {
		vote_on_rate_changes(vote, halves);
		if (vote->found.undecided && (vote->found.group_a == tsc || vote->found.group_b == tsc))
			return true;
	}
	return false;
}

void
rate_changes_judge(struct vote *vote, bool halves)
{
	uint64_t limit = vote_limit_ppb(vote->report, "rate-changed");
	struct falseticker_sources sources = vote_on_rate_changes(vote, halves);

	if (!halves && may_have_moved_tsc(vote->report, halves))
		note_tsc_gain(vote, limit);
	for (size_t i = 0; i < vote->report->clock_count; i++) {
		if (!set_has(vote->found.falsetickers, i) || set_has(vote->changed, i))
			continue;
		if (vote->by_doubtful_tsc)
			vote->changed |= set_of(i);
		else if (may_be_due_to_tsc(vote, &sources, i, halves))
			add_change_or_stop(vote, i, vote_reference(&vote->found), vote_evidence(&vote->found), halves,
					   limit);
		else
			add_change_finding(vote, i, halves, limit);
	}
	if (vote_has_new_groups(vote) && !are_guest_devices(vote, &sources))
		add_group_finding(vote, halves, limit);
}
