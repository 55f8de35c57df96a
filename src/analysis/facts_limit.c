/* Limits the numbers in a report to their ranges. See facts.h. */
#include "analysis/facts.h"

/* Returns the number at MEMBER. A negative number is returned in two's complement. */
uint64_t
facts_get_number(const struct facts_field *field, const void *member)
{
	unsigned unused_bits = 8 * (unsigned)(sizeof(uint64_t) - field->size);
	uint64_t value = 0;

	__builtin_memcpy(&value, member, field->size);
	return field->is_signed && unused_bits ? (uint64_t)((int64_t)(value << unused_bits) >> unused_bits) : value;
}

uint64_t
facts_get_number_in_range(const struct facts_field *field, const void *member)
{
	uint64_t value = facts_get_number(field, member);

	if (!value && field->may_be_0)
		return 0;
	if (field->is_signed ? (int64_t)value < field->least : value < (uint64_t)field->least)
		return (uint64_t)field->least;
	return (field->is_signed ? (int64_t)value > (int64_t)field->most : value > field->most) ? field->most : value;
}

bool
facts_is_rate_possible(const struct rate *rate)
{
	if (!rate->num || !rate->den)
		return !rate->num && !rate->den;
	return rate->num / rate->den <= FACTS_HZ_MAX && rate->den / rate->num < FACTS_PERIOD_S_MAX;
}

/* Limits the numbers of OBJECT. Returns how many were outside of their ranges. */
static size_t
limit_struct(enum facts_table table, uint8_t *object)
{
	struct facts_shape shape = facts_get_table_shape(table);
	size_t limited = 0;

	for (size_t i = 0; i < shape.count; i++) {
		const struct facts_field *field = &shape.fields[i];
		uint8_t *member = object + field->offset;
		size_t count = field->max;

		if (field->kind == FACTS_NUMBER && facts_get_number(field, member) != facts_get_number_in_range(field, member)) {
			uint64_t value = facts_get_number_in_range(field, member);

			__builtin_memcpy(member, &value, field->size);
			limited++;
		}
		if (field->kind == FACTS_STRUCTS && field->count != FACTS_NO_COUNT)
			__builtin_memcpy(&count, object + field->count, sizeof(count));
		for (size_t k = 0; field->kind == FACTS_STRUCTS && k < count; k++)
			limited += limit_struct(field->table, member + k * field->size);
	}
	return limited;
}

static size_t
limit_number(uint64_t *number, uint64_t most)
{
	if (*number <= most)
		return 0;
	*number = most;
	return 1;
}

/* Limits the numbers of a clock that are not in facts.def: its nominal rate, and its latency in the entry `latency`. */
static size_t
limit_clock(struct report_clock *clock)
{
	struct latency *latency = clock->latency;
	size_t limited = 0;

	if (!facts_is_rate_possible(&clock->clock.claimed)) {
		clock->clock.claimed = (struct rate){ 0, 0 };
		limited++;
	}
	return !latency ? limited : limited + limit_number(&latency->count, RECORD_COUNT_MAX) +
		limit_number(&latency->min_ns, RECORD_NS_MAX) + limit_number(&latency->max_ns, RECORD_NS_MAX) +
		limit_number(&latency->max_count, RECORD_COUNT_MAX) +
		limit_number(&latency->total_ticks, RECORD_TICKS_MAX) + limit_number(&latency->total_ns, RECORD_NS_MAX);
}

void
facts_limit_numbers(struct report *report)
{
	size_t limited = 0;

	for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++) {
		const struct facts_elements elements = facts_get_list_elements(list, report, NULL);

		/* The calibration loops are constants of the program. */
		for (size_t i = 0; list != FACTS_LOOPS && i < elements.count; i++)
			limited += limit_struct(elements.table, (uint8_t *)elements.first + i * elements.stride);
	}
	for (size_t i = 0; i < report->facts.clock_count; i++)
		limited += limit_clock(&report->facts.clocks[i]);
	if (limited)
		report_add_note(report, "%zu number%s that this machine gave %s impossible, for example a time of more than 104 "
				"days. The nearest possible number is used instead.", limited, limited == 1 ? "" : "s",
				limited == 1 ? "is" : "are");
}
