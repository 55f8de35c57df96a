/*
 * Judges the rules rate-wrong, rate-off and rate-disagree: which clock's rate differs from the others'. See
 * rate_vote.h.
 */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"
#include "base/units.h"

#define MILLI        1000
#define PPB_OF_MILLI INT64_C(1000000)

/* Returns the multiple of a clock's nominal rate at which it runs, if it is MORE_PPB above that rate. */
static struct phrase
phrase_times(int64_t more_ppb)
{
	int64_t milli = (more_ppb + (int64_t)PPB + PPB_OF_MILLI / 2) / PPB_OF_MILLI;

	return phrase("%ld.%03ld", milli / MILLI, milli % MILLI);
}

uint64_t
judge_rate_limit_ppb(const struct report *report)
{
	uint64_t off = vote_limit_ppb(report, "rate-off"), wrong = vote_limit_ppb(report, "rate-wrong");

	return off < wrong ? off : wrong;
}

/*
 * Returns true if the clock with these FIGURES ran at another rate after the rate window, the interval in which rates
 * are measured.
 */
static bool
has_rate_changed_after_window(const struct clock_figures *figures)
{
	const struct rate_interval *window = &figures->implied_window, *since = &figures->implied_since;

	return window->known && since->known && (since->low > window->high || window->low > since->high);
}

/*
 * Returns the rate that ENTRY's clock votes with. For a clock that may jump this is the range that includes its rates
 * in the rate window and after it, if these overlap. A single jump affects only one of these rates.
 */
static struct rate_interval
rate_for_vote(const struct report *report, const struct report_clock *entry)
{
	const struct clock_figures *figures = report_get_figures(report, entry);
	const struct rate_interval *since = &figures->implied_since;
	struct rate_interval rate = figures->implied_window;

	if (!vote_is_rate_compared(report, entry))
		return (struct rate_interval){ .known = false };
	if (!vote_may_clock_jump(report, entry))
		return figures->implied;
	rate.known &= since->known && !has_rate_changed_after_window(figures);
	rate.low = since->low < rate.low ? since->low : rate.low;
	rate.high = since->high > rate.high ? since->high : rate.high;
	return rate;
}

/*
 * Returns the end of a sentence on a clock that runs BY off its nominal rate. If it is faster than twice or slower
 * than half its nominal rate, the clause has the multiple of that rate. If the clock's wraps were not counted, this
 * is a lower bound.
 */
static struct phrase
phrase_rate_error(const struct clock_figures *figures, const struct interval_ppb *by)
{
	if (by->low < (int64_t)PPB && by->high > -(int64_t)PPB / 2)
		return phrase("%s off its nominal rate", phrase_ppm(by).bytes);
	if (figures->uncounted)
		return phrase("at least at %ld times its nominal rate: it wraps too often for a better bound",
			      by->low / (int64_t)PPB + 1);
	return phrase("at %s times its nominal rate (%s to %s)", phrase_times(by->value).bytes, phrase_times(by->low).bytes,
		      phrase_times(by->high).bytes);
}

static void
add_rate_finding(struct vote *vote, size_t clock)
{
	struct interval_ppb by = rate_relative_difference(&vote->rates[clock],
							  &vote->rates[vote_find_reference_clock(&vote->found)]);
	const char *rule = "rate-wrong";

	if (vote->report->facts.clocks[clock].clock.by_tsc)
		rule = "pv-rate";
	if (!rate_is_beyond(&by, vote_limit_ppb(vote->report, rule)))
		rule = "rate-off";
	/*
	 * If a clock's rate changed during the run, its mean rate is wrong, too. This is no further fault, unless the
	 * mean also breaks the rule rate-wrong or pv-rate. A stop of the TSC that is too short to be noticed changes the
	 * mean rate of an RTC, too.
	 */
	if (!rate_is_beyond(&by, vote_limit_ppb(vote->report, rule)) || set_has(vote->maybe_tsc, clock) ||
	    (set_has(vote->changed, clock) && text_equal(rule, "rate-off")))
		return;
	vote_set_finding_figure(rules_add_finding(vote->report, vote->outcomes, rule, vote_clock_id(vote, clock),
						  REPORT_NO_CORE, "%s runs %s, compared with %s, which agree.",
						  vote_clock_id(vote, clock),
						  phrase_rate_error(&vote->report->figures.clocks[clock], &by).bytes,
						  phrase_clocks_of_group(vote, vote_find_clocks_as_evidence(&vote->found)).bytes),
		   &by);
}

/*
 * Returns true if SET contains only the TSC, and the stated rate of the TSC is judged to be wrong instead of the TSC.
 * See claim_findings.c.
 */
static bool
is_tsc_claim_blamed(const struct vote *vote, uint32_t set)
{
	const struct report_clock *tsc = report_find_clock(vote->report, "tsc");

	return tsc && set == set_of((size_t)(tsc - vote->report->facts.clocks)) &&
	       judge_is_tsc_claim_wrong(vote->report);
}

static void
judge_each_rate(struct vote *vote)
{
	for (size_t i = 0; i < vote->report->facts.clock_count; i++)
		vote->rates[i] = rate_for_vote(vote->report, &vote->report->facts.clocks[i]);
	vote_on_rates(vote, vote->rates, judge_rate_limit_ppb(vote->report));
	for (size_t i = 0; i < vote->report->facts.clock_count; i++)
		if (set_has(vote->found.falsetickers, i) && !vote->by_doubtful_tsc && !is_tsc_claim_blamed(vote, set_of(i)))
			add_rate_finding(vote, i);
}

/*
 * Adds a note on each clock that may jump, and whose rate in the rate window differs from the reference's. If the rate
 * in the whole run differs, too, the rule rate-disagree reports it. Then no note is needed, except if the TSC's own
 * rate is in doubt.
 */
static void
note_possible_jumps(struct vote *vote)
{
	uint64_t limit = vote_limit_ppb(vote->report, "rate-off");
	size_t truth = vote->found.reference;

	for (size_t i = 0; i < vote->report->facts.clock_count && truth < vote->report->facts.clock_count; i++) {
		const struct report_clock *entry = &vote->report->facts.clocks[i];
		const struct clock_figures *figures = &vote->report->figures.clocks[i];
		struct interval_ppb by = rate_relative_difference(&figures->implied_window, &vote->rates[truth]);
		struct interval_ppb in_run = rate_relative_difference(&vote->rates[i], &vote->rates[truth]);

		if (vote_may_clock_jump(vote->report, entry) && vote_is_rate_compared(vote->report, entry) &&
		    rate_is_beyond(&by, limit) && !set_has(vote->found.falsetickers, i) &&
		    (vote->by_doubtful_tsc || !rate_is_beyond(&in_run, limit)))
			notes_add(&vote->outcomes->notes, "%s ran %s off %s while the rates were measured, %s.",
				  vote_clock_id(vote, i), phrase_ppm(&by).bytes, vote_clock_id(vote, truth),
				  has_rate_changed_after_window(figures) ?
				  "and at another rate afterwards, as if the whole machine had been stopped: this "
				  "is no fault of the clock" :
				  "and its rate after that is not known: the whole machine may have been stopped");
	}
}

/* Widens BY so that it includes the rate of each clock of FAST against each clock of SLOW. */
static struct interval_ppb
widen_difference_to_all_pairs(const struct vote *vote, struct interval_ppb by, uint32_t fast, uint32_t slow)
{
	size_t count = vote->report->facts.clock_count;

	for (size_t i = 0; i < count * count; i++) {
		size_t a = i / count, b = i % count;
		struct interval_ppb pair = rate_relative_difference(&vote->rates[a], &vote->rates[b]);

		if (!pair.known || !set_has(fast, a) || !set_has(slow, b))
			continue;
		by.low = pair.low < by.low ? pair.low : by.low;
		by.high = pair.high > by.high ? pair.high : by.high;
	}
	return by;
}

/*
 * Adds advice on how to find the wrong clock: set the option tsc_hz=, measure another clock, or compare the time with
 * NTP's. In a guest one oscillator of the host drives all devices, so neither another device nor a longer run helps.
 */
static void
advise_on_disagreement(const struct report *report, struct finding *finding)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc"), *hpet = report_find_clock(report, "hpet");
	const char *give = tsc && !report_get_claimed_rate(report, tsc).den ? "Give the TSC's rate with tsc_hz=. " : "";
	bool guest = report_is_guest(report);

	if (!finding)
		return;
	struct text text = text_start(finding->advice, sizeof(finding->advice));
	text_put(&text, give);
	if (!guest && hpet && (hpet->clock.state == CLOCK_ABSENT || hpet->clock.state == CLOCK_DISABLED))
		text_put(&text, "Enable the HPET in the firmware's settings. ");
	if (!guest && report->facts.options.profile != PROFILE_SOAK && report_has_clock(report, "rtc"))
		text_put(&text, "Run profile=soak, which also compares the RTC. ");
	text_printf(&text, "Compare the time with NTP's over some hours%s.",
		    guest ? ": one oscillator of the host drives all devices here, the RTC too" : "");
}

static void
judge_rate_disagreement(struct vote *vote)
{
	uint64_t limit = vote_limit_ppb(vote->report, "rate-disagree");
	const struct falseticker *found = &vote->found;

	vote_on_rates(vote, vote->rates, limit);
	if (!vote_has_unreported_groups(vote) || vote->by_doubtful_tsc || is_tsc_claim_blamed(vote, found->group_a) ||
	    is_tsc_claim_blamed(vote, found->group_b))
		return;
	struct interval_ppb by = rate_relative_difference(&vote->rates[found->a], &vote->rates[found->b]);
	bool swap = by.known && by.value < 0;
	uint32_t fast = swap ? found->group_b : found->group_a, slow = swap ? found->group_a : found->group_b;

	if (swap)
		by = rate_relative_difference(&vote->rates[found->b], &vote->rates[found->a]);
	by = widen_difference_to_all_pairs(vote, by, fast, slow);

	struct finding *finding = rules_add_finding(vote->report, vote->outcomes, "rate-disagree", NULL, REPORT_NO_CORE,
		"By their nominal rates %s run%s %s faster than %s; nothing shows %s is wrong.%s",
		phrase_clocks_of_group(vote, fast).bytes, fast & (fast - 1) ? "" : "s", phrase_ppm(&by).bytes,
		phrase_clocks_of_group(vote, slow).bytes, phrase_which_of_clocks_or_groups(fast, slow),
		phrase_clocks_of_neither_group(vote).bytes);

	vote_set_finding_figure(finding, &by);
	rules_set_clocks(finding, fast, slow);
	advise_on_disagreement(vote->report, finding);
}

void
judge_rates(const struct report *report, struct outcomes *outcomes)
{
	struct vote vote = { .report = report, .outcomes = outcomes };

	vote.by_doubtful_tsc = rate_changes_may_tsc_have_changed(report);
	rate_changes_judge(&vote);
	judge_each_rate(&vote);
	note_possible_jumps(&vote);
	judge_rate_disagreement(&vote);
}
