/* The clocks' vote on rates. See rate_vote.h. */
#include "judge/rate_vote.h"

#include "base/set.h"
#include "base/text.h"
#include "report/clock_sources.h"


uint64_t
vote_limit_ppb(const struct report *report, const char *rule)
{
	uint64_t limit = rules_limit_of(report, rule);

	return limit < UINT64_MAX / PPB_PER_PPM ? limit * PPB_PER_PPM : UINT64_MAX;
}

const char *
vote_clock_id(const struct vote *vote, size_t clock)
{
	return vote->report->clocks[clock].clock.id;
}

/* Prints ppb as ppm: "+1000.1". */
static void
put_ppm(struct text *text, int64_t ppb)
{
	text_put_char(text, ppb < 0 ? '-' : '+');
	text_put_decimal(text, ppb < 0 ? 0 - (uint64_t)ppb : (uint64_t)ppb, 3, 1);
}

struct phrase
phrase_ppm(const struct interval_ppb *ppb)
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

struct phrase
phrase_group(const struct vote *vote, uint32_t set)
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
		text_printf(&text, "%s%s", !said ? "" : said + 1 == members ? " and " : ", ", vote_clock_id(vote, i));
		said++;
	}
	return phrase;
}

struct phrase
phrase_others(const struct vote *vote)
{
	struct phrase phrase = { "" };
	struct text text;

	text_init(&text, phrase.bytes, sizeof(phrase.bytes));
	if (vote->found.others)
		text_printf(&text, " In neither group: %s.", phrase_group(vote, vote->found.others).bytes);
	return phrase;
}

const char *
phrase_which(uint32_t a, uint32_t b)
{
	return (a & (a - 1)) || (b & (b - 1)) ? "which of the two groups" : "which of them";
}

uint32_t
vote_evidence(const struct falseticker *found)
{
	return found->undecided ? found->siblings : found->truechimers & found->voters;
}

size_t
vote_reference(const struct falseticker *found)
{
	return found->undecided ? found->sibling : found->reference;
}

struct falseticker_sources
vote_on_rates(struct vote *vote, const struct rate_interval *implied, uint64_t limit)
{
	struct falseticker_sources sources = sources_for_rates(vote->report, implied);

	vote->found = falseticker_find(vote->rates, vote->report->clock_count, &sources, limit);
	return sources;
}

void
vote_set_figure(struct finding *finding, const struct interval_ppb *ppb, uint64_t limit)
{
	struct interval_ppm ppm = interval_in_ppm(ppb);

	rules_set_figure(finding, ppm.value, ppm.low, ppm.high, limit / PPB_PER_PPM);
}

bool
vote_includes_clock(const struct report *report, const struct report_clock *entry)
{
	return entry->clock.state == CLOCK_PRESENT && report_clock_is_main_method(entry) &&
	       !judge_device_failed(report, &entry->clock) && !judge_broken_rule(report, entry);
}

bool
vote_may_jump(const struct report *report, const struct report_clock *entry)
{
	return report->hypervisor[0] && entry->clock.edges_only;
}

bool
vote_has_new_groups(const struct vote *vote)
{
	return vote->found.undecided && !(vote->changed & (vote->found.group_a | vote->found.group_b));
}
