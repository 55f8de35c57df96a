/* The clocks' vote on rates. See rate_vote.h. */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"
#include "report/clock_sources.h"

#define PPB_PER_TENTH 100 /* 0.1 ppm in ppb */

uint64_t
vote_limit_ppb(const struct report *report, const char *rule)
{
	uint64_t limit = rules_get_limit_by_id(report, rule);

	if (text_equal(rules_find(rule)->unit, "ppb"))
		return limit;
	return limit < UINT64_MAX / PPB_PER_PPM ? limit * PPB_PER_PPM : UINT64_MAX;
}

const char *
vote_clock_id(const struct vote *vote, size_t clock)
{
	return vote->report->facts.clocks[clock].clock.id;
}

struct phrase
phrase_signed_ppm(int64_t ppb)
{
	uint64_t tenths = ((ppb < 0 ? 0 - (uint64_t)ppb : (uint64_t)ppb) + PPB_PER_TENTH / 2) / PPB_PER_TENTH;

	return phrase("%c%lu.%lu", ppb < 0 ? '-' : '+', tenths / 10, tenths % 10);
}

struct phrase
phrase_ppm(const struct interval_ppb *ppb)
{
	return phrase("%s ppm (%s to %s)", phrase_signed_ppm(ppb->value).bytes, phrase_signed_ppm(ppb->low).bytes,
		      phrase_signed_ppm(ppb->high).bytes);
}

struct phrase
phrase_clocks_of_group(const struct vote *vote, uint32_t set)
{
	struct phrase phrase = { "" };
	uint32_t known = 0;
	size_t named = 0;

	for (size_t i = 0; i < vote->report->facts.clock_count; i++)
		known |= vote->rates[i].known ? set_of(i) : 0;
	for (size_t i = 0; i < vote->report->facts.clock_count; i++)
		if (set_has(set & known, i))
			phrase_add(&phrase, "%s%s", phrase_list_separator(named++, set_size(set & known)), vote_clock_id(vote, i));
	return phrase;
}

struct phrase
phrase_clocks_of_neither_group(const struct vote *vote)
{
	if (!vote->found.others)
		return (struct phrase){ "" };
	return phrase(" In neither group: %s.", phrase_clocks_of_group(vote, vote->found.others).bytes);
}

const char *
phrase_which_of_clocks_or_groups(uint32_t a, uint32_t b)
{
	return (a & (a - 1)) || (b & (b - 1)) ? "which of the two groups" : "which of them";
}

uint32_t
vote_find_clocks_as_evidence(const struct falseticker *found)
{
	return found->undecided ? found->same_source : found->truechimers & found->voters;
}

size_t
vote_find_reference_clock(const struct falseticker *found)
{
	return found->undecided ? found->same_source_reference : found->reference;
}

struct falseticker_sources
vote_on_rates(struct vote *vote, const struct rate_interval *implied, uint64_t limit)
{
	struct falseticker_sources sources = find_clock_sources_for_rates(vote->report, implied);

	vote->found = falseticker_find(vote->rates, vote->report->facts.clock_count, &sources, limit);
	return sources;
}

void
vote_set_finding_figure(struct finding *finding, const struct interval_ppb *ppb)
{
	struct interval_ppm ppm = interval_in_ppm(ppb);

	if (finding && text_equal(finding->unit, "ppb"))
		rules_set_figure(finding, ppb->value, ppb->low, ppb->high);
	else
		rules_set_figure(finding, ppm.value, ppm.low, ppm.high);
}

bool
vote_is_rate_compared(const struct report *report, const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && report_clock_is_main_of_device(entry) &&
	       !rules_has_failed_check(report, entry->clock.main) && !judge_find_broken_rule(report, entry);
}

bool
vote_may_clock_jump(const struct report *report, const struct report_clock *entry)
{
	return report_is_guest(report) && entry->clock.edges_only;
}

bool
vote_has_unreported_groups(const struct vote *vote)
{
	return vote->found.undecided && !(vote->changed & (vote->found.group_a | vote->found.group_b));
}
