/* The fields of the entries `facts`, and the lists that they belong to. See facts.h. */
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
	case FACTS_BEHAVIOURS:   return ELEMENTS(behaviour, report->outcomes.behaviours.rows,
						 report->outcomes.behaviours.count);
	case FACTS_NOTES:        return ELEMENTS(note, report->facts.notes, report->facts.note_count);
	case FACTS_LOOPS:        return ELEMENTS(loop, loops, report->facts.calibration_count);
	case FACTS_LOOP_REASONS: return ELEMENTS(calibration, report->facts.calibrations,
						 report->facts.calibration_count);
	case FACTS_ROWS:         return ELEMENTS(series_row, series->rows, series->count);
	case FACTS_ROW_CLOCKS:
		return ELEMENTS(series_clock, has_rows ? series->rows[0].clocks : NULL, series->count * series->clocks);
	case FACTS_ROW_OFFSETS:
		return ELEMENTS(offset, has_rows ? series->rows[0].offsets : NULL, series->count * series->cores);
	case FACTS_FINDINGS:     return ELEMENTS(finding, report->outcomes.findings, report->outcomes.finding_count);
	default:                 return (struct facts_elements){ .count = 0 };
	}
}

size_t
facts_max_bytes(size_t cores, size_t rows)
{
	return REPORT_BYTES + cores * CORE_BYTES + REPORT_CLOCKS_MAX * LATENCY_BYTES +
	       rows * (ROW_BYTES + REPORT_CLOCKS_MAX * ROW_CLOCK_BYTES + cores * ROW_OFFSET_BYTES);
}
