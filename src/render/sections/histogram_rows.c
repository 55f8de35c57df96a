/* Chooses the rows of a printed histogram. See histogram_rows.h. */
#include "render/sections/histogram_rows.h"

/*
 * An empty range of latencies shorter than STEP_NS is not shown as a gap. The TSC of many CPUs and of QEMU's emulation
 * advances in steps of 10 ns, and no latency lies between two steps.
 */
#define STEP_NS 16

#define THOUSAND 1000

/*
 * A grain defines how finely latencies are divided into rows. Each row spans OCTAVES octaves (factors of two in
 * latency) at first. A row with at least PER_THOUSAND / 1,000 of a clock's reads is halved, and so are its halves, up
 * to HALVINGS times. The grains are tried from the finest to the coarsest, and the first whose rows fit into
 * HISTOGRAM_LINES_MAX is used. The last grain always fits. Its rows span 4 octaves each, so latencies of up to 2^64 ns
 * have at most 17 rows. With a line for the gap before each row, these are 34 lines.
 */
struct grain {
	unsigned octaves, halvings;
	unsigned per_thousand;
};

static const struct grain grains[] = {
	{ 1, 5, 10 }, { 1, 4, 10 }, { 1, 3, 10 }, { 1, 3, 20 }, { 1, 3, 50 }, { 1, 2, 50 },
	{ 1, 1, 50 }, { 1, 0, 0 },  { 2, 0, 0 },  { 4, 0, 0 },
};

struct choice {
	struct histogram_rows *picked;
	const struct latency *const *clocks;
	size_t clock_count;
	const struct grain *grain;
};

/* Narrows ROW to its buckets with reads of any clock. Returns false if ROW has no reads. */
static bool
narrow_row_to_used_buckets(const struct choice *choice, struct histogram_row *row)
{
	size_t first = HISTOGRAM_BUCKETS, last = 0;
	uint64_t longest_ns = 0;

	for (size_t clock = 0; clock < choice->clock_count; clock++) {
		const struct latency *latency = choice->clocks[clock];

		for (size_t i = histogram_find_bucket(row->low_ns); i <= histogram_find_bucket(row->high_ns); i++) {
			if (!latency->histogram.counts[i])
				continue;
			first = i < first ? i : first;
			last = i > last ? i : last;
		}
		longest_ns = latency->max_ns > longest_ns ? latency->max_ns : longest_ns;
	}
	if (first == HISTOGRAM_BUCKETS)
		return false;
	row->low_ns = histogram_bucket_low(first);
	row->high_ns = histogram_bucket_high(last);
	if (row->high_ns > longest_ns && row->low_ns <= longest_ns)
		row->high_ns = longest_ns;
	return true;
}

static bool
does_range_have_enough_reads(const struct choice *choice, uint64_t low_ns, uint64_t high_ns)
{
	for (size_t i = 0; i < choice->clock_count; i++) {
		const struct histogram *histogram = &choice->clocks[i]->histogram;
		uint64_t least = scale_mul_div_up(histogram->total, choice->grain->per_thousand, THOUSAND);

		if (histogram->total && histogram_count_between(histogram, low_ns, high_ns) >= least)
			return true;
	}
	return false;
}

static void
add_histogram_row(struct histogram_rows *picked, struct histogram_row row)
{
	if (picked->count) {
		const struct histogram_row *before = &picked->rows[picked->count - 1];
		uint64_t widest = row.width_ns > before->width_ns ? row.width_ns : before->width_ns;
		uint64_t empty_ns = row.low_ns - before->high_ns - 1;

		row.after_gap = empty_ns >= widest && empty_ns >= before->high_ns / 4 && empty_ns >= STEP_NS;
	}
	picked->lines += row.after_gap ? 2 : 1;
	if (picked->lines <= HISTOGRAM_LINES_MAX)
		picked->rows[picked->count++] = row;
}

static void
divide_range_into_rows(const struct choice *choice, uint64_t low_ns, uint64_t high_ns, unsigned halvings)
{
	struct histogram_row row = { low_ns, high_ns, high_ns - low_ns + 1, false };
	uint64_t middle_ns = low_ns + (high_ns - low_ns) / 2;

	if (choice->picked->lines > HISTOGRAM_LINES_MAX || !narrow_row_to_used_buckets(choice, &row))
		return;
	if (!halvings || low_ns == high_ns || !does_range_have_enough_reads(choice, low_ns, high_ns)) {
		add_histogram_row(choice->picked, row);
		return;
	}
	divide_range_into_rows(choice, low_ns, middle_ns, halvings - 1);
	divide_range_into_rows(choice, middle_ns + 1, high_ns, halvings - 1);
}

void
histogram_pick_rows(struct histogram_rows *picked, const struct latency *const clocks[], size_t clock_count)
{
	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++) {
		struct choice choice = { picked, clocks, clock_count, &grains[i] };

		*picked = (struct histogram_rows){ .count = 0 };
		for (size_t octave = 0; octave < OCTAVES; octave += grains[i].octaves) {
			size_t last = octave + grains[i].octaves - 1;

			divide_range_into_rows(&choice, octave ? octave_high(octave - 1) + 1 : 0,
			     octave_high(last < OCTAVES ? last : OCTAVES - 1), grains[i].halvings);
		}
		if (picked->lines <= HISTOGRAM_LINES_MAX)
			return;
	}
}
