/* See witnesses.h. */
#include "witnesses.h"

#include "text.h"

static bool
is_tsc(const struct report_clock *entry)
{
	return text_equal(entry->clock.main, "tsc");
}

static bool
is_rtc(const struct report_clock *entry)
{
	return entry->clock.edges_only;
}

static bool
is_hosts(const struct report_clock *entry)
{
	return !is_tsc(entry) && !is_rtc(entry);
}

static bool
have_two_crystals(const struct rate_interval *a, const struct rate_interval *b)
{
	return a->known && b->known && (a->high < b->low || b->high < a->low);
}

static struct falseticker_sources
siblings_of(const struct report *report)
{
	struct falseticker_sources sources = { .siblings = 0 };

	for (size_t i = 0; i < report->clock_count && report->hypervisor[0]; i++)
		if (is_hosts(&report->clocks[i]))
			sources.siblings |= set_of(i);
	return sources;
}

struct falseticker_sources
witnesses_of(const struct report *report, const struct rate_interval *rates)
{
	struct falseticker_sources sources = siblings_of(report);
	bool guest = report->hypervisor[0];

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *a = &report->clocks[i];

		for (size_t j = 0; j < report->clock_count; j++) {
			const struct report_clock *b = &report->clocks[j];

			if (guest ? is_tsc(a) != is_tsc(b) :
			    is_rtc(a) != is_rtc(b) || have_two_crystals(&rates[i], &rates[j]))
				sources.separate[i] |= set_of(j);
		}
	}
	return sources;
}

struct falseticker_sources
witnesses_of_leaps(const struct report *report)
{
	struct falseticker_sources sources = siblings_of(report);

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *a = &report->clocks[i];

		for (size_t j = 0; j < report->clock_count; j++) {
			const struct report_clock *b = &report->clocks[j];

			if (is_tsc(a) != is_tsc(b) || is_rtc(a) != is_rtc(b))
				sources.separate[i] |= set_of(j);
		}
	}
	return sources;
}
