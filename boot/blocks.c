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
blocks_queue(struct serial *serial, const struct plan *plan, enum options_serial how)
{
	bool full = how == SERIAL_FULL;

	serial_block(serial, "TEXT", plan->table.bytes, full ? plan->table.length : summary_length(&plan->table));
	if (!full)
		return;
	serial_block(serial, "CSV", plan->csv.bytes, plan->csv.length);
	serial_block(serial, "REPORT", plan->json.bytes, plan->json.length);
}
