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
 * Octaves of a 64-bit value. The octave is the value's length in bits: 0, or from 2^(octave - 1) to 2^octave -
 * 1.
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
	uint64_t total; /* values recorded */
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value);

/* The bucket of VALUE, and the values that a bucket holds, both ends included. */
size_t histogram_bucket(uint64_t value);
uint64_t histogram_bucket_low(size_t bucket);
uint64_t histogram_bucket_high(size_t bucket);

/* Number of values recorded in the buckets from LOW's to HIGH's. */
uint64_t histogram_count(const struct histogram *histogram, uint64_t low, uint64_t high);

/* Number of values recorded in OCTAVE. */
uint64_t histogram_octave(const struct histogram *histogram, size_t octave);

/* Bucket of the RANK-th smallest value, from 1; 0 if there are fewer values. */
size_t histogram_bucket_of_rank(const struct histogram *histogram, uint64_t rank);

/* Upper end of the bucket with the PER_HUNDRED_THOUSAND quantile of all values; 0 if there are none. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand);

/* The same for the COUNT smallest values. */
uint64_t histogram_quantile_of(const struct histogram *histogram, uint64_t count, uint32_t per_hundred_thousand);

#endif
