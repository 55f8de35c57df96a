/* Shared by the fuzz targets that get records: reads all entries of a record. */
#ifndef FUZZ_ENTRIES_H
#define FUZZ_ENTRIES_H

#include <stdlib.h>

#include "record/record.h"

#define WIDE 512u /* size of a buffer for one entry; larger than any struct of an entry */

static void
require_true(int condition)
{
	if (!condition)
		abort();
}

/* Reads all entries, and checks that they lie within BYTES. Returns the reader's state at the end. */
static enum record_state
read_all_entries(const uint8_t *bytes, size_t size)
{
	struct record_reader reader;
	struct record_entry entry;
	uint64_t entries = 0;
	uint8_t wide[WIDE];

	reader = record_open(bytes, size);
	while (record_read_next(&reader, &entry)) {
		entries++;
		record_read_fixed_part(&entry, wide);
		for (size_t i = 0; i < entry.item_count; i++)
			record_read_item(&entry, i, wide);
		require_true(record_kinds[entry.kind].fixed_bytes > 0 && reader.at <= size);
	}
	require_true(reader.state != RECORD_READS && entries + reader.skipped == reader.entries);
	require_true((reader.error == NULL) == (reader.state == RECORD_WHOLE));
	return reader.state;
}

#endif
