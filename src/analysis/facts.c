/* The fields of the entries `facts`, the lists that they belong to, and the ranges of their numbers. See facts.h. */
#include "analysis/facts.h"

#include "sync/warp.h"

/*
 * Bytes for the entries whose number does not depend on cores or rows. A clock takes up to 700 bytes, a claim 250, an
 * interval 300, a behaviour 400, a note 260, and the options with a limit of each rule 4,000.
 */
#define REPORT_BYTES ((size_t)192 << 10)
/*
 * Bytes for one core. Its element takes up to 2,805 bytes, and an entry with two elements has 34 bytes more. An element
 * contains two latencies of each clock: of the core alone, and together with the other cores.
 */
#define CORE_BYTES       2830u
#define LATENCY_BYTES    (FACTS_CELLS * 3u) /* a cell with the number of reads of one duration takes 2 to 3 bytes */
#define ROW_BYTES        64u
#define ROW_CLOCK_BYTES  136u
#define ROW_OFFSET_BYTES 28u

#define SIZE_OF(member)     sizeof(((object *)0)->member)
#define OFFSET_OF(member)   ((uint32_t)__builtin_offsetof(object, member))
#define ELEMENTS_OF(member) (SIZE_OF(member) / sizeof(((object *)0)->member[0]))

/* Each table is a function, so that its rows can use the table's type by the name `object`. */
#define TABLE(name, type) \
	static struct facts_shape shape_of_##name(void) { \
		typedef type object; \
		static const struct facts_field fields[] = {
/* Designated initializers make a row readable; fields that a kind of row does not use are 0. */
#define FIELD(number_, kind_, member, ...) \
	{ .number = (number_), .kind = (kind_), .offset = OFFSET_OF(member), __VA_ARGS__ },
#define SIMPLE(number, kind, member, ...) \
	FIELD(number, kind, member, .size = (uint16_t)SIZE_OF(member), .max = 1, .count = FACTS_NO_COUNT, __VA_ARGS__)
#define IS_SIGNED(member) _Generic(((object *)0)->member, int32_t: true, int64_t: true, default: false)
#define NUMBER_FROM(number, member, least_, most_, ...) \
	SIMPLE(number, FACTS_NUMBER, member, .is_signed = IS_SIGNED(member), .least = (least_), .most = (most_), __VA_ARGS__)
#define NUMBER(number, member, least, most) NUMBER_FROM(number, member, least, most, .may_be_0 = false)
#define NUMBER_OR_0(number, member, least, most) NUMBER_FROM(number, member, least, most, .may_be_0 = true)
#define FLAG(number, member)           SIMPLE(number, FACTS_NUMBER, member, .most = 1)
#define ENUM(number, member, last)     SIMPLE(number, FACTS_NUMBER, member, .most = (last))
#define TEXT(number, member)           SIMPLE(number, FACTS_TEXT, member, .least = 0)
#define SOME_TEXT(number, member)      SIMPLE(number, FACTS_TEXT, member, .least = 1)
#define ID_TEXT(number, member, also_) SIMPLE(number, FACTS_TEXT, member, .least = 1, .also = (also_))
#define WORDS(number, member)          SIMPLE(number, FACTS_WORDS, member, .least = 0)
#define ID(number, member, also_)      SIMPLE(number, FACTS_WORDS, member, .least = 1, .also = (also_))
#define SOME_WORDS(number, member)     SIMPLE(number, FACTS_WORDS, member, .least = 1)
#define WORD(number, member, words_)   SIMPLE(number, FACTS_WORDS, member, .least = 1, .words = (words_))
#define OPTIONAL(number, member)       SIMPLE(number, FACTS_OPTIONAL, member, .least = 0)
#define OPTIONAL_SOME(number, member)  SIMPLE(number, FACTS_OPTIONAL, member, .least = 1)
#define OPTIONAL_ID(number, member, also_) SIMPLE(number, FACTS_OPTIONAL, member, .least = 1, .also = (also_))
#define OPTIONAL_WORD(number, member, words_) SIMPLE(number, FACTS_OPTIONAL, member, .words = (words_))
#define GROUP(number, member, table_) \
	SIMPLE(number, FACTS_STRUCTS, member, .table = FACTS_OF_##table_)
#define ELEMENTS_FIELD(number, member, table_, count_) \
	FIELD(number, FACTS_STRUCTS, member, .table = FACTS_OF_##table_, .size = (uint16_t)SIZE_OF(member[0]), \
	      .max = (uint16_t)ELEMENTS_OF(member), .count = (count_))
#define LIST(number, member, table, count) ELEMENTS_FIELD(number, member, table, OFFSET_OF(count))
#define ARRAY(number, member, table)       ELEMENTS_FIELD(number, member, table, FACTS_NO_COUNT)
#define END(name) \
		}; \
		return (struct facts_shape){ fields, sizeof(fields) / sizeof(fields[0]) }; \
	}
#include "analysis/facts.def"

struct facts_shape
facts_get_table_shape(enum facts_table table)
{
	static struct facts_shape (*const shapes[FACTS_TABLES])(void) = {
#define TABLE(name, type) shape_of_##name,
#include "analysis/facts.def"
	};

	return shapes[table]();
}

#define ELEMENTS(table, array, count) \
	((struct facts_elements){ FACTS_OF_##table, array, sizeof((array)[0]), count })

struct facts_elements
facts_get_list_elements(enum facts_list list, struct report *report, struct calibration_loop *loops)
{
	struct series *series = &report->facts.series;
	bool has_rows = series->count > 0;

	switch (list) {
	case FACTS_REPORT:       return ELEMENTS(report, report, 1);
	case FACTS_CLOCKS:       return ELEMENTS(clock, report->facts.clocks, report->facts.clock_count);
	case FACTS_CLAIMS:       return ELEMENTS(claim, report->facts.claims, report->facts.claim_count);
	case FACTS_CORES:        return ELEMENTS(core, report->facts.cores, report->facts.core_count);
	case FACTS_INTERVALS:    return ELEMENTS(interval, report->facts.intervals, report->facts.interval_count);
	case FACTS_CHECKS:       return ELEMENTS(behaviour, report->facts.checks.rows, report->facts.checks.count);
	case FACTS_NOTES:        return ELEMENTS(note, report->notes.sentences, report->notes.count);
	case FACTS_LOOPS:        return ELEMENTS(loop, loops, report->facts.calibration_count);
	case FACTS_LOOP_REASONS: return ELEMENTS(calibration, report->facts.calibrations,
						 report->facts.calibration_count);
	case FACTS_ROWS:         return ELEMENTS(series_row, series->rows, series->count);
	case FACTS_ROW_CLOCKS:
		return ELEMENTS(series_clock, has_rows ? series->rows[0].clocks : NULL, series->count * series->clocks);
	case FACTS_ROW_OFFSETS:
		return ELEMENTS(offset, has_rows ? series->rows[0].offsets : NULL, series->count * series->cores);
	case FACTS_PROBLEMS:
		return ELEMENTS(problem, report->facts.table_problems.sentences, report->facts.table_problems.count);
	default:                 return (struct facts_elements){ .count = 0 };
	}
}

size_t
facts_max_bytes(size_t cores, size_t rows)
{
	return REPORT_BYTES + cores * CORE_BYTES + REPORT_CLOCKS_MAX * LATENCY_BYTES +
	       rows * (ROW_BYTES + REPORT_CLOCKS_MAX * ROW_CLOCK_BYTES + cores * ROW_OFFSET_BYTES);
}

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
		notes_add(&report->notes, "%zu number%s that this machine gave %s impossible, for example a time of more than 104 "
			  "days. The nearest possible number is used instead.", limited, limited == 1 ? "" : "s",
			  limited == 1 ? "is" : "are");
}
