/* Which texts the serial lines get. See blocks.h. */
#include "blocks.h"

#include "table_sections.h"

/* TEXT up to the detail, which fills many screens. */
static size_t
summary_length(const struct text *text)
{
	static const char detail[] = "\n" TABLE_DURATIONS "\n";

	for (size_t i = 0; i + sizeof(detail) <= text->length; i++)
		if (__builtin_memcmp(text->bytes + i, detail, sizeof(detail) - 1) == 0)
			return i;
	return text->length;
}

void
blocks_queue(struct serial *serial, struct plan *plan, const struct report *report)
{
	bool full = report->options.serial == SERIAL_FULL;
	const struct text *json, *csv;

	serial_block(serial, "TEXT", plan->table.bytes, full ? plan->table.length : summary_length(&plan->table));
	if (!full)
		return;
	plan_render_serial(plan, report, &json, &csv);
	serial_block(serial, "CSV", csv->bytes, csv->length);
	serial_block(serial, "REPORT", json->bytes, json->length);
}
