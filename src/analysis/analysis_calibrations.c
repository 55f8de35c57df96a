/* Calculates the errors of calibration loops from the record's entries `calibration`. See analysis.h. */
#include "analysis/analysis.h"

#include "base/offset.h"
#include "base/text.h"
#include "record/record.h"

#define MICROHZ      UINT64_C(1000000)
/* limit in Hz: no clock is faster, and a larger rate in microhertz would overflow */
#define HZ_MAX       (UINT64_MAX / MICROHZ)

struct loop_results { /* the results of one calibration loop */
	uint64_t refused[CALIBRATION_REFUSALS];
	size_t count;
	uint64_t hz[CALIBRATION_RUNS_MAX]; /* rates that the loop's runs returned, in ascending order */
	uint64_t ticks, slack_ticks, tsc_ticks;
};

static void
insert_rate_sorted(struct loop_results *found, uint64_t hz)
{
	size_t at = found->count;

	if (found->count == CALIBRATION_RUNS_MAX)
		return;
	for (; at && found->hz[at - 1] > hz; at--)
		found->hz[at] = found->hz[at - 1];
	found->hz[at] = hz;
	found->count++;
}

/* Adds the runs in ENTRY, if they are runs of this loop. */
static void
add_runs_from_entry(struct report_calibration *row, struct loop_results *found, const struct record_entry *entry)
{
	struct record_calibration all;
	struct record_calibrated run;
	char id[sizeof(all.loop) + 1] = "";

	record_read_fixed_part(entry, &all);
	__builtin_memcpy(id, all.loop, sizeof(all.loop));
	if (!text_equal(id, row->loop->id))
		return;
	found->ticks += all.ticks;
	found->slack_ticks += all.slack_ticks;
	found->tsc_ticks += all.tsc_ticks;
	for (size_t i = 0; i < entry->item_count; i++) {
		record_read_item(entry, i, &run);
		row->runs++;
		if (run.refusal < CALIBRATION_REFUSALS)
			found->refused[run.refusal]++;
		else if (run.hz)
			insert_rate_sorted(found, run.hz < HZ_MAX ? run.hz : HZ_MAX);
	}
}

/*
 * Returns the rate of the clock that the loop calibrated, in microhertz. For the TSC this is its measured rate. For
 * another clock it is calculated from the ticks of that clock and of the TSC.
 */
static struct rate_interval
get_calibrated_clock_rate(const struct loop_results *found, const struct rate_interval *tsc)
{
	if (!found->tsc_ticks || !tsc->known)
		return *tsc;
	uint64_t low = found->slack_ticks < found->ticks ? found->ticks - found->slack_ticks : 0;

	return (struct rate_interval){
		true, scale_mul_div_nearest(tsc->value, found->ticks, found->tsc_ticks),
		scale_mul_div(tsc->low, low, found->tsc_ticks),
		scale_mul_div_up(tsc->high, found->ticks + found->slack_ticks, found->tsc_ticks),
	};
}

/* Returns the error of HZ against RATE as an interval. */
static struct interval_ppb
calibration_error(uint64_t hz, const struct rate_interval *rate)
{
	struct rate_interval found = { true, hz * MICROHZ, hz * MICROHZ, hz * MICROHZ };

	/* The faster of two clocks is the one that implies the slower TSC. */
	return rate_relative_difference(rate, &found);
}

static void
copy_refusal_counts(struct report_calibration *row, const struct loop_results *found)
{
	row->refused = row->refusal_count = 0;
	for (size_t i = 0; i < CALIBRATION_REFUSALS; i++) {
		if (!found->refused[i] || !row->loop->refusals[i])
			continue;
		row->refused += found->refused[i];
		row->refusals[row->refusal_count++] =
			(struct report_refusal){ row->loop->refusals[i], found->refused[i] };
	}
}

static void
set_median_and_worst_error(struct report_calibration *row, const struct loop_results *found,
			   const struct rate_interval *tsc)
{
	struct rate_interval rate = get_calibrated_clock_rate(found, tsc);
	struct interval_ppb least, most;

	if (!found->count || !rate.known || !rate.low)
		return;
	least = calibration_error(found->hz[0], &rate);
	most = calibration_error(found->hz[found->count - 1], &rate);
	row->median = calibration_error(found->hz[(found->count - 1) / 2], &rate);
	row->worst = offset_abs(least.value) > offset_abs(most.value) ? least : most;
}

void
analysis_calculate_calibrations(const void *record, size_t size, struct report *report)
{
	for (size_t i = 0; i < report->calibration_count; i++) {
		struct report_calibration *row = &report->calibrations[i];
		struct loop_results found = { .count = 0 };
		struct record_reader reader = record_open_without_checksums(record, size);
		struct record_entry entry;

		row->runs = 0;
		row->median = row->worst = (struct interval_ppb){ .known = false };
		while (record_read_next(&reader, &entry))
			if (entry.kind == RECORD_CALIBRATION)
				add_runs_from_entry(row, &found, &entry);
		copy_refusal_counts(row, &found);
		set_median_and_worst_error(row, &found, &report->tsc_within);
	}
}
