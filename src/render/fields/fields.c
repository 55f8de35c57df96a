/*
 * Makes the tables of fields from report.def: first each table's function that gets a field's value, then its list of
 * fields. See fields.h.
 */
#include "render/fields/fields.h"

#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"
#include "report/phrase.h"
#include "report/report_sizes.h"
#include "rules/rules.h"
#include "stats/observed.h"

static const struct rule *
find_rule(const char *id)
{
	static const struct rule none = { .severity = VERDICT_FAIL };
	const struct rule *found = rules_find(id);

	return found ? found : &none;
}

static const char *const outcome_words[] = {
	[OUTCOME_PASSED] = "passed", [OUTCOME_FAILED] = "failed", [OUTCOME_NOT_CHECKED] = "not_checked",
	[OUTCOME_NOT_DETERMINED] = "not_determined",
};

static const char *
outcome_word(const struct report *report, const struct behaviour *row)
{
	return outcome_words[rules_get_outcome(row, &report->facts.options)];
}

/* Returns the lateness of a time that the clock of ADVANCE counts, after its discontinuity. */
static struct interval_ns
find_lateness_of_clock(const struct report *report, const struct report_advance *advance)
{
	size_t at = (size_t)((const char *)advance - (const char *)report->figures.discontinuities);
	size_t i = at / sizeof(report->figures.discontinuities[0]);

	return report->advice.aftermaths[i].clocks[advance - report->figures.discontinuities[i].clocks];
}

static const char *const discontinuity_class_words[] = { "parted", "stopped", "jumped", "tsc-moved" };

static uint64_t
rate_to_millihz(struct rate rate)
{
	return scale_mul_div_nearest(rate.num, MILLIHZ_PER_HZ, rate.den);
}

/* Returns the stated rate as the interval of the true rates that its rounding allows. */
static struct interval_millihz
claimed_rate_millihz(const struct claim *claim)
{
	uint64_t hz = claim->hz.den ? rate_to_millihz(claim->hz) : 0, within = claim->within_hz * MILLIHZ_PER_HZ;

	return (struct interval_millihz){ claim->hz.den != 0, hz, hz > within ? hz - within : 0, hz + within };
}

static uint64_t
clock_resolution_ps(const struct report *report, const struct report_clock *entry)
{
	return entry->resolution.steps ? report_clock_ticks_to_ps(report, entry, entry->resolution.gcd_ticks) : 0;
}

static uint64_t
loop_time_ps(const struct report *report, const struct latency *latency)
{
	struct scale scale;

	scale_init(&scale, report->figures.tsc);
	return latency_loop_time_ps(latency, &scale);
}

static struct latency_clean
figures_without_interrupted_reads(const struct report *report, const struct latency *latency)
{
	return latency_without_interrupted_reads(latency, report->facts.options.gap_ns);
}

/* Returns FIGURE, which is in ns, as an interval. Its value is the middle. */
static struct interval_ns
interval_of(struct offset figure)
{
	return (struct interval_ns){ offset_is_known(figure), offset_middle(figure), figure.low, figure.high };
}

static struct interval_ns
offset_in_ns(const struct report *report, struct offset offset)
{
	return interval_of(report_offset_to_ns(report, offset));
}

static struct interval_ns
worst_offset_ns(const struct report *report)
{
	return offset_in_ns(report, report_get_shown_pass(report)->summary.worst);
}

static struct interval_ppb
core_drift_ppb(const struct report *report, const struct report_core *core)
{
	struct offset drift = report_get_core_drift(report, core);

	return (struct interval_ppb){ offset_is_known(drift), offset_middle(drift), drift.low, drift.high };
}

static struct interval_ns
last_offset_of_core_ns(const struct report *report, const struct report_core *core)
{
	if (report->figures.skew.pass_count < 2)
		return (struct interval_ns){ .known = false };
	return offset_in_ns(report, report_get_core_offset(report, report_get_last_pass(report), core));
}

static struct interval_ns
figure_of_finding(const struct finding *finding)
{
	return (struct interval_ns){ finding->has_measured, finding->measured, finding->low, finding->high };
}

/*
 * The kinds of fields. KIND_x is the shape of the field, the number of decimals, and whether figures are signed. The
 * comment after KIND_x names the C type of the value. SET_x stores a value in a struct field_value.
 */
#define KIND_word    FIELD_WORD, 0, false     /* string */
#define KIND_phrase  KIND_word                /* struct phrase of at most FIELD_PHRASE_SIZE - 1 characters */
#define KIND_id      KIND_word                /* string: the id of a clock, a timer or a loop */
#define KIND_rule    KIND_word                /* string: the id of a rule */
#define KIND_text    FIELD_WORD, 0, false     /* string; NULL and "" are null in the JSON */
#define KIND_flag    FIELD_FLAG, 0, false     /* bool */
#define KIND_verdict FIELD_VERDICT, 0, false  /* enum verdict */
#define KIND_count   FIELD_NUMBER, 0, false   /* uint64_t */
#define KIND_whole   FIELD_NUMBER, 0, true    /* int64_t */
#define KIND_milli   FIELD_NUMBER, 3, false   /* uint64_t, in thousandths of the field's unit */
#define KIND_micro   FIELD_NUMBER, 6, false   /* uint64_t, in millionths of the field's unit */
#define KIND_middle  FIELD_MIDDLE, 0, true    /* struct interval_ns; null in the JSON if not known */
#define KIND_ns      FIELD_INTERVAL, 0, true  /* struct interval_ns */
#define KIND_ps_as_ns FIELD_INTERVAL, 3, true /* struct interval_ns with values in ps; printed in ns */
#define KIND_ps_as_ms FIELD_INTERVAL, 9, true /* struct interval_ns with values in ps; printed in ms */
#define KIND_ns_as_ms FIELD_INTERVAL, 6, true /* struct interval_ns; printed in ms */
#define KIND_ppm     FIELD_INTERVAL, 3, true  /* struct interval_ppb */
#define KIND_hertz   FIELD_INTERVAL, 3, false /* struct interval_millihz */
#define KIND_pair    FIELD_PAIR, 0, false
#define KIND_object  FIELD_OBJECT, 0, false
#define KIND_list    FIELD_LIST, 0, false
#define KIND_bars    FIELD_BARS, 0, false
#define KIND_map     FIELD_MAP, 0, false
#define KIND_exact   FIELD_EXACT, 0, false
#define KIND_matrix  FIELD_MATRIX, 0, true

#define SET_word(figure)    value->word = (figure)
#define SET_phrase(figure)  text_copy(value->phrase, FIELD_PHRASE_SIZE, (figure).bytes), SET_word(value->phrase)
#define SET_id(figure)      SET_word(figure)
#define SET_rule(figure)    SET_word(figure)
#define SET_text(figure)    value->word = (figure), value->known = value->word && value->word[0]
#define SET_count(figure)   value->numbers[0] = (uint64_t)(figure)
#define SET_flag(figure)    SET_count(figure)
#define SET_verdict(figure) SET_count(figure)
#define SET_whole(figure)   SET_count(figure)
#define SET_milli(figure)   SET_count(figure)
#define SET_micro(figure)   SET_count(figure)
#define SET_middle(figure)  SET_ns(figure)
#define SET_ns_as_ms(figure) SET_ns(figure)
#define SET_ps_as_ns(figure) SET_ns(figure)
#define SET_ps_as_ms(figure) SET_ns(figure)
#define SET_ppm(figure)     SET_ns(figure)
#define SET_hertz(figure)   SET_ns(figure)
#define SET_ns(figure) \
	do { \
		__auto_type interval = (figure); \
		set_interval(value, interval.known, (uint64_t)interval.value, (uint64_t)interval.low, \
			     (uint64_t)interval.high); \
	} while (0)

static void
set_interval(struct field_value *value, bool known, uint64_t middle, uint64_t low, uint64_t high)
{
	*value = (struct field_value){ known, { .numbers = { middle, low, high } } };
}

static void
set_list_elements(struct field_value *value, const void *first, size_t count, size_t stride)
{
	value->first = first;
	value->count = count;
	value->stride = stride;
}

/* Each table becomes a function with a case for each row. __COUNTER__ numbers the cases. */
#define TABLE(name, type, layout) \
	enum { FIRST_##name = __COUNTER__ + 1 }; \
	static void \
	get_##name(const struct report *report, const void *object, size_t i, size_t row, struct field_value *value) \
	{ \
		const type *o = object; \
		(void)report; \
		(void)o; \
		(void)i; \
		value->known = true; \
		switch (FIRST_##name + row) {
#define ROW(...) case __COUNTER__: __VA_ARGS__; break;
#define ROW_IF(condition, ...) ROW(if ((value->known = (condition))) { __VA_ARGS__; })
#define END(name) } }

#define FIELD(key, kind, figure, ...)                  ROW(SET_##kind(figure))
#define MAYBE(key, kind, condition, figure, ...)       ROW_IF(condition, SET_##kind(figure))
#define PAIR(key, condition, a, b)                     ROW_IF(condition, SET_count(a); value->numbers[1] = (b))
#define OBJECT(key, table, condition, address)         ROW_IF(condition, value->first = (address))
#define LIST(key, table, condition, array, size) \
	ROW_IF(condition, set_list_elements(value, array, size, sizeof((array)[0])))
#define BARS(key, table, array, size)                  LIST(key, table, true, array, size)
#define MAP(key, table, array, size, prefix)           LIST(key, table, true, array, size)
#define EXACT(key)                                     ROW(value->first = o)
#define MATRIX(key, condition, offsets)                ROW_IF(condition, value->first = (offsets))
#include "render/fields/report.def"
#undef ROW
#undef ROW_IF

/*
 * Checks that each key and its final 0 fit into the array `key`, because the compiler does not warn if only the final 0
 * does not fit.
 */
#define KEY(key) _Static_assert(sizeof(key) <= FIELD_KEY_SIZE, "a key of report.def is too long: " key);
#define TABLE(name, type, layout)
#define END(name)
#define FIELD(key, ...)  KEY(key)
#define MAYBE(key, ...)  KEY(key)
#define PAIR(key, ...)   KEY(key)
#define OBJECT(key, ...) KEY(key)
#define LIST(key, ...)   KEY(key)
#define BARS(key, ...)   KEY(key)
#define MAP(key, ...)    KEY(key)
#define EXACT(key)       KEY(key)
#define MATRIX(key, ...) KEY(key)
#include "render/fields/report.def"

#define ON_LINES    false
#define ON_ONE_LINE true

#define TABLE(name, type, layout) \
	enum { LAYOUT_##name = layout }; \
	static const struct field fields_##name[] = {
#define ROW(name, kind, of, ...) { name, kind, { __VA_ARGS__ }, of },
#define END(name) \
	}; \
	const struct field_table field_##name = { \
		fields_##name, sizeof(fields_##name) / sizeof(fields_##name[0]), LAYOUT_##name, get_##name, \
	};

#define FIELD(key, kind, figure, ...)            ROW(key, KIND_##kind, NULL, ##__VA_ARGS__)
#define MAYBE(key, kind, condition, figure, ...) ROW(key, KIND_##kind, NULL, ##__VA_ARGS__)
#define PAIR(key, condition, a, b)               ROW(key, KIND_pair, NULL)
#define OBJECT(key, table, condition, address)   ROW(key, KIND_object, &field_##table)
#define LIST(key, table, condition, array, size) ROW(key, KIND_list, &field_##table)
#define BARS(key, table, array, size)            ROW(key, KIND_bars, &field_##table)
#define MAP(key, table, array, size, prefix)     ROW(key, KIND_map, &field_##table, prefix, "")
#define EXACT(key)                               ROW(key, KIND_exact, &field_exact)
#define MATRIX(key, condition, offsets)          ROW(key, KIND_matrix, NULL)
#include "render/fields/report.def"
