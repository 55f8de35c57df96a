/*
 * Reads one clock's batches from a record. Calculates the clock's rate between two readings, and the TSC's rate that
 * follows from it. See rate_readings.h.
 */
#include "analysis/rate_readings.h"

#include "analysis/analysis.h"
#include "analysis/analysis_steps.h"
#include "analysis/wraps.h"
#include "base/set.h"
#include "base/units.h"
#include "stats/resolution.h"

#define MICROHZ      UINT64_C(1000000)
/* a calculated TSC rate that differs from the known rate by this factor shows that the TSC stopped or jumped */
#define ABSURD       1000

struct rate_batch_reader
rate_open_batches(const void *record, size_t size)
{
	return (struct rate_batch_reader){ .reader = record_open_without_checksums(record, size) };
}

bool
rate_read_next_batch(struct rate_batch_reader *reader)
{
	struct record_mark mark;

	while (record_read_next(&reader->reader, &reader->entry)) {
		if (reader->entry.kind == RECORD_SCALE) {
			reader->tsc_resolution_ticks = analysis_read_scale(&reader->scale, &reader->entry);
		} else if (reader->entry.kind == RECORD_MARK) {
			record_read_fixed_part(&reader->entry, &mark);
			reader->tick_changes += mark.what == RECORD_MARK_TICK;
		} else if (reader->entry.kind == RECORD_BATCH) {
			record_read_fixed_part(&reader->entry, &reader->batch);
			if (reader->batch.clock < REPORT_CLOCKS_MAX)
				return true;
		}
	}
	return false;
}

struct rate_windows
rate_find_windows(const void *record, size_t size)
{
	uint64_t first[REPORT_CLOCKS_MAX] = { 0 }, longest = 0;
	struct rate_windows windows = { .record = record, .size = size };
	struct rate_batch_reader reader = rate_open_batches(record, size);
	const struct record_batch *batch = &reader.batch;
	bool whole = false;

	while (rate_read_next_batch(&reader)) {
		if (batch->stage == RECORD_FIRST) {
			first[batch->clock] = batch->begin;
		} else if (batch->stage == RECORD_FINAL || batch->stage == RECORD_AGAIN) {
			windows.final = batch->window;
		} else if (batch->stage == RECORD_CLOSE && !(batch->flags & RECORD_JUMPED)) {
			windows.window = batch->window;
			whole = true;
		} else if (batch->stage == RECORD_CLOSE && !whole && batch->end &&
			   batch->begin - first[batch->clock] >= longest) {
			windows.window = batch->window;
			longest = batch->begin - first[batch->clock];
		}
	}
	reader = rate_open_batches(record, size);
	while (rate_read_next_batch(&reader))
		if (batch->stage == RECORD_CLOSE && batch->flags & RECORD_JUMPED && batch->window == windows.window)
			windows.until_tsc[batch->clock] = batch->begin;
	return windows;
}

bool
rate_is_in_window(const struct rate_windows *windows, const struct record_batch *batch)
{
	uint64_t until_tsc = windows->until_tsc[batch->clock];

	return batch->stage < RECORD_FINAL && batch->window && batch->window == windows->window &&
	       (!until_tsc || batch->begin <= until_tsc);
}

/* Returns true if BATCH was taken after the rate window, until the end of the run. */
static bool
is_after_window(const struct rate_windows *windows, const struct record_batch *batch)
{
	return batch->stage >= RECORD_FINAL && batch->stage < RECORD_STAGES && batch->window &&
	       (batch->window == windows->window || batch->window == windows->final);
}

static void
read_rate_corners(const struct record_entry *entry, struct rate_corners *corners)
{
	for (size_t i = 0; i < entry->item_count; i++) {
		struct record_corner item;

		record_read_item(entry, i, &item);
		size_t *count = item.upper ? &corners->upper_count : &corners->lower_count;
		struct rate_corner *list = item.upper ? corners->upper : corners->lower;

		if (*count < RATE_CORNERS_MAX)
			list[(*count)++] = (struct rate_corner){ (int64_t)item.tsc, (int64_t)item.ticks };
	}
}

/*
 * Keeps only each EVERY-th batch. At most RATE_BETWEEN_MAX batches are then left, evenly spread over the part of the
 * rate window that was read so far.
 */
static void
keep_each_nth_batch(struct rate_readings *readings, uint64_t every)
{
	size_t kept = 0;

	for (size_t i = 0; i < readings->batch_count; i++)
		if (readings->batches[i].number % every == 0)
			readings->batches[kept++] = readings->batches[i];
	readings->batch_count = kept;
}

static void
add_batch_with_corners(struct rate_readings *readings, const struct record_entry *entry,
		       const struct record_batch *batch)
{
	struct rate_batch new = { .sample = rate_sample_of_batch(batch),
				  .corners = { .narrowest = batch->end - batch->begin } };

	if (readings->entry->clock.edges_only || !entry->item_count)
		return;
	if (batch->stage == RECORD_LOOK) {
		new.number = batch->number;
		keep_each_nth_batch(readings, rate_batches_per_kept_batch(batch->number));
	}
	read_rate_corners(entry, &new.corners);
	if (readings->batch_count < RATE_ENDS_MAX)
		readings->batches[readings->batch_count++] = new;
}

/* Ends the rate window with BATCH. */
static void
close_window(struct rate_readings *readings, const struct rate_batch_reader *reader, const struct record_batch *batch)
{
	struct sample *at = readings->at;

	readings->is_closed = true;
	readings->scale = reader->scale;
	readings->tsc_resolution_ticks = reader->tsc_resolution_ticks;
	readings->gcd_ticks = batch->gcd_ticks;
	readings->smallest_ticks = batch->smallest_ticks;
	/* after a discontinuity, the rate window ends at the latest sample at which all clocks agreed */
	if (batch->flags & RECORD_JUMPED)
		at[RECORD_LAST] = rate_sample_of_batch(batch);
	/*
	 * If the edge nearest to the middle of the window is the window's last edge, there is no reading in the middle.
	 */
	if (at[RECORD_MIDDLE].end >= at[RECORD_LAST].begin)
		at[RECORD_MIDDLE] = (struct sample){ 0, 0, 0 };
}

/* Stores BATCH as its stage requires. The ticks of BATCH already include all wraps. */
static void
store_batch(struct rate_readings *readings, const struct rate_batch_reader *reader, const struct record_batch *batch)
{
	if (batch->stage == RECORD_AGAIN) {
		readings->has_again = true;
		readings->again_first = readings->at[RECORD_AGAIN];
	}
	readings->at[batch->stage] = rate_sample_of_batch(batch);
	if (batch->stage == RECORD_FINAL)
		readings->final = *batch;
	if (batch->stage == RECORD_CLOSE)
		close_window(readings, reader, batch);
	if (batch->stage != RECORD_CLOSE || batch->flags & RECORD_JUMPED)
		add_batch_with_corners(readings, &reader->entry, batch);
}

void
rate_read_batches(const struct rate_windows *windows, const struct report *report, size_t i,
		  struct rate_readings *readings)
{
	const struct clock *clock = &report->facts.clocks[i].clock;
	struct wraps_count count = { .clock = NULL };
	struct rate_batch_reader reader = rate_open_batches(windows->record, windows->size);
	unsigned tick_changes = 0;

	*readings = (struct rate_readings){ .report = report, .entry = &report->facts.clocks[i] };
	while (rate_read_next_batch(&reader)) {
		struct record_batch batch = reader.batch;
		const struct sample sample = rate_sample_of_batch(&batch);

		if (batch.clock != i)
			continue;
		if (rate_is_in_window(windows, &batch))
			wraps_add_batch(&count, clock, &reader.scale, &batch);
		else if (!is_after_window(windows, &batch) || !readings->is_closed)
			continue;
		else if (batch.end)
			wraps_count_until_reading(&count, &sample,
						  rate_expected_ticks(&readings->at[RECORD_FIRST], &readings->at[RECORD_LAST],
								      wraps_passed(&count, batch.end)));
		batch.ticks = count.latest.ticks;
		store_batch(readings, &reader, &batch);
		if (batch.stage == RECORD_CLOSE) {
			count.latest = readings->at[RECORD_LAST];
			tick_changes = reader.tick_changes;
		}
	}
	readings->pace = count.pace;
	readings->may_have_stopped = clock->firmware_ticks && reader.tick_changes > tick_changes;
}

uint64_t
rate_expected_ticks(const struct sample *first, const struct sample *last, uint64_t passed_tsc)
{
	uint64_t window_ticks = last->begin - first->begin;

	return window_ticks ? scale_mul_div(last->ticks - first->ticks, passed_tsc, window_ticks) : 0;
}

struct rate_ends
rate_readings_get_batches_between(const struct rate_readings *readings, const struct sample *from,
				  const struct sample *to)
{
	struct rate_ends ends = { .even_ticks = readings->gcd_ticks,
				  .uneven_ticks = readings->smallest_ticks + RESOLUTION_UNEVEN_TICKS,
				  .tsc_resolution_ticks = readings->tsc_resolution_ticks };

	for (size_t i = 0; i < readings->batch_count; i++) {
		const struct rate_batch *batch = &readings->batches[i];

		if (batch->sample.begin >= from->begin && batch->sample.begin <= to->begin &&
		    (!ends.count || batch->sample.begin > ends.ends[ends.count - 1].sample.begin))
			ends.ends[ends.count++] = (struct rate_end){ batch->sample, &batch->corners };
	}
	return ends;
}

/* Returns the clock's ticks per TSC tick by the readings FROM and TO alone. */
static struct rate_slope
slope_of_two_samples(const struct rate_readings *readings, const struct sample *from, const struct sample *to)
{
	bool edges_only = readings->entry->clock.edges_only;
	struct rate_window window = { *from, *to, edges_only ? 0 : readings->smallest_ticks + RESOLUTION_UNEVEN_TICKS,
				      readings->tsc_resolution_ticks };

	if (edges_only && report_is_guest(readings->report) && from->end < to->begin)
		rate_allow_late_edges(&window, scale_ns_to_ticks(&readings->scale, ANALYSIS_EDGE_LATE_NS));
	return rate_calculate_slope(&window);
}

struct rate_slope
rate_readings_fit_slope(const struct rate_readings *readings, const struct sample *from, const struct sample *to,
			enum rate_fit *fit)
{
	struct rate_ends ends = rate_readings_get_batches_between(readings, from, to);

	*fit = RATE_FIT_NONE;
	if (readings->entry->clock.edges_only)
		return slope_of_two_samples(readings, from, to);
	if (ends.count < 2)
		return (struct rate_slope){ .known = false };
	return rate_fit_line(&ends, fit);
}

/* Returns the TSC's rate that follows from SLOPE if the clock's nominal frequency is exact. */
static struct rate_interval
implied_rate_of_slope(const struct rate_readings *readings, struct rate_slope slope)
{
	struct rate_interval implied = rate_of_tsc_implied_by_clock(&slope, readings->entry->clock.claimed);

	implied.known &= readings->smallest_ticks && rate_is_tsc_rate_plausible(&readings->scale, &implied);
	return implied;
}

static struct rate_interval
implied_rate_if_claim_exact(const struct rate_readings *readings, const struct sample *from, const struct sample *to)
{
	enum rate_fit fit;

	return implied_rate_of_slope(readings, rate_readings_fit_slope(readings, from, to, &fit));
}

struct rate_interval
rate_readings_implied_rate(const struct rate_readings *readings, const struct sample *from, const struct sample *to)
{
	return rate_widen(implied_rate_if_claim_exact(readings, from, to), readings->entry->clock.claimed_within_ppb);
}

struct rate_interval
rate_readings_implied_rate_of_two_samples(const struct rate_readings *readings, const struct sample *from,
					  const struct sample *to)
{
	return implied_rate_of_slope(readings, slope_of_two_samples(readings, from, to));
}

struct interval_ppb
rate_readings_rate_change(const struct rate_readings *readings, const struct sample *from, const struct sample *middle,
			  const struct sample *to)
{
	struct rate_interval before = implied_rate_if_claim_exact(readings, from, middle);
	struct rate_interval after = implied_rate_if_claim_exact(readings, middle, to);

	return rate_relative_difference(&after, &before);
}

struct rate_interval
rate_get_claimed_rate(struct rate claimed, uint64_t within_ppb)
{
	if (!claimed.den)
		return (struct rate_interval){ .known = false };
	return rate_widen((struct rate_interval){
		true,
		scale_mul_div_nearest(claimed.num, MICROHZ, claimed.den),
		scale_mul_div(claimed.num, MICROHZ, claimed.den),
		scale_mul_div_up(claimed.num, MICROHZ, claimed.den),
	}, within_ppb);
}

bool
rate_may_wraps_be_miscounted(const struct clock *clock, const struct rate_interval *implied, uint64_t expected,
			     uint64_t change_ppb)
{
	uint64_t range = clock->wrap_ticks + 1; /* 0 for a 64-bit counter */
	uint64_t doubt_ticks = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t change_ticks = scale_mul_div_up(expected, change_ppb, PPB);

	return range && (doubt_ticks > range / RATE_AMBIGUOUS_SHARE || change_ticks > range / RATE_AMBIGUOUS_SHARE);
}

bool
rate_is_tsc_rate_plausible(const struct scale *scale, const struct rate_interval *tsc)
{
	uint64_t microhz = scale_mul_div(scale->hz.num, MICROHZ, scale->hz.den);

	return tsc->low > microhz / ABSURD && tsc->high / ABSURD < microhz;
}
