/* Makes phrases, short texts that are parts of printed sentences. See phrase.h. */
#include "report/phrase.h"

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"

#define NS_DIGITS 9 /* a nanosecond is the ninth decimal of a second */
#define DIGITS_OF_UNIT 3
#define ROUNDED_RANGE_NS NS_PER_MS /* bounds of at least this many ns are rounded */
#define TWO_DIGITS 100
#define SIX_DIGITS 1000000 /* a duration whose error is not known is printed with six digits */
#define RANGE_PARTS 100 /* a range is rounded outwards by at most this part of its width at each end */
#define PS_PER_TICK 1000
#define ROUNDED_BOUND_NS 100000 /* a bound of at least this many ns is rounded up to three digits */
#define TENTHS_FROM 100u /* a share is printed with one decimal from 1/TENTHS_FROM on, below with three */
#define LONG_MS   100 /* a time interval of at least this many ms is printed with both ends */

static void
append_formatted(struct phrase *phrase, const char *format, va_list arguments)
{
	struct text text = text_continue(phrase->bytes, sizeof(phrase->bytes));

	text_vprintf(&text, format, arguments);
}

struct phrase
phrase(const char *format, ...)
{
	struct phrase phrase = { "" };
	va_list arguments;

	va_start(arguments, format);
	append_formatted(&phrase, format, arguments);
	va_end(arguments);
	return phrase;
}

void
phrase_add(struct phrase *phrase, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append_formatted(phrase, format, arguments);
	va_end(arguments);
}

static struct phrase
phrase_duration_ps(const struct report *report, int64_t ps)
{
	/* without the TSC's rate a tick counts as 1 ns: see scale_init() */
	if (!report->figures.tsc.den)
		return phrase("%lu ticks", scale_mul_div_nearest((uint64_t)ps, 1, PS_PER_TICK));
	return phrase("%s", number_from_ps((uint64_t)ps).text);
}

struct phrase
phrase_firmware_second(const struct interval_ppb *second)
{
	int64_t low_ns = second->low + NS_PER_S;

	if (second->high >= FIRMWARE_PPB_MAX)
		return phrase("at least %s", number_from_ns((uint64_t)low_ns).text);
	return phrase_duration_range(low_ns > 0 ? (uint64_t)low_ns : 0, (uint64_t)(second->high + NS_PER_S));
}

struct phrase
phrase_read_cost(const struct report *report, const char *id)
{
	const struct report_cost *cost = &report_get_figures(report, report_find_clock(report, id))->cost;

	if (!cost->differs)
		return phrase_duration_ps(report, cost->read_ps.value);
	return phrase("%s to %s", phrase_duration_ps(report, cost->least_ps).bytes,
		      phrase_duration_ps(report, cost->most_ps).bytes);
}

const char *
phrase_list_separator(size_t i, size_t count)
{
	return !i ? "" : i + 1 == count ? " and " : ", ";
}

struct phrase
phrase_bound_ns(uint64_t ns)
{
	if (ns < ROUNDED_BOUND_NS)
		return phrase("%lu ns", ns);
	return phrase("%s", number_from_ns(number_round_to_three_digits(ns, true)).text);
}

struct phrase
phrase_stolen_share(const struct report *report)
{
	const struct report_interference *all = &report->figures.interference;
	unsigned digits = all->total_ns >= all->observed_ns / TENTHS_FROM ? 1 : 3;

	return phrase("%s %%", number_as_percent(all->total_ns, all->observed_ns, digits).text);
}

struct phrase
phrase_reached_state(const struct report_sleep *sleep)
{
	static const char *const words[] = {
		[REACHED_C1] = "C1", [REACHED_C3] = "C3", [REACHED_C6] = "C6", [REACHED_C7] = "C7",
		[REACHED_C6_OR_C7] = "C6 or C7", [REACHED_AT_MOST_C1] = "C1 at most", [REACHED_NONE] = "none",
		[REACHED_SIBLING] = "other thread awake", [REACHED_UNKNOWN] = "not known",
		[REACHED_LEFT] = "left at once", [REACHED_LOST] = "did not wake",
	};
	size_t counter = sleep->reached == REACHED_C6_OR_C7 ? REACHED_C6 : sleep->reached;
	bool counted = counter < SLEEP_COUNTERS;

	return phrase("%s%s%s", words[sleep->reached], counted ? " " : "",
		      counted ? number_from_ns(sleep->resident_ns[counter]).text : "");
}

struct phrase
phrase_in_count_of(const char *noun, uint64_t count, uint64_t all)
{
	if (all == 1)
		return (struct phrase){ "" };
	if (count == all)
		return phrase(" in each of %lu %ss", all, noun);
	return phrase(" in %lu of %lu %ss", count, all, noun);
}

/* Returns the number of digits that a duration of NS has after the point of its unit: 9 for s, 6 for ms, 3 for us. */
static unsigned
digits_in_unit(uint64_t ns)
{
	unsigned digits = NS_DIGITS;

	for (uint64_t unit = UINT64_C(1000000000); digits && ns < unit; unit /= 1000)
		digits -= DIGITS_OF_UNIT;
	return digits;
}

/* Adds NS in the unit that has DIGITS digits after its point. PLACE is a power of ten; smaller digits are left out. */
static void
add_rounded_duration(struct phrase *phrase, uint64_t ns, unsigned digits, uint64_t place)
{
	struct text text = text_continue(phrase->bytes, sizeof(phrase->bytes));
	unsigned shown = digits;

	for (; shown && place >= 10; place /= 10)
		shown--;
	text_put_decimal(&text, ns, digits, shown);
}

static const char *
unit_with_digits(unsigned digits)
{
	return digits == NS_DIGITS ? "s" : digits == 2 * DIGITS_OF_UNIT ? "ms" : digits ? "us" : "ns";
}

struct phrase
phrase_duration(int64_t value_ns, int64_t low_ns, int64_t high_ns)
{
	uint64_t below = (uint64_t)value_ns - (uint64_t)low_ns, above = (uint64_t)high_ns - (uint64_t)value_ns;
	struct number_within within = number_round_to_error(value_ns, below > above ? below : above);
	uint64_t size = within.value < 0 ? 0 - (uint64_t)within.value : (uint64_t)within.value, place = 1;
	unsigned digits = digits_in_unit(size);
	struct phrase phrase = { "" };

	while (within.error / place >= TWO_DIGITS)
		place *= 10;
	while (!within.error && size && (size / place >= SIX_DIGITS || size % (10 * place) == 0))
		place *= 10;
	phrase_add(&phrase, "%s", within.value < 0 ? "-" : "");
	add_rounded_duration(&phrase, size, digits, place);
	phrase_add(&phrase, " %s", unit_with_digits(digits));
	if (within.error)
		phrase_add(&phrase, " +-%s", number_from_ns(within.error).text);
	return phrase;
}

struct phrase
phrase_duration_range(uint64_t low_ns, uint64_t high_ns)
{
	unsigned digits = digits_in_unit(high_ns);
	uint64_t place = 1;
	struct phrase phrase = { "" };

	if (low_ns < ROUNDED_RANGE_NS)
		return (phrase_add(&phrase, "%lu to %lu ns", low_ns, high_ns), phrase);
	while ((high_ns - low_ns) / RANGE_PARTS / place)
		place *= 10;
	add_rounded_duration(&phrase, number_round(low_ns, place, false), digits, place);
	phrase_add(&phrase, " to ");
	add_rounded_duration(&phrase, number_round(high_ns, place, true), digits, place);
	phrase_add(&phrase, " %s", unit_with_digits(digits));
	return phrase;
}

static struct phrase
phrase_run_time(uint64_t ns)
{
	uint64_t ms = ns / NS_PER_MS;

	if (ms < 1000)
		return phrase("%lu ms", ms);
	return phrase("%lu.%lu s", ms / 1000, ms / 100 % 10);
}

struct phrase
phrase_tsc_time(const struct report *report, uint64_t tsc)
{
	return phrase_run_time(report_run_time_ns(report, tsc));
}

struct phrase
phrase_pass_times(const struct report *report)
{
	struct phrase first = phrase_tsc_time(report, report->figures.skew.passes[0].offsets.end_tsc);

	if (report->figures.skew.pass_count < 2)
		return phrase("at %s", first.bytes);
	return phrase("at %s and %s", first.bytes,
		      phrase_tsc_time(report, report_get_last_pass(report)->offsets.end_tsc).bytes);
}

/*
 * Returns the time interval MOMENT as text, from its earliest possible start to its latest possible end. If MOMENT is
 * shorter than LONG_MS, the text contains only the end.
 */
static struct phrase
phrase_time_or_span(const struct report *report, struct moment moment, const char *at, const char *from, const char *to)
{
	uint64_t begin_ns = report_run_time_ns(report, moment.begin_tsc);
	uint64_t end_ns = report_max_run_time_ns(report, moment.end_tsc);

	if (end_ns / NS_PER_MS < begin_ns / NS_PER_MS + LONG_MS)
		return phrase("%s%s", at, phrase_run_time(end_ns).bytes);
	return phrase("%s%s%s%s", from, phrase_run_time(begin_ns).bytes, to, phrase_run_time(end_ns).bytes);
}

struct phrase
phrase_at_or_between(const struct report *report, struct moment moment)
{
	return phrase_time_or_span(report, moment, "at ", "between ", " and ");
}

struct phrase
phrase_time_span(const struct report *report, struct moment moment)
{
	return phrase_time_or_span(report, moment, "", "", " to ");
}

struct phrase
phrase_median_lateness(const struct report_lateness *late)
{
	int64_t low_ns = late->p50_ns - (int64_t)late->error_ns, high_ns = late->p50_ns + (int64_t)late->error_ns;
	bool are_late = low_ns > 0;

	if (high_ns < 0)
		return phrase("came before they were due");
	return phrase("are at %s %s late", are_late ? "least" : "most",
		      number_from_ns(number_round_to_three_digits((uint64_t)(are_late ? low_ns : high_ns), !are_late)).text);
}

struct phrase
phrase_linux_versions(const struct report_taken *first, const struct report_taken *last)
{
	if (first == last)
		return phrase("%s", first->system);
	if (!first->since)
		return last->until ? phrase("Linux before %s", last->until) : phrase("Linux");
	return phrase("Linux %s and later", first->since);
}
