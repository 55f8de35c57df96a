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
	struct loop_rate {
		uint64_t hz, run; /* RUN is the number of the run that returned HZ, from 0 */
	} rates[CALIBRATION_RUNS_MAX]; /* in ascending order */
	uint64_t ticks, slack_ticks, tsc_ticks;
};

/*
 * The loops whose runs always take the same time, if they are not interrupted. FIRST and LAST are the numbers of the
 * TSC readings at the start and at the end of a run: see drivers/calibrations/README.md.
 */
static const struct {
	const char *loop;
	size_t first, last;
} timed_loops[] = { { "edk2", 0, 1 }, { "linux_lapic", 0, 6 } };

static void
insert_rate_sorted(struct loop_results *found, struct loop_rate rate)
{
	size_t at = found->count;

	if (found->count == CALIBRATION_RUNS_MAX)
		return;
	for (; at && found->rates[at - 1].hz > rate.hz; at--)
		found->rates[at] = found->rates[at - 1];
	found->rates[at] = rate;
	found->count++;
}

/* Returns true if ID, the text in an entry of the record, is the id of the loop of ROW. */
static bool
is_id_of_loop(const struct calibration_figures *row, const char id[16])
{
	char text[17] = "";

	__builtin_memcpy(text, id, 16);
	return text_equal(text, row->loop->id);
}

/* Adds the runs in ENTRY, if they are runs of this loop. */
static void
add_runs_from_entry(struct calibration_figures *row, struct loop_results *found, const struct record_entry *entry)
{
	struct record_calibration all;
	struct record_calibrated run;

	record_read_fixed_part(entry, &all);
	if (!is_id_of_loop(row, all.loop))
		return;
	found->ticks += all.ticks;
	found->slack_ticks += all.slack_ticks;
	found->tsc_ticks += all.tsc_ticks;
	for (size_t i = 0; i < entry->item_count; i++) {
		record_read_item(entry, i, &run);
		if (run.refusal < CALIBRATION_REFUSALS)
			found->refused[run.refusal]++;
		else if (run.hz)
			insert_rate_sorted(found, (struct loop_rate){ run.hz < HZ_MAX ? run.hz : HZ_MAX, row->runs });
		row->runs++;
	}
}

/* Returns the TSC ticks of the run whose readings are in ENTRY; 0 if the duration of this loop is not known. */
static uint64_t
get_duration_of_run_ticks(const struct calibration_figures *row, const struct record_entry *entry)
{
	struct record_taken first, last;

	for (size_t i = 0; i < sizeof(timed_loops) / sizeof(timed_loops[0]); i++) {
		if (!text_equal(row->loop->id, timed_loops[i].loop) || entry->item_count <= timed_loops[i].last)
			continue;
		record_read_item(entry, timed_loops[i].first, &first);
		record_read_item(entry, timed_loops[i].last, &last);
		return last.value - first.value;
	}
	return 0;
}

/* Sets the durations of the run with the number WORST, and of the shortest run. */
static void
set_durations_of_runs(struct calibration_figures *row, struct record_reader reader, uint64_t worst,
		      const struct scale *scale)
{
	struct record_entry entry;
	struct record_loop loop;
	uint64_t ticks, worst_ticks = 0, least_ticks = UINT64_MAX;

	while (record_read_next(&reader, &entry)) {
		if (entry.kind != RECORD_LOOP)
			continue;
		record_read_fixed_part(&entry, &loop);
		ticks = is_id_of_loop(row, loop.loop) ? get_duration_of_run_ticks(row, &entry) : 0;
		if (ticks && ticks < least_ticks)
			least_ticks = ticks;
		if (ticks && loop.run == worst)
			worst_ticks = ticks;
	}
	if (!worst_ticks)
		return;
	row->worst_run_ns = scale_ns(scale, worst_ticks);
	row->shortest_run_ns = scale_ns(scale, least_ticks);
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
copy_refusal_counts(struct calibration_figures *row, const struct loop_results *found)
{
	for (size_t i = 0; i < CALIBRATION_REFUSALS; i++) {
		if (!found->refused[i] || !row->loop->refusals[i])
			continue;
		row->refused += found->refused[i];
		row->refusals[row->refusal_count++] =
			(struct report_refusal){ row->loop->refusals[i], found->refused[i] };
	}
}

/* Sets the median and the worst error. Returns the number of the run with the worst error. */
static uint64_t
set_median_and_worst_error(struct calibration_figures *row, const struct loop_results *found,
			   const struct rate_interval *tsc)
{
	struct rate_interval rate = get_calibrated_clock_rate(found, tsc);
	const struct loop_rate *least = &found->rates[0], *most = &found->rates[found->count ? found->count - 1 : 0];
	struct interval_ppb worst;

	if (!found->count || !rate.known || !rate.low)
		return 0;
	row->median = calibration_error(found->rates[(found->count - 1) / 2].hz, &rate);
	row->worst = calibration_error(most->hz, &rate);
	worst = calibration_error(least->hz, &rate);
	if (offset_abs(worst.value) <= offset_abs(row->worst.value))
		return most->run;
	row->worst = worst;
	return least->run;
}

void
analysis_calculate_calibrations(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct scale scale = report_get_tsc_scale(report);

	figures->calibration_count = report->facts.calibration_count;
	for (size_t i = 0; i < report->facts.calibration_count; i++) {
		struct calibration_figures *row = &figures->calibrations[i];
		struct loop_results found = { .count = 0 };
		struct record_reader reader = record_open_without_checksums(record, size), again = reader;
		struct record_entry entry;

		*row = (struct calibration_figures){ .loop = report->facts.calibrations[i].loop,
						     .reason = report->facts.calibrations[i].reason };
		while (record_read_next(&reader, &entry))
			if (entry.kind == RECORD_CALIBRATION)
				add_runs_from_entry(row, &found, &entry);
		copy_refusal_counts(row, &found);
		uint64_t worst = set_median_and_worst_error(row, &found, &figures->tsc_within);
		set_durations_of_runs(row, again, worst, &scale);
	}
}
