/* Calculates the figures of the firmware's time services from the record's entries `firmware`. See analysis.h. */
#include "analysis/analysis.h"

#include "base/offset.h"
#include "base/units.h"

#define ADVANCE_MAX_NS (INT64_C(1) << 60) /* a larger advance of the time is not compared */
#define READINGS_MAX 160 /* maximum number of readings of one service; further ones are ignored */
/* Two ticks of an 8254. A delay that counts whole ticks may differ from the requested time by as much. */
#define STEP_NS     UINT64_C(1677)
#define LONGER_NS   UINT64_C(500000) /* two lengths of Stall() are compared if they differ by more than this */
#define FPDT_START  2 /* index of the start of the loader's image among the times of the FPDT */

/* All readings of one service. FRESH is true for a reading whose value changed within its bracket. */
struct readings {
	struct scale scale;
	size_t count;
	struct record_called items[READINGS_MAX];
	bool fresh[READINGS_MAX];
};

static uint64_t
bracket_ns(const struct readings *readings, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? scale_ns(&readings->scale, to - from) : 0;
}

/* Appends the items of ENTRY, except events that did not come. */
static void
append_readings(struct readings *readings, struct report_firmware *row, const struct record_entry *entry)
{
	size_t first = readings->count;

	for (size_t i = 0; i < entry->item_count && readings->count < READINGS_MAX; i++) {
		struct record_called *item = &readings->items[readings->count];

		record_read_item(entry, i, item);
		if (!item->end && row->service != FIRMWARE_FPDT)
			continue;
		readings->fresh[readings->count] = readings->count > first && item[-1].value != item->value;
		readings->count++;
	}
}

static bool
is_entry_of_row(const struct record_firmware *fixed, const struct report_firmware *row)
{
	return fixed->service == row->service && fixed->asked_ns == row->asked_ns;
}

/* Finds all readings of ROW's service. */
static void
collect_readings(struct readings *readings, struct report_firmware *row, struct record_reader reader)
{
	struct record_entry entry;
	struct record_firmware fixed;
	uint64_t wanted = 0;

	readings->count = 0;
	while (record_read_next(&reader, &entry)) {
		if (entry.kind != RECORD_FIRMWARE)
			continue;
		record_read_fixed_part(&entry, &fixed);
		if (!is_entry_of_row(&fixed, row))
			continue;
		wanted += fixed.wanted;
		append_readings(readings, row, &entry);
	}
	row->count = readings->count;
	row->missing = row->service == FIRMWARE_STALL ? !row->count : wanted > row->count ? wanted - row->count : 0;
}

/* Adds the time NS from a request to its return or event to the bounds in ROW. */
static void
add_time(struct report_firmware *row, bool first, uint64_t ns)
{
	row->least_ns = first || ns < row->least_ns ? ns : row->least_ns;
	row->most_ns = first || ns > row->most_ns ? ns : row->most_ns;
}

static void
set_times(struct report_firmware *row, const struct readings *readings)
{
	bool is_event = row->service != FIRMWARE_STALL;

	for (size_t i = 0; i < readings->count && row->service <= FIRMWARE_PERIODIC; i++) {
		const struct record_called *item = &readings->items[i];
		uint64_t ns = bracket_ns(readings, is_event ? item->value : item->begin, item->end);
		uint64_t earlier_ns = row->service == FIRMWARE_PERIODIC ? i * row->asked_ns : 0;

		add_time(row, i == 0, ns > earlier_ns ? ns - earlier_ns : 0);
	}
	if (readings->count)
		row->first_ns = bracket_ns(readings, readings->items[0].begin, readings->items[0].end);
}

/* Returns by how much TIME_NS is longer than FIRMWARE_NS, in ppb. */
static int64_t
get_excess_ppb(uint64_t time_ns, uint64_t firmware_ns, bool up)
{
	uint64_t ratio = up ? scale_mul_div_up(time_ns, PPB, firmware_ns) : scale_mul_div(time_ns, PPB, firmware_ns);

	return ratio < (uint64_t)FIRMWARE_PPB_MAX ? (int64_t)ratio - PPB : FIRMWARE_PPB_MAX;
}

/*
 * Narrows SECOND by two readings: a time from LEAST_NS to MOST_NS passed, in which the firmware's time advanced by
 * ADVANCE_LEAST_NS to ADVANCE_MOST_NS.
 */
static void
narrow_second(struct interval_ppb *second, uint64_t least_ns, uint64_t most_ns, int64_t advance_least_ns,
	      int64_t advance_most_ns)
{
	struct offset bounds = { second->low, second->high }, now = { -PPB, FIRMWARE_PPB_MAX };

	if (advance_most_ns <= 0)
		return;
	now.low = get_excess_ppb(least_ns, (uint64_t)advance_most_ns, false);
	if (advance_least_ns > 0)
		now.high = get_excess_ppb(most_ns, (uint64_t)advance_least_ns, true);
	bounds = second->known ? offset_intersect(bounds, now) : now;
	*second = (struct interval_ppb){ true, 0, bounds.low, bounds.high };
}

/* Completes SECOND, or makes it unknown if its bounds contradict each other. */
static void
finish_second(struct interval_ppb *second)
{
	second->known &= second->low <= second->high;
	if (!second->known)
		return;
	second->low -= (int64_t)REPORT_CRYSTAL_PPB;
	second->high += (int64_t)REPORT_CRYSTAL_PPB;
	second->value = offset_middle((struct offset){ second->low, second->high });
}

/*
 * Compares all pairs of readings of GetTime. A reading shows whole seconds, except where it changed: then the
 * firmware's time was exactly its value.
 */
static void
set_second_of_clock(struct report_firmware *row, const struct readings *readings)
{
	for (size_t i = 0; i < readings->count; i++)
		for (size_t j = i + 1; j < readings->count; j++) {
			const struct record_called *a = &readings->items[i], *b = &readings->items[j];
			int64_t advance = (int64_t)(b->value - a->value);

			if (advance < 0 || advance > ADVANCE_MAX_NS)
				continue;
			narrow_second(&row->second, bracket_ns(readings, a->end, b->begin),
				      bracket_ns(readings, a->begin, b->end),
				      advance - (readings->fresh[i] ? 0 : (int64_t)NS_PER_S),
				      advance + (readings->fresh[j] ? 0 : (int64_t)NS_PER_S));
		}
}

/* Compares windows of half of the ticks, so that an event that the host delayed makes the interval wider. */
static void
set_second_of_ticks(struct report_firmware *row, const struct readings *readings)
{
	size_t half = readings->count / 2;
	struct offset hull = OFFSET_UNKNOWN;

	for (size_t i = 0; half && i + half < readings->count; i++) {
		const struct record_called *a = &readings->items[i], *b = &readings->items[i + half];
		uint64_t asked_ns = half * row->asked_ns;
		struct offset now = {
			get_excess_ppb(bracket_ns(readings, a->end, b->begin), asked_ns, false),
			get_excess_ppb(bracket_ns(readings, a->begin, b->end), asked_ns, true),
		};

		hull = i ? offset_hull(hull, now) : now;
		row->second = (struct interval_ppb){ true, 0, hull.low, hull.high };
	}
}

/* Returns true if a counter of time stamps may have passed half of its range or more between readings I - 1 and I. */
static bool
may_have_wrapped_unseen(const struct report_firmware *row, const struct readings *readings, size_t i)
{
	uint64_t ns = bracket_ns(readings, readings->items[i - 1].begin, readings->items[i].end);

	return row->service == FIRMWARE_STAMP && scale_mul_div(ns, row->stated, NS_PER_S) >= row->range / 2;
}

/* Returns the firmware's time in ns between the first and the last reading of a counter; 0 if it is not known. */
static uint64_t
get_counted_ns(const struct report_firmware *row, const struct readings *readings)
{
	uint64_t ticks = 0;

	if (!row->stated)
		return 0;
	for (size_t i = 1; i < readings->count; i++) {
		uint64_t now = readings->items[i].value, then = readings->items[i - 1].value;

		if (may_have_wrapped_unseen(row, readings, i))
			return 0;
		ticks += now >= then ? now - then : row->range - then + now + 1;
	}
	return row->service == FIRMWARE_CPU ? scale_mul_div_nearest(ticks, row->stated, FS_PER_NS) :
						scale_mul_div_nearest(ticks, NS_PER_S, row->stated);
}

static void
set_second_of_counter(struct report_firmware *row, const struct readings *readings)
{
	if (row->back || readings->count < 2)
		return;
	const struct record_called *first = &readings->items[0], *last = &readings->items[readings->count - 1];
	uint64_t counted_ns = get_counted_ns(row, readings);

	if (counted_ns && counted_ns < INT64_MAX)
		narrow_second(&row->second, bracket_ns(readings, first->end, last->begin),
			      bracket_ns(readings, first->begin, last->end), (int64_t)counted_ns, (int64_t)counted_ns);
}

/* Returns true if NOW, the reading after THEN, is lower for another reason than the end of the counter's range. */
static bool
went_back(const struct report_firmware *row, const struct readings *readings, size_t i)
{
	uint64_t now = readings->items[i].value, then = readings->items[i - 1].value;

	if (row->service == FIRMWARE_COUNTER)
		return now <= then;
	/* after a step back, the rest of the range would have passed */
	return now < then && !may_have_wrapped_unseen(row, readings, i) &&
	       (row->service != FIRMWARE_STAMP || row->range - then + now >= row->range / 2);
}

static void
set_start_by_table(struct report_firmware *row, const struct readings *readings)
{
	if (readings->count <= FPDT_START)
		return;
	row->start_ns = readings->items[FPDT_START].value;
	row->tsc_ns = scale_ns(&readings->scale, readings->items[FPDT_START].begin);
	if (row->start_ns && row->start_ns < INT64_MAX)
		narrow_second(&row->second, row->tsc_ns, row->tsc_ns, (int64_t)row->start_ns, (int64_t)row->start_ns);
}

static void
calculate_row(struct report_firmware *row, const struct readings *readings)
{
	set_times(row, readings);
	for (size_t i = 1; i < readings->count && row->service >= FIRMWARE_TIME && row->service != FIRMWARE_FPDT; i++)
		row->back += went_back(row, readings, i);
	if (row->service == FIRMWARE_PERIODIC)
		set_second_of_ticks(row, readings);
	else if (row->service == FIRMWARE_TIME && !row->back)
		set_second_of_clock(row, readings);
	else if (row->service == FIRMWARE_STAMP || row->service == FIRMWARE_CPU)
		set_second_of_counter(row, readings);
	else if (row->service == FIRMWARE_FPDT)
		set_start_by_table(row, readings);
	finish_second(&row->second);
}

/*
 * Sets the second of Stall() from the differences between requested times, which leave out the fixed cost of a call. A
 * host can delay all calls of one length, but hardly the calls of all lengths. So all differences are in the bounds.
 * Stall() polls a counter until its time is over, and may return later by up to the duration of a poll. Each call has a
 * poll, so a poll takes no longer than the shortest call.
 */
static void
calculate_second_of_stalls(struct figures *figures)
{
	struct report_firmware *rows = figures->firmware;
	const struct report_firmware *before = NULL;
	struct interval_ppb second = { .known = false };
	uint64_t poll_ns = UINT64_MAX, error_ns;

	for (size_t i = 0; i < figures->firmware_count; i++) {
		if (rows[i].service != FIRMWARE_STALL || !rows[i].count)
			continue;
		poll_ns = rows[i].least_ns < poll_ns ? rows[i].least_ns : poll_ns;
		error_ns = poll_ns + 2 * STEP_NS;
		if (before && rows[i].asked_ns > before->asked_ns + LONGER_NS) {
			uint64_t asked_ns = rows[i].asked_ns - before->asked_ns;
			uint64_t ns = rows[i].least_ns > before->least_ns ? rows[i].least_ns - before->least_ns : 0;
			int64_t low = get_excess_ppb(ns > error_ns ? ns - error_ns : 0, asked_ns, false);
			int64_t high = get_excess_ppb(ns + error_ns, asked_ns, true);

			second.low = second.known && second.low < low ? second.low : low;
			second.high = second.known && second.high > high ? second.high : high;
			second.known = true;
		}
		before = &rows[i];
	}
	finish_second(&second);
	for (size_t i = 0; i < figures->firmware_count; i++)
		if (rows[i].service == FIRMWARE_STALL)
			rows[i].second = second;
}

/* Returns the row for an entry, and adds one if there is none yet. Returns NULL if there is no space. */
static struct report_firmware *
find_or_add_row(struct figures *figures, const struct record_firmware *fixed)
{
	for (size_t i = 0; i < figures->firmware_count; i++)
		if (is_entry_of_row(fixed, &figures->firmware[i]))
			return &figures->firmware[i];
	if (figures->firmware_count == REPORT_FIRMWARE_MAX)
		return NULL;
	figures->firmware[figures->firmware_count] = (struct report_firmware){
		.service = (enum firmware_service)fixed->service, .asked_ns = fixed->asked_ns,
	};
	return &figures->firmware[figures->firmware_count++];
}

void
analysis_calculate_firmware(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct record_reader reader = record_open_without_checksums(record, size), again = reader;
	struct readings readings = { .scale = report_get_tsc_scale(report) };
	struct record_entry entry;
	struct record_firmware fixed;

	figures->firmware_count = 0;
	while (record_read_next(&reader, &entry)) {
		struct report_firmware *row;

		if (entry.kind != RECORD_FIRMWARE)
			continue;
		record_read_fixed_part(&entry, &fixed);
		if (!fixed.service || fixed.service >= FIRMWARE_SERVICES || !(row = find_or_add_row(figures, &fixed)))
			continue;
		row->tick = fixed.tick < FIRMWARE_TICKS ? (enum firmware_tick)fixed.tick : FIRMWARE_TICK_UNKNOWN;
		row->stated = fixed.stated;
		/* U-Boot states no period, and polls its timers although the PIT's interrupt is not masked */
		if (row->tick == FIRMWARE_TICK_PIT && !row->stated)
			row->tick = FIRMWARE_TICK_UNKNOWN;
		row->range = fixed.range;
	}
	for (size_t i = 0; i < figures->firmware_count; i++) {
		collect_readings(&readings, &figures->firmware[i], again);
		calculate_row(&figures->firmware[i], &readings);
	}
	calculate_second_of_stalls(figures);
}
