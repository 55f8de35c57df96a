/*
 * libFuzzer target for the reader of records and for the analysis of records. If the first byte of an input is 0, the
 * rest is a whole file. Otherwise the rest is put into blocks with valid checksums, so that the fuzzer reaches the
 * entries.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/crc32.h"
#include "entries.h"
#include "record/record.h"
#include "report/report_memory.h"

#define BLOCKS_MAX 64u
#define CORES      3
#define CLOCKS     4
#define ROWS       2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes a header, and DATA in blocks of RECORD_BLOCK_MAX bytes with valid checksums. Returns the size. */
static size_t
wrap_as_record(uint8_t *to, const uint8_t *data, size_t size)
{
	struct record record;
	uint32_t number = 0;
	uint8_t *at;

	record_begin(&record, to, RECORD_SIZE_MIN);
	at = to + record.length;
	for (; size && number < BLOCKS_MAX; number++) {
		uint32_t length = size < RECORD_BLOCK_MAX ? (uint32_t)size : RECORD_BLOCK_MAX;
		uint32_t crc = crc32_add(crc32_add(0, &number, 4), data, length);

		memcpy(at, &number, 4);
		memcpy(at + 4, &length, 4);
		memcpy(at + 8, &crc, 4);
		memcpy(at + RECORD_BLOCK_BYTES, data, length);
		at += RECORD_BLOCK_BYTES + length;
		data += length;
		size -= length;
	}
	return (size_t)(at - to);
}

static void
analyse_record(const uint8_t *bytes, size_t size)
{
	static struct report report;
	static uint64_t memory[8192];

	require_true(report_memory_bytes(CORES, CORES * (CORES - 1) / 2) <= sizeof(memory));
	report_divide_memory(&report, memory, CORES, CORES * (CORES - 1) / 2);
	report.facts.core_count = CORES;
	report.facts.interval_count = ROWS;
	for (size_t i = 0; i < ROWS; i++) {
		report.facts.intervals[i].test.periodic = i % 2;
		report.facts.intervals[i].state = CLOCK_PRESENT;
	}
	analysis_calculate_gaps(bytes, size, &report, &report.figures);
	analysis_calculate_timers(bytes, size, &report, &report.figures);
	analysis_calculate_offsets(bytes, size, &report, &report.figures);
	for (size_t i = 0; i < REPORT_PASSES; i++)
		require_true(report.figures.skew.passes[i].offsets.cores <= CORES);
	for (size_t b = 1; b < CORES; b++)
		offsets_classify_motion(&report.figures.skew.passes[0].offsets, &report.figures.skew.passes[1].offsets,
					&report.figures.skew.passes[2].offsets, 0, b);
	require_true(report.figures.interference.event_count <= REPORT_EVENTS_MAX);
	report.facts.clock_count = CLOCKS;
	for (size_t i = 0; i < CLOCKS; i++)
		report.facts.clocks[i].clock = (struct clock){ .id = "hpet", .main = "hpet",
							       .claimed = { 10000000, i ? 1 : 0 },
							 .wrap_ticks = i % 2 ? UINT64_MAX : 59, .edges_only = i == 2 };
	report.facts.machine.hypervisor[0] = (char)(size % 2);
	analysis_calculate_discontinuities(bytes, size, &report, &report.figures);
	require_true(report.figures.discontinuity_count <= REPORT_DISCONTINUITIES_MAX);
	analysis_calculate_rates(bytes, size, 100000, &report, &report.figures);
	require_true(report.figures.rate_count <= REPORT_RATES_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;

	if (size == 0 || size > BLOCKS_MAX * RECORD_BLOCK_MAX)
		return 0;
	bytes = malloc(RECORD_SIZE_MIN + size + (size_t)BLOCKS_MAX * RECORD_BLOCK_BYTES);
	require_true(bytes != NULL);
	if (data[0] == 0) {
		memcpy(bytes, data + 1, size - 1);
		/* memory of exactly the input's size, so that the sanitizer sees a read beyond its end */
		bytes = realloc(bytes, size > 1 ? size - 1 : 1);
		read_all_entries(bytes, size - 1);
		analyse_record(bytes, size - 1);
	} else {
		size = wrap_as_record(bytes, data + 1, size - 1);
		bytes = realloc(bytes, size);
		read_all_entries(bytes, size);
		analyse_record(bytes, size);
	}
	free(bytes);
	return 0;
}
