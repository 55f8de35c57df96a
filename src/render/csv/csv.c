/* Writes the report as one CSV table, from the tables of fields in report.def. See csv.h. */
#include "render/csv/csv.h"

#include "render/fields/fields.h"

#define PREFIX_SIZE 32 /* size in bytes of a metric's prefix: "periodic_", 20 digits and "_" */

struct csv {
	struct text *out;
	const struct report *report;
	bool short_cores; /* true: only the boot core has rows, without latencies */
};

/* The clock or core that a row is about, and what the row changes in its field's metric and unit. */
struct subject {
	const char *clock; /* id of the clock that the row is about, or "" */
	uint32_t core;     /* APIC id of the core that the row is about, or REPORT_NO_CORE */
	const char *prefix, *suffix; /* prefix and suffix that the row adds to the field's metric */
	unsigned number;   /* number of the row among rows with the same metric, clock and core, from 0 */
	const char *unit;  /* unit of the row, or NULL for the unit of the field */
	bool always;       /* true if the row is written even if its value is not known */
};

/* Writes WORD, in quotes if it contains a comma, a quote or the end of a line. */
static void
put_quoted_word(struct text *out, const char *word)
{
	bool quoted = false;

	for (const char *c = word; *c; c++)
		quoted |= *c == ',' || *c == '"' || *c == '\n' || *c == '\r';
	if (quoted)
		text_put_char(out, '"');
	for (; *word; word++) {
		if (*word == '"')
			text_put_char(out, '"');
		text_put_char(out, *word);
	}
	if (quoted)
		text_put_char(out, '"');
}

static void
put_number(struct text *out, const struct field *field, uint64_t number)
{
	bool is_negative = field->is_signed && (int64_t)number < 0;

	if (is_negative)
		text_put_char(out, '-');
	text_put_decimal(out, is_negative ? -number : number, field->digits, field->digits);
}

/*
 * Writes one row. A value that is a word goes into the column `unit`, because programs that give each column a type
 * expect only numbers in the column `value`.
 */
static void
put_row(const struct csv *csv, const struct subject *subject, const struct field *field,
	const struct field_value *value)
{
	bool is_interval = field->shape == FIELD_INTERVAL || field->shape == FIELD_MIDDLE;
	struct text *out = csv->out;

	put_quoted_word(out, csv->report->facts.run.started_at);
	text_printf(out, ",%s,", subject->clock);
	if (subject->core != REPORT_NO_CORE)
		text_printf(out, "%u", subject->core);
	text_printf(out, ",%s%s%s", subject->prefix, field->csv.metric, subject->suffix);
	if (subject->number)
		text_printf(out, "_%u", subject->number + 1);
	for (size_t i = 0; i < 3; i++) {
		text_put_char(out, ',');
		if (value->known && field->shape != FIELD_WORD && (i == 0 || is_interval))
			put_number(out, field, value->numbers[i]);
	}
	text_put_char(out, ',');
	put_quoted_word(out, field->shape == FIELD_WORD ? value->word :
			subject->unit ? subject->unit : field->csv.unit);
	text_put_char(out, ',');
	put_quoted_word(out, report_machine_name(csv->report));
	text_put_char(out, '\n');
}

static bool
are_strings_equal(const char *a, const char *b)
{
	return a == b || (a && b && text_equal(a, b));
}

/* Returns the number of findings before FINDING with the same rule, clock and core. */
static unsigned
count_same_findings_before(const struct report *report, const struct finding *finding)
{
	unsigned count = 0;

	for (const struct finding *other = report->outcomes.findings; other < finding; other++)
		count += are_strings_equal(other->rule, finding->rule) && are_strings_equal(other->clock, finding->clock) &&
			 other->core == finding->core;
	return count;
}

/*
 * Sets SUBJECT for the timer test ROW. Metrics get a prefix with the mode and the requested interval, because each
 * timer has several tests. Returns false if the test was not made.
 */
static bool
set_subject_if_timer_was_tested(const struct interval_figures *row, struct subject *subject, char *prefix)
{
	if (row->state != CLOCK_PRESENT || row->reason[0])
		return false;
	text_format(prefix, PREFIX_SIZE, "%s_%lu_", row->test.periodic ? "periodic" : "one_shot", row->test.asked_ns);
	subject->clock = row->test.source;
	subject->core = row->test.core;
	subject->prefix = prefix;
	return true;
}

/* Prefixes the metrics with the claim's source, in lower case and without blanks: "cpuid_15h_ecx_". */
static void
put_claim_prefix(const struct report_claim *claim, char *prefix)
{
	struct text text = text_start(prefix, PREFIX_SIZE);

	for (const char *c = claim->claim.by; *c; c++)
		if (*c != ',' && *c != '\'')
			text_put_char(&text, *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
	text_put_char(&text, '_');
}

/*
 * Sets SUBJECT for ELEMENT, an element of a list. Returns false if ELEMENT has no rows. PREFIX is memory of PREFIX_SIZE
 * bytes for the prefix in SUBJECT, and must live as long as SUBJECT.
 */
static bool
set_subject_if_element_has_rows(const struct csv *csv, const struct field_table *table, const void *element,
				struct subject *subject, char *prefix)
{
	const struct report_clock *entry = element;
	const struct report_rate *rate = element;
	const struct report_claim *claim = element;
	const struct report_core *core = element;
	const struct finding *finding = element;
	const struct calibration_figures *calibration = element;

	if (table == &field_clock) {
		subject->clock = entry->clock.id;
	} else if (table == &field_rate) {
		subject->clock = rate->a;
		subject->suffix = rate->b;
	} else if (table == &field_claim) {
		put_claim_prefix(claim, prefix);
		subject->clock = claim_clock_ids[claim->claim.clock];
		subject->prefix = prefix;
	} else if (table == &field_core) {
		subject->core = core->apic_id;
		return core->boot || !csv->short_cores;
	} else if (table == &field_finding) {
		*subject = (struct subject){ finding->clock ? finding->clock : "", finding->core, "", finding->rule,
					count_same_findings_before(csv->report, finding), finding->unit ? finding->unit : "", true };
	} else if (table == &field_calibration) {
		text_format(prefix, PREFIX_SIZE, "%s_", calibration->loop->id);
		subject->clock = calibration->loop->clock;
		subject->prefix = prefix;
	} else {
		return table == &field_interval && set_subject_if_timer_was_tested(element, subject, prefix);
	}
	return true;
}

static void put_rows(const struct csv *csv, const struct subject *subject, const struct field_table *table,
		     const void *object, size_t i);

static void
put_elements_of_list(const struct csv *csv, const struct subject *subject, const struct field_table *table,
		     const struct field_value *list)
{
	const char *element = list->first;

	for (size_t i = 0; i < list->count; i++, element += list->stride) {
		struct subject each = *subject;
		char prefix[PREFIX_SIZE];

		if (set_subject_if_element_has_rows(csv, table, element, &each, prefix))
			put_rows(csv, &each, table, element, i);
	}
}

/* Writes the rows of OBJECT's fields that are maps with an entry for each clock. A clock's rows follow each other. */
static void
put_rows_of_maps_by_clock(const struct csv *csv, const struct subject *subject, const struct field_table *table,
			  const void *object)
{
	size_t clocks = csv->short_cores ? 0 : csv->report->facts.clock_count;

	for (size_t i = 0; i < clocks; i++) {
		for (size_t row = 0; row < table->count; row++) {
			const struct field *field = &table->fields[row];
			struct subject each = *subject;
			struct field_value map;

			if (field->table != &field_by_clock)
				continue;
			each.clock = csv->report->facts.clocks[i].clock.id;
			each.prefix = field->csv.metric;
			table->get(csv->report, object, 0, row, &map);
			put_rows(csv, &each, field->table, (const char *)map.first + i * map.stride, i);
		}
	}
}

/*
 * Writes an object's rows. The verdict is the last field of its object, but its row is the first. This row is written
 * even if there is no verdict.
 */
static void
put_rows(const struct csv *csv, const struct subject *subject, const struct field_table *table, const void *object,
	 size_t i)
{
	size_t count = table->count, shift = count - (table->fields[count - 1].shape == FIELD_VERDICT);

	for (size_t n = 0; n < count; n++) {
		size_t row = (n + shift) % count;
		const struct field *field = &table->fields[row];
		bool is_verdict = field->shape == FIELD_VERDICT;
		struct field_value value;

		if (field->shape != FIELD_OBJECT && field->shape != FIELD_LIST && !field->csv.metric[0])
			continue;
		table->get(csv->report, object, i, row, &value);
		if (is_verdict)
			value.known = value.known && value.numbers[0] != VERDICT_ABSENT;
		if (value.known && field->shape == FIELD_OBJECT)
			put_rows(csv, subject, field->table, value.first, i);
		else if (value.known && field->shape == FIELD_LIST)
			put_elements_of_list(csv, subject, field->table, &value);
		else if (field->shape != FIELD_MAP && (value.known || is_verdict || subject->always))
			put_row(csv, subject, field, &value);
	}
	put_rows_of_maps_by_clock(csv, subject, table, object);
}

static void
put_report(const struct csv *csv)
{
	const struct subject whole_run = { "", REPORT_NO_CORE, "", "", 0, NULL, false };

	text_put(csv->out, "run,clock,core,metric,value,low,high,unit,machine\n");
	put_rows(csv, &whole_run, &field_report, csv->report, 0);
}

void
csv_render(struct text *out, const struct report *report)
{
	put_report(&(struct csv){ .out = out, .report = report });
}

void
csv_render_for_serial_port(struct text *out, const struct report *report)
{
	put_report(&(struct csv){ .out = out, .report = report, .short_cores = true });
}
