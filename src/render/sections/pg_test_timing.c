/* Durations of each clock's reads, in the two blocks that PostgreSQL's tool pg_test_timing prints. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "stats/observed.h"

static void
put_row_of_durations(struct text *out, uint64_t ns, uint64_t count, uint64_t running, uint64_t total)
{
	text_printf(out, "%8lu   %10s %10s %10lu\n", ns, number_as_percent(count, total, 4).text,
		    number_as_percent(running, total, 4).text, count);
}

static void
put_octave_rows(struct text *out, const struct latency *latency)
{
	size_t last = octave_of(latency->max_ns);
	uint64_t running = 0;

	text_put(out, "Histogram of timing durations:\n");
	text_put(out, "   <= ns   % of total  running %      count\n");
	for (size_t i = 0; i <= last; i++) {
		uint64_t count = histogram_count_in_octave(&latency->histogram, i);

		running += count;
		put_row_of_durations(out, octave_high(i), count, running, latency->count);
	}
}

static void
put_observed_durations(struct text *out, const struct latency *latency, uint32_t cutoff_millionths)
{
	struct observed_list list = observed_make_duration_list(latency, cutoff_millionths);
	unsigned digits = cutoff_millionths % 100 ? 6 : 4; /* number of decimals that the option cutoff needs */
	struct observed row;

	text_put(out, "\nObserved timing durations up to ");
	text_put_decimal(out, cutoff_millionths, 6, digits);
	text_put(out, "%:\n      ns   % of total  running %      count\n");
	while (observed_get_next_row(&list, &row)) {
		if (row.after_gap)
			text_put(out, "...\n");
		put_row_of_durations(out, row.ns, row.count, row.running, latency->count);
	}
}

void
table_put_durations_of_clock(struct text *out, const struct report *report, const struct report_clock *entry)
{
	struct scale scale;

	if (!entry->latency || !entry->latency->count)
		return;
	scale_init(&scale, report->figures.tsc);
	text_printf_coloured(out, INK_HEADING, "\n%s: %s\n", entry->clock.id, entry->clock.title);
	text_put(out, "Average loop time including overhead: ");
	text_put_decimal(out, latency_loop_time_ps(entry->latency, &scale), 3, 2);
	text_put(out, " ns\n");
	put_octave_rows(out, entry->latency);
	put_observed_durations(out, entry->latency, report->facts.options.cutoff_millionths);
}

void
table_put_durations(struct text *out, const struct report *report)
{
	text_put(out, "\n" TABLE_DURATIONS "\n");
	for (size_t i = 0; i < report->facts.clock_count; i++)
		table_put_durations_of_clock(out, report, &report->facts.clocks[i]);
}
