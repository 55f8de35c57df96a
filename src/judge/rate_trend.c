/*
 * Judges the rule rate-trend: which clock's rate changed slowly over a soak. Each row's rate is an interval that
 * contains the true rate. So the two rows whose intervals are furthest apart prove the change. See rate_vote.h.
 */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"

struct stretch {
	bool found;
	const struct series_row *from, *to;
};

/*
 * Returns the two rows between which the rate of clock I is proven to have changed most. Their FOUND is false if that
 * change is within LIMIT_PPB.
 */
static struct stretch
find_largest_change(const struct series *series, size_t i, uint64_t limit_ppb)
{
	const struct series_row *low = NULL, *high = NULL;
	struct interval_ppb walk;

	for (const struct series_row *row = series->rows; row < series->rows + series->count; row++) {
		if (!row->clocks[i].implied.known)
			continue;
		if (!low || row->clocks[i].implied.high < low->clocks[i].implied.high)
			low = row;
		if (!high || row->clocks[i].implied.low > high->clocks[i].implied.low)
			high = row;
	}
	if (!low || low == high)
		return (struct stretch){ .found = false };
	walk = rate_compare(&low->clocks[i].implied, &high->clocks[i].implied);
	return (struct stretch){ rate_beyond(&walk, limit_ppb), low < high ? low : high, low < high ? high : low };
}

/*
 * Sets vote->rates to each clock's change against the TSC from one row to the other. The RTC is included, although its
 * crystal follows the temperature by several ppm.
 */
static void
collect_changes(struct vote *vote, const struct stretch *stretch)
{
	for (size_t i = 0; i < vote->report->clock_count; i++) {
		const struct report_clock *entry = &vote->report->clocks[i];
		struct interval_ppb walk = rate_compare(&stretch->to->clocks[i].implied, &stretch->from->clocks[i].implied);

		vote->rates[i] = (struct rate_interval){ .known = false };
		if (!vote_includes_clock(vote->report, entry))
			continue;
		vote->rates[i] = text_equal(entry->clock.id, "tsc") ? vote_unchanged : vote_ratio(&walk);
	}
}

/* Returns the times of two rows: "from its rate between 12.1 s and 72.3 s to its rate between 91.0 s and 151.2 s". */
static struct phrase
rows_phrase(const struct report *report, const struct stretch *stretch)
{
	struct phrase phrase = { "" };
	struct text text;

	text_init(&text, phrase.bytes, sizeof(phrase.bytes));
	text_put(&text, "from its rate between ");
	report_put_tsc_time(&text, report, stretch->from->from_tsc);
	text_put(&text, " and ");
	report_put_tsc_time(&text, report, stretch->from->to_tsc);
	text_put(&text, " to its rate between ");
	report_put_tsc_time(&text, report, stretch->to->from_tsc);
	text_put(&text, " and ");
	report_put_tsc_time(&text, report, stretch->to->to_tsc);
	return phrase;
}

static void
set_figure(struct finding *finding, const struct interval_ppb *by, uint64_t limit_ppb)
{
	rules_set_figure(finding, by->value, by->low, by->high, limit_ppb);
}

static void
add_trend_finding(struct vote *vote, size_t clock, const struct stretch *stretch, uint64_t limit_ppb)
{
	struct interval_ppb by = rate_compare(&vote->rates[vote_reference(&vote->found)], &vote->rates[clock]);

	vote->changed |= set_of(clock);
	set_figure(rules_add_finding(vote->report, "rate-trend", vote_clock_id(vote, clock), REPORT_NO_CORE,
				     "The rate of %s changed by %s, %s; the rates of %s did not.",
				     vote_clock_id(vote, clock),
				     phrase_ppm(&by).bytes, rows_phrase(vote->report, stretch).bytes,
				     phrase_group(vote, vote_evidence(&vote->found)).bytes), &by, limit_ppb);
}

static void
add_group_finding(struct vote *vote, const struct stretch *stretch, uint64_t limit_ppb)
{
	const struct falseticker *found = &vote->found;
	struct interval_ppb by = rate_compare(&vote->rates[found->b], &vote->rates[found->a]);

	vote->changed |= found->group_a | found->group_b | found->others;
	set_figure(rules_add_finding(vote->report, "rate-trend", NULL, REPORT_NO_CORE,
				     "The rate of %s against %s changed by %s, %s; nothing shows %s changed.",
				     phrase_group(vote, found->group_a).bytes, phrase_group(vote, found->group_b).bytes,
				     phrase_ppm(&by).bytes, rows_phrase(vote->report, stretch).bytes,
				     phrase_which(found->group_a, found->group_b)), &by, limit_ppb);
}

/*
 * A guest is not judged: its devices count the host's clock, which NTP slews, and its TSC may stop between two
 * readings.
 */
void
rate_trend_judge(struct vote *vote)
{
	const struct report *report = vote->report;
	uint64_t limit_ppb = rules_limit_of(report, "rate-trend");

	for (size_t i = 0; i < report->clock_count && !report->hypervisor[0] && !vote->by_doubtful_tsc; i++) {
		struct stretch stretch = find_largest_change(&report->series, i, limit_ppb);

		if (!stretch.found || set_has(vote->changed, i))
			continue;
		collect_changes(vote, &stretch);
		vote_on_changes(vote, limit_ppb);
		for (size_t clock = 0; clock < report->clock_count; clock++)
			if (set_has(vote->found.falsetickers, clock) && !set_has(vote->changed, clock))
				add_trend_finding(vote, clock, &stretch, limit_ppb);
		if (vote_has_new_groups(vote))
			add_group_finding(vote, &stretch, limit_ppb);
	}
}
