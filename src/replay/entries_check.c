/* Checks the readings in a record. See entries_check.h. */
#include "replay/entries_check.h"

#include "record/record_ranges.h"

#define TSC_HZ_MIN  1000u               /* lowest rate that scale_init() accepts */
#define BUFFER_SIZE 256u                /* size of a buffer for the struct of an entry or item */

struct check {
	const struct report *report;
	const struct record_entry *entry;
	uint64_t number; /* number of the entry in the record, from 0 */
	struct text *why;
};

static bool
is_number_in_range(const struct check *check, const struct record_range *range, const uint8_t *bytes)
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
is_range_kept(const struct check *check, const struct record_range *range)
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
	if (scale.hz_den && scale.hz_num / scale.hz_den >= TSC_HZ_MIN && scale.hz_num / scale.hz_den <= RECORD_HZ_MAX &&
	    scale.low_microhz <= scale.high_microhz)
		return true;
	text_printf(check->why, "The rate of the TSC in entry %lu of the record is %lu / %lu Hz, from %lu to %lu microhertz: "
		    "it is impossible.", check->number, scale.hz_num, scale.hz_den, scale.low_microhz, scale.high_microhz);
	return false;
}

/* Checks that an entry TIMER describes a row of facts.intervals. Figures are divided by the period in this row. */
static bool
does_timer_match_its_row(const struct check *check)
{
	const struct interval_facts *row = check->report->facts.intervals;
	struct record_timer timer;

	record_read_fixed_part(check->entry, &timer);
	row += timer.timer;
	if (timer.timer < check->report->facts.interval_count && row->test.periodic == (timer.flags & RECORD_PERIODIC) &&
	    row->test.asked_ns == timer.interval_ns)
		return true;
	text_printf(check->why, "The timer %u in entry %lu of the record, with the interval %lu ns, is not in the list "
		    "intervals.", timer.timer, check->number, timer.interval_ns);
	return false;
}

/* Checks that the ping-pongs of a pass had a number of pairs at the same time. A run starts with 1 pair. */
static bool
has_pass_a_concurrency(const struct check *check)
{
	struct record_pass pass;

	record_read_fixed_part(check->entry, &pass);
	if (pass.concurrency)
		return true;
	text_printf(check->why, "The pass in entry %lu of the record measured 0 pairs of cores at the same time.",
		    check->number);
	return false;
}

/* Checks the sums of gaps. No gap can be longer than the time in which the core was watched. */
static bool
do_gaps_fit_into_watch(const struct check *check)
{
	struct record_watch watch;

	record_read_fixed_part(check->entry, &watch);
	if (watch.worst_ticks <= watch.total_ticks && watch.long_ticks <= watch.total_ticks &&
	    watch.total_ticks <= watch.observed_ticks && watch.ran_ticks <= watch.observed_ticks)
		return true;
	text_printf(check->why, "The gaps in entry %lu of the record are longer than the observed time.", check->number);
	return false;
}

bool
entries_are_in_range(const void *record, size_t size, const struct report *report, struct text *why)
{
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;

	while (record_read_next(&reader, &entry)) {
		const struct check check = { report, &entry, reader.entries - 1, why };

		for (const struct record_range *range = record_ranges; range->kind; range++)
			if (range->kind == entry.kind && !is_range_kept(&check, range))
				return false;
		if (entry.kind == RECORD_SCALE && !is_tsc_rate_possible(&check))
			return false;
		if (entry.kind == RECORD_PASS && !has_pass_a_concurrency(&check))
			return false;
		if (entry.kind == RECORD_WATCH && !do_gaps_fit_into_watch(&check))
			return false;
		if (entry.kind == RECORD_TIMER && !does_timer_match_its_row(&check))
			return false;
	}
	return true;
}
