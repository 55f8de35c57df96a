/*
 * A log-linear histogram in fixed memory: exact below 128, above that 64 buckets to each power of two, so
 * that a bucket is at most 1/64 (1.6 %) of its values wide. Counts are exact, and every value has a bucket.
 */
#ifndef BARETICK_HISTOGRAM_H
#define BARETICK_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS  ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

#define OCTAVES 65 /* of 64 bits; a value's is its length in bits: 0, then from 2^(octave - 1) to 2^octave - 1 */

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

/* The bucket of VALUE; and the values a bucket holds, both ends included. */
size_t histogram_bucket(uint64_t value);
uint64_t histogram_bucket_low(size_t bucket);
uint64_t histogram_bucket_high(size_t bucket);

/* How many values were recorded in the buckets of LOW and HIGH and all between them. */
uint64_t histogram_count(const struct histogram *histogram, uint64_t low, uint64_t high);

/* How many values of OCTAVE were recorded. */
uint64_t histogram_octave(const struct histogram *histogram, size_t octave);

/* The bucket of the RANK-th smallest of all recorded, from 1; 0 where there are not so many. */
size_t histogram_bucket_of_rank(const struct histogram *histogram, uint64_t rank);

/* Upper end of the bucket that holds the PER_HUNDRED_THOUSAND quantile of all recorded; 0 where empty. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t per_hundred_thousand);

/* Likewise of the COUNT smallest of all recorded. */
uint64_t histogram_quantile_of(const struct histogram *histogram, uint64_t count, uint32_t per_hundred_thousand);

#endif
