/*
 * A sample is a reading of a clock between two readings of the TSC. The two TSC readings are called the sample's
 * bracket.
 *
 * Samples are taken in chains: the second TSC reading of a sample is also the first TSC reading of the next sample.
 * Therefore each sample takes one reading of the clock and one reading of the TSC, and nothing else happens in between.
 * Latency and rate of a clock are calculated from samples.
 */
#ifndef BARETICK_SAMPLE_H
#define BARETICK_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t begin; /* TSC before the reading of the clock */
	uint64_t ticks; /* the reading of the clock, from 0 to its wrap_ticks */
	uint64_t end;   /* TSC after the reading of the clock; it is also `begin` of the next sample */
};

/* Counts steps back in successive TSC readings on one core. */
struct tsc_steps {
	uint64_t reads;       /* number of readings that were compared with the previous reading */
	uint64_t backward;    /* number of readings that were lower than the previous reading */
	uint64_t worst_ticks; /* size of the largest step back */
};

/* Compares the reading NOW with BEFORE, the previous reading on the same core. */
static inline void
tsc_steps_add(struct tsc_steps *steps, uint64_t before, uint64_t now)
{
	steps->reads++;
	if (now >= before)
		return;
	steps->backward++;
	if (before - now > steps->worst_ticks)
		steps->worst_ticks = before - now;
}

/* Compares the two TSC readings of each of COUNT samples, which were taken on one core. */
static inline void
tsc_steps_take_samples(struct tsc_steps *steps, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsc_steps_add(steps, samples[i].begin, samples[i].end);
}

/* Reads the TSC after all earlier instructions have completed. */
typedef uint64_t sample_bracket(void);

/* Reads a clock once. DEVICE is the driver's memory for the device. */
typedef uint64_t sample_read(void *device);

/*
 * Takes a chain of COUNT samples. BRACKET reads the TSC, READ reads the clock. The function is inlined where both are
 * known at compile time, so that the measured time contains no call and no branch.
 */
static inline __attribute__((always_inline)) void
sample_chain(struct sample *samples, size_t count, sample_bracket *bracket, sample_read *read,
	     void *device)
{
	uint64_t opening = bracket();

	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = read(device);
		uint64_t closing = bracket();

		samples[i] = (struct sample){ opening, ticks, closing };
		opening = closing;
	}
}

#endif
