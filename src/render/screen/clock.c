/* Writes the title, verdict, state, rates and latencies of one clock. See screen_internal.h. */
#include "render/screen/screen_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/units.h"
#include "render/layout/layout.h"
#include "report/phrase.h"
#include "render/cores/table_cores.h"

#define MILLI     1000
#define PAIR_SIZE 64 /* size in bytes of a text with two clock ids, of at most 12 characters each, and a few words */

static void
put_clock_state(struct text *out, const struct report *report, const struct report_clock *entry)
{
	const struct clock *clock = &entry->clock;

	table_put_labelled_line(out, "state", "%s%s%s", clock_state_words[clock->state], clock->reason[0] ? ": " : "",
				clock->reason);
	if (report_get_failure_tsc(report, entry))
		table_put_labelled_line(out, "", "The clock worked at first. Its fault was seen %lu ms into the "
					"run.", report_run_time_ns(report, report_get_failure_tsc(report, entry)) / NS_PER_MS);
	if (clock->state != CLOCK_ABSENT && clock->found_by && clock->found_by[0])
		table_put_labelled_line(out, "found by", "%s", clock->found_by);
	if (clock->width_bits)
		table_put_labelled_line(out, "counter", "%u bits", clock->width_bits);
}

static void
put_ppm(struct text *out, const char *label, const char *against, struct interval_ppb ppb)
{
	char bytes[48];
	struct text text = text_start(bytes, sizeof(bytes));

	table_put_drift(&text, (struct offset){ ppb.low, ppb.high }, 0);
	table_put_labelled_line(out, label, "%s%s ppm", against, bytes);
}

static void
put_clock_rate(struct text *out, const struct report *report, const struct report_clock *entry)
{
	struct rate claimed = report_get_claimed_rate(report, entry);
	const struct clock_figures *figures = report_get_figures(report, entry);

	if (claimed.den)
		table_put_labelled_line(out, "claimed", "%s",
					number_from_millihz(scale_mul_div_nearest(claimed.num, MILLI, claimed.den)).text);
	if (figures->measured.known)
		table_put_labelled_line(out, "measured", "%s", number_from_millihz(figures->measured.value).text);
	if (figures->error.known)
		put_ppm(out, "error", "", figures->error);
}

/*
 * Writes the rate of each pair of clocks that includes this clock. Does not turn a rate of A against B into a rate of B
 * against A, because changing its sign would not be exact.
 */
static void
put_rates_against_other_clocks(struct text *out, const struct report *report, const struct report_clock *entry)
{
	const char *label = "rate";

	for (size_t i = 0; i < report->figures.rate_count; i++) {
		const struct report_rate *rate = &report->figures.rates[i];
		bool first = text_equal(rate->a, entry->clock.id);
		char against[PAIR_SIZE];

		if (!rate->ppb.known || (!first && !text_equal(rate->b, entry->clock.id)))
			continue;
		text_format(against, sizeof(against), "%s%sagainst %s%s: ", first ? "" : rate->a, first ? "" : " ",
			    rate->b,
			    rate->same_source ? " (the same source)" : "");
		put_ppm(out, label, against, rate->ppb);
		label = "";
	}
}

static struct number
format_percentile(const struct latency *latency, uint32_t per_hundred_thousand)
{
	if (!latency_percentile_interval(latency, per_hundred_thousand).known)
		return (struct number){ "-" };
	return number_from_ns(latency_percentile_ns(latency, per_hundred_thousand));
}

static void
put_latency_figures(struct text *out, const struct report *report, const struct report_clock *entry)
{
	const struct report_cost *cost = &report_get_figures(report, entry)->cost;
	const struct latency *latency = entry->latency;
	const struct monotonic *monotonic = &entry->monotonic;
	uint64_t resolution_ps = report_clock_ticks_to_ps(report, entry, entry->resolution.gcd_ticks);
	struct scale scale;

	scale_init(&scale, report->figures.tsc);
	if (entry->resolution.steps)
		table_put_labelled_line(out, "res", "%s (%lu tick%s)", resolution_ps ? number_from_ps(resolution_ps).text : "-",
					entry->resolution.gcd_ticks, table_plural_ending(entry->resolution.gcd_ticks));
	if (monotonic->reads)
		table_put_labelled_line(out, "reads", "%lu, %lu backward, %lu stall%s", monotonic->reads, monotonic->backward,
					monotonic->stalls, table_plural_ending(monotonic->stalls));
	if (latency && latency->count)
		table_put_labelled_line(out, "latency", "including the bracket (two TSC reads): min %s, p50 %s, p90 "
					"%s, p99 %s, p99.9 %s, max %s; the whole loop takes %s a read",
					number_from_ns(latency->min_ns).text, format_percentile(latency, 50000).text,
					format_percentile(latency, 90000).text,
					format_percentile(latency, 99000).text,
					format_percentile(latency, 99900).text, number_from_ns(latency->max_ns).text,
					number_from_ps(latency_loop_time_ps(latency, &scale)).text);
	if (cost->read_ps.known)
		table_put_labelled_line(out, "a read", "%s without the two TSC reads%s",
					phrase_read_cost(report, entry->clock.id).bytes,
					cost->differs ? ", which differs between cores" : ", as the median of the cores");
}

void
screen_put_clock_facts(struct text *out, const struct report *report, const struct report_clock *entry)
{
	const struct clock_outcome *outcome = report_get_clock_outcome(report, entry);
	bool is_open = outcome->open && outcome->verdict == VERDICT_PASS;

	text_printf_coloured(out, INK_HEADING, "%s: %s\n", entry->clock.id, entry->clock.title);
	text_put_char(out, '\n');
	size_t line_start = out->length;
	text_put(out, "verdict  ");
	out->ink = is_open ? INK_DIM : table_colour_of_verdict(outcome->verdict);
	table_put_wrapped(out, line_start, 0, is_open ? "NOT DETERMINED: no fault was found, but some rules are undecided" :
			  verdict_words_in_capitals[outcome->verdict]);
	out->ink = INK_PLAIN;
	put_clock_state(out, report, entry);
	put_clock_rate(out, report, entry);
	put_rates_against_other_clocks(out, report, entry);
	put_latency_figures(out, report, entry);
}
