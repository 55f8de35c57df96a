/* Which clock's rate changed. See rate_vote.h. */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"

#define PPB             INT64_C(1000000000)
#define UNCHANGED       UINT64_C(1000000000000000) /* a ratio of 1: then a millionth of it is a part in 10^9 */
#define PER_PPB         INT64_C(1000000)           /* in that ratio */
#define STOOD_MAX_NS    INT64_C(10000000)          /* what stood for longer is a discontinuity */
#define STRETCHES_SHARE 64 /* clocks' ends lie milliseconds from each other, in stretches of a second and more */

const struct rate_interval vote_unchanged = { true, UNCHANGED, UNCHANGED, UNCHANGED };

/* A step of the TSC shows in all clocks' changes alike, but in each one's own stretch, and those are not quite one. */
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
 * QEMU's emulated TSC never goes back: a reading that is behind the one before moves it ahead for good. Cores that read
 * it at the same time, as in the contended checks, have so moved it by milliseconds: since they were started it is no
 * witness.
 */
static bool
is_pushed_ahead(const struct report *report, bool halves)
{
	return !halves && report_is_emulated(report) && report->cores_started > 1;
}

/* Each clock's change is measured against the TSC, which itself says that it has not changed. */
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
				     "The rate of %s changed by %s %s; %s kept theirs.", vote_clock_id(vote, clock),
				     vote_ppm(&by).bytes, when_phrase(halves),
				     vote_group(vote, vote_accusers(&vote->found)).bytes),
		   &by, limit);
}

/*
 * A clock whose ends are edges changed so against OTHER. They come before all others' ends are taken: a TSC that stood
 * between those shows in its rate alone, which is higher in the stretch in which that was.
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
 * In a guest all devices count the host's one clock, each by an emulation of its own. That one of them changed
 * against another, between two readings by the TSC, may as well be a TSC that stood between these.
 */
static bool
may_be_the_tscs(const struct vote *vote, const struct falseticker_sources *sources, size_t clock, bool halves)
{
	return may_be_between_ends(vote, clock, vote_reference(&vote->found), halves) ||
	       (vote->report->hypervisor[0] && set_has(sources->siblings, clock) &&
		(vote_accusers(&vote->found) & sources->siblings));
}

/* Two groups of devices which in a guest count one clock: between their readings the TSC may have stood. */
static bool
are_siblings(const struct vote *vote, const struct falseticker_sources *sources)
{
	uint32_t groups = vote->found.group_a | vote->found.group_b;

	return vote->report->hypervisor[0] && vote->found.undecided && !(groups & ~sources->siblings);
}

/* A falseticker that may be none: against OTHER, which is one of OTHERS. */
static void
name_change_or_tsc(struct vote *vote, size_t clock, size_t other, uint32_t others, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	vote_set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
					  "The rate of %s against %s changed by %s %s, or the TSC stood between two of their "
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

/* A TSC that was so moved gained on all others: no fault of a clock, but who compares rates should know of it. */
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
		report_note(vote->report, "tsc: It gained %s on %s after the rates' window. QEMU's emulation moves the TSC "
					  "ahead when several cores read it at once, so this is not taken for a fault. All "
					  "rates are those of the window.",
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
