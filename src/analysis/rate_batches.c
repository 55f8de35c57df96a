/* Reads one clock's batches from a record. See rate_batches.h. */
#include "analysis/rate_batches.h"

#include "analysis/analysis.h"
#include "analysis/wraps.h"
#include "base/set.h"

/* Stores the next batch in BATCH, and its entry in ENTRY. Returns false if there is none. */
static bool
read_next_batch(struct record_reader *reader, struct record_entry *entry, struct record_batch *batch)
{
	while (record_read_next(reader, entry)) {
		if (entry->kind != RECORD_BATCH)
			continue;
		record_read_fixed_part(entry, batch);
		if (batch->clock < REPORT_CLOCKS_MAX)
			return true;
	}
	return false;
}

struct rate_windows
rate_find_windows(const void *record, size_t size)
{
	uint64_t first[REPORT_CLOCKS_MAX] = { 0 }, longest = 0;
	struct rate_windows windows = { .record = record, .size = size };
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;
	struct record_batch batch;
	bool whole = false;

	while (read_next_batch(&reader, &entry, &batch)) {
		if (batch.stage == RECORD_CLOSE)
			windows.clocks |= set_of(batch.clock);
		if (batch.stage == RECORD_FIRST) {
			first[batch.clock] = batch.begin;
		} else if (batch.stage == RECORD_FINAL || batch.stage == RECORD_AGAIN) {
			windows.final = batch.window;
		} else if (batch.stage == RECORD_CLOSE && !(batch.flags & RECORD_JUMPED)) {
			windows.window = batch.window;
			whole = true;
		} else if (batch.stage == RECORD_CLOSE && !whole && batch.end && batch.begin - first[batch.clock] >= longest) {
			windows.window = batch.window;
			longest = batch.begin - first[batch.clock];
		}
	}
	reader = record_open_without_checksums(record, size);
	while (read_next_batch(&reader, &entry, &batch))
		if (batch.stage == RECORD_CLOSE && batch.flags & RECORD_JUMPED && batch.window == windows.window)
			windows.until_tsc[batch.clock] = batch.begin;
	return windows;
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
add_batch_to_readings(struct rate_readings *readings, const struct record_entry *entry,
		      const struct record_batch *batch)
{
	struct rate_batch new = { .sample = { batch->begin, batch->ticks, batch->end },
				  .corners = { .narrowest = batch->end - batch->begin } };

	if (readings->entry->clock.edges_only || !entry->item_count)
		return;
	if (batch->stage == RECORD_LOOK) {
		new.number = batch->number;
		keep_each_nth_batch(readings, rate_batch_interval(batch->number));
	}
	read_rate_corners(entry, &new.corners);
	if (readings->batch_count < RATE_ENDS_MAX)
		readings->batches[readings->batch_count++] = new;
}

static void
store_end_of_rate_window(struct rate_batches *batches, const struct record_entry *entry,
			 const struct record_batch *batch)
{
	batches->close = *batch;
	batches->readings.gcd_ticks = batch->gcd_ticks;
	batches->readings.smallest_ticks = batch->smallest_ticks;
	/* after a discontinuity, the rate window ends at the latest sample at which all clocks agreed */
	if (batch->flags & RECORD_JUMPED) {
		batches->readings.last = (struct sample){ batch->begin, batch->ticks, batch->end };
		add_batch_to_readings(&batches->readings, entry, batch);
	}
	/*
	 * If the edge nearest to the middle of the window is the window's last edge, there is no reading in the middle.
	 */
	if (batches->middle.end >= batches->readings.last.begin)
		batches->middle = (struct sample){ 0, 0, 0 };
}

/* Stores BATCH as its stage requires. The ticks of BATCH already include all wraps. */
static void
store_batch_by_stage(struct rate_batches *batches, const struct record_entry *entry, const struct record_batch *batch)
{
	const struct sample sample = { batch->begin, batch->ticks, batch->end };

	switch (batch->stage) {
	case RECORD_CLOSE:
		store_end_of_rate_window(batches, entry, batch);
		return;
	case RECORD_AGAIN:
		batches->has_again = true;
		batches->again[0] = batches->again[1];
		batches->again[1] = sample;
		return;
	case RECORD_FIRST:
		batches->readings.first = sample;
		break;
	case RECORD_MIDDLE:
		batches->middle = sample;
		break;
	case RECORD_LAST:
		batches->readings.last = sample;
		break;
	case RECORD_FINAL:
		batches->final = *batch;
		break;
	default:
		break;
	}
	add_batch_to_readings(&batches->readings, entry, batch);
}

/* For a batch after the rate window: counts the wraps up to the batch in COUNT, and adds them to the batch's ticks. */
static void
count_wraps_after_window(const struct rate_readings *readings, struct wraps_count *count, struct record_batch *batch)
{
	uint64_t passed = wraps_passed(count, batch->end);

	if (!batch->end)
		return;
	wraps_count_to(count, batch->ticks, batch->end, rate_readings_expected_ticks(readings, passed));
	batch->ticks = count->ticks;
}

void
rate_read_batches(const struct rate_windows *windows, const struct report *report, size_t i,
		  struct rate_batches *batches)
{
	const struct clock *clock = &report->clocks[i].clock;
	struct wraps_count count = { .clock = NULL };
	struct record_reader reader = record_open_without_checksums(windows->record, windows->size);
	struct record_entry entry;

	*batches = (struct rate_batches){ .readings = { .report = report, .entry = &report->clocks[i] } };
	while (record_read_next(&reader, &entry)) {
		struct record_batch batch;
		struct record_mark mark;

		if (entry.kind == RECORD_SCALE && !batches->close.window) {
			batches->readings.tsc_resolution_ticks = analysis_read_scale(&batches->readings.scale, &entry);
		} else if (entry.kind == RECORD_MARK && batches->close.window) {
			record_read_fixed_part(&entry, &mark);
			batches->may_have_stopped |= mark.what == RECORD_MARK_TICK && clock->firmware_ticks;
		}
		if (entry.kind != RECORD_BATCH)
			continue;
		record_read_fixed_part(&entry, &batch);
		if (batch.clock != i)
			continue;
		if (rate_is_in_window(windows, &batch)) {
			wraps_add_batch(&count, clock, &batches->readings.scale, &batch);
			batch.ticks = count.ticks;
		} else if (rate_is_after_window(windows, &batch) && batches->close.window) {
			count_wraps_after_window(&batches->readings, &count, &batch);
		} else {
			continue;
		}
		store_batch_by_stage(batches, &entry, &batch);
		if (batch.stage == RECORD_CLOSE) {
			count.ticks = batches->readings.last.ticks;
			count.tsc = batches->readings.last.end;
		}
	}
}
