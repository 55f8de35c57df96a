/*
 * A sample: a reading of a clock between two readings of the TSC, which are called its bracket.
 *
 * Samples are taken in chains. The TSC reading at the end of a sample is also the one at the start of the next.
 * Therefore a sample takes one reading of the clock and one of the TSC, and nothing else happens in between. All
 * figures about a clock are calculated from such samples.
 */
#ifndef BARETICK_SAMPLE_H
#define BARETICK_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t begin; /* TSC before the reading */
	uint64_t ticks; /* the clock's reading, which counts up to at most its wrap_ticks */
	uint64_t end;   /* TSC after the reading; it is also the TSC before the reading of the next sample */
};

/* Counts steps back in consecutive readings of the TSC on one core. */
struct tsc_steps {
	uint64_t reads;       /* number of readings that were compared with the previous one */
	uint64_t backward;    /* number of readings below the previous one */
	uint64_t worst_ticks; /* largest step back */
};

/* Compares NOW with BEFORE, the previous reading on the same core. */
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

/* Compares the TSC readings of COUNT samples of one core. */
static inline void
tsc_steps_take_samples(struct tsc_steps *steps, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsc_steps_add(steps, samples[i].begin, samples[i].end);
}

/* Reads the TSC after all earlier instructions have completed. Never fails. */
typedef uint64_t sample_bracket(void);

/* Reads the clock once. DEVICE is the driver's memory. */
typedef uint64_t sample_read(void *device);

/*
 * Takes a chain of COUNT samples into SAMPLES. BRACKET reads the TSC, READ the clock. The function is inlined with both
 * known at compile time, so that no call and no branch is part of the measured time.
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
