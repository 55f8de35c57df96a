/* Restores the facts of a report from a record. See replay.h. */
#include "analysis/analysis.h"
#include "analysis/facts.h"
#include "base/text.h"
#include "replay/replay.h"
#include "report/report_memory.h"
#include "rules/rules.h"
#include "stats/series.h"
#include "sync/warp.h"

#define NO_FACTS   "The record contains no facts about the machine, because an older version wrote it."
#define BAD_FACTS  "The record's facts about the machine contradict each other."
#define LOST_FACTS "The record had no space for all facts about the machine."
#define NO_MEMORY  "There is not enough memory for the record."

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
read_number_field(const struct facts_field *field, const uint8_t *bytes, size_t length, uint8_t *member)
{
	uint64_t value = 0;

	if (length > field->size || length > sizeof(value))
		return false;
	__builtin_memcpy(&value, bytes, length);
	if (field->last && value > field->last)
		return false;
	__builtin_memcpy(member, &value, field->size);
	return true;
}

static bool
read_text_field(struct restored *restored, const uint8_t *bytes, size_t length, uint8_t *member)
{
	char *words = allocate_memory(restored, length + 1);

	if (!words)
		return false;
	copy_text(words, bytes, length);
	__builtin_memcpy(member, &words, sizeof(words));
	return true;
}

/* Reads element I of the array FIELD. */
static bool
read_element(struct restored *restored, const struct facts_field *field, size_t i, const uint8_t *bytes, size_t length,
	     uint8_t *object)
{
	size_t count = i + 1;

	if (i >= field->max)
		return false;
	if (field->count != FACTS_NO_COUNT)
		__builtin_memcpy(object + field->count, &count, sizeof(count));
	return read_struct(restored, field->table, bytes, length, object + field->offset + i * field->size);
}

static bool
read_field(struct restored *restored, const struct facts_field *field, size_t i, const uint8_t *bytes, size_t length,
	   uint8_t *object)
{
	uint8_t *member = object + field->offset;

	if (field->kind == FACTS_STRUCTS)
		return read_element(restored, field, i, bytes, length, object);
	if (field->kind == FACTS_NUMBER)
		return read_number_field(field, bytes, length, member);
	if (field->kind != FACTS_TEXT)
		return read_text_field(restored, bytes, length, member);
	if (length >= field->size)
		return false;
	copy_text((char *)member, bytes, length);
	return true;
}

static const struct facts_field *
find_field(const struct facts_shape *shape, uint8_t number)
{
	for (size_t i = 0; i < shape->count; i++)
		if (shape->fields[i].number == number)
			return &shape->fields[i];
	return NULL;
}

/*
 * Sets all texts of OBJECT that were not in the record to "", unless they are optional. This includes the texts in
 * its structs, but not in elements of its lists.
 */
static void
fill_missing_texts(struct facts_shape shape, uint8_t *object)
{
	for (size_t i = 0; i < shape.count; i++) {
		const struct facts_field *field = &shape.fields[i];
		const char *words;

		if (field->kind == FACTS_STRUCTS && field->count == FACTS_NO_COUNT)
			for (size_t k = 0; k < field->max; k++)
				fill_missing_texts(facts_get_table_shape(field->table), object + field->offset + k * field->size);
		if (field->kind != FACTS_WORDS)
			continue;
		__builtin_memcpy(&words, object + field->offset, sizeof(words));
		words = words ? words : "";
		__builtin_memcpy(object + field->offset, &words, sizeof(words));
	}
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
		const struct facts_field *field;
		uint16_t size;

		if (length - at < FACTS_HEAD_BYTES)
			return false;
		__builtin_memcpy(&size, bytes + at + 1, sizeof(size));
		if (length - at - FACTS_HEAD_BYTES < size)
			return false;
		i = bytes[at] == before ? i + 1 : 0;
		before = bytes[at];
		field = find_field(&shape, before);
		if (field && !read_field(restored, field, i, bytes + at + FACTS_HEAD_BYTES, size, object))
			return false;
		at += FACTS_HEAD_BYTES + size;
	}
	fill_missing_texts(shape, object);
	return true;
}

/* Allocates the lists whose size depends on the machine. */
static bool
allocate_lists(struct restored *restored)
{
	struct report *report = restored->report;
	size_t pairs = analysis_max_pairs_in_pass(restored->record, restored->size, report->core_count);
	struct series shape = report->series;
	void *cores;

	if (report->clock_count > REPORT_CLOCKS_MAX || report->claim_count > CLAIMS_MAX ||
	    report->core_count > WARP_CORES_MAX || report->interval_count > REPORT_INTERVALS_MAX ||
	    report->calibration_count > CALIBRATION_LOOPS || report->note_count > REPORT_NOTES_MAX ||
	    report->behaviours.count > BEHAVIOURS_MAX || report->finding_count > REPORT_FINDINGS_MAX ||
	    shape.clocks > REPORT_CLOCKS_MAX || shape.cores > WARP_CORES_MAX ||
	    (shape.count && (shape.clocks < report->clock_count || shape.cores < report->core_count ||
			     shape.count > series_max_rows(shape.cores))))
		return false;
	restored->latencies = allocate_memory(restored, (report->clock_count + 1) * sizeof(*restored->latencies));
	restored->loops = allocate_memory(restored, (report->calibration_count + 1) * sizeof(*restored->loops));
	cores = allocate_memory(restored, report_memory_bytes(report->core_count, pairs));
	if (restored->error)
		return false;
	report_divide_memory(report, cores, report->core_count, pairs);
	for (size_t i = 0; i < report->clock_count; i++)
		report->clocks[i].latency = &restored->latencies[i];
	for (size_t i = 0; i < report->calibration_count; i++)
		report->calibrations[i].loop = &restored->loops[i];
	if (shape.count) {
		void *memory = allocate_memory(restored, series_size_bytes(shape.clocks, shape.cores, shape.count));

		if (!memory)
			return false;
		series_init(&report->series, memory, shape.clocks, shape.cores, shape.count, shape.interval_ns);
		report->series.count = shape.count;
	}
	return true;
}

/* Reads the elements in an entry FACTS. They must follow the elements in the previous entries. */
static bool
read_facts_entry(struct restored *restored, const struct record_entry *entry)
{
	struct facts_elements elements;
	struct record_facts facts;
	size_t *next;

	record_read_fixed_part(entry, &facts);
	if (facts.list >= FACTS_LISTS || entry->item_bytes != sizeof(struct record_taken))
		return true; /* a later version of baretick wrote this list */
	next = &restored->next[facts.list];
	if (facts.first != *next || facts.length > (size_t)entry->item_count * entry->item_bytes ||
	    (facts.list != FACTS_REPORT && !restored->next[FACTS_REPORT]))
		return false;
	elements = facts_get_list_elements(facts.list, restored->report, restored->loops);
	for (size_t at = 0; at < facts.length; (*next)++) {
		uint16_t length;

		if (facts.length - at < sizeof(length) || *next >= elements.count)
			return false;
		__builtin_memcpy(&length, entry->items + at, sizeof(length));
		at += sizeof(length);
		if (facts.length - at < length ||
		    !read_struct(restored, elements.table, entry->items + at, length,
				 (uint8_t *)elements.first + *next * elements.stride))
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

static bool
read_latency_entry(struct restored *restored, const struct record_entry *entry)
{
	uint64_t distance, reads, cell = 0;
	struct record_latency is;
	struct latency *latency;

	record_read_fixed_part(entry, &is);
	if (!restored->next[FACTS_REPORT] || is.clock >= restored->report->clock_count ||
	    is.length > (size_t)entry->item_count * entry->item_bytes)
		return false;
	latency = restored->report->clocks[is.clock].latency;
	latency->count = is.count;
	latency->min_ns = is.min_ns;
	latency->max_ns = is.max_ns;
	latency->max_count = is.max_count;
	latency->total_ticks = is.total_ticks;
	latency->total_ns = is.total_ns;
	for (size_t at = 0; at < is.length; ) {
		if (!read_varint(entry->items, is.length, &at, &distance) ||
		    !read_varint(entry->items, is.length, &at, &reads) || distance >= FACTS_CELLS)
			return false;
		cell += distance;
		if (cell >= FACTS_CELLS)
			return false;
		add_reads_of_recorded_cell(latency, cell, reads);
	}
	return true;
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
	__builtin_memcpy(texts, run.version, sizeof(run.version));
	__builtin_memcpy(texts + sizeof(run.version) + 1, run.commit, sizeof(run.commit));
	report->version = texts;
	report->commit = texts + sizeof(run.version) + 1;
	report->start_tsc = run.start_tsc;
	return true;
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

/* Returns true if the record contained all elements of all lists, and all cells of the latencies. */
static bool
is_record_complete(struct restored *restored)
{
	const struct report *report = restored->report;

	for (size_t i = 0; i < report->clock_count; i++)
		if (report->clocks[i].latency->count != report->clocks[i].latency->histogram.total)
			return false;
	for (enum facts_list list = FACTS_REPORT; list < FACTS_LISTS; list++)
		if (restored->next[list] < facts_get_list_elements(list, restored->report, restored->loops).count)
			return false;
	return restored->has_run;
}

/* Returns false if the facts in REPORT break an assumption of src/judge or src/render. */
static bool
is_report_plausible(const struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct clock *clock = &report->clocks[i].clock;

		if (clock->width_bits > 64 || (clock->claimed.num && !clock->claimed.den))
			return false;
	}
	for (size_t i = 0; i < report->interval_count; i++)
		if (report->intervals[i].state == CLOCK_PRESENT && !report->intervals[i].route_kind)
			return false;
	return true;
}

/* Removes the results of rules that this version of baretick does not have. Adds a note if there are any. */
static void
remove_unknown_rules(struct report *report)
{
	struct behaviours *behaviours = &report->behaviours;
	size_t rows = 0, findings = 0, unknown = behaviours->count + report->finding_count;
	const char *example = "";

	for (size_t i = 0; i < behaviours->count; i++) {
		if (rules_find(behaviours->rows[i].rule))
			behaviours->rows[rows++] = behaviours->rows[i];
		else
			example = behaviours->rows[i].rule;
	}
	for (size_t i = 0; i < report->finding_count; i++) {
		if (rules_find(report->findings[i].rule))
			report->findings[findings++] = report->findings[i];
		else
			example = report->findings[i].rule;
	}
	behaviours->count = rows;
	report->finding_count = findings;
	unknown -= rows + findings;
	if (unknown)
		report_add_note(report, "%zu result%s of rules that this version of baretick does not have %s left out. The last "
				"one is of the rule %s.", unknown, unknown == 1 ? "" : "s", unknown == 1 ? "is" : "are", example);
}

/* Adds the findings in the record again, with the severity that their rules have in this version of baretick. */
static bool
restore_findings(struct restored *restored)
{
	struct report *report = restored->report;
	size_t count = report->finding_count;
	struct finding *findings = allocate_memory(restored, (count + 1) * sizeof(*findings));

	if (!findings)
		return false;
	__builtin_memcpy(findings, report->findings, count * sizeof(*findings));
	report->finding_count = 0;
	for (size_t i = 0; i < count; i++)
		rules_add_finding(report, findings[i].rule, findings[i].clock, findings[i].core, "%s", findings[i].text);
	return true;
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
	report->version = report->commit = report->relative_to = "";
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
	if (!is_good || !is_report_plausible(report))
		return BAD_FACTS;
	remove_unknown_rules(report);
	if (!restore_findings(&restored))
		return restored.error;
	report->duration_ns = options_duration_ns(&report->options);
	*found = (struct replay_found){ reader.entries, reader.dropped };
	return NULL;
}
