/*
 * A log-linear histogram of fixed size. Each value below 128 has its own bucket. Above, there are 64 buckets for each
 * power of two, so the width of a bucket is at most 1/64 (1.6 %) of its values. Counts are exact, and no value is
 * outside of the buckets.
 */
#ifndef BARETICK_HISTOGRAM_H
#define BARETICK_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS  ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/*
 * The octave of a value is its length in bits. Octave 0 contains only 0; octave N contains the values from 2^(N - 1)
 * to 2^N - 1.
 */
#define OCTAVES 65

static inline size_t
octave_of(uint64_t value)
{
	return value ? 64 - (size_t)__builtin_clzll(value) : 0;
}

static inline uint64_t
octave_high(size_t octave)
{
	return octave ? UINT64_MAX >> (64 - octave) : 0;
}

struct histogram {
	uint64_t total; /* number of recorded values */
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value);

size_t histogram_find_bucket(uint64_t value);
/* These two functions return the smallest and the largest value of BUCKET. */
uint64_t histogram_bucket_low(size_t bucket);
uint64_t histogram_bucket_high(size_t bucket);

/* Returns the number of recorded values in the buckets from the bucket of LOW to the bucket of HIGH. */
uint64_t histogram_count_between(const struct histogram *histogram, uint64_t low, uint64_t high);

/* Returns the number of recorded values in OCTAVE. */
uint64_t histogram_count_in_octave(const struct histogram *histogram, size_t octave);

/* Returns the bucket of the RANK-th smallest value (the first is 1), or 0 if there are fewer values. */
size_t histogram_find_bucket_of_rank(const struct histogram *histogram, uint64_t rank);

/*
 * Returns the upper end of the bucket that contains the quantile, or 0 if there are no values. A
 * PER_HUNDRED_THOUSAND of 50000 gives the median.
 */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand);

/* Returns the same as histogram_quantile(), but only for the COUNT smallest values. */
uint64_t histogram_quantile_of_smallest_values(const struct histogram *histogram, uint64_t count,
					       uint32_t per_hundred_thousand);

#endif
