/* Calculates the stolen time from the record's entries `watch` and `gap`. See analysis.h. */
#include "analysis/analysis.h"

#include "base/units.h"

/* Removes the figures of an earlier call. */
static void
clear_gap_figures(const struct report *report, struct figures *figures)
{
	figures->interference = (struct report_interference){ .measured = false };
	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct core_figures *core = &figures->cores[i];

		core->observed_ns = core->gaps = core->worst_gap_ns = 0;
	}
}

uint64_t
analysis_read_scale(struct scale *scale, const struct record_entry *entry)
{
	struct record_scale is;

	record_read_fixed_part(entry, &is);
	scale_init(scale, (struct rate){ is.hz_num, is.hz_den });
	if (is.low_microhz && is.high_microhz)
		scale_set_rate_bounds(scale, is.low_microhz, is.high_microhz);
	return is.step_ticks;
}

/*
 * Adds the stolen time of a core from two sources. The TSC readings of the observing loop give a lower and an upper
 * bound. The hypervisor's counter is read shortly before and after the loop, so it may include time that was stolen
 * outside the loop. Therefore its lower bound is its value minus the time between its reads and the loop.
 */
static void
add_stolen_time(struct report_stolen *stolen, const struct scale *scale, const struct record_watch *watch)
{
	uint64_t observed_ns = scale_ns(scale, watch->observed_ticks), ran_ns = scale_ns(scale, watch->ran_ticks);
	uint64_t around_ns = scale_ns(scale, watch->reported_ticks) - observed_ns;

	if (watch->reported_ticks < watch->observed_ticks || ran_ns > observed_ns)
		return;
	stolen->observed_ns += observed_ns;
	stolen->reported_ns += watch->reported_ns;
	stolen->reported_low_ns += watch->reported_ns > around_ns ? watch->reported_ns - around_ns : 0;
	stolen->low_ns += scale_ns(scale, watch->long_ticks);
	stolen->high_ns += observed_ns - ran_ns;
}

static void
add_gaps_of_core(const struct report *report, struct figures *figures, const struct scale *scale,
		 const struct record_entry *entry)
{
	struct report_interference *all = &figures->interference;
	struct record_octave octave;
	struct record_watch watch;

	record_read_fixed_part(entry, &watch);
	if (watch.core >= report->facts.core_count)
		return;
	struct core_figures *core = &figures->cores[watch.core];
	uint64_t observed_ns = scale_ns(scale, watch.observed_ticks);
	uint64_t worst_ns = scale_ns(scale, watch.worst_ticks);

	all->threshold_ns = report->facts.options.gap_ns;
	all->observed_ns += observed_ns;
	all->measured = all->observed_ns != 0;
	all->total_ns += scale_ns(scale, watch.total_ticks);
	all->gaps += watch.gaps;
	for (size_t i = 0; i < entry->item_count && i < OCTAVES; i++) {
		record_read_item(entry, i, &octave);
		all->octave[i] += octave.gaps;
	}
	if (worst_ns > all->worst_ns) {
		all->worst_ns = worst_ns;
		all->worst_core = report->facts.cores[watch.core].apic_id;
	}
	add_stolen_time(&all->stolen, scale, &watch);
	core->observed_ns += observed_ns;
	core->gaps += watch.gaps;
	if (worst_ns > core->worst_gap_ns)
		core->worst_gap_ns = worst_ns;
}

static void
add_single_gap(const struct report *report, struct figures *figures, const struct scale *scale,
	       const struct record_entry *entry)
{
	struct report_interference *all = &figures->interference;
	struct record_gap gap;

	record_read_fixed_part(entry, &gap);
	if (gap.core >= report->facts.core_count || all->event_count == REPORT_EVENTS_MAX)
		return;
	all->events[all->event_count++] = (struct report_gap){
		.at_ms = scale_ns(scale, gap.tsc - report->facts.run.start_tsc) / NS_PER_MS,
		.ns = scale_ns(scale, gap.ticks),
		.core = report->facts.cores[gap.core].apic_id,
	};
}

void
analysis_calculate_gaps(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;
	struct scale scale;

	clear_gap_figures(report, figures);
	scale_init(&scale, figures->tsc);
	while (record_read_next(&reader, &entry)) {
		if (entry.kind == RECORD_SCALE)
			analysis_read_scale(&scale, &entry);
		else if (entry.kind == RECORD_WATCH)
			add_gaps_of_core(report, figures, &scale, &entry);
		else if (entry.kind == RECORD_GAP)
			add_single_gap(report, figures, &scale, &entry);
	}
}
