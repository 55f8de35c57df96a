/* Chooses the texts that are sent over the serial lines. See blocks.h. */
#include "blocks.h"

#include "firmware/firmware.h"
#include "render/text/help.h"
#include "render/text/report_text.h"

#define LIST_SIZE (64u << 10)

/* Queues BODY as a block. The checksum of a large block takes seconds on a processor that is interpreted. */
static void
queue_block(struct serial *serial, const struct plan *plan, const char *name, const char *body, size_t length)
{
	plan_show_step(plan, "calculating checksums");
	serial_queue_block(serial, name, body, length);
}

void
blocks_queue_report(struct serial *serial, struct plan *plan, const struct report *report)
{
	bool full = report->facts.options.serial == SERIAL_FULL;
	const struct text *json, *csv, *record, *compact;

	queue_block(serial, plan, "TEXT", plan->table.bytes,
		    full ? plan->table.length : table_get_summary_length(&plan->table));
	if (report->facts.options.serial == SERIAL_COMPACT) {
		compact = plan_render_compact_report(plan, report);
		queue_block(serial, plan, "COMPACT", compact->bytes, compact->length);
	}
	if (!full)
		return;
	plan_render_serial_texts(plan, report, &json, &csv);
	queue_block(serial, plan, "CSV", csv->bytes, csv->length);
	record = plan_render_record(plan, report);
	if (record)
		queue_block(serial, plan, "RECORD", record->bytes, record->length);
	queue_block(serial, plan, "REPORT", json->bytes, json->length);
}

char *
blocks_queue_rules_or_help(struct serial *serial, const struct options *options, const struct options_names *names)
{
	char *bytes = firmware_allocate(LIST_SIZE);

	if (!bytes)
		return NULL;
	struct text text = text_start(bytes, LIST_SIZE);
	if (options->prints.help)
		options_print_help(&text, names);
	else
		rules_print(&text, options);
	serial_queue_block(serial, "TEXT", text.bytes, text.length);
	return bytes;
}
