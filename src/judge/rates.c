/*
 * Which clock's rate is wrong, and which clock's changed: rate-changed, rate-wrong, rate-off and rate-disagree. The
 * falsetickers are found by falseticker.h.
 */
#include "judge_internal.h"

#include "falseticker.h"
#include "set.h"
#include "text.h"
#include "witnesses.h"

#define PPB          INT64_C(1000000000)
#define PPB_PER_PPM  1000
#define UNCHANGED    UINT64_C(1000000000000000) /* a ratio of 1: then a millionth of it is a part in 10^9 */
#define PER_PPB      INT64_C(1000000)           /* in that ratio */
#define STRETCHES_SHARE 64 /* clocks' ends lie milliseconds from each other, in stretches of a second and more */

struct vote {
	struct report *report;
	struct rate_interval rates[REPORT_CLOCKS_MAX]; /* by clock */
	struct falseticker found;
	uint32_t changed; /* bit I: clock I has a finding of a change, alone or in one of two groups */
	bool by_doubtful_tsc; /* what it was all read by may have stood: no clock is named */
};

static uint64_t
limit_ppb(const struct report *report, const char *rule)
{
	uint64_t limit = rules_limit_of(report, rule);

	return limit < UINT64_MAX / PPB_PER_PPM ? limit * PPB_PER_PPM : UINT64_MAX;
}

static const char *
id_of(const struct vote *vote, size_t clock)
{
	return vote->report->clocks[clock].clock.id;
}

/* Parts in 10^9 as ppm: "+1000.1". */
static void
put_ppm(struct text *text, int64_t ppb)
{
	text_put_char(text, ppb < 0 ? '-' : '+');
	text_put_decimal(text, ppb < 0 ? 0 - (uint64_t)ppb : (uint64_t)ppb, 3, 1);
}

struct phrase {
	char bytes[REPORT_SENTENCE];
};

static struct phrase
ppm_phrase(const struct interval_ppb *ppb)
{
	struct phrase phrase = { "" };
	struct text text;

	text_init(&text, phrase.bytes, sizeof(phrase.bytes));
	put_ppm(&text, ppb->value);
	text_put(&text, " ppm (");
	put_ppm(&text, ppb->low);
	text_put(&text, " to ");
	put_ppm(&text, ppb->high);
	text_put_char(&text, ')');
	return phrase;
}

/* "hpet, pit and rtc": those of SET whose rates are known. */
static struct phrase
group_phrase(const struct vote *vote, uint32_t set)
{
	const size_t count = vote->report->clock_count;
	struct phrase phrase = { "" };
	struct text text;
	size_t members = 0, said = 0;

	text_init(&text, phrase.bytes, sizeof(phrase.bytes));
	for (size_t i = 0; i < count; i++)
		members += vote->rates[i].known && set_has(set, i);
	for (size_t i = 0; i < count; i++) {
		if (!vote->rates[i].known || !set_has(set, i))
			continue;
		text_printf(&text, "%s%s", !said ? "" : said + 1 == members ? " and " : ", ", id_of(vote, i));
		said++;
	}
	return phrase;
}

/* Voters that are in neither of the two groups which are named. */
static struct phrase
others_phrase(const struct vote *vote)
{
	struct phrase phrase = { "" };
	struct text text;

	text_init(&text, phrase.bytes, sizeof(phrase.bytes));
	if (vote->found.others)
		text_printf(&text, " In neither group: %s.", group_phrase(vote, vote->found.others).bytes);
	return phrase;
}

static const char *
them(uint32_t a, uint32_t b)
{
	return (a & (a - 1)) || (b & (b - 1)) ? "which of the two groups" : "which of them";
}

/* By which a falseticker is named, and the one that represents them. */
static uint32_t
accusers(const struct falseticker *found)
{
	return found->undecided ? found->siblings : found->truechimers & found->voters;
}

static size_t
reference(const struct falseticker *found)
{
	return found->undecided ? found->sibling : found->reference;
}

uint64_t
judge_rate_limit_ppb(const struct report *report)
{
	uint64_t off = limit_ppb(report, "rate-off"), wrong = limit_ppb(report, "rate-wrong");

	return off < wrong ? off : wrong;
}

/* IMPLIED: by these it shows which have a source of their own. */
static struct falseticker_sources
hold_vote(struct vote *vote, const struct rate_interval *implied, uint64_t limit)
{
	struct falseticker_sources sources = witnesses_of(vote->report, implied);

	vote->found = falseticker_find(vote->rates, vote->report->clock_count, &sources, limit);
	return sources;
}

/* Rounded outwards. */
static int64_t
ppm_down(int64_t ppb)
{
	return ppb / PPB_PER_PPM - (ppb % PPB_PER_PPM < 0);
}

static void
set_figure(struct finding *finding, const struct interval_ppb *ppb, uint64_t limit)
{
	rules_set_figure(finding, ppm_down(ppb->value + PPB_PER_PPM / 2), ppm_down(ppb->low), -ppm_down(-ppb->high),
			 limit / PPB_PER_PPM);
}

/* Clocks that are well. */
static bool
is_voter(const struct report *report, const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && report_clock_is_main(entry) &&
	       !judge_misbehaves(report, &entry->clock) && !judge_broken_by(report, entry);
}

/* A step of the TSC shows in all clocks' changes alike, but in each one's own stretch, and those are not quite one. */
static struct rate_interval
ratio_of(const struct interval_ppb *change)
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
	return !halves && text_equal(report->accelerator, "tcg") && report->cores_started > 1;
}

/*
 * A hypervisor that stops its guest as a whole stops all its clocks but the RTC, which follows the host's time of day
 * and so leaps, through no fault of its own: in one stretch of the run, or differently in each.
 */
static bool
may_leap(const struct report *report, const struct report_clock *entry)
{
	return report->hypervisor[0] && entry->clock.edges_only;
}

/* Each clock's change is measured against the TSC, which itself says that it has not changed. */
static void
collect_changes(struct vote *vote, bool halves)
{
	static const struct rate_interval unchanged = { true, UNCHANGED, UNCHANGED, UNCHANGED };

	for (size_t i = 0; i < vote->report->clock_count; i++) {
		const struct report_clock *entry = &vote->report->clocks[i];

		vote->rates[i] = (struct rate_interval){ .known = false };
		if (!is_voter(vote->report, entry) || may_leap(vote->report, entry))
			continue;
		if (!text_equal(entry->clock.id, "tsc"))
			vote->rates[i] = ratio_of(halves ? &entry->change_halves : &entry->change_since);
		else if (!is_pushed_ahead(vote->report, halves))
			vote->rates[i] = unchanged;
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
	struct interval_ppb by = rate_compare(&vote->rates[reference(&vote->found)], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	set_figure(rules_add_finding(vote->report, "rate-changed", id_of(vote, clock), REPORT_NO_CORE,
				     "The rate of %s changed by %s %s; %s kept theirs.", id_of(vote, clock),
				     ppm_phrase(&by).bytes, when_phrase(halves),
				     group_phrase(vote, accusers(&vote->found)).bytes),
		   &by, limit);
}

/*
 * In a guest all devices count the host's one clock, each by an emulation of its own. That one of them changed
 * against another, between two readings by the TSC, may as well be a TSC that stood between these.
 */
static bool
may_be_the_tscs(const struct vote *vote, const struct falseticker_sources *sources, size_t clock, bool halves)
{
	return halves && vote->report->hypervisor[0] && set_has(sources->siblings, clock) &&
	       (accusers(&vote->found) & sources->siblings);
}

/* Two groups of devices which in a guest count one clock: between their readings the TSC may have stood. */
static bool
are_siblings(const struct vote *vote, const struct falseticker_sources *sources)
{
	uint32_t groups = vote->found.group_a | vote->found.group_b;

	return vote->report->hypervisor[0] && vote->found.undecided && !(groups & ~sources->siblings);
}

/* Groups of which no clock has a finding of a change yet. */
static bool
has_new_groups(const struct vote *vote)
{
	return vote->found.undecided && !(vote->changed & (vote->found.group_a | vote->found.group_b));
}

/* CHANGED against KEPT, which CLOCK and OTHER represent: nothing shows which of them did. */
static void
name_groups(struct vote *vote, size_t clock, uint32_t changed, size_t other, uint32_t kept, bool halves, uint64_t limit)
{
	struct interval_ppb by = rate_compare(&vote->rates[other], &vote->rates[clock]);

	set_figure(rules_add_finding(vote->report, "rate-changed", NULL, REPORT_NO_CORE,
				     "The rate of %s against %s changed by %s %s; nothing shows %s changed.%s",
				     group_phrase(vote, changed).bytes, group_phrase(vote, kept).bytes, ppm_phrase(&by).bytes,
				     when_phrase(halves), them(changed, kept), others_phrase(vote).bytes),
		   &by, limit);
}

/* A falseticker that may be none. */
static void
name_no_change(struct vote *vote, size_t clock, bool halves, uint64_t limit)
{
	vote->changed |= set_of(clock);
	name_groups(vote, clock, set_of(clock), reference(&vote->found), accusers(&vote->found), halves, limit);
}

static void
name_changed_groups(struct vote *vote, bool halves, uint64_t limit)
{
	const struct falseticker *found = &vote->found;

	vote->changed |= found->group_a | found->group_b | found->others;
	name_groups(vote, found->a, found->group_a, found->b, found->group_b, halves, limit);
}

static struct falseticker_sources
hold_vote_on_changes(struct vote *vote, bool halves)
{
	struct rate_interval implied[REPORT_CLOCKS_MAX];

	for (size_t i = 0; i < vote->report->clock_count; i++)
		implied[i] = vote->report->clocks[i].implied_window;
	collect_changes(vote, halves);
	return hold_vote(vote, implied, limit_ppb(vote->report, "rate-changed"));
}

/* A TSC that is not in the report has the place behind the others, as in a discontinuity's groups. */
static uint32_t
tsc_of(const struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, "tsc"))
			return set_of(i);
	return set_of(REPORT_CLOCKS_MAX);
}

/* Whether the TSC and others parted, or changed against each other, and it may have been the TSC. */
static bool
is_tsc_doubtful(struct vote *vote)
{
	const struct report *report = vote->report;
	uint32_t tsc = tsc_of(report);

	for (size_t i = 0; i < report->discontinuity_count; i++)
		for (size_t g = 0; g < report->discontinuities[i].group_count; g++)
			if (report->discontinuities[i].class == DISCONTINUITY_PARTED && report->discontinuities[i].groups[g].clocks == tsc)
				return true;
	for (int halves = 0; halves < 2; halves++) {
		hold_vote_on_changes(vote, halves);
		if (vote->found.undecided && (vote->found.group_a == tsc || vote->found.group_b == tsc))
			return true;
	}
	return false;
}

static void
judge_changes(struct vote *vote, bool halves)
{
	uint64_t limit = limit_ppb(vote->report, "rate-changed");
	struct falseticker_sources sources = hold_vote_on_changes(vote, halves);

	for (size_t i = 0; i < vote->report->clock_count; i++) {
		if (!set_has(vote->found.falsetickers, i) || set_has(vote->changed, i))
			continue;
		if (vote->by_doubtful_tsc)
			vote->changed |= set_of(i);
		else if (may_be_the_tscs(vote, &sources, i, halves))
			name_no_change(vote, i, halves, limit);
		else
			name_change(vote, i, halves, limit);
	}
	if (has_new_groups(vote) && !are_siblings(vote, &sources))
		name_changed_groups(vote, halves, limit);
}

/* Whether after the rates' window ENTRY's clock ran otherwise than in it. */
static bool
contradicts_itself(const struct report_clock *entry)
{
	const struct rate_interval *window = &entry->implied_window, *since = &entry->implied_since;

	return window->known && since->known && (since->low > window->high || window->low > since->high);
}

/*
 * Of a clock that may leap what two stretches say together, where one does not contradict the other: two that share
 * nothing, for one leap in both would confirm itself.
 */
static struct rate_interval
rate_of(const struct report *report, const struct report_clock *entry)
{
	const struct rate_interval *since = &entry->implied_since;
	struct rate_interval rate = entry->implied_window;

	if (!is_voter(report, entry))
		return (struct rate_interval){ .known = false };
	if (!may_leap(report, entry))
		return entry->implied;
	rate.known &= since->known && !contradicts_itself(entry);
	rate.low = since->low < rate.low ? since->low : rate.low;
	rate.high = since->high > rate.high ? since->high : rate.high;
	return rate;
}

static void
collect_rates(struct vote *vote)
{
	for (size_t i = 0; i < vote->report->clock_count; i++)
		vote->rates[i] = rate_of(vote->report, &vote->report->clocks[i]);
}

static void
name_rate(struct vote *vote, size_t clock)
{
	struct interval_ppb by = rate_compare(&vote->rates[clock], &vote->rates[reference(&vote->found)]);
	const char *rule = "rate-wrong";

	if (!rate_beyond(&by, limit_ppb(vote->report, rule)))
		rule = "rate-off";
	/* A rate that changed is off on average too: that is one fault, unless it is worse. */
	if (!rate_beyond(&by, limit_ppb(vote->report, rule)) ||
	    (set_has(vote->changed, clock) && text_equal(rule, "rate-off")))
		return;
	set_figure(rules_add_finding(vote->report, rule, id_of(vote, clock), REPORT_NO_CORE,
				     "%s runs %s off what it claims, by %s, which agree.", id_of(vote, clock),
				     ppm_phrase(&by).bytes, group_phrase(vote, accusers(&vote->found)).bytes),
		   &by, limit_ppb(vote->report, rule));
}

static void
judge_each_rate(struct vote *vote)
{
	collect_rates(vote);
	hold_vote(vote, vote->rates, judge_rate_limit_ppb(vote->report));
	for (size_t i = 0; i < vote->report->clock_count; i++)
		if (set_has(vote->found.falsetickers, i) && !vote->by_doubtful_tsc)
			name_rate(vote, i);
}

static void
note_leaps(struct vote *vote)
{
	uint64_t limit = limit_ppb(vote->report, "rate-off");
	size_t truth = vote->found.reference;

	for (size_t i = 0; i < vote->report->clock_count && truth < vote->report->clock_count; i++) {
		const struct report_clock *entry = &vote->report->clocks[i];
		struct interval_ppb by = rate_compare(&entry->implied_window, &vote->rates[truth]);

		if (may_leap(vote->report, entry) && is_voter(vote->report, entry) && rate_beyond(&by, limit) &&
		    !set_has(vote->found.falsetickers, i))
			report_note(vote->report, "%s ran %s off %s in the rates' window, %s.", id_of(vote, i),
				    ppm_phrase(&by).bytes, id_of(vote, truth), contradicts_itself(entry) ?
				    "and otherwise after it, as where the whole machine was stopped: no fault of its own" :
				    "and it is not known how after it: the whole machine may have been stopped");
	}
}

/* BY, of one of FAST against one of SLOW, so wide that it holds of each of them. */
static struct interval_ppb
of_each(const struct vote *vote, struct interval_ppb by, uint32_t fast, uint32_t slow)
{
	size_t count = vote->report->clock_count;

	for (size_t i = 0; i < count * count; i++) {
		size_t a = i / count, b = i % count;
		struct interval_ppb pair = rate_compare(&vote->rates[a], &vote->rates[b]);

		if (!pair.known || !set_has(fast, a) || !set_has(slow, b))
			continue;
		by.low = pair.low < by.low ? pair.low : by.low;
		by.high = pair.high > by.high ? pair.high : by.high;
	}
	return by;
}

static bool
is_there(struct report *report, const char *clock)
{
	const struct report_clock *entry = report_find_clock(report, clock);

	return entry && entry->clock.state == CLOCK_PRESENT;
}

/* What was not given or tried yet. In a guest no device and no longer run brings a source that is not the host's. */
static void
advise_on_disagreement(struct report *report, struct finding *finding)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc"), *hpet = report_find_clock(report, "hpet");
	const char *give = tsc && !tsc->clock.claimed.den ? "Give the TSC's rate with tsc_hz=. " : "";
	bool guest = report->hypervisor[0];
	struct text text;

	if (!finding)
		return;
	text_init(&text, finding->advice, sizeof(finding->advice));
	text_put(&text, give);
	if (!guest && hpet && (hpet->clock.state == CLOCK_ABSENT || hpet->clock.state == CLOCK_DISABLED))
		text_put(&text, "Enable the HPET in the firmware's settings. ");
	if (!guest && report->options.profile != PROFILE_SOAK && is_there(report, "rtc"))
		text_put(&text, "Run profile=soak, in which the RTC votes too. ");
	text_printf(&text, "Compare the time over hours with NTP's%s.",
		    guest ? ": the host's one oscillator paces all devices here, the RTC too" : "");
}

static void
judge_disagreement(struct vote *vote)
{
	uint64_t limit = limit_ppb(vote->report, "rate-disagree");
	const struct falseticker *found = &vote->found;

	hold_vote(vote, vote->rates, limit);
	if (!has_new_groups(vote) || vote->by_doubtful_tsc)
		return;
	struct interval_ppb by = rate_compare(&vote->rates[found->a], &vote->rates[found->b]);
	bool swap = by.known && by.value < 0;
	uint32_t fast = swap ? found->group_b : found->group_a, slow = swap ? found->group_a : found->group_b;

	if (swap)
		by = rate_compare(&vote->rates[found->b], &vote->rates[found->a]);
	by = of_each(vote, by, fast, slow);

	struct finding *finding = rules_add_finding(vote->report, "rate-disagree", NULL, REPORT_NO_CORE,
		"By their claims %s run%s %s faster than %s; nothing shows %s is wrong.%s",
		group_phrase(vote, fast).bytes, fast & (fast - 1) ? "" : "s", ppm_phrase(&by).bytes,
		group_phrase(vote, slow).bytes, them(fast, slow), others_phrase(vote).bytes);

	set_figure(finding, &by, limit);
	advise_on_disagreement(vote->report, finding);
}

void
judge_rates(struct report *report)
{
	struct vote vote = { .report = report };

	vote.by_doubtful_tsc = is_tsc_doubtful(&vote);
	judge_changes(&vote, true);
	judge_changes(&vote, false);
	judge_each_rate(&vote);
	note_leaps(&vote);
	judge_disagreement(&vote);
}
