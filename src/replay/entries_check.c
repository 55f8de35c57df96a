/* Checks the readings in a record. See entries_check.h. */
#include "replay/entries_check.h"

#include "analysis/facts.h"
#include "record/record.h"

#define TICKS_MAX   (UINT64_C(1) << 60) /* the most ticks that scale_ns() converts: 3.6 years at 10 GHz */
#define STEP_MAX    (UINT64_C(1) << 40) /* resolution of a counter */
#define MICROHZ_MAX (1000000 * FACTS_HZ_MAX)
#define TSC_HZ_MIN  1000u               /* lowest rate that scale_init() accepts */
#define BUFFER_SIZE 256u                /* size of a buffer for the struct of an entry or item */

/*
 * The numbers that the analysis adds or multiplies, with their largest values. The other numbers may have any value,
 * because they are only compared or subtracted modulo 2^64.
 */
static const struct range {
	uint16_t kind;
	bool is_item;
	uint8_t offset, size;
	uint64_t most;
	const char *name;
} ranges[] = {
#define OF(kind, is_item, type, member, most) \
	{ kind, is_item, offsetof(struct type, member), sizeof(((struct type *)0)->member), most, #member },
#define ENTRY(kind, type, member, most) OF(kind, false, type, member, most)
#define ITEM(kind, type, member, most)  OF(kind, true, type, member, most)
	ENTRY(RECORD_SCALE, record_scale, low_microhz, MICROHZ_MAX)
	ENTRY(RECORD_SCALE, record_scale, high_microhz, MICROHZ_MAX)
	ENTRY(RECORD_SCALE, record_scale, step_ticks, STEP_MAX)
	ENTRY(RECORD_LATENCY, record_latency, count, FACTS_COUNT_MAX)
	ENTRY(RECORD_LATENCY, record_latency, min_ns, FACTS_NS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, max_ns, FACTS_NS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, max_count, FACTS_COUNT_MAX)
	ENTRY(RECORD_LATENCY, record_latency, total_ticks, TICKS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, total_ns, FACTS_NS_MAX)
	ENTRY(RECORD_WATCH, record_watch, observed_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, threshold_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, gaps, FACTS_COUNT_MAX)
	ENTRY(RECORD_WATCH, record_watch, total_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, worst_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, long_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, ran_ticks, TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, reported_ns, FACTS_NS_MAX)
	ENTRY(RECORD_WATCH, record_watch, reported_ticks, TICKS_MAX)
	ITEM(RECORD_WATCH, record_octave, gaps, FACTS_COUNT_MAX)
	ENTRY(RECORD_GAP, record_gap, ticks, TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, interval_ns, FACTS_NS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_ticks, TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_least, TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_most, TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, phase_ticks, STEP_MAX)
	ENTRY(RECORD_TIMER, record_timer, step_ticks, STEP_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, ticks, TICKS_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, slack_ticks, TICKS_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, tsc_ticks, TICKS_MAX)
	ITEM(RECORD_CALIBRATION, record_calibrated, hz, TICKS_MAX)
	ENTRY(RECORD_STEP, record_step, floor_ns, FACTS_NS_MAX)
	ENTRY(RECORD_STEP, record_step, more, FACTS_COUNT_MAX)
	ITEM(RECORD_STEP, record_compared, resolution_ticks, TICKS_MAX)
	ITEM(RECORD_STEP, record_compared, hidden_ns, FACTS_NS_MAX)
	ITEM(RECORD_STEP, record_compared, implied.value, MICROHZ_MAX)
	ITEM(RECORD_STEP, record_compared, implied.low, MICROHZ_MAX)
	ITEM(RECORD_STEP, record_compared, implied.high, MICROHZ_MAX)
};

struct check {
	const struct report *report;
	const struct record_entry *entry;
	uint64_t number; /* number of the entry in the record, from 0 */
	struct text *why;
};

static bool
is_number_in_range(const struct check *check, const struct range *range, const uint8_t *bytes)
{
	uint64_t value = 0;

	__builtin_memcpy(&value, bytes + range->offset, range->size);
	if (value <= range->most)
		return true;
	text_printf(check->why, "The number %s in entry %lu of the record is %lu, which is above %lu.", range->name,
		    check->number, value, range->most);
	return false;
}

static bool
is_range_kept(const struct check *check, const struct range *range)
{
	uint8_t bytes[BUFFER_SIZE];

	if (!range->is_item) {
		record_read_fixed_part(check->entry, bytes);
		return is_number_in_range(check, range, bytes);
	}
	for (size_t i = 0; i < check->entry->item_count; i++) {
		record_read_item(check->entry, i, bytes);
		if (!is_number_in_range(check, range, bytes))
			return false;
	}
	return true;
}

/* Checks the rate of the TSC. All ticks are divided by this rate. */
static bool
is_tsc_rate_possible(const struct check *check)
{
	struct record_scale scale;

	record_read_fixed_part(check->entry, &scale);
	if (!scale.hz_num && !scale.hz_den)
		return true;
	if (scale.hz_den && scale.hz_num / scale.hz_den >= TSC_HZ_MIN && scale.hz_num / scale.hz_den <= FACTS_HZ_MAX &&
	    scale.low_microhz <= scale.high_microhz)
		return true;
	text_printf(check->why, "The rate of the TSC in entry %lu of the record is %lu / %lu Hz, from %lu to %lu microhertz: "
		    "it is impossible.", check->number, scale.hz_num, scale.hz_den, scale.low_microhz, scale.high_microhz);
	return false;
}

/* Checks that an entry TIMER describes a row of report.intervals. Figures are divided by the period in this row. */
static bool
does_timer_match_its_row(const struct check *check)
{
	const struct report_interval *row = check->report->facts.intervals;
	struct record_timer timer;

	record_read_fixed_part(check->entry, &timer);
	row += timer.timer;
	if (timer.timer < check->report->facts.interval_count && row->periodic == (timer.flags & RECORD_PERIODIC) &&
	    row->asked_ns == timer.interval_ns)
		return true;
	text_printf(check->why, "The timer %u in entry %lu of the record, with the interval %lu ns, is not in the list "
		    "intervals.", timer.timer, check->number, timer.interval_ns);
	return false;
}

bool
entries_are_in_range(const void *record, size_t size, const struct report *report, struct text *why)
{
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;

	while (record_read_next(&reader, &entry)) {
		const struct check check = { report, &entry, reader.entries - 1, why };

		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
			if (ranges[i].kind == entry.kind && !is_range_kept(&check, &ranges[i]))
				return false;
		if (entry.kind == RECORD_SCALE && !is_tsc_rate_possible(&check))
			return false;
		if (entry.kind == RECORD_TIMER && !does_timer_match_its_row(&check))
			return false;
	}
	return true;
}
