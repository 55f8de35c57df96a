/* See witnesses.h. */
#include "witnesses.h"

#include "text.h"

static bool
is_tsc(const struct report_clock *entry)
{
	return text_equal(entry->clock.main, "tsc");
}

static bool
is_hosts(const struct report_clock *entry)
{
	return !is_tsc(entry) && !entry->clock.edges_only;
}

static bool
have_two_crystals(const struct rate_interval *a, const struct rate_interval *b)
{
	return a->known && b->known && (a->high < b->low || b->high < a->low);
}

struct falseticker_sources
witnesses_of(const struct report *report, const struct rate_interval *rates)
{
	struct falseticker_sources sources = { .siblings = 0 };
	bool guest = report->hypervisor[0];

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *a = &report->clocks[i];

		if (guest && is_hosts(a))
			sources.siblings |= set_of(i);
		for (size_t j = 0; j < report->clock_count; j++) {
			const struct report_clock *b = &report->clocks[j];
			bool separate = a->clock.edges_only != b->clock.edges_only;

			separate |= guest ? is_tsc(a) != is_tsc(b) : have_two_crystals(&rates[i], &rates[j]);
			if (separate)
				sources.separate[i] |= set_of(j);
		}
	}
	return sources;
}
