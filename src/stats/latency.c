/* Calculates statistics of read latency. See latency.h. */
#include "stats/latency.h"

#include "base/units.h"

#define BLOCK_UNITS_PER_NS UINT64_C(64)
#define PER_HUNDRED_THOUSAND UINT64_C(100000)

void
latency_clear(struct latency *latency)
{
	latency->count = latency->min_ns = latency->max_ns = latency->max_count = 0;
	latency->total_ticks = latency->total_ns = 0;
	latency->block_samples = latency->block_ticks = 0;
	histogram_clear(&latency->histogram);
	histogram_clear(&latency->blocks);
	for (size_t i = 0; i < LATENCY_EXACT_NS; i++)
		latency->exact[i] = 0;
}

/* Adds one sample. Uses only one multiplication and no division, because this function is called for each sample. */
static void
record_sample(struct latency *latency, uint64_t ticks, uint64_t ns)
{
	histogram_record(&latency->histogram, ns);
	if (ns < LATENCY_EXACT_NS)
		latency->exact[ns]++;
	if (ns < latency->min_ns || !latency->count)
		latency->min_ns = ns;
	if (ns > latency->max_ns) {
		latency->max_ns = ns;
		latency->max_count = 0;
	}
	latency->max_count += ns == latency->max_ns;
	latency->count++;
	latency->total_ticks += ticks;
	latency->total_ns += ns;
}

static void
add_sample_to_block(struct latency *latency, const struct scale *scale, uint64_t ticks)
{
	latency->block_ticks += ticks;
	if (++latency->block_samples < LATENCY_BLOCK)
		return;
	histogram_record(&latency->blocks, scale_ns(scale, latency->block_ticks * (BLOCK_UNITS_PER_NS / LATENCY_BLOCK)));
	latency->block_samples = latency->block_ticks = 0;
}

void
latency_add_samples(struct latency *latency, const struct scale *scale, const struct sample *samples,
	     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = samples[i].end - samples[i].begin;

		if (samples[i].end < samples[i].begin)
			continue;
		record_sample(latency, ticks, scale_ns(scale, ticks));
		add_sample_to_block(latency, scale, ticks);
	}
}

/* Returns a percentile of the COUNT shortest samples in ns. */
static uint64_t
percentile_of_shortest_samples_ns(const struct latency *latency, uint64_t count, uint32_t per_hundred_thousand)
{
	uint64_t ns = histogram_quantile_of_smallest_values(&latency->histogram, count, per_hundred_thousand);

	if (ns < latency->min_ns)
		return latency->min_ns;
	return ns < latency->max_ns ? ns : latency->max_ns;
}

uint64_t
latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand)
{
	return percentile_of_shortest_samples_ns(latency, latency->count, per_hundred_thousand);
}

/* Returns the square root of SQUARE, rounded up. */
static uint64_t
square_root(uint64_t square)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	return root + (root * root < square);
}

/* Returns by how many of COUNT samples the interval of a percentile extends to each side. */
static uint64_t
get_spread_of_percentile(uint64_t count, uint32_t per_hundred_thousand)
{
	const uint64_t whole = PER_HUNDRED_THOUSAND;
	uint64_t variance = scale_mul_div_up(count, 4 * per_hundred_thousand * (whole - per_hundred_thousand), whole * whole);

	return square_root(variance) + 1;
}

bool
latency_is_percentile_known(uint64_t count, uint32_t per_hundred_thousand)
{
	uint64_t spread = get_spread_of_percentile(count, per_hundred_thousand);
	uint64_t low = scale_mul_div_nearest(count, per_hundred_thousand, PER_HUNDRED_THOUSAND);

	return low > spread && low + spread + 1 <= count;
}

/*
 * The number of samples below the percentile has a binomial distribution. With a probability of at least 95 %, it
 * differs from its mean by at most two standard deviations plus one. (The unit test computes this exactly.) The
 * interval therefore extends by two standard deviations plus one to each side of the percentile, counted in samples. It
 * is unknown if it would extend before the first or after the last sample.
 */
struct latency_interval
latency_percentile_interval(const struct latency *latency, uint32_t per_hundred_thousand)
{
	uint64_t spread = get_spread_of_percentile(latency->count, per_hundred_thousand);
	uint64_t low = scale_mul_div_nearest(latency->count, per_hundred_thousand, PER_HUNDRED_THOUSAND);
	uint64_t high = low + spread + 1;
	struct latency_interval within = { .known = latency_is_percentile_known(latency->count, per_hundred_thousand) };

	if (!within.known)
		return within;
	within.low_ns = histogram_bucket_low(histogram_find_bucket_of_rank(&latency->histogram, low - spread));
	within.high_ns = histogram_bucket_high(histogram_find_bucket_of_rank(&latency->histogram, high));
	if (within.low_ns < latency->min_ns)
		within.low_ns = latency->min_ns;
	if (within.high_ns > latency->max_ns)
		within.high_ns = latency->max_ns;
	return within;
}

/*
 * Returns the highest bucket whose samples do not count as interrupted by a gap (see latency.h): the bucket of the
 * median plus THRESHOLD_NS.
 */
static size_t
find_last_uninterrupted_bucket(const struct latency *latency, uint64_t threshold_ns)
{
	return histogram_find_bucket(latency_percentile_ns(latency, 50000) + threshold_ns);
}

bool
latency_is_percentile_interrupted(const struct latency *latency, uint32_t per_hundred_thousand, uint64_t threshold_ns)
{
	return latency_percentile_interval(latency, per_hundred_thousand).known &&
	       histogram_find_bucket(latency_percentile_ns(latency, per_hundred_thousand)) >
	       find_last_uninterrupted_bucket(latency, threshold_ns);
}

struct latency_clean
latency_without_interrupted_reads(const struct latency *latency, uint64_t threshold_ns)
{
	size_t last = find_last_uninterrupted_bucket(latency, threshold_ns);
	uint64_t count = 0;

	for (size_t i = 0; i <= last; i++)
		count += latency->histogram.counts[i];
	return (struct latency_clean){
		.hit = latency->count - count,
		.count = count,
		.p99_ns = percentile_of_shortest_samples_ns(latency, count, 99000),
		.p999_ns = percentile_of_shortest_samples_ns(latency, count, 99900),
		.max_ns = percentile_of_shortest_samples_ns(latency, count, 100000),
	};
}

static uint64_t
block_value_to_ps(uint64_t value)
{
	return scale_mul_div_nearest(value, PS_PER_NS, BLOCK_UNITS_PER_NS);
}

/* Returns the value of the block with this RANK, the first is 1. Assumes equal distances between a bucket's values. */
static uint64_t
interpolate_block_ps(const struct histogram *blocks, uint64_t rank)
{
	size_t bucket = histogram_find_bucket_of_rank(blocks, rank);
	uint64_t low_ps = block_value_to_ps(histogram_bucket_low(bucket));
	uint64_t width_ps = block_value_to_ps(histogram_bucket_high(bucket) + 1) - low_ps, before = 0;

	for (size_t i = 0; i < bucket; i++)
		before += blocks->counts[i];
	return low_ps + scale_mul_div(width_ps, 2 * (rank - before) - 1, 2 * blocks->counts[bucket]);
}

/*
 * The number of blocks below the true median has a binomial distribution, whose standard deviation is half of the
 * square root of the number of blocks. The interval extends by two standard deviations plus one to each side of the
 * median, counted in blocks, but not beyond the extreme blocks.
 */
struct latency_typical
latency_get_typical(const struct latency *latency)
{
	const struct histogram *blocks = &latency->blocks;
	uint64_t count = blocks->total, middle = (count + 1) / 2, spread = square_root(count) + 1;

	if (!count)
		return (struct latency_typical){ latency_mean_ps(latency), latency->min_ns * PS_PER_NS,
						 latency->max_ns * PS_PER_NS };
	uint64_t low = middle > spread ? middle - spread : 1, high = middle + spread < count ? middle + spread : count;

	return (struct latency_typical){
		interpolate_block_ps(blocks, middle),
		block_value_to_ps(histogram_bucket_low(histogram_find_bucket_of_rank(blocks, low))),
		block_value_to_ps(histogram_bucket_high(histogram_find_bucket_of_rank(blocks, high)) + 1),
	};
}

uint64_t
latency_mean_ps(const struct latency *latency)
{
	return latency->count ? scale_mul_div_nearest(latency->total_ns, PS_PER_NS, latency->count) : 0;
}

uint64_t
latency_loop_time_ps(const struct latency *latency, const struct scale *scale)
{
	if (!latency->count)
		return 0;
	return scale_mul_div_wide((unsigned __int128)latency->total_ticks * scale->hz.den, PS_PER_S,
				  (unsigned __int128)scale->hz.num * latency->count, SCALE_NEAREST);
}
