/* Section on the time stolen from the cores, and on latencies without the reads that stolen time made longer. */
#include "render/sections/table_sections.h"

#include "base/number.h"

#define ID_COLUMNS   10
#define SHARE_DIGITS 3

static size_t
count_observed_cores(const struct report *report)
{
	size_t observed = 0;

	for (size_t i = 0; i < report->facts.core_count; i++)
		observed += report->figures.cores[i].observed_ns != 0;
	return observed;
}

static void
put_gaps_sentence(struct text *text, const struct report *report)
{
	const struct report_interference *all = &report->figures.interference;
	struct number threshold = number_from_ns(all->threshold_ns), observed = number_from_ns(all->observed_ns);
	size_t cores = count_observed_cores(report);

	if (!all->measured) {
		text_put(text, "No core was observed for gaps.");
		return;
	}
	if (!all->gaps) {
		text_printf(text, "No gap longer than %s in %s of observation on %zu core%s.", threshold.text,
			    observed.text, cores, table_plural_ending(cores));
		return;
	}
	text_printf(text, "%lu gap%s longer than %s in %s of observation on %zu core%s: %s stolen in all, ",
		    all->gaps, table_plural_ending(all->gaps), threshold.text, observed.text, cores,
		    table_plural_ending(cores), number_from_ns(all->total_ns).text);
	text_printf(text, "%s %% of the time, at worst %s on core %u. Such gaps can come from %s. They make no "
		    "clock fail, but may leave a test undecided.",
		    number_as_percent(all->total_ns, all->observed_ns, SHARE_DIGITS).text,
		    number_from_ns(all->worst_ns).text, all->worst_core,
		    report_is_guest(report) ? "a busy host or SMIs (system management interrupts)" :
					    "SMIs (system management interrupts)");
}

static void
put_stolen_time_sentence(struct text *out, const struct report *report)
{
	const struct report_interference *all = &report->figures.interference;
	const struct stolen_counters *counters = &report->facts.stolen_counters;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	put_gaps_sentence(text, report);
	if (all->stolen.observed_ns)
		text_printf(text, " The hypervisor's counter of stolen time reports %s %%.",
			    number_as_percent(all->stolen.reported_ns, all->stolen.observed_ns, SHARE_DIGITS).text);
	if (counters->smi_known && counters->smi_count)
		text_printf(text, " The boot core counted %lu SMI%s in the whole run.", counters->smi_count,
			    table_plural_ending(counters->smi_count));
	else if (counters->smi_known)
		text_put(text, " The boot core counted no SMI in the whole run.");
	table_end_sentence(out, &sentence);
}

static void
put_row_of_clock(struct text *out, const struct report_clock *entry, uint64_t gap_ns)
{
	const struct latency *latency = entry->latency;
	struct latency_clean clean = latency_without_interrupted_reads(latency, gap_ns);
	const uint64_t figures_ns[] = { latency_percentile_ns(latency, 99900), latency->max_ns, clean.p999_ns,
					clean.max_ns };
	bool has_p999 = latency_percentile_interval(latency, 99900).known; /* false if the clock has too few reads */

	table_put_label(out, entry->clock.id, ID_COLUMNS);
	text_printf(out, " %11lu %9lu", latency->count, clean.hit);
	for (size_t i = 0; i < sizeof(figures_ns) / sizeof(figures_ns[0]); i++)
		text_printf(out, " %6s", i % 2 == 0 && !has_p999 ? "-" : number_in_cell_from_ns(figures_ns[i]).text);
	text_put_char(out, '\n');
}

void
table_put_interference(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX];
	size_t count = table_find_clocks_with_reads(report, true, picked);

	text_printf_coloured(out, INK_HEADING, "\nInterference\n\n");
	put_stolen_time_sentence(out, report);
	if (!count)
		return;
	text_printf(out, "\"hits\": reads that took over %s longer than the median.\n\n",
		    number_from_ns(report->facts.options.gap_ns).text);
	text_printf(out, "%*s     all reads  without hits\n", ID_COLUMNS + 22, "");
	text_printf(out, "%-*s %11s %9s  p99.9    max  p99.9    max\n", ID_COLUMNS, "clock", "reads", "hits");
	for (size_t i = 0; i < count; i++)
		put_row_of_clock(out, &report->facts.clocks[picked[i]], report->facts.options.gap_ns);
}
