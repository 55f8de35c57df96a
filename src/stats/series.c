/* Stores the results of a run as rows over time. See series.h. */
#include "stats/series.h"

#define MEDIAN       50000 /* percentile in 1/100,000 */
#define PERCENTILE_99 99000

size_t
series_max_rows(size_t cores)
{
	size_t rows = SERIES_ROWS_MAX;

	while (rows > 2 && rows * cores > (size_t)SERIES_ROWS_MAX * SERIES_CORES_ALL)
		rows = rows / 4 * 2;
	return rows;
}

size_t
series_size_bytes(size_t clocks, size_t cores, size_t max)
{
	size_t row = sizeof(struct series_row) + clocks * (sizeof(struct series_clock) + sizeof(struct series_rate)) +
		     cores * sizeof(struct offset);

	return (max + 1) * row + clocks * sizeof(struct series_reads);
}

void
series_init(struct series *series, void *memory, size_t clocks, size_t cores, size_t max, uint64_t interval_ns)
{
	struct series_row *rows = memory;
	struct series_clock *all_clocks = (void *)(rows + max + 1);
	struct series_rate *all_rates = (void *)(all_clocks + (max + 1) * clocks);
	struct offset *all_offsets = (void *)(all_rates + (max + 1) * clocks);

	*series = (struct series){ .interval_ns = interval_ns, .clocks = clocks, .cores = cores, .max = max,
				   .rows = rows, .rates = all_rates,
				   .reads = (void *)(all_offsets + (max + 1) * cores) };
	for (size_t i = 0; i <= max; i++) {
		rows[i].clocks = all_clocks + i * clocks;
		rows[i].offsets = all_offsets + i * cores;
	}
}

struct series_row *
series_get_open_row(const struct series *series)
{
	return series->open ? &series->rows[series->count] : NULL;
}

void
series_start_row(struct series *series, uint64_t now_tsc)
{
	struct series_row *row = &series->rows[series->count];

	if (!series->max)
		return;
	series->open = true;
	row->from_tsc = row->to_tsc = now_tsc;
	row->gaps = row->worst_gap_ns = row->observed_ns = 0;
	for (size_t i = 0; i < series->clocks; i++) {
		row->clocks[i] = (struct series_clock){ .count = 0 };
		series->reads[i].min_ns = UINT64_MAX;
		series->reads[i].max_ns = 0;
		histogram_clear(&series->reads[i].histogram);
	}
	for (size_t i = 0; i < series->cores; i++)
		row->offsets[i] = OFFSET_UNKNOWN;
}

void
series_add_reads(struct series *series, size_t clock, const struct scale *scale, const struct sample *samples,
		 size_t count)
{
	struct series_reads *reads = &series->reads[clock];

	for (size_t i = 0; series->open && i < count; i++) {
		if (samples[i].end < samples[i].begin)
			continue;
		uint64_t ns = scale_ns(scale, samples[i].end - samples[i].begin);
		reads->min_ns = ns < reads->min_ns ? ns : reads->min_ns;
		reads->max_ns = ns > reads->max_ns ? ns : reads->max_ns;
		histogram_record(&reads->histogram, ns);
	}
}

/*
 * Returns the narrower of the two offsets. An offset may have LOW above HIGH if a round trip was shorter than a step of
 * the TSC, because the TSC's resolution is not added yet.
 */
static struct offset
get_narrower_offset(struct offset a, struct offset b)
{
	if (!offset_is_known(a) || !offset_is_known(b))
		return offset_is_known(b) ? b : a;
	return (int64_t)((uint64_t)b.high - (uint64_t)b.low) < (int64_t)((uint64_t)a.high - (uint64_t)a.low) ? b : a;
}

void
series_add_offset(struct series *series, size_t core, struct offset offset)
{
	struct series_row *row = series_get_open_row(series);

	if (row)
		row->offsets[core] = get_narrower_offset(row->offsets[core], offset);
}

static void
add_gaps(struct series_row *row, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns)
{
	row->observed_ns += observed_ns;
	row->gaps += gaps;
	if (worst_ns > row->worst_gap_ns)
		row->worst_gap_ns = worst_ns;
}

void
series_add_gaps(struct series *series, uint64_t observed_ns, uint64_t gaps, uint64_t worst_ns)
{
	if (series->open)
		add_gaps(series_get_open_row(series), observed_ns, gaps, worst_ns);
}

static uint64_t
percentile_ns(const struct series_reads *reads, uint32_t per_hundred_thousand)
{
	uint64_t ns = histogram_quantile(&reads->histogram, per_hundred_thousand);

	ns = ns > reads->max_ns ? reads->max_ns : ns;
	return ns < reads->min_ns ? reads->min_ns : ns;
}

/*
 * Returns true if the last reading of clock A in its row is also the first reading of B, the same clock in the next
 * row. A rate can then be measured over both rows.
 */
static bool
do_rows_share_reading(const struct series_clock *a, const struct series_clock *b)
{
	return a->last.end && b->last.end && a->last.end == b->first.end;
}

/* Merges the results of one clock in two successive rows, A and B, into A. src/analysis calculates the rate. */
static void
merge_clock_of_rows(struct series_clock *a, const struct series_clock *b)
{
	a->last = do_rows_share_reading(a, b) ? b->last : (struct sample){ 0, 0, 0 };
	if (b->count && (!a->count || b->min_ns < a->min_ns))
		a->min_ns = b->min_ns;
	a->p50_ns = b->p50_ns > a->p50_ns ? b->p50_ns : a->p50_ns;
	a->p99_ns = b->p99_ns > a->p99_ns ? b->p99_ns : a->p99_ns;
	a->max_ns = b->max_ns > a->max_ns ? b->max_ns : a->max_ns;
	a->count += b->count;
}

/* Merges the successive rows A and B into TO, which may be the same row as A. */
static void
merge_rows(const struct series *series, struct series_row *to, const struct series_row *a, const struct series_row *b)
{
	to->from_tsc = a->from_tsc;
	to->to_tsc = b->to_tsc;
	to->gaps = a->gaps;
	to->observed_ns = a->observed_ns;
	to->worst_gap_ns = a->worst_gap_ns;
	add_gaps(to, b->observed_ns, b->gaps, b->worst_gap_ns);
	for (size_t i = 0; i < series->clocks; i++) {
		to->clocks[i] = a->clocks[i];
		merge_clock_of_rows(&to->clocks[i], &b->clocks[i]);
	}
	for (size_t i = 0; i < series->cores; i++)
		to->offsets[i] = get_narrower_offset(a->offsets[i], b->offsets[i]);
}

static void
merge_pairs_of_rows(struct series *series)
{
	for (size_t i = 0; i < series->max / 2; i++)
		merge_rows(series, &series->rows[i], &series->rows[2 * i], &series->rows[2 * i + 1]);
	series->count = series->max / 2;
	series->interval_ns *= 2;
}

void
series_close_row(struct series *series, uint64_t now_tsc, bool last)
{
	struct series_row *row = series_get_open_row(series);

	if (!row)
		return;
	row->to_tsc = now_tsc;
	for (size_t i = 0; i < series->clocks; i++) {
		const struct series_reads *reads = &series->reads[i];
		struct series_clock *clock = &row->clocks[i];

		clock->count = reads->histogram.total;
		if (!clock->count)
			continue;
		clock->min_ns = reads->min_ns;
		clock->p50_ns = percentile_ns(reads, MEDIAN);
		clock->p99_ns = percentile_ns(reads, PERCENTILE_99);
		clock->max_ns = reads->max_ns;
	}
	series->count++;
	series->open = false;
	if (series->count == series->max && !last)
		merge_pairs_of_rows(series);
	if (!last)
		series_start_row(series, now_tsc);
}
