/* Divides the memory for measuring several cores. See survey.h. */
#include "measure/survey_internal.h"

#include "analysis/facts.h"
#include "report/report_memory.h"

/* Each part of the memory starts at a cache line, because several cores write some parts at the same time. */
#define LINE PINGPONG_LINE
/*
 * Space in the record for timer tests, in bytes. A source of the boot core has at most 620 one-shots and 10 windows of
 * 80 periods, which take 70 KB. A source of another core has 100 one-shots and one window, which take 11 KB. The gaps
 * of a busy host take more.
 */
#define TIMERS_BYTES      ((size_t)1 << 20)
#define TIMERS_CORE_BYTES ((size_t)24 << 10)
#define TIMERS_CORES_MAX  64u
/*
 * Space in the record for rates, in bytes. A rate window of a minute takes 20 KB for each clock that is compared with
 * the TSC. There are up to nine such clocks, and three windows if the clocks jump. The second term is for batches that
 * are only recorded to count wraps.
 */
#define RATES_BYTES       (((size_t)576 << 10) + SURVEY_BATCHES_MAX * record_entry_size_bytes(RECORD_BATCH, 0))
/*
 * upper bound of the number of TSC rates in a record: the first estimate, and one after each phase that measures rates
 */
#define SCALES_MAX 4
#define SLEEP_WAKES  16u /* wake-ups in a test of a sleep state */
#define SLEEP_CLOCKS 2u  /* clocks that are read around a sleep */
#define PASSES_MAX 4 /* number of passes in a record; the first pass is repeated if it had no result */

static void *
reserve_bytes(uintptr_t *next, size_t bytes)
{
	return report_reserve(next, bytes, LINE);
}

/* Returns the space for tests of sleep states, with one more test of the boot core. */
static size_t
max_bytes_of_recorded_sleeps(size_t cores)
{
	size_t sleepers = cores < REPORT_SLEEPERS_MAX ? cores : REPORT_SLEEPERS_MAX;

	return (REPORT_SLEEP_STATES * sleepers + 1) * record_entry_size_bytes(RECORD_SLEEP, SLEEP_WAKES) +
	       (REPORT_SLEEP_STATES + 1) * record_entry_size_bytes(RECORD_SLEPT, SLEEP_CLOCKS);
}

/* Returns the space for three passes, the repeated ping-pongs of the first and the last, the rehearsal, and a soak. */
static size_t
max_bytes_of_recorded_passes(size_t cores, enum pair_schedule widest)
{
	size_t pairs = pair_schedule_count_pairs(widest, cores), repeats = SURVEY_RETRY_SWEEPS * pairs;
	size_t rehearsed = SURVEY_REHEARSAL_BATCHES * (cores / 2);
	size_t pingpongs = 3 * pairs + 2 * (repeats < SURVEY_REPEATS_MAX ? repeats : SURVEY_REPEATS_MAX) +
			   (widest == PAIR_SCHEDULE_ALL ? rehearsed : 0) + cores;

	return pingpongs * record_entry_size_bytes(RECORD_EXCHANGE, 1) +
	       PASSES_MAX * record_entry_size_bytes(RECORD_PASS, survey_core_sets(cores));
}

size_t
survey_max_record_bytes(size_t cores, enum pair_schedule widest, size_t rows)
{
	return RECORD_SIZE_MIN + record_entry_size_bytes(RECORD_RUN, 0) +
	       SCALES_MAX * record_entry_size_bytes(RECORD_SCALE, 0) + max_bytes_of_recorded_passes(cores, widest) +
	       cores * (record_entry_size_bytes(RECORD_CORE, 0) + record_entry_size_bytes(RECORD_WATCH, OCTAVES)) +
	       REPORT_EVENTS_MAX * record_entry_size_bytes(RECORD_GAP, 0) + RATES_BYTES + TIMERS_BYTES +
	       record_entry_size_bytes(RECORD_STEP, 0) + max_bytes_of_recorded_sleeps(cores) +
	       REPORT_DISCONTINUITIES_MAX * record_entry_size_bytes(RECORD_STEP, REPORT_CLOCKS_MAX) +
	       (cores < TIMERS_CORES_MAX ? cores : TIMERS_CORES_MAX) * TIMERS_CORE_BYTES +
	       (size_t)CALIBRATION_LOOPS * (CALIBRATION_RUNS_MAX / SURVEY_CALIBRATION_BATCH) *
	       record_entry_size_bytes(RECORD_CALIBRATION, SURVEY_CALIBRATION_BATCH) +
	       (size_t)CALIBRATION_LOOPS * SURVEY_CALIBRATION_READ *
		       record_entry_size_bytes(RECORD_LOOP, CALIBRATION_READINGS) +
	       FIRMWARE_ENTRIES * record_entry_size_bytes(RECORD_FIRMWARE, FIRMWARE_ITEMS_MAX) +
	       CLAIMS_RAW_MAX * record_entry_size_bytes(RECORD_STATED, 0) + facts_max_bytes(cores, rows);
}

static size_t
divide_survey_memory(struct survey_memory *memory, uintptr_t begin, size_t cores, enum pair_schedule widest,
		     size_t rows)
{
	size_t pairs = pair_schedule_count_pairs(widest, cores);
	uintptr_t next = begin;

	*memory = (struct survey_memory){ .cores = cores, .widest = widest };
	memory->report = reserve_bytes(&next, report_memory_bytes(cores, pairs));
	memory->warp = reserve_bytes(&next, warp_table_bytes(cores));
	memory->pingpongs = reserve_bytes(&next, cores / 2 * sizeof(*memory->pingpongs));
	memory->core_of = reserve_bytes(&next, cores * sizeof(*memory->core_of));
	memory->members = reserve_bytes(&next, survey_core_sets(cores) * sizeof(*memory->members));
	memory->offsets.pairs = reserve_bytes(&next, pairs * sizeof(*memory->offsets.pairs));
	memory->offsets.moved_ticks = reserve_bytes(&next, pairs * sizeof(*memory->offsets.moved_ticks));
	memory->sums = reserve_bytes(&next, cores * sizeof(*memory->sums));
	memory->batch_cores = reserve_bytes(&next, cores * sizeof(*memory->batch_cores));
	memory->batch_ranks = reserve_bytes(&next, cores * sizeof(*memory->batch_ranks));
	memory->medians = reserve_bytes(&next, cores / 2 * sizeof(*memory->medians));
	memory->latencies = reserve_bytes(&next, REPORT_CLOCKS_MAX * sizeof(*memory->latencies));
	memory->samples = reserve_bytes(&next, cores * SURVEY_CONTENDED_SAMPLES * sizeof(*memory->samples));
	memory->others = reserve_bytes(&next, cores * sizeof(*memory->others));
	memory->gaps = reserve_bytes(&next, sizeof(*memory->gaps));
	memory->watches = reserve_bytes(&next, cores * sizeof(*memory->watches));
	memory->record_size = survey_max_record_bytes(cores, widest, rows);
	memory->facts_size = facts_max_bytes(cores, rows);
	memory->record = reserve_bytes(&next, memory->record_size);
	return next - begin;
}

size_t
survey_memory_bytes(size_t cores, enum pair_schedule widest, size_t rows)
{
	struct survey_memory memory;

	return divide_survey_memory(&memory, 0, cores, widest, rows);
}

void
survey_divide_memory(struct survey *survey, void *memory, size_t cores, enum pair_schedule widest, size_t rows)
{
	divide_survey_memory(&survey->memory, (uintptr_t)memory, cores, widest, rows);
	report_divide_memory(survey->report, survey->memory.report, cores, pair_schedule_count_pairs(widest, cores));
}
