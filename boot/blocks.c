/* Chooses the texts that are sent over the serial lines. See blocks.h. */
#include "blocks.h"

#include "firmware/firmware.h"
#include "render/sections/table_sections.h"
#include "render/text/help.h"

#define LIST_SIZE (64u << 10)

/* Returns the length of TEXT up to its detailed part, which fills many screens. */
static size_t
get_summary_length(const struct text *text)
{
	static const char detail[] = "\n" TABLE_DURATIONS "\n";

	for (size_t i = 0; i + sizeof(detail) <= text->length; i++)
		if (__builtin_memcmp(text->bytes + i, detail, sizeof(detail) - 1) == 0)
			return i;
	return text->length;
}

void
blocks_queue_report(struct serial *serial, struct plan *plan, const struct report *report)
{
	bool full = report->options.serial == SERIAL_FULL;
	const struct text *json, *csv, *record, *compact;

	serial_queue_block(serial, "TEXT", plan->table.bytes, full ? plan->table.length : get_summary_length(&plan->table));
	if (report->options.serial == SERIAL_COMPACT) {
		compact = plan_render_compact_report(plan, report);
		serial_queue_block(serial, "COMPACT", compact->bytes, compact->length);
	}
	if (!full)
		return;
	plan_render_serial_texts(plan, report, &json, &csv);
	serial_queue_block(serial, "CSV", csv->bytes, csv->length);
	record = plan_render_record(plan, report);
	if (record)
		serial_queue_block(serial, "RECORD", record->bytes, record->length);
	serial_queue_block(serial, "REPORT", json->bytes, json->length);
}

char *
blocks_queue_rules_or_help(struct serial *serial, const struct options *options, const struct options_names *names)
{
	char *bytes = firmware_allocate(LIST_SIZE);
	struct text text;

	if (!bytes)
		return NULL;
	text_init(&text, bytes, LIST_SIZE);
	if (options->help)
		options_print_help(&text, names);
	else
		rules_print(&text, options);
	serial_queue_block(serial, "TEXT", text.bytes, text.length);
	return bytes;
}
