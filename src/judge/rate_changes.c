/* Judges which clock's rate changed. See rate_vote.h. */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"

#define PPB             INT64_C(1000000000)
#define UNCHANGED       UINT64_C(1000000000000000) /* a ratio of 1, whose millionth is 1 ppb */
#define PER_PPB         INT64_C(1000000)           /* 1 ppb in that ratio */
#define STOOD_MAX_NS    INT64_C(10000000)          /* a longer stop is a discontinuity */
/* The ends of two clocks are milliseconds apart, in stretches of a second and more. */
#define STRETCHES_SHARE 64

const struct rate_interval vote_unchanged = { true, UNCHANGED, UNCHANGED, UNCHANGED };

/*
 * A step of the TSC shows equally in all clocks' changes. But each clock has its own stretch, and these differ
 * a little.
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
 * QEMU's emulated TSC never goes back. If a reading is below the one before, QEMU moves the TSC ahead
 * permanently. Cores that read it at once, as in the contended checks, moved it by milliseconds. Therefore it
 * has no vote after other cores were started.
 */
static bool
is_pushed_ahead(const struct report *report, bool halves)
{
	return !halves && report_is_emulated(report) && report->cores_started > 1;
}

/* Each clock's change is measured against the TSC, whose own change is 0 by definition. */
static void
collect_changes(struct vote *vote, bool halves)
{
	for (size_t i = 0; i < vote->report->clock_count; i++) {
		const struct report_clock *entry = &vote->report->clocks[i];

		vote->rates[i] = (struct rate_interval){ .known = false };
		if (!vote_may_vote(vote->report, entry) || vote_may_leap(vote->report, entry))
			continue;
		if (!text_equal(entry->clock.id, "tsc"))
			vote->rates[i] = vote_ratio(halves ? &entry->change_halves : &entry->change_since);
		else if (!is_pushed_ahead(vote->report, halves))
			vote->rates[i] = vote_unchanged;
	}
}

static const char *
when_phrase(bool halves)
{
	return halves ? "within the window" : "between the window and the end";
}

static void
name_change(struct vote *vote, size_t clock, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[vote_reference(&vote->found)], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", vote_clock_id(vote, clock), REPORT_NO_CORE,
				     "The rate of %s changed by %s %s; the rates of %s did not.", vote_clock_id(vote, clock),
				     vote_ppm(&by).bytes, when_phrase(halves),
				     vote_group(vote, vote_accusers(&vote->found)).bytes),
		   &by, limit);
}

/*
 * Returns true if the TSC may have stopped between the ends of an edge clock and of OTHER. Edge clocks' ends
 * are taken before all others. Such a stop shows only in the edge clock's rate, which is then higher in the
 * stretch with the stop.
 */
static bool
may_be_between_ends(const struct vote *vote, size_t clock, size_t other, bool halves)
{
	const struct report_clock *entry = &vote->report->clocks[clock];
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);
	uint64_t stretch_ns = halves ? entry->window_ns / 2 : by.value < 0 ? entry->window_ns : entry->since_ns;
	unsigned __int128 stood = (unsigned __int128)(by.value < 0 ? -by.value : by.value) * stretch_ns;

	return entry->clock.edges_only && stood < (unsigned __int128)STOOD_MAX_NS * PPB;
}

/*
 * In a guest all devices count the host's one clock through separate emulations. If one of them changed against
 * another, the TSC may have stopped between the two readings instead.
 */
static bool
may_be_the_tscs(const struct vote *vote, const struct falseticker_sources *sources, size_t clock, bool halves)
{
	return may_be_between_ends(vote, clock, vote_reference(&vote->found), halves) ||
	       (vote->report->hypervisor[0] && set_has(sources->siblings, clock) &&
		(vote_accusers(&vote->found) & sources->siblings));
}

/*
 * Returns true if the two groups are devices of a guest, which have one source: between their readings the TSC
 * may have stopped.
 */
static bool
are_siblings(const struct vote *vote, const struct falseticker_sources *sources)
{
	uint32_t groups = vote->found.group_a | vote->found.group_b;

	return vote->report->hypervisor[0] && vote->found.undecided && !(groups & ~sources->siblings);
}

/*
 * Names a change of CLOCK against the group OTHERS that may also be a stop of the TSC. OTHER represents the
 * group.
 */
static void
name_change_or_tsc(struct vote *vote, size_t clock, size_t other, uint32_t others, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
					  "The rate of %s against %s changed by %s %s, or the TSC stopped between two of their "
					  "readings.",
					  vote_clock_id(vote, clock), vote_group(vote, others).bytes, vote_ppm(&by).bytes,
					  when_phrase(halves)),
			&by, limit);
}

static void
name_changed_groups(struct vote *vote, bool halves, uint64_t limit)
{
	const struct falseticker *found = &vote->found;
	struct interval_ppb by = rate_compare(&vote->rates[found->b], &vote->rates[found->a]);

	vote->changed |= found->group_a | found->group_b | found->others;
	if (found->group_a == set_of(found->a) && may_be_between_ends(vote, found->a, found->b, halves)) {
		name_change_or_tsc(vote, found->a, found->b, found->group_b, halves, limit);
		return;
	}
	if (found->group_b == set_of(found->b) && may_be_between_ends(vote, found->b, found->a, halves)) {
		name_change_or_tsc(vote, found->b, found->a, found->group_a, halves, limit);
		return;
	}
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
					  "The rate of %s against %s changed by %s %s; nothing shows %s changed.%s",
					  vote_group(vote, found->group_a).bytes, vote_group(vote, found->group_b).bytes,
					  vote_ppm(&by).bytes, when_phrase(halves),
					  vote_them(found->group_a, found->group_b), vote_others(vote).bytes),
			&by, limit);
}

/*
 * Notes that QEMU moved the TSC ahead of all other clocks. This is no fault of a clock, but matters for
 * comparing rates.
 */
static void
note_push(struct vote *vote, uint64_t limit_ppb)
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
		report_note(vote->report, "tsc: It gained %s on %s after the rate window. QEMU's emulation moves the TSC "
					  "ahead when several cores read it at once, so this is not taken for a fault. All "
					  "rates are from the window.",
			    vote_ppm(&gained).bytes, vote_group(vote, others).bytes);
}

struct falseticker_sources
vote_hold_on_changes(struct vote *vote, uint64_t limit_ppb)
{
	struct rate_interval implied[REPORT_CLOCKS_MAX];

	for (size_t i = 0; i < vote->report->clock_count; i++)
		implied[i] = vote->report->clocks[i].implied_window;
	return vote_hold(vote, implied, limit_ppb);
}

static struct falseticker_sources
hold_vote_on_changes(struct vote *vote, bool halves)
{
	collect_changes(vote, halves);
	return vote_hold_on_changes(vote, vote_limit_ppb(vote->report, "rate-changed"));
}

bool
rate_changes_doubt_tsc(struct vote *vote)
{
	uint32_t tsc = judge_tsc(vote->report);

	if (judge_tsc_parts(vote->report))
		return true;
	for (int halves = 0; halves < 2; halves++) {
		hold_vote_on_changes(vote, halves);
		if (vote->found.undecided && (vote->found.group_a == tsc || vote->found.group_b == tsc))
			return true;
	}
	return false;
}

void
rate_changes_judge(struct vote *vote, bool halves)
{
	uint64_t limit = vote_limit_ppb(vote->report, "rate-changed");
	struct falseticker_sources sources = hold_vote_on_changes(vote, halves);

	if (!halves && is_pushed_ahead(vote->report, halves))
		note_push(vote, limit);
	for (size_t i = 0; i < vote->report->clock_count; i++) {
		if (!set_has(vote->found.falsetickers, i) || set_has(vote->changed, i))
			continue;
		if (vote->by_doubtful_tsc)
			vote->changed |= set_of(i);
		else if (may_be_the_tscs(vote, &sources, i, halves))
			name_change_or_tsc(vote, i, vote_reference(&vote->found), vote_accusers(&vote->found), halves, limit);
		else
			name_change(vote, i, halves, limit);
	}
	if (vote_has_new_groups(vote) && !are_siblings(vote, &sources))
		name_changed_groups(vote, halves, limit);
}
