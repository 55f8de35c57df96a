/*
 * One sample: a clock's reading between two readings of the TSC.
 *
 * Samples of one run are chained: the closing TSC reading of one is the opening reading of the next, so
 * a sample costs one clock read and one TSC read, and nothing that happens in a run falls between two
 * samples. Everything that baretick says of a clock is a fold over such samples.
 */
#ifndef BARETICK_SAMPLE_H
#define BARETICK_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t begin; /* TSC ticks, read before the clock */
	uint64_t ticks; /* the clock's reading, raw, counting up, at most its wrap_ticks */
	uint64_t end;   /* TSC ticks, read after the clock; begin of the next sample in the run */
};

/* Reads the TSC so that no earlier instruction is still under way; never fails. */
typedef uint64_t sample_bracket(void);

/* Reads the clock once; DEVICE is the driver's own. */
typedef uint64_t sample_read(void *device);

/*
 * Takes COUNT chained samples into SAMPLES (owned by the caller, of COUNT). Inlined with BRACKET and
 * READ known at compile time, so that neither a call nor a branch on the clock's kind is measured.
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
