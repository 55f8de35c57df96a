/* Log-linear buckets. See histogram.h. */
#include "histogram.h"

#define SUB      (1u << HISTOGRAM_SUB_BITS) /* buckets to a power of two */
#define HUNDRED_THOUSAND 100000u

void
histogram_clear(struct histogram *histogram)
{
	histogram->total = histogram->refused = 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->counts[i] = 0;
}

/* By how many bits a value is shifted right until it fits 2 * SUB: its bucket is 2^shift wide. */
static unsigned
shift_of(uint64_t value)
{
	unsigned bits = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	return bits > HISTOGRAM_SUB_BITS + 1 ? bits - HISTOGRAM_SUB_BITS - 1 : 0;
}

size_t
histogram_bucket(uint64_t value)
{
	unsigned shift = shift_of(value);

	return ((size_t)shift << HISTOGRAM_SUB_BITS) + (size_t)(value >> shift);
}

uint64_t
histogram_bucket_low(size_t bucket)
{
	size_t shift = bucket < 2 * SUB ? 0 : (bucket >> HISTOGRAM_SUB_BITS) - 1;

	return (uint64_t)(bucket - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

uint64_t
histogram_bucket_high(size_t bucket)
{
	return histogram_bucket_low(bucket + 1) - 1;
}

bool
histogram_record(struct histogram *histogram, uint64_t value)
{
	if (value > HISTOGRAM_VALUE_MAX) {
		histogram->refused++;
		return false;
	}
	histogram->counts[histogram_bucket(value)]++;
	histogram->total++;
	return true;
}

/* How many of TOTAL must lie at or below the quantile: rounded up, at least 1. */
static uint64_t
rank(uint64_t total, uint32_t per_hundred_thousand)
{
	uint64_t whole = total / HUNDRED_THOUSAND * per_hundred_thousand;
	uint64_t part = total % HUNDRED_THOUSAND * per_hundred_thousand;

	whole += (part + HUNDRED_THOUSAND - 1) / HUNDRED_THOUSAND;
	return whole ? whole : 1;
}

uint64_t
histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand)
{
	uint64_t wanted = rank(histogram->total, per_hundred_thousand), seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS && histogram->total; i++) {
		seen += histogram->counts[i];
		if (seen >= wanted)
			return histogram_bucket_high(i);
	}
	return 0;
}
