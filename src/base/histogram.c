/* A log-linear histogram. See histogram.h. */
#include "base/histogram.h"

#include "base/scale.h"

/* each value up to this one has its own bucket */
#define LINEAR_MAX           ((UINT64_C(2) << HISTOGRAM_SUB_BITS) - 1)
#define PER_HUNDRED_THOUSAND 100000u

_Static_assert(HISTOGRAM_BUCKETS == 3776, "128 linear buckets, then 64 buckets for each of 57 powers of two");

void
histogram_clear(struct histogram *histogram)
{
	histogram->total = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->counts[i] = 0;
}

/*
 * A value up to LINEAR_MAX is its own bucket. A larger VALUE is halved until 7 bits are left, a number from 64 to 127.
 * The bucket is this number plus 64 for each halving.
 */
size_t
histogram_find_bucket(uint64_t value)
{
	unsigned halvings = 63 - HISTOGRAM_SUB_BITS - (unsigned)__builtin_clzll(value | LINEAR_MAX);

	return ((size_t)halvings << HISTOGRAM_SUB_BITS) + (size_t)(value >> halvings);
}

void
histogram_record(struct histogram *histogram, uint64_t value)
{
	histogram->counts[histogram_find_bucket(value)]++;
	histogram->total++;
}

static unsigned
log2_of_bucket_width(size_t bucket)
{
	return bucket <= LINEAR_MAX ? 0 : (unsigned)(bucket >> HISTOGRAM_SUB_BITS) - 1;
}

uint64_t
histogram_bucket_low(size_t bucket)
{
	unsigned halvings = log2_of_bucket_width(bucket);

	return (uint64_t)(bucket - ((size_t)halvings << HISTOGRAM_SUB_BITS)) << halvings;
}

uint64_t
histogram_bucket_high(size_t bucket)
{
	return histogram_bucket_low(bucket) + (UINT64_C(1) << log2_of_bucket_width(bucket)) - 1;
}

uint64_t
histogram_count_between(const struct histogram *histogram, uint64_t low, uint64_t high)
{
	uint64_t count = 0;

	for (size_t i = histogram_find_bucket(low); i <= histogram_find_bucket(high); i++)
		count += histogram->counts[i];
	return count;
}

uint64_t
histogram_count_in_octave(const struct histogram *histogram, size_t octave)
{
	uint64_t high = octave_high(octave);

	return histogram_count_between(histogram, high - high / 2, high);
}

uint64_t
histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand)
{
	return histogram_quantile_of_smallest_values(histogram, histogram->total, per_hundred_thousand);
}

size_t
histogram_find_bucket_of_rank(const struct histogram *histogram, uint64_t rank)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->counts[i];
		if (seen && seen >= rank)
			return i;
	}
	return 0;
}

uint64_t
histogram_quantile_of_smallest_values(const struct histogram *histogram, uint64_t count, uint32_t per_hundred_thousand)
{
	uint64_t rank = scale_mul_div_up(count, per_hundred_thousand, PER_HUNDRED_THOUSAND);

	return histogram_bucket_high(histogram_find_bucket_of_rank(histogram, rank < count ? rank : count));
}
