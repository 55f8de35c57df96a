/* Decides which clocks have the same source, such as a crystal. See clock_sources.h. */
#include "report/clock_sources.h"

#include "base/text.h"
#include "consensus/rate.h"

/* At either end of the rate window, two clocks are read at most 1/READ_TOGETHER of the window's length apart. */
#define READ_TOGETHER 32

/* Returns true for the TSC itself, and for clocks that a hypervisor calculates from it. */
static bool
is_tsc_or_derived_from_it(const struct report_clock *entry)
{
	return text_equal(entry->clock.main, "tsc") || entry->clock.by_tsc;
}

static bool
is_rtc(const struct report_clock *entry)
{
	return entry->clock.edges_only;
}

/*
 * Returns true if RATES prove that clocks A and B have different crystals. The two clocks are not read at exactly the
 * same times. If the TSC's rate changes, this alone makes their rates differ a little. Therefore the rate of A is
 * widened by 1/READ_TOGETHER of the smaller of their two proven rate changes between the halves of the rate window.
 */
static bool
do_crystals_of_clocks_differ(const struct report *report, const struct rate_interval *rates, size_t a, size_t b)
{
	uint64_t first = rate_min_abs(&report->figures.clocks[a].change_halves),
		 second = rate_min_abs(&report->figures.clocks[b].change_halves);
	uint64_t both = first < second ? first : second;
	struct rate_interval of_a = rate_widen(rates[a], both / READ_TOGETHER);

	return of_a.known && rates[b].known && (of_a.high < rates[b].low || rates[b].high < of_a.low);
}

/*
 * Returns true for the TSC itself. Returns false for a clock that a hypervisor calculates from the TSC, because the
 * hypervisor stops and sets such a clock together with the emulated devices.
 */
static bool
is_tsc_itself(const struct report_clock *entry)
{
	return text_equal(entry->clock.main, "tsc") && !entry->clock.by_tsc;
}

/*
 * Returns a struct in which only `same_source` is set. In a guest this is the set of all clocks, except the RTC and the
 * clocks for which IS_EXCLUDED returns true. On bare metal it is empty.
 */
static struct falseticker_sources
find_clocks_with_same_source(const struct report *report, bool (*is_excluded)(const struct report_clock *entry))
{
	struct falseticker_sources sources = { .same_source = 0 };

	for (size_t i = 0; i < report->facts.clock_count && report_is_guest(report); i++)
		if (!is_excluded(&report->facts.clocks[i]) && !is_rtc(&report->facts.clocks[i]))
			sources.same_source |= set_of(i);
	return sources;
}

/*
 * Returns true if A and B are narrow, and two clocks of a guest with these rates may have exactly their nominal ratio.
 */
static bool
may_ratio_be_exact(const struct rate_interval *a, const struct rate_interval *b)
{
	struct interval_ppb ppb = rate_relative_difference(a, b);

	return ppb.known && ppb.low <= 0 && ppb.high >= 0 && ppb.high - ppb.low <= 2 * SAME_SOURCE_OF_GUEST_PPB;
}

/*
 * Returns true if all clocks of a guest except the RTC have exactly their nominal ratios, and at least one of them
 * is the TSC or derived from it. Clocks of separate sources have other ratios. So one clock of the host drives all
 * of them, and if it is wrong, they are wrong together.
 */
static bool
have_all_clocks_of_guest_one_source(const struct report *report, const struct rate_interval *rates)
{
	bool any = false;

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *a = &report->facts.clocks[i];

		for (size_t j = 0; j < report->facts.clock_count; j++) {
			const struct report_clock *b = &report->facts.clocks[j];

			if (!rates[i].known || !rates[j].known || is_rtc(a) || is_rtc(b) || i == j)
				continue;
			if (!may_ratio_be_exact(&rates[i], &rates[j]))
				return false;
			any |= is_tsc_or_derived_from_it(a) != is_tsc_or_derived_from_it(b);
		}
	}
	return any;
}

struct falseticker_sources
find_clock_sources_for_rates(const struct report *report, const struct rate_interval *rates)
{
	struct falseticker_sources sources = find_clocks_with_same_source(report, is_tsc_or_derived_from_it);
	bool guest = report_is_guest(report);
	/* A rate from the option tsc_hz is not the hypervisor's own statement, so it confirms the devices. */
	bool one_source = guest && !report->facts.options.tsc_hz && have_all_clocks_of_guest_one_source(report, rates);

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *a = &report->facts.clocks[i];

		for (size_t j = 0; j < report->facts.clock_count; j++) {
			const struct report_clock *b = &report->facts.clocks[j];

			if (one_source ? is_rtc(a) != is_rtc(b) && do_crystals_of_clocks_differ(report, rates, i, j) :
			    guest ? is_tsc_or_derived_from_it(a) != is_tsc_or_derived_from_it(b) :
			    is_rtc(a) != is_rtc(b) || do_crystals_of_clocks_differ(report, rates, i, j))
				sources.separate[i] |= set_of(j);
		}
	}
	return sources;
}

struct falseticker_sources
find_clock_sources_for_jumps(const struct report *report)
{
	struct falseticker_sources sources = find_clocks_with_same_source(report, is_tsc_itself);

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *a = &report->facts.clocks[i];

		for (size_t j = 0; j < report->facts.clock_count; j++) {
			const struct report_clock *b = &report->facts.clocks[j];

			if (is_tsc_itself(a) != is_tsc_itself(b) || is_rtc(a) != is_rtc(b))
				sources.separate[i] |= set_of(j);
		}
	}
	return sources;
}
