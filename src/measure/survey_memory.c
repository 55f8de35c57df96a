/* Divides the memory for measuring several cores. See survey.h. */
#include "analysis/facts.h"
#include "measure/survey_internal.h"

/* Each part starts at a cache line, because several cores write some parts at the same time. */
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
 * Space in the record for rates, in bytes. A window of a minute takes 20 KB for each clock that is compared with the
 * TSC. There are up to nine such clocks, and three windows if the clocks jump.
 */
#define RATES_BYTES       ((size_t)576 << 10)
/* number of TSC rates in a record: the provisional one, and one after each of the two phases that measure rates */
#define SCALES_MAX 4

/*
 * Reserves BYTES at *NEXT and advances it. It only calculates addresses, because the block does not exist yet when its
 * size is calculated.
 */
static void *
reserve(uintptr_t *next, size_t bytes)
{
	uintptr_t taken = *next;

	*next += (bytes + LINE - 1) / LINE * LINE;
	return (void *)taken;
}

size_t
survey_record_size(size_t cores, size_t rows)
{
	return RECORD_SIZE_MIN + record_bytes_of(RECORD_RUN, 0) + SCALES_MAX * record_bytes_of(RECORD_SCALE, 0) +
	       cores * (record_bytes_of(RECORD_CORE, 0) + record_bytes_of(RECORD_WATCH, OCTAVES)) +
	       REPORT_EVENTS_MAX * record_bytes_of(RECORD_GAP, 0) + RATES_BYTES + TIMERS_BYTES +
	       record_bytes_of(RECORD_STEP, 0) +
	       REPORT_DISCONTINUITIES_MAX * record_bytes_of(RECORD_STEP, REPORT_CLOCKS_MAX) +
	       (cores < TIMERS_CORES_MAX ? cores : TIMERS_CORES_MAX) * TIMERS_CORE_BYTES +
	       (size_t)CALIBRATION_LOOPS * (CALIBRATION_RUNS_MAX / SURVEY_CALIBRATION_BATCH) *
	       record_bytes_of(RECORD_CALIBRATION, SURVEY_CALIBRATION_BATCH) +
	       (size_t)CALIBRATION_LOOPS * SURVEY_CALIBRATION_READ * record_bytes_of(RECORD_LOOP, CALIBRATION_READINGS) +
	       CLAIMS_RAW_MAX * record_bytes_of(RECORD_STATED, 0) + facts_size(cores, rows);
}

static size_t
lay_out(struct survey_memory *memory, uintptr_t begin, size_t cores, enum pair_schedule widest, size_t rows)
{
	size_t pairs = pair_schedule_pairs(widest, cores);
	uintptr_t next = begin;

	*memory = (struct survey_memory){ .cores = cores, .widest = widest };
	memory->rows = reserve(&next, cores * sizeof(*memory->rows));
	memory->warp = reserve(&next, warp_table_size(cores));
	memory->pingpongs = reserve(&next, cores / 2 * sizeof(*memory->pingpongs));
	memory->core_of = reserve(&next, cores * sizeof(*memory->core_of));
	memory->first.pairs = reserve(&next, pairs * sizeof(*memory->first.pairs));
	memory->middle.pairs = reserve(&next, pairs * sizeof(*memory->middle.pairs));
	memory->latest.pairs = reserve(&next, pairs * sizeof(*memory->latest.pairs));
	memory->first.moved_ticks = reserve(&next, pairs * sizeof(*memory->first.moved_ticks));
	memory->middle.moved_ticks = reserve(&next, pairs * sizeof(*memory->middle.moved_ticks));
	memory->latest.moved_ticks = reserve(&next, pairs * sizeof(*memory->latest.moved_ticks));
	memory->first.moments = reserve(&next, pairs * sizeof(*memory->first.moments));
	memory->middle.moments = reserve(&next, pairs * sizeof(*memory->middle.moments));
	memory->latest.moments = reserve(&next, pairs * sizeof(*memory->latest.moments));
	memory->drifts = reserve(&next, pairs * sizeof(*memory->drifts));
	pairs = pair_schedule_pairs(PAIR_SCHEDULE_STAR, cores);
	memory->star.pairs = reserve(&next, pairs * sizeof(*memory->star.pairs));
	memory->star.moved_ticks = reserve(&next, pairs * sizeof(*memory->star.moved_ticks));
	memory->star.moments = reserve(&next, pairs * sizeof(*memory->star.moments));
	memory->moved = reserve(&next, cores * sizeof(*memory->moved));
	memory->solved = reserve(&next, cores * sizeof(*memory->solved));
	memory->outlier = reserve(&next, cores * sizeof(*memory->outlier));
	memory->latest_outlier = reserve(&next, cores * sizeof(*memory->latest_outlier));
	memory->disputed = reserve(&next, cores * sizeof(*memory->disputed));
	memory->batch_cores = reserve(&next, cores * sizeof(*memory->batch_cores));
	memory->batch_ranks = reserve(&next, cores * sizeof(*memory->batch_ranks));
	memory->medians = reserve(&next, cores / 2 * sizeof(*memory->medians));
	memory->samples = reserve(&next, cores * SURVEY_CONTENDED_SAMPLES * sizeof(*memory->samples));
	memory->others = reserve(&next, cores * sizeof(*memory->others));
	memory->gaps = reserve(&next, sizeof(*memory->gaps));
	memory->watches = reserve(&next, cores * sizeof(*memory->watches));
	memory->record_size = survey_record_size(cores, rows);
	memory->record = reserve(&next, memory->record_size);
	return next - begin;
}

size_t
survey_memory_size(size_t cores, enum pair_schedule widest, size_t rows)
{
	struct survey_memory memory;

	return lay_out(&memory, 0, cores, widest, rows);
}

void
survey_lay_out(struct survey *survey, void *memory, size_t cores, enum pair_schedule widest, size_t rows)
{
	struct report_core *row;

	lay_out(&survey->memory, (uintptr_t)memory, cores, widest, rows);
	row = survey->memory.rows;
	for (size_t i = 0; i < cores; i++) {
		row[i].offset = row[i].last_offset = OFFSET_UNKNOWN;
		row[i].drift_ppb = OFFSET_UNKNOWN;
	}
	survey->report->cores = row;
}
