/*
 * A log-linear histogram in fixed memory. Values below 128 have a bucket each. Above that there are 64 buckets
 * for each power of two, so a bucket is at most 1/64 (1.6 %) of its values wide. Counts are exact, and every
 * value has a bucket.
 */
#ifndef BARETICK_HISTOGRAM_H
#define BARETICK_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS  ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/*
 * An octave is the length of a value in bits. Octave 0 has the value 0, and octave N has the values from 2^(N - 1) to
 * 2^N - 1.
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

/* Return the bucket of VALUE, and the smallest and largest value of a bucket. */
size_t histogram_bucket(uint64_t value);
uint64_t histogram_bucket_low(size_t bucket);
uint64_t histogram_bucket_high(size_t bucket);

/* Returns the number of recorded values from LOW's bucket to HIGH's bucket. */
uint64_t histogram_count(const struct histogram *histogram, uint64_t low, uint64_t high);

/* Returns the number of recorded values in OCTAVE. */
uint64_t histogram_octave(const struct histogram *histogram, size_t octave);

/* Returns the bucket of the RANK-th smallest value (the first is 1), or 0 if there are fewer values. */
size_t histogram_bucket_of_rank(const struct histogram *histogram, uint64_t rank);

/* Returns the upper end of the bucket that contains the PER_HUNDRED_THOUSAND quantile; 0 without values. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand);

/* The same as histogram_quantile(), but for the COUNT smallest values only. */
uint64_t histogram_quantile_of(const struct histogram *histogram, uint64_t count, uint32_t per_hundred_thousand);

#endif
