/* Restores the facts of a report from a record. See replay.h. */
#include "analysis/analysis.h"
#include "analysis/facts.h"
#include "base/text.h"
#include "replay/entries_check.h"
#include "replay/fact_names.h"
#include "replay/replay.h"
#include "report/report_memory.h"
#include "rules/rules.h"
#include "stats/series.h"
#include "sync/warp.h"

#define NO_FACTS   "The record contains no facts about the machine, because an older version wrote it."
#define BAD_FACTS  "The record's facts about the machine contradict each other."
#define LOST_FACTS "The record had no space for all facts about the machine."
#define ERROR_SIZE 256  /* size of a sentence about a fact */
#define DEPTH_MAX  6    /* more than the largest depth of structs in structs */
#define NO_INDEX   SIZE_MAX
#define NO_MEMORY  "There is not enough memory for the record."

struct step { /* a step on the way from the report to a fact */
	const char *name;
	size_t index; /* NO_INDEX if NAME is no list */
};

struct restored {
	struct report *report;
	const struct replay_memory *memory;
	const void *record;
	size_t size;
	struct calibration_loop *loops;
	size_t next[FACTS_LISTS]; /* number of elements of each list that were read so far */
	struct latency *latencies;
	bool has_run;             /* true if the entry RUN was read */
	const char *error;        /* the first error, or NULL */
	size_t depth;
	struct step steps[DEPTH_MAX]; /* the structs that contain the fact that is being read; the outermost is the first */
};

static bool read_struct(struct restored *restored, enum facts_table table, const uint8_t *bytes, size_t length,
			uint8_t *object);

static void *
allocate_memory(struct restored *restored, size_t bytes)
{
	void *memory = restored->memory->allocate(restored->memory->context, bytes);

	if (!memory)
		restored->error = NO_MEMORY;
	return memory;
}

/*
 * Sets the error to a sentence that starts with the name of FIELD, for example "The record's fact
 * intervals[2].asked_ns". Returns false.
 */
static bool __attribute__((format(printf, 4, 5)))
reject_fact(struct restored *restored, enum facts_table table, const struct facts_field *field, const char *format, ...)
{
	char *words = restored->error ? NULL : allocate_memory(restored, ERROR_SIZE);
	va_list arguments;

	if (!words)
		return false;
	struct text text = text_start(words, ERROR_SIZE);
	text_put(&text, "The record's fact ");
	for (size_t i = 0; i < restored->depth; i++) {
		const struct step *step = &restored->steps[i];

		if (step->index == NO_INDEX)
			text_printf(&text, "%s.", step->name);
		else
			text_printf(&text, "%s[%zu].", step->name, step->index);
	}
	text_printf(&text, "%s ", fact_names_get_field(table, field->number));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	restored->error = words;
	return false;
}

/*
 * Copies a text of LENGTH bytes to TO, which has space for one more byte. Bytes that are not printable ASCII are
 * replaced by '?'.
 */
static void
copy_text(char *to, const uint8_t *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? (char)from[i] : '?';
	to[length] = '\0';
}

static bool
read_number_field(struct restored *restored, enum facts_table table, const struct facts_field *field,
		  const uint8_t *bytes, size_t length, uint8_t *member)
{
	if (length > field->size)
		return reject_fact(restored, table, field, "has %zu bytes, but it can have only %u.", length, field->size);
	__builtin_memset(member, 0, field->size);
	__builtin_memcpy(member, bytes, length);
	uint64_t value = facts_get_number(field, member);
	if (facts_get_number_in_range(field, member) == value)
		return true;
	return field->is_signed ?
		reject_fact(restored, table, field, "is %ld, which is not from %ld to %ld.", (int64_t)value, field->least,
			    (int64_t)field->most) :
		reject_fact(restored, table, field, "is %lu, which is not from %lu to %lu.", value, (uint64_t)field->least,
			    field->most);
}

/* Returns true if the list WORDS, which are separated by spaces, contains WORD. */
static bool
is_one_of_words(const char *words, const char *word)
{
	size_t length = text_length(word);

	for (const char *at = words; *at; at++) {
		if (text_begins_with(at, word) && (at[length] == ' ' || !at[length]))
			return true;
		while (*at != ' ' && at[1])
			at++;
	}
	return false;
}

/* Checks TEXT of LENGTH characters, the value of FIELD. */
static bool
check_text(struct restored *restored, enum facts_table table, const struct facts_field *field, const char *text,
	   size_t length)
{
	if (length < (size_t)field->least)
		return reject_fact(restored, table, field, "is empty.");
	if (field->words && !is_one_of_words(field->words, text))
		return reject_fact(restored, table, field, "is \"%.40s\", which is none of: %s.", text, field->words);
	for (size_t i = 0; field->also && i < length; i++)
		if (!(text[i] >= 'a' && text[i] <= 'z') &&
		    (!i || (!(text[i] >= '0' && text[i] <= '9') && text[i] != field->also)))
			return reject_fact(restored, table, field, "is \"%.40s\", which is no id.", text);
	return true;
}

static bool
read_words_field(struct restored *restored, enum facts_table table, const struct facts_field *field,
		 const uint8_t *bytes, size_t length, uint8_t *member)
{
	char *words = allocate_memory(restored, length + 1);

	if (!words)
		return false;
	copy_text(words, bytes, length);
	__builtin_memcpy(member, &words, sizeof(words));
	return check_text(restored, table, field, words, length);
}

/* Adds a step to the way: element I of FIELD, which may also be a single struct. */
static void
push_step(struct restored *restored, enum facts_table table, const struct facts_field *field, size_t i)
{
	bool is_array = field->max > 1 || field->count != FACTS_NO_COUNT;

	restored->steps[restored->depth++] =
		(struct step){ fact_names_get_field(table, field->number), is_array ? i : NO_INDEX };
}

static const struct facts_field *
find_field(const struct facts_shape *shape, uint8_t number)
{
	for (size_t i = 0; i < shape->count; i++)
		if (shape->fields[i].number == number)
			return &shape->fields[i];
	return NULL;
}

/* Returns the field that identifies an element of TABLE. */
static const struct facts_field *
get_unique_field(enum facts_table table)
{
	struct facts_shape shape = facts_get_table_shape(table);

	return find_field(&shape, fact_unique_fields[table]);
}

/* Returns true if the structs A and B of TABLE have the same value in the field that identifies them. */
static bool
have_same_id(enum facts_table table, const uint8_t *a, const uint8_t *b)
{
	const struct facts_field *field = get_unique_field(table);
	const char *words, *other;

	a += field->offset;
	b += field->offset;
	switch (field->kind) {
	case FACTS_STRUCTS:
		return have_same_id(field->table, a, b);
	case FACTS_NUMBER:
		return facts_get_number(field, a) == facts_get_number(field, b);
	case FACTS_TEXT:
		return text_equal((const char *)a, (const char *)b);
	default:
		__builtin_memcpy(&words, a, sizeof(words));
		__builtin_memcpy(&other, b, sizeof(other));
		return text_equal(words, other);
	}
}

/* Rejects element I of the list that begins at FIRST if an earlier element has the same id. */
static bool
check_is_unique(struct restored *restored, enum facts_table table, const uint8_t *first, size_t stride, size_t i)
{
	const struct facts_field *field;
	size_t same = 0;

	if (!fact_unique_fields[table])
		return true;
	while (same < i && !have_same_id(table, first + same * stride, first + i * stride))
		same++;
	if (same == i)
		return true;
	for (field = get_unique_field(table); field->kind == FACTS_STRUCTS; field = get_unique_field(table)) {
		push_step(restored, table, field, 0);
		table = field->table;
	}
	return reject_fact(restored, table, field, "is the same as in element %zu.", same);
}

/* Reads element I of the array FIELD. */
static bool
read_element(struct restored *restored, enum facts_table table, const struct facts_field *field, size_t i,
	     const uint8_t *bytes, size_t length, uint8_t *object)
{
	size_t count = i + 1;

	if (i >= field->max)
		return reject_fact(restored, table, field, "has more than %u elements.", field->max);
	if (field->count != FACTS_NO_COUNT)
		__builtin_memcpy(object + field->count, &count, sizeof(count));
	push_step(restored, table, field, i);
	if (!read_struct(restored, field->table, bytes, length, object + field->offset + i * field->size) ||
	    !check_is_unique(restored, field->table, object + field->offset, field->size, i))
		return false;
	restored->depth--;
	return true;
}

static bool
read_field(struct restored *restored, enum facts_table table, const struct facts_field *field, size_t i,
	   const uint8_t *bytes, size_t length, uint8_t *object)
{
	uint8_t *member = object + field->offset;

	if (field->kind == FACTS_STRUCTS)
		return read_element(restored, table, field, i, bytes, length, object);
	if (field->kind == FACTS_NUMBER)
		return read_number_field(restored, table, field, bytes, length, member);
	if (field->kind != FACTS_TEXT)
		return read_words_field(restored, table, field, bytes, length, member);
	if (length >= field->size)
		return reject_fact(restored, table, field, "has %zu characters, but it can have only %u.", length,
				   field->size - 1);
	copy_text((char *)member, bytes, length);
	return check_text(restored, table, field, (char *)member, length);
}

/*
 * Checks the fields of OBJECT that were not in the record, so that they are 0. Sets texts that may be empty to "", and
 * rejects the other ones unless they are optional. This includes the fields of structs in OBJECT, but not of elements
 * of its lists.
 */
static bool
check_missing_fields(struct restored *restored, enum facts_table table, uint8_t *object)
{
	struct facts_shape shape = facts_get_table_shape(table);

	for (size_t i = 0; i < shape.count; i++) {
		const struct facts_field *field = &shape.fields[i];
		const char *words;

		for (size_t k = 0; field->kind == FACTS_STRUCTS && field->count == FACTS_NO_COUNT && k < field->max; k++) {
			push_step(restored, table, field, k);
			if (!check_missing_fields(restored, field->table, object + field->offset + k * field->size))
				return false;
			restored->depth--;
		}
		if (field->kind == FACTS_NUMBER && facts_get_number_in_range(field, object + field->offset) !=
						   facts_get_number(field, object + field->offset))
			return reject_fact(restored, table, field, "is missing or 0.");
		if (field->kind == FACTS_TEXT && field->least && !object[field->offset])
			return reject_fact(restored, table, field, "is missing.");
		if (field->kind != FACTS_WORDS)
			continue;
		__builtin_memcpy(&words, object + field->offset, sizeof(words));
		if (!words && field->least)
			return reject_fact(restored, table, field, "is missing.");
		words = words ? words : "";
		__builtin_memcpy(object + field->offset, &words, sizeof(words));
	}
	return true;
}

/*
 * Reads the fields of a struct from LENGTH bytes. Unknown fields are ignored, because a later version of baretick may
 * have written them.
 */
static bool
read_struct(struct restored *restored, enum facts_table table, const uint8_t *bytes, size_t length, uint8_t *object)
{
	struct facts_shape shape = facts_get_table_shape(table);
	uint8_t before = 0;

	for (size_t at = 0, i = 0; at < length; ) {
		uint16_t size;

		if (length - at < FACTS_HEAD_BYTES)
			return false;
		__builtin_memcpy(&size, bytes + at + 1, sizeof(size));
		if (length - at - FACTS_HEAD_BYTES < size)
			return false;
		i = bytes[at] == before ? i + 1 : 0;
		before = bytes[at];
		const struct facts_field *field = find_field(&shape, before);
		if (field && !read_field(restored, table, field, i, bytes + at + FACTS_HEAD_BYTES, size, object))
			return false;
		at += FACTS_HEAD_BYTES + size;
	}
	return check_missing_fields(restored, table, object);
}

/* Allocates the lists whose size depends on the machine. */
static bool
allocate_lists(struct restored *restored)
{
	struct report *report = restored->report;
	size_t pairs = analysis_max_pairs_in_pass(restored->record, restored->size, report->facts.core_count);
	struct series shape = report->facts.series;
	void *cores;

	if (shape.count && (shape.clocks < report->facts.clock_count || shape.cores < report->facts.core_count ||
			    shape.count > series_max_rows(shape.cores)))
		return false;
	restored->latencies = allocate_memory(restored, (report->facts.clock_count + 1) * sizeof(*restored->latencies));
	restored->loops = allocate_memory(restored, (report->facts.calibration_count + 1) * sizeof(*restored->loops));
	cores = allocate_memory(restored, report_memory_bytes(report->facts.core_count, pairs));
	if (restored->error)
		return false;
	report_divide_memory(report, cores, report->facts.core_count, pairs);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		report->facts.clocks[i].latency = &restored->latencies[i];
	for (size_t i = 0; i < report->facts.calibration_count; i++)
		report->facts.calibrations[i].loop = &restored->loops[i];
	if (shape.count) {
		void *memory = allocate_memory(restored, series_size_bytes(shape.clocks, shape.cores, shape.count));

		if (!memory)
			return false;
		series_init(&report->facts.series, memory, shape.clocks, shape.cores, shape.count, shape.interval_ns);
		report->facts.series.count = shape.count;
	}
	return true;
}

/* Reads the elements in an entry FACTS. They must follow the elements in the previous entries. */
static bool
read_facts_entry(struct restored *restored, const struct record_entry *entry)
{
	struct record_facts facts;
	size_t *next;

	record_read_fixed_part(entry, &facts);
	if (facts.list >= FACTS_LISTS || entry->item_bytes != sizeof(struct record_taken))
		return true; /* a later version of baretick wrote this list */
	next = &restored->next[facts.list];
	if (facts.first != *next || facts.length > (size_t)entry->item_count * entry->item_bytes ||
	    (facts.list != FACTS_REPORT && !restored->next[FACTS_REPORT]))
		return false;
	struct facts_elements elements = facts_get_list_elements(facts.list, restored->report, restored->loops);
	for (size_t at = 0; at < facts.length; (*next)++) {
		uint16_t length;

		if (facts.length - at < sizeof(length) || *next >= elements.count)
			return false;
		__builtin_memcpy(&length, entry->items + at, sizeof(length));
		at += sizeof(length);
		if (facts.length - at < length)
			return false;
		restored->steps[0] = (struct step){ fact_list_names[facts.list], *next };
		restored->depth = facts.list == FACTS_REPORT ? 0 : 1;
		if (!read_struct(restored, elements.table, entry->items + at, length,
				 (uint8_t *)elements.first + *next * elements.stride) ||
		    !check_is_unique(restored, elements.table, elements.first, elements.stride, *next))
			return false;
		at += length;
	}
	return facts.list != FACTS_REPORT || (*next == 1 && !facts.first && allocate_lists(restored));
}

/*
 * Reads a number in LEB128, as put_varint() in facts_write.c writes it. Returns false if it does not end within
 * LENGTH bytes.
 */
static bool
read_varint(const uint8_t *bytes, size_t length, size_t *at, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < length && shift < 64; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static void
add_reads_of_recorded_cell(struct latency *latency, size_t cell, uint64_t reads)
{
	size_t bucket = cell < LATENCY_EXACT_NS ? histogram_find_bucket(cell) : cell - LATENCY_EXACT_NS;

	if (cell < LATENCY_EXACT_NS)
		latency->exact[cell] += reads;
	latency->histogram.counts[bucket] += reads;
	latency->histogram.total += reads;
}

/* Returns true if IS is a further entry of LATENCY. The first entry may be too small for all cells of a clock. */
static bool
does_latency_continue(const struct latency *latency, const struct record_latency *is)
{
	return latency->count == is->count && latency->min_ns == is->min_ns && latency->max_ns == is->max_ns &&
	       latency->max_count == is->max_count && latency->total_ticks == is->total_ticks &&
	       latency->total_ns == is->total_ns;
}

static bool
read_latency_entry(struct restored *restored, const struct record_entry *entry)
{
	uint64_t distance, reads, cell = 0;
	struct record_latency is;
	struct latency *latency;

	record_read_fixed_part(entry, &is);
	if (!restored->next[FACTS_REPORT] || is.clock >= restored->report->facts.clock_count ||
	    is.length > (size_t)entry->item_count * entry->item_bytes)
		return false;
	latency = restored->report->facts.clocks[is.clock].latency;
	if (latency->histogram.total && !does_latency_continue(latency, &is))
		return false;
	latency->count = is.count;
	latency->min_ns = is.min_ns;
	latency->max_ns = is.max_ns;
	latency->max_count = is.max_count;
	latency->total_ticks = is.total_ticks;
	latency->total_ns = is.total_ns;
	for (size_t at = 0; at < is.length; ) {
		if (!read_varint(entry->items, is.length, &at, &distance) ||
		    !read_varint(entry->items, is.length, &at, &reads) || distance >= FACTS_CELLS ||
		    reads > RECORD_COUNT_MAX - latency->histogram.total)
			return false;
		cell += distance;
		if (cell >= FACTS_CELLS)
			return false;
		add_reads_of_recorded_cell(latency, cell, reads);
	}
	return true;
}

/* Copies a text that is padded with zeros to SIZE bytes. TO has space for one more byte. */
static void
copy_padded_text(char *to, const uint8_t *from, size_t size)
{
	size_t length = 0;

	while (length < size && from[length])
		length++;
	copy_text(to, from, length);
}

static bool
read_run_entry(struct restored *restored, const struct record_entry *entry)
{
	struct report *report = restored->report;
	struct record_run run;
	char *texts = allocate_memory(restored, sizeof(run.version) + sizeof(run.commit) + 2);

	if (!texts || restored->has_run)
		return false;
	restored->has_run = true;
	record_read_fixed_part(entry, &run);
	copy_padded_text(texts, (const uint8_t *)run.version, sizeof(run.version));
	copy_padded_text(texts + sizeof(run.version) + 1, (const uint8_t *)run.commit, sizeof(run.commit));
	report->facts.run.version = texts;
	report->facts.run.commit = texts + sizeof(run.version) + 1;
	report->facts.run.start_tsc = run.start_tsc;
	return report->facts.run.version[0] && report->facts.run.commit[0];
}

static bool
read_entry(struct restored *restored, const struct record_entry *entry)
{
	switch (entry->kind) {
	case RECORD_RUN:     return read_run_entry(restored, entry);
	case RECORD_FACTS:   return read_facts_entry(restored, entry);
	case RECORD_LATENCY: return read_latency_entry(restored, entry);
	default:             return true;
	}
}

/* Returns true if LATENCY has no reads, or all its cells, and a longest read. */
static bool
is_latency_complete(const struct latency *latency)
{
	return latency->count == latency->histogram.total &&
	       (!latency->count || (latency->max_count && latency->min_ns <= latency->max_ns));
}

/* Returns true if the record contained all elements of all lists, and all cells of the latencies. */
static bool
is_record_complete(struct restored *restored)
{
	const struct report *report = restored->report;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (!is_latency_complete(report->facts.clocks[i].latency))
			return false;
	for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++)
		if (restored->next[list] < facts_get_list_elements(list, restored->report, restored->loops).count)
			return false;
	return restored->has_run;
}

/* Returns true if TEXT starts like "2026-01-31T23:59:59". */
static bool
is_time(const char *text)
{
	static const char pattern[] = "0000-00-00T00:00:00";

	for (size_t i = 0; pattern[i]; i++)
		if (pattern[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i])
			return false;
	return true;
}

static bool
is_url(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at == ' ')
			return false;
	return text_begins_with(text, "http://") && text[text_length("http://")];
}

/* The next functions check facts that depend on each other. They write a sentence to WHY if these contradict. */
static void
check_clock(const struct report_clock *entry, struct text *why)
{
	const struct rate *rate = &entry->clock.claimed;

	if (!facts_is_rate_possible(rate))
		text_printf(why, "The claimed rate of the clock %s in the record is %lu / %lu Hz, which is impossible.",
			    entry->clock.id, rate->num, rate->den);
	else if (entry->clock.state == CLOCK_ABSENT && entry->latency->count)
		text_printf(why, "The record has reads of the clock %s, which is absent.", entry->clock.id);
	else if (entry->resolution.steps && !entry->resolution.gcd_ticks)
		text_printf(why, "The clock %s in the record has steps of 0 ticks.", entry->clock.id);
}

static void
check_behaviour(const struct behaviour *row, struct text *why)
{
	const struct rule *rule = rules_find(row->rule);

	if (rule && rule->severity == VERDICT_PASS)
		text_printf(why, "The record has a result for the rule %s, which is only a limit.", rule->id);
	else if (rule && row->has_figure && !rule->unit)
		text_printf(why, "The record has a figure for the rule %s, which has no limit.", rule->id);
}

static bool
are_facts_consistent(const struct report *report, struct text *why)
{
	if (report->facts.run.started_at[0] && !is_time(report->facts.run.started_at))
		text_printf(why, "The record's fact started_at is \"%s\", which is no time.", report->facts.run.started_at);
	else if (report->facts.options.save.url[0] && !is_url(report->facts.options.save.url))
		text_put(why, "The record's fact options.save.url is no URL.");
	for (size_t i = 0; i < report->facts.clock_count && !why->length; i++)
		check_clock(&report->facts.clocks[i], why);
	for (size_t i = 0; i < report->facts.interval_count && !why->length; i++)
		if (report->facts.intervals[i].test.periodic && !report->facts.intervals[i].test.asked_ns)
			text_printf(why, "The record's fact intervals[%zu].test.asked_ns is 0, although the timer is periodic.", i);
	for (size_t i = 0; i < report->facts.checks.count && !why->length; i++)
		check_behaviour(&report->facts.checks.rows[i], why);
	return !why->length;
}

/* Returns a sentence about the first value in the record that is not as it must be, or NULL. */
static const char *
check_values(struct restored *restored)
{
	char *words = allocate_memory(restored, ERROR_SIZE);

	if (!words)
		return restored->error;
	struct text why = text_start(words, ERROR_SIZE);
	if (are_facts_consistent(restored->report, &why) &&
	    entries_are_in_range(restored->record, restored->size, restored->report, &why))
		return NULL;
	return words;
}

/* Removes the results of rules that this version of baretick does not have. Adds a note if there are any. */
static void
remove_unknown_rules(struct report *report)
{
	struct behaviours *checks = &report->facts.checks;
	size_t known = 0, unknown;
	const char *example = "";

	for (size_t i = 0; i < checks->count; i++) {
		if (rules_find(checks->rows[i].rule))
			checks->rows[known++] = checks->rows[i];
		else
			example = checks->rows[i].rule;
	}
	unknown = checks->count - known;
	checks->count = known;
	if (unknown)
		notes_add(&report->notes, "%zu result%s of rules that this version of baretick does not have %s left out. The last "
			  "one is of the rule %s.", unknown, unknown == 1 ? "" : "s", unknown == 1 ? "is" : "are", example);
}

/* Sets options that are never 0 to their defaults. A record contains no field that is 0. */
static void
set_default_options(struct options *options)
{
	struct options defaults;

	options_set_defaults(&defaults);
	options->cores.max = defaults.cores.max;
	options->interval_ns = defaults.interval_ns;
	options->gap_ns = defaults.gap_ns;
}

const char *
replay_restore_report(const void *record, size_t size, const struct replay_memory *memory, struct report *report,
		      struct replay_found *found)
{
	struct restored restored = { .report = report, .memory = memory, .record = record, .size = size };
	struct record_reader reader = record_open(record, size);
	struct record_entry entry;
	bool is_good = true;

	__builtin_memset(report, 0, sizeof(*report));
	report->facts.run.version = report->facts.run.commit = report->figures.relative_to = "";
	set_default_options(&report->facts.options);
	while (record_read_next(&reader, &entry))
		is_good = is_good && read_entry(&restored, &entry);
	if (restored.error)
		return restored.error;
	if (!is_good && !reader.dropped)
		return BAD_FACTS;
	if (reader.state != RECORD_WHOLE)
		return reader.error;
	is_good = is_good && restored.next[FACTS_REPORT] && is_record_complete(&restored);
	if (!is_good && reader.dropped)
		return LOST_FACTS;
	if (!restored.next[FACTS_REPORT])
		return NO_FACTS;
	if (!is_good)
		return BAD_FACTS;
	restored.error = check_values(&restored);
	if (restored.error)
		return restored.error;
	remove_unknown_rules(report);
	report->duration_ns = options_duration_ns(&report->facts.options);
	*found = (struct replay_found){ reader.entries, reader.dropped };
	return NULL;
}
